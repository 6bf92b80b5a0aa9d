"""The editor: what is saved is what was shown, and nothing is lost by one key."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.pilot import Pilot

from tests.tui.widgets.host import HOSTILE, Host, is_inert, picture
from workbench.tui.widgets.editor import TextEditor
from workbench.tui.widgets.inert_text import InertDocument, InertTextArea, shown

ODD = "first\ttab \x1b[31m\u202e\u200d\x85 \u2028 family \U0001f469\u200d\U0001f4bb\r\nsecond\n"


async def opened(host: Host, pilot: Pilot[Any], editor: TextEditor) -> InertTextArea:
    host.ask(editor)
    await pilot.pause()
    return editor.query_one(InertTextArea)


async def test_an_edited_text_is_saved() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, TextEditor("Edit", "old", limit=20))
        assert "17 characters left" in "\n".join(picture(host))
        await pilot.press("enter", "n", "e", "w")
        await pilot.pause()
        assert "● changed · 13 characters left" in "\n".join(picture(host))
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert host.results == ["old\nnew"]


@pytest.mark.parametrize("text", [ODD, "a\r\nb\r\n", "", "x", "tail\n\n", HOSTILE])
async def test_an_unchanged_text_is_untouched(text: str) -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        area = await opened(host, pilot, TextEditor("Edit", text))
        assert area.text == text
        await pilot.press("escape")
        await pilot.pause()
        assert host.results == [None]


async def test_editing_one_place_leaves_the_rest_untouched() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, TextEditor("Edit", ODD))
        await pilot.press("z", "ctrl+s")
        await pilot.pause()
        assert host.results == [f"{ODD}z"]


async def test_esc_discards_only_the_second_time() -> None:
    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, TextEditor("Edit", "old"))
        await pilot.press("x", "escape")
        await pilot.pause()
        assert host.results == []
        assert "Unsaved: esc again discards, ctrl+s saves." in "\n".join(picture(host))
        await pilot.press("y", "escape")
        await pilot.pause()
        assert host.results == []
        await pilot.press("escape")
        await pilot.pause()
        assert host.results == [None]


@pytest.mark.parametrize(
    ("text", "said"), [("   ", "The text is empty."), ("x" * 25, "5 characters too long"), ("bad", "No bad text.")]
)
async def test_what_cannot_be_saved_is_said(text: str, said: str) -> None:
    def check(text: str) -> str | None:
        return "No bad text." if text == "bad" else None

    host = Host()
    async with host.run_test(size=(80, 24)) as pilot:
        await opened(host, pilot, TextEditor("Edit", text, limit=20, check=check))
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert host.results == []
        assert said in "\n".join(picture(host))


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
        assert "2 control characters were left out of the paste." in "\n".join(picture(host))
        assert all(map(is_inert, picture(host)))


async def test_the_cursor_does_not_blink() -> None:
    host = Host()
    async with host.run_test() as pilot:
        area = await opened(host, pilot, TextEditor("Edit", "x"))
        assert area.cursor_blink is False


@given(st.text(max_size=60))
def test_a_document_gives_back_its_text_and_inert_lines_of_like_length(text: str) -> None:
    document = InertDocument(text)
    assert document.text == text
    for line in document.lines:
        assert is_inert(line.replace("\t", ""))
    assert [len(line) for line in document.lines] == [len(line) for line in text.split(document.newline)]


@given(st.text(max_size=40))
def test_shown_keeps_the_length(text: str) -> None:
    assert len(shown(text)) == len(text)
