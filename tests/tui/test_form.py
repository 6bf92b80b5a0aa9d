"""The form of a record: its text and all its fields, in every area; only what was changed is saved,
your text is kept.
"""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.review_host import review, store
from tests.tui.support import (
    NOW,
    app_over,
    demo,
    demo_app,
    demo_bench,
    messages,
    opens,
    screen_text,
    shows,
)
from tests.tui.waiting import until, until_drawn
from workbench.core.stream.memory import Memory
from workbench.services.forms import MemoryForm
from workbench.services.open import open_workbench
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.forms import FieldLine, RecordForm
from workbench.tui.stream.screen import StreamScreen
from workbench.tui.widgets.editor import InertTextArea
from workbench.tui.widgets.reading_pane import ReadingPane

SMALL = (80, 24)


def form(app: WorkbenchApp) -> RecordForm:
    assert isinstance(app.screen, RecordForm)
    return app.screen


def line(app: WorkbenchApp, name: str) -> FieldLine:
    return next(line for line in form(app).query(FieldLine) if line.field.name == name)


def here(app: WorkbenchApp) -> Memory:
    screen = app.screen
    assert isinstance(screen, StreamScreen)
    assert screen.memory is not None
    return screen.memory


async def opened(app: WorkbenchApp, pilot: Pilot[Any], *keys: str) -> RecordForm:
    await pilot.pause()
    await pilot.press(*keys)
    await opens(pilot, RecordForm)
    return form(app)


async def closed(app: WorkbenchApp, pilot: Pilot[Any]) -> None:
    await until_drawn(pilot, lambda: not app.screen.is_modal)


async def put(app: WorkbenchApp, pilot: Pilot[Any], name: str, value: str) -> None:
    """Type a value in place of what stands in a line."""
    line(app, name).focus_input()
    await pilot.pause()
    line(app, name).query_one(Input).value = value
    await pilot.pause()


# Saving


@pytest.mark.slow
async def test_what_cannot_be_is_refused_beside_its_field_with_the_cursor_there(
    tmp_path: Path,
) -> None:
    async with demo(tmp_path, SMALL) as (app, pilot):
        await pilot.pause()
        before = here(app)
        await opened(app, pilot, "e", "X")
        for name, value, said in (
            ("importance", "11", "Importance goes from 0 to 10, not to 11"),
            ("related", "mem-0", "No memory mem-0"),
        ):
            kept = line(app, name).value
            await put(app, pilot, name, value)
            form(app).query_one(InertTextArea).focus()
            await pilot.press("ctrl+s")
            await until_drawn(pilot, lambda said=said: said in screen_text(app))  # type: ignore[misc]
            assert app.focused is line(app, name).query_one(Input)
            assert app.bench.stream.get(before.id) == before
            await put(app, pilot, name, kept)
        assert form(app).query_one(InertTextArea).text == f"{before.content}X", "nothing is lost"
        await pilot.press("ctrl+s")
        await closed(app, pilot)
        assert app.bench.stream.get(before.id).content == f"{before.content}X"


async def test_ctrl_r_puts_back_what_is_stored_and_esc_asks_twice(tmp_path: Path) -> None:
    async with demo(tmp_path, SMALL) as (app, pilot):
        await pilot.pause()
        before = here(app)
        await opened(app, pilot, "e")
        await put(app, pilot, "category", "mine")
        await pilot.press("ctrl+r")
        assert line(app, "category").value == before.category
        await pilot.press("ctrl+r", "escape")
        assert line(app, "category").value == "mine"
        assert "Unsaved: esc again discards" in screen_text(app)
        await pilot.press("escape")
        await closed(app, pilot)
        assert app.bench.stream.get(before.id) == before


@pytest.mark.slow
async def test_what_others_wrote_meanwhile_stands_beside_it_field_by_field(tmp_path: Path) -> None:
    async with demo(tmp_path, (120, 30)) as (app, pilot):
        await pilot.pause()
        before = here(app)
        shown = await opened(app, pilot, "e", *" mine")
        await put(app, pilot, "tags", "one, mine")
        other = open_workbench(
            app.bench.library.folder, profiles=tmp_path / "none", clock=lambda: NOW
        )
        theirs = {"text": "Their words.", "tags": "one, theirs", "category": "convention"}
        MemoryForm(other, before.id).write(theirs, {})
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: bool(shown.query(ReadingPane)))
        assert "was changed by someone else meanwhile (text, tags)" in " ".join(
            screen_text(app).split()
        )
        beside = shown.query_one(ReadingPane).plain
        assert "[-Their words-]" in beside
        assert "one, [-theirs-]{+mine+}" in beside
        assert line(app, "category").value == "convention", (
            "what was not touched shows what is stored"
        )
        assert app.bench.stream.get(before.id).content == "Their words."
        await pilot.press("ctrl+s")
        await closed(app, pilot)
        after = app.bench.stream.get(before.id)
        assert (after.content, after.tags, after.category) == (
            f"{before.content} mine", ("one", "mine"), "convention",
        )  # fmt: skip


# Several, and new ones


async def test_of_marked_rows_only_what_is_touched_is_set_as_one_action(tmp_path: Path) -> None:
    async with demo(tmp_path, SMALL) as (app, pilot):
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, StreamScreen)
        before = list(screen.memories[:3])
        rev = app.bench.library.revision
        await opened(app, pilot, "t", "t", "t", "e")
        assert "Edit 3 memories: only the fields you touch are set" in screen_text(app)
        await put(app, pilot, "tags", "+seen")
        await put(app, pilot, "importance", "3")
        await pilot.press("ctrl+s")
        await closed(app, pilot)
        for memory in before:
            after = app.bench.stream.get(memory.id)
            assert (after.tags, after.importance_score) == ((*memory.tags, "seen"), 3)
        assert app.bench.library.revision == rev + 1
        assert "Set importance, tags of 3 memories. u takes it back." in messages(app)
        assert not screen.rows.mark_count
        await pilot.press("u")
        await until(pilot, lambda: [app.bench.stream.get(memory.id) for memory in before] == before)


async def test_o_writes_a_new_memory_and_goes_there(tmp_path: Path) -> None:
    async with demo(tmp_path, SMALL) as (app, pilot):
        count = len(app.bench.library.memories)
        await opened(app, pilot, "j", "o")
        assert "by its type and words" in screen_text(app)
        await pilot.press("ctrl+s")
        assert "The text is empty." in screen_text(app)
        await pilot.press(*"Ask Ruth first")
        await put(app, pilot, "type", "gotcha")
        await pilot.press("ctrl+s")
        await until_drawn(
            pilot, lambda: not app.screen.is_modal and here(app).content == "Ask Ruth first"
        )
        made = here(app)
        assert (made.content, made.observation_type, made.importance_score) == (
            "Ask Ruth first",
            "gotcha",
            8,
        )
        await until(pilot, lambda: f"Stored {made.id}. u takes it back." in messages(app))
        await pilot.press("u")
        await until(pilot, lambda: len(app.bench.library.memories) == count)


# As one document


def edited_by(
    app: WorkbenchApp, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *scripts: str
) -> None:
    """Let an editor of the person's own carry out sed scripts, one each time that it is opened."""
    turn = tmp_path / "turn"
    cases = "".join(f"{at}) sed -i '{script}' \"$1\" ;;\n" for at, script in enumerate(scripts, 1))
    editor = tmp_path / "editor"
    editor.write_text(f"#!/bin/sh\necho >> {turn}\ncase $(wc -l < {turn}) in\n{cases}esac\n")
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr(type(app), "suspend", lambda _self: nullcontext())


async def test_all_of_it_is_one_document_in_the_own_editor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = demo_app(tmp_path)
    edited_by(
        app,
        monkeypatch,
        tmp_path,
        "s/^importance:.*/importance: 1/; s/^note:.*/note: seen/; $s/$/ More./",
    )
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        before = here(app)
        await pilot.press("E")
        await until(pilot, lambda: app.bench.stream.get(before.id) != before)
        after = app.bench.stream.get(before.id)
        assert (after.importance_score, after.note, after.content) == (
            1,
            "seen",
            f"{before.content} More.",
        )
        assert after.tags == before.tags


async def test_the_form_opens_the_document_and_what_it_cannot_hold_names_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = demo_app(tmp_path)
    edited_by(
        app,
        monkeypatch,
        tmp_path,
        "s/^tags:.*/tgas: mine/",
        "s/^tgas:/tags:/; s/^importance:.*/importance: 12/",
    )
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        before = here(app)
        await opened(app, pilot, "e", "Z", "ctrl+o")
        await shows(pilot, "Line 6: there is no field “tgas”")
        assert form(app).unsaved
        await pilot.press("ctrl+o")
        await shows(pilot, "Line 5: Importance goes from 0 to 10, not to 12")
        assert line(app, "tags").value == "mine"
        await put(app, pilot, "importance", "2")
        await pilot.press("ctrl+s")
        await closed(app, pilot)
        after = app.bench.stream.get(before.id)
        assert (after.tags, after.importance_score, after.content) == (
            ("mine",),
            2,
            f"{before.content}Z",
        )


# Drafts


async def test_what_was_typed_into_any_field_outlives_the_app(tmp_path: Path) -> None:
    bench, folder = demo_bench(tmp_path), tmp_path / "drafts"
    app = app_over(bench, drafts=folder)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        id = here(app).id
        await opened(app, pilot, "e")
        await put(app, pilot, "note", "half a tho")
        await put(app, pilot, "importance", "11")
    again = app_over(bench, drafts=folder)
    async with again.run_test(size=SMALL) as pilot:
        await opened(again, pilot, "e")
        said = " ".join(screen_text(again).split())
        assert "Restored: you typed this" in said
        assert (line(again, "note").value, line(again, "importance").value) == ("half a tho", "11")
        await put(again, pilot, "importance", "1")
        await pilot.press("ctrl+s")
        await closed(again, pilot)
        assert (bench.stream.get(id).note, bench.stream.get(id).importance_score) == (
            "half a tho",
            1,
        )
        assert list(folder.iterdir()) == []


async def test_in_review_an_edit_is_of_the_item_under_the_cursor_whatever_is_marked(
    tmp_path: Path,
) -> None:
    bench = store(tmp_path)
    async with review(bench) as drive:
        await drive.keys("t t e")
        assert isinstance(drive.app.screen, RecordForm)
        assert "c3" in screen_text(drive.app)
        await drive.keys("escape")
        assert drive.screen.rows.mark_count == 2
