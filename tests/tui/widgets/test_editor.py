"""The editor: what is saved is what was shown, and nothing is lost by one key."""

from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot

from tests.tui.support import screen_text
from tests.tui.waiting import until
from tests.tui.widgets.host import HOSTILE, Host, is_inert, picture
from workbench.config.drafts import Item, digest
from workbench.tui.app.host import Drafting
from workbench.tui.widgets.editor import (
    InertDocument,
    InertTextArea,
    TextEditor,
)

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
ODD = "first\ttab \x1b[31m\u202e\u200d\x85 \u2028 family \U0001f469\u200d\U0001f4bb\r\nsecond\n"


async def opened(host: Host, pilot: Pilot[Any], editor: TextEditor) -> InertTextArea:
    host.ask(editor)
    await pilot.pause()
    return editor.query_one(InertTextArea)


async def test_editing_one_place_leaves_the_rest_untouched() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, TextEditor("Edit", ODD))
        await pilot.press("z", "ctrl+s")
        assert host.results == [f"{ODD}z"]


async def test_esc_discards_only_the_second_time() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, TextEditor("Edit", "old"))
        await pilot.press("x", "escape")
        assert host.results == []
        assert "Unsaved: esc again discards, ctrl+s saves." in screen_text(host)
        await pilot.press("y", "escape")
        assert host.results == []
        await pilot.press("escape")
        assert host.results == [None]


@pytest.mark.parametrize(
    ("text", "said"),
    [("   ", "The text is empty."), ("x" * 25, "5 characters too long"), ("bad", "No bad text.")],
)
async def test_what_cannot_be_saved_is_said(text: str, said: str) -> None:
    def check(text: str) -> str | None:
        return "No bad text." if text == "bad" else None

    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, TextEditor("Edit", text, limit=20, check=check))
        await pilot.press("ctrl+s")
        assert host.results == []
        assert said in screen_text(host)


async def test_hostile_text_is_inert_and_wraps_within_the_box() -> None:
    host = Host()
    text = HOSTILE + "\n" + "\x1b" * 300 + "end\n\t\x07"
    async with host.run_test(size=(60, 20)) as pilot:
        area = await opened(host, pilot, TextEditor(f"Edit {HOSTILE}", text))
        lines = picture(host)
        assert all(is_inert(line) and len(line) == 60 for line in lines)
        assert any("␛end" in line for line in lines)
        area.select_all()
        await pilot.pause()
        assert all(map(is_inert, picture(host)))
        assert area.selected_text == area.text


async def test_a_paste_loses_its_control_characters_and_says_so() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        area = await opened(host, pilot, TextEditor("Edit", ""))
        area.post_message(events.Paste("one\r\ntwo\t\x1b[2J\x9b\u200d"))
        await pilot.pause()
        await pilot.pause()
        assert area.text == "one\ntwo\t[2J\u200d"
        assert "2 control characters were left out of the paste." in screen_text(host)
        assert all(map(is_inert, picture(host)))


@given(st.text(max_size=60))
def test_a_document_gives_back_its_text_and_inert_lines_of_like_length(text: str) -> None:
    document = InertDocument(text)
    assert document.text == text
    for line in document.lines:
        assert is_inert(line.replace("\t", ""))
    assert [len(line) for line in document.lines] == [
        len(line) for line in text.split(document.newline)
    ]


@pytest.mark.slow
@given(st.text("ab\r\n\u2028\x85", max_size=12), st.text("xy\n\u2028\x0b", max_size=8), st.data())
def test_an_edit_and_its_undo_are_exact(text: str, new: str, data: st.DataObject) -> None:
    document = InertDocument(text)
    rows = st.integers(0, document.line_count - 1)
    places = [
        (row, data.draw(st.integers(0, len(document[row]))))
        for row in (data.draw(rows), data.draw(rows))
    ]
    start, end = sorted(places)
    done = document.replace_range(start, end, new)
    assert document.get_text_range(start, done.end_location).replace("\r\n", "\n") == new
    document.replace_range(start, done.end_location, done.replaced_text)
    assert document.text == text


def drafting(folder: Path | None) -> Drafting:
    return Drafting(folder, Item("memories/m1"), lambda: NOW)


async def test_what_is_typed_is_kept_and_restored_until_it_is_saved_or_left(tmp_path: Path) -> None:
    keeper = drafting(tmp_path)
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, TextEditor("Edit", "old", draft=keeper))
        await pilot.press("x")
        await until(pilot, lambda: keeper.find() is not None)
        await pilot.press("y")  # the app ends before the next second
    kept = keeper.find()
    assert kept is not None
    assert (kept.text, kept.is_of("old")) == ("oldxy", True)
    async with (again := Host()).run_test(size=(80, 24)) as pilot:
        area = await opened(again, pilot, TextEditor("Edit", "old", draft=keeper))
        assert area.text == "oldxy"
        assert "Restored: you typed this just now and did not save it." in screen_text(again)
        await pilot.press("ctrl+r")
        assert area.text == "old"
        await pilot.press("escape")
        assert again.results == [], "a draft out of sight is not lost by one key either"
        await pilot.press("ctrl+r", "ctrl+s")
        assert again.results == ["oldxy"]
        assert list(tmp_path.iterdir()) == []


async def test_a_draft_never_overwrites_what_changed_meanwhile_unasked(tmp_path: Path) -> None:
    keeper = drafting(tmp_path)
    keeper.keep("mine", digest("old"))
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, TextEditor("Edit", "theirs", draft=keeper))
        assert "What is stored was changed since." in " ".join(
            "".join(picture(host)).replace("│", "").split()
        )
        await pilot.press("z")
        await until(pilot, lambda: (found := keeper.find()) is not None and found.text == "minez")
        kept = keeper.find()
        assert kept is not None
        assert kept.is_of("old"), "a second crash does not make it look up to date"
        await pilot.press("ctrl+s")
        assert host.results == []
        await pilot.press("ctrl+s")
        assert host.results == ["minez"]


async def test_a_draft_that_cannot_be_kept_is_said_and_hinders_nothing(tmp_path: Path) -> None:
    (tmp_path / "full").write_text("no folder")
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, TextEditor("Edit", "old", draft=drafting(tmp_path / "full")))
        await pilot.press("x")
        await until(pilot, lambda: "no draft is kept (" in screen_text(host))
        await pilot.press("ctrl+s")
        assert host.results == ["oldx"]


async def test_what_another_editor_saved_is_not_lost_by_one_key() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        area = await opened(
            host, pilot, TextEditor("Edit", "old", typed="from outside", draft=drafting(None))
        )
        assert area.text == "from outside"
        await pilot.press("escape")
        assert host.results == []


LONG = 65_536


async def test_an_editor_that_fails_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "false")
    monkeypatch.setattr(Host, "suspend", lambda _self: nullcontext())
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        area = await opened(host, pilot, TextEditor("Edit", "as it was"))
        await pilot.press("ctrl+o")
        assert "✗ false ended with an error (1)" in screen_text(host)
        assert area.text == "as it was"


async def test_what_was_copied_in_the_app_is_pasted_like_anything_else() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        area = await opened(host, pilot, TextEditor("Edit", "old ", limit=2 * LONG))
        host.copy_to_clipboard("red\x1b[31m")
        await pilot.press("ctrl+v")
        assert area.text == "old red[31m"


@pytest.mark.parametrize("text", ["hello", "a\nb", "x\n" * 10])
async def test_an_undo_that_takes_the_cursors_line_away_is_survived(text: str) -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        area = await opened(host, pilot, TextEditor("Edit", text))
        area.post_message(events.Paste("more\n" * 40))
        await until(pilot, lambda: area.document.line_count > 40)
        await pilot.press("ctrl+z")
        assert area.text == text
        assert area.cursor_location[0] < area.document.line_count
        await pilot.press("ctrl+y")
        assert area.text == text + "more\n" * 40
