"""The list: what it draws, and what it sends."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from textual.content import Content

from tests.tui.widgets.host import HOSTILE, Host, is_inert, keeping, picture
from workbench.tui.widgets.line_list import Cell, LineList


@dataclass
class Drawing:
    """Draws rows and remembers which."""

    drawn: list[str] = field(default_factory=list)

    def __call__(self, row: str, width: int) -> Sequence[Cell]:
        self.drawn.append(row)
        return [Cell(row), Cell(str(len(row)), 4, "$text-muted", "right")]


def numbered(count: int) -> list[str]:
    return [f"row {n}" for n in range(count)]


def make(drawing: Drawing | None = None, empty: str = "Nothing here.") -> LineList[str]:
    return LineList(
        drawing or Drawing(),
        lambda row: row,
        is_heading=lambda row: row.startswith("#"),
        empty=Content(empty),
    )


async def test_a_hundred_thousand_rows_draw_only_the_lines_in_sight() -> None:
    drawing = Drawing()
    rows = make(drawing)
    async with Host(rows).run_test(size=(60, 20)) as pilot:
        rows.focus()
        rows.set_rows(numbered(100_000))
        await pilot.pause()
        assert set(drawing.drawn) == set(numbered(20))
        await pilot.press("G")
        assert rows.cursor == 99_999
        assert set(drawing.drawn) == {*numbered(20), *numbered(100_000)[-20:]}
        lines = picture(pilot.app)
        assert lines[-1].startswith("▸  row 99999")
        assert lines[-1].rstrip(" ▁▂▃▄▅▆▇█").endswith("9")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "place"),
    [
        (["j", "j"], 2), (["down", "k"], 0), (["up"], 0), (["G"], 99), (["G", "j"], 99), (["G", "g"], 0),
        (["end", "home"], 0), (["pagedown"], 9), (["pagedown", "pageup"], 0), (["ctrl+d"], 5),
        (["ctrl+d", "ctrl+d", "ctrl+u"], 5),
    ],
)  # fmt: skip
async def test_keys_move_the_cursor(keys: list[str], place: int) -> None:
    rows = make()
    async with Host(rows).run_test(size=(60, 10)) as pilot:
        rows.focus()
        rows.set_rows(numbered(100))
        await pilot.pause()
        await pilot.press(*keys)
        assert rows.cursor == place
        assert any(line.startswith("▸") and f"row {place} " in line for line in picture(pilot.app))


async def test_no_rows_are_safe_and_say_what_to_do() -> None:
    rows = make(empty="No candidates. R reflects now.")
    host = Host(rows)
    async with host.run_test(size=(60, 10), message_hook=keeping(host)) as pilot:
        rows.focus()
        await pilot.press("j", "k", "G", "g", "enter", "t", "v", "v", "T", "ctrl+d", "pageup")
        await pilot.click(rows, offset=(3, 3))
        assert rows.current is None
        assert rows.cursor == 0
        assert rows.marked_rows == []
        assert not host.of(LineList.Opened)
        assert "No candidates. R reflects now." in picture(host)[1]


async def test_highlighted_is_sent_once_per_row_and_none_when_rows_go() -> None:
    rows = make()
    host = Host(rows)
    async with host.run_test(size=(60, 10), message_hook=keeping(host)) as pilot:
        rows.focus()
        rows.set_rows(numbered(5))
        await pilot.press("j", "k", "k")
        rows.set_rows(numbered(5))
        rows.set_rows([])
        await pilot.pause()
        assert len(host.of(LineList.Highlighted)) == 4
        assert host.of(LineList.Highlighted)[0].control is rows


async def test_the_cursor_follows_its_row_or_keeps_its_line() -> None:
    rows = make()
    async with Host(rows).run_test(size=(60, 10)) as pilot:
        rows.set_rows(["a", "b", "c", "d"], cursor=2)
        assert rows.current == "c"
        rows.set_rows(["x", "y", "a", "c", "b"])
        assert rows.current == "c"
        rows.set_rows(["x", "y", "a", "b"])
        assert (rows.cursor, rows.current) == (3, "b")
        rows.set_rows(["x"])
        assert (rows.cursor, rows.current) == (0, "x")
        await pilot.pause()


async def test_a_click_selects_and_a_double_click_or_enter_opens() -> None:
    rows = make()
    host = Host(rows)
    async with host.run_test(size=(60, 10), message_hook=keeping(host)) as pilot:
        rows.set_rows(numbered(100))
        await pilot.pause()
        await pilot.click(rows, offset=(5, 4))
        assert rows.cursor == 4
        assert not host.of(LineList.Opened)
        await pilot.double_click(rows, offset=(5, 6))
        assert (rows.cursor, len(host.of(LineList.Opened))) == (6, 1)
        rows.focus()
        await pilot.press("j", "enter")
        assert (rows.cursor, len(host.of(LineList.Opened))) == (7, 2)


async def test_marks_by_key_skip_headings_and_survive_new_rows() -> None:
    rows = make()
    host = Host(rows)
    async with host.run_test(size=(60, 10), message_hook=keeping(host)) as pilot:
        rows.focus()
        rows.set_rows(["# one", "a", "b", "c", "# two", "d"])
        await pilot.press("t")
        assert rows.marked_rows == []
        await pilot.press("j", "t", "t")
        assert rows.marked_rows == ["a", "b"]
        assert [line[:2] for line in picture(host)[:4]] == ["  ", " *", " *", "▸ "]
        await pilot.press("v", "j", "j")
        assert rows.marked_rows == ["a", "b", "c", "d"]
        await pilot.press("escape")
        assert rows.marked_rows == ["a", "b"]
        await pilot.press("v", "k", "v")
        assert rows.marked_rows == ["a", "b", "d"]
        rows.set_rows(["d", "b", "z"])
        assert rows.marked_rows == ["d", "b"]
        await pilot.press("T")
        assert rows.marked_rows == ["d", "b", "z"]
        await pilot.press("T")
        assert rows.marked_rows == []
        await pilot.pause()
        assert len(host.of(LineList.MarksChanged)) == 12


async def test_marks_with_the_mouse() -> None:
    rows = make()
    async with Host(rows).run_test(size=(60, 10)) as pilot:
        rows.set_rows(numbered(9))
        await pilot.pause()
        await pilot.click(rows, offset=(5, 1), control=True)
        assert rows.marked_rows == ["row 1"]
        await pilot.click(rows, offset=(5, 3), shift=True)
        assert rows.marked_rows == ["row 1", "row 2", "row 3"]


async def test_stored_text_is_inert() -> None:
    rows = make()
    host = Host(rows)
    async with host.run_test(size=(100, 10)) as pilot:
        rows.set_rows([HOSTILE, HOSTILE * 2000])
        await pilot.pause()
        lines = picture(host)
        assert all(is_inert(line) for line in lines)
        assert "[b]bold[/b] [/x] [shr-00001]" in lines[0]
