"""The Playbook to look at, through the real app over a real store."""

from pathlib import Path

import pytest

from tests.tui.playbook_host import BOOK, opened
from tests.tui.waiting import until_drawn
from tests.tui.widgets.host import is_inert, picture
from workbench.services.open import Workbench, open_workbench
from workbench.store.library import Library
from workbench.tui.files.exports import ExportDialog
from workbench.tui.forms import RecordForm
from workbench.tui.playbook.screen import PlaybookScreen
from workbench.tui.widgets.dialog import Choose

HOSTILE = Path(__file__).parents[2] / "fixtures" / "hostile" / "playbook.txt"


@pytest.mark.slow
async def test_it_shows_sections_and_bullets_in_file_order_with_their_standing(
    bench: Workbench,
) -> None:
    bench.playbooks.pin(BOOK, ["hr-00003"])
    async with opened(bench) as hand:
        lines = picture(hand.app)
        first = next(i for i, line in enumerate(lines) if "HARD RULES" in line)
        assert "rules" in lines[1]
        assert "4 bullets" in lines[1]
        assert f"≈ {bench.playbooks.view(BOOK).tokens} tokens (estimated)" in lines[1]
        for line, symbol, id, votes in (
            (lines[first + 1], "⊕", "hr-00001", "+9 −1"),
            (lines[first + 2], "⊖", "hr-00002", "+1 −3"),
            (lines[first + 3], "○", "hr-00003", "★"),
        ):
            assert symbol in line
            assert id in line
            assert votes in line
        assert hand.here == "hr-00001"


async def test_narrow_hides_the_panel_and_enter_opens_it(bench: Workbench) -> None:
    async with opened(bench, (80, 24)) as hand:
        assert "your vote" not in hand.text
        assert "Retry everything twice." in hand.text
        await hand.press("enter")
        assert "your vote" in hand.text
        assert "Retry everything twice." not in hand.text
        await hand.press("plus")
        await hand.shows("+10")
        await hand.press("escape")
        assert "Retry everything twice." in hand.text
        assert hand.here == "hr-00001"


async def test_a_wide_screen_shows_the_sections_and_a_click_goes_there(bench: Workbench) -> None:
    async with opened(bench, (200, 50)) as hand:
        assert hand.screen.outline.display
        await hand.pilot.click("#outline", offset=(6, 1))
        await until_drawn(hand.pilot, lambda: hand.here == "apis_to_use")
        await hand.press("k")
        assert hand.screen.outline.cursor == 0


async def test_an_empty_store_says_what_to_do(empty: Workbench) -> None:
    async with opened(empty, (80, 24)) as hand:
        assert "No playbook yet. O adds a section" in hand.text
        await hand.press("plus", "e", "d", "M", "X", "b", "J", "y", "h", "o", "j", "enter")
        assert isinstance(hand.app.screen, PlaybookScreen)
        assert empty.library.journal.rev == 0


@pytest.mark.slow
async def test_what_another_process_does_appears_and_the_cursor_marks_and_filter_stay(
    bench: Workbench, tmp_path: Path
) -> None:
    other = open_workbench(tmp_path / "store", profiles=tmp_path / "profiles", actor="agent:x")
    async with opened(bench) as hand:
        await hand.press("slash")
        await hand.write("hr")
        await hand.press("enter", "j", "t")
        assert hand.here == "hr-00003"
        other.playbooks.edit(BOOK, "hr-00001", "changed elsewhere")
        other.playbooks.delete(BOOK, ["hr-00002"])
        await until_drawn(
            hand.pilot,
            lambda: _refreshed(bench.library) and hand.listed == ["hr-00001", "hr-00003"],
        )
        assert "changed elsewhere" in hand.text
        assert hand.here == "hr-00003"
        other.playbooks.delete(BOOK, ["hr-00003"])
        await until_drawn(
            hand.pilot, lambda: _refreshed(bench.library) and hand.listed == ["hr-00001"]
        )
        assert hand.screen.rows.mark_count == 0
    other.close()


def _refreshed(library: Library) -> bool:
    library.journal.refresh()
    return True


@pytest.mark.slow
async def test_hostile_text_is_inert_everywhere(empty: Workbench) -> None:
    empty.importer.carry_out(empty.importer.plan(HOSTILE))
    async with opened(empty, (230, 50)) as hand:
        rows = len(hand.screen.rows.rows)
        for _ in range(rows):
            lines = picture(hand.app)
            assert [line for line in lines if not is_inert(line)] == []
            await hand.press("j")
        text = hand.text
        assert "[bold]STRATEGIES[/bold] & [/x]" in text
        assert "[bold]x[/bold] and a stray [/x]" in text
        for key, kind in (("e", RecordForm), ("M", Choose), ("X", ExportDialog)):
            await hand.press("g", "j", "j", key)
            await hand.dialog(kind)
            assert [line for line in picture(hand.app) if not is_inert(line)] == []
            await hand.press("escape")
            await hand.back()
