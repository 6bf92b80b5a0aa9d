"""Importing in the app: a name is found out, everything is listed before it is written, esc stops,
u takes back.
"""

import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.support import app_over, messages, open_bench, opens, screen_text, shows
from tests.tui.waiting import until_drawn
from workbench.formats import ace
from workbench.services.files.importing import CHUNK
from workbench.services.open import Workbench
from workbench.store.library import Touched
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.files.imports import ImportDialog
from workbench.tui.widgets.dialog import Choose, Prompt, SafeInput
from workbench.tui.widgets.line_list import LineView

BOOK = "## RULES\n[rule-00001] helpful=2 harmful=0 :: Ask first.\n[rule-00002] helpful=0 harmful=1 :: Test last.\n"


def entries(count: int) -> str:
    return "".join(
        json.dumps(
            {
                "id": f"m{n}",
                "timestamp": "2026-03-01T10:00:00Z",
                "type": "error",
                "context": f"text {n}",
            }
        )
        + "\n"
        for n in range(count)
    )


def nodes(count: int) -> str:
    return json.dumps([
        {"node_id": n, "node_type": "observation", "content": f"step {n}", "importance": 50, "created": n,
         "last_retrieved": n, "pointer_id": None}
        for n in range(1, count + 1)
    ])  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with three files to import, one of no known format, and a folder."""
    here = tmp_path / "here"
    (here / "inner").mkdir(parents=True)
    (here / "book.txt").write_text(BOOK)
    (here / "log.jsonl").write_text(entries(2) + '{"id": "x", "context": \n')
    (here / "nodes.json").write_text(nodes(3))
    (here / "notes.bin").write_bytes(b"\xff\x00\x01")
    monkeypatch.chdir(here)
    return here


@asynccontextmanager
async def opened(
    bench: Workbench, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[WorkbenchApp, Pilot[Path | None], ImportDialog]]:
    app = app_over(bench)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press("F")
        await opens(pilot, ImportDialog, lambda s: s.chosen.listing)
        assert isinstance(app.screen, ImportDialog)
        yield app, pilot, app.screen


def box(dialog: ImportDialog) -> SafeInput:
    return dialog.query_one("#import-path", SafeInput)


async def name(pilot: Pilot[Path | None], dialog: ImportDialog, text: str) -> None:
    box(dialog).value = text
    await pilot.pause()
    await until_drawn(
        pilot, lambda: dialog.chosen.plan or dialog.chosen.problem or dialog.chosen.listing
    )


def state(dialog: ImportDialog) -> str:
    return "\n".join(
        str(dialog.query_one(f"#import-{part}").render()) for part in ("format", "state")
    )


@pytest.mark.slow
async def test_what_would_be_written_is_listed_then_written_and_taken_back(
    tmp_path: Path, folder: Path
) -> None:
    bench = open_bench(tmp_path)
    async with opened(bench) as (app, pilot, dialog):
        await pilot.press(*"book", "tab")
        await until_drawn(pilot, lambda: dialog.chosen.plan)
        assert box(dialog).value == str(folder / "book.txt")
        assert "ACE playbook, 97% sure: " in state(dialog)
        assert "New: 2 bullets" in state(dialog)
        text = screen_text(app)
        for line in (
            "playbook book",
            "section RULES",
            "[rule-00001] helpful=2 harmful=0 :: Ask first.",
        ):
            assert f"+  {line}" in text
        assert bench.library.journal.rev == 0
        await pilot.press("enter", "enter")
        await until_drawn(pilot, lambda: not isinstance(app.screen, ImportDialog))
        assert [b.id for b in bench.library.bullets.all()] == ["rule-00001", "rule-00002"]
        assert messages(app)[-1] == "Imported book.txt: 2 bullets. u takes it back."
        await pilot.press("u")
        await until_drawn(pilot, lambda: not len(bench.library.bullets))


async def test_tab_on_a_folders_path_goes_on_in_it(tmp_path: Path, folder: Path) -> None:
    (folder / "inner" / "only.txt").write_text(BOOK)
    async with opened(open_bench(tmp_path)) as (_app, pilot, dialog):
        await pilot.press(*"inner", "tab")
        await until_drawn(pilot, lambda: box(dialog).value == f"{folder / 'inner'}/")
        assert dialog.focused is box(dialog)
        await until_drawn(
            pilot, lambda: dialog.chosen.listing and dialog.chosen.path == folder / "inner"
        )
        await pilot.press("tab")
        await until_drawn(pilot, lambda: box(dialog).value == str(folder / "inner" / "only.txt"))
        assert dialog.focused is box(dialog)


@pytest.mark.slow
async def test_another_format_can_be_chosen(tmp_path: Path, folder: Path) -> None:
    bench = open_bench(tmp_path)
    async with opened(bench) as (app, pilot, dialog):
        await name(pilot, dialog, "book.txt")
        await pilot.press("ctrl+t")
        await opens(pilot, Choose)
        assert "learning entries (JSON lines)" in screen_text(app)
        await pilot.press(*"claude code", "enter")
        await until_drawn(pilot, lambda: app.screen is dialog and dialog.chosen.plan)
        assert "Claude Code memory (Markdown), as chosen" in state(dialog)
        assert dialog.chosen.plan is not None
        assert dialog.chosen.plan.counts["memories"] > 0


async def test_steps_get_times(tmp_path: Path, folder: Path) -> None:
    bench = open_bench(tmp_path)
    async with opened(bench) as (app, pilot, dialog):
        await name(pilot, dialog, "nodes.json")
        assert "It counts steps: the last one is now, 1 h each; ctrl+n changes it." in state(dialog)
        await pilot.press("ctrl+n")
        await opens(pilot, Prompt)
        await pilot.press(*"2026-01-01T00:00", "enter")
        await until_drawn(
            pilot, lambda: isinstance(app.screen, Prompt) and "hours" in screen_text(app)
        )
        await pilot.press("ctrl+u", "2", "enter")
        await until_drawn(pilot, lambda: app.screen is dialog and dialog.chosen.plan)
        assert "the first one was 2026-01-01 00:00, 2 h each" in state(dialog)
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: app.screen is not dialog)
        assert sorted(m.created_at.hour for m in bench.library.memories.all()) == [0, 2, 4]


async def test_several_files_of_a_folder_are_taken_one_after_the_other(
    tmp_path: Path, folder: Path
) -> None:
    bench = open_bench(tmp_path)
    async with opened(bench) as (app, pilot, dialog):
        await pilot.press("enter", "enter")
        await until_drawn(pilot, lambda: dialog.chosen.plan)
        await pilot.press("enter")
        await until_drawn(pilot, lambda: dialog.chosen.listing)
        assert "ctrl+z takes it back" in messages(app)[-1]
        assert "✓  book.txt" in screen_text(app)
        await pilot.press("enter")
        await until_drawn(pilot, lambda: dialog.chosen.plan)
        assert dialog.chosen.path == folder / "log.jsonl"
        await pilot.press("escape")
        await until_drawn(pilot, lambda: dialog.chosen.listing)
        await pilot.press("ctrl+z")
        await until_drawn(pilot, lambda: len(bench.library.bullets) == 0)
        await pilot.press("escape")
        await until_drawn(pilot, lambda: app.screen is not dialog)


@pytest.mark.slow
async def test_esc_stops_an_import_and_says_what_was_written(tmp_path: Path, folder: Path) -> None:
    (folder / "long.jsonl").write_text(entries(3 * CHUNK))
    bench = open_bench(tmp_path)
    async with opened(bench) as (app, pilot, dialog):
        await name(pilot, dialog, "long.jsonl")
        written, go_on = threading.Event(), threading.Event()

        def hold(_touched: Touched) -> None:
            written.set()
            go_on.wait(60)

        bench.library.listen(hold)
        await pilot.press("ctrl+s")
        await until_drawn(pilot, written.is_set)
        assert f"0/{3 * CHUNK} records written · esc stops" in state(dialog)
        await pilot.press("escape")
        assert "Stopping …" in state(dialog)
        go_on.set()
        await until_drawn(pilot, lambda: app.screen is not dialog)
        assert len(bench.library.memories) == CHUNK
        said = messages(app)[-1].replace("\u00a0", "")
        assert said.startswith(
            f"Stopped: {CHUNK} of {3 * CHUNK} records of long.jsonl were written. u takes them back"
        )
        await pilot.press("u")
        assert len(bench.library.memories) == 0


async def test_the_files_version_is_taken_when_that_is_asked_for(
    tmp_path: Path, folder: Path
) -> None:
    bench, text = (
        open_bench(tmp_path),
        BOOK + "\n## GONE\n[g-00003] helpful=0 harmful=0 :: To go.\n",
    )
    (folder / "book.txt").write_text(text)
    bench.importer.carry_out(bench.importer.plan(folder / "book.txt"))
    (folder / "book.txt").write_text(BOOK.replace("Ask first.", "Ask them."))
    async with opened(bench, (80, 24)) as (app, pilot, dialog):
        await name(pilot, dialog, "book.txt")
        assert "1 kept as they are" in state(dialog)
        await pilot.press("ctrl+r")
        await until_drawn(pilot, lambda: dialog.chosen.plan and dialog.chosen.plan.replaced)
        assert "Nothing is new · 1 there already · 3 replaced by the file's version" in state(
            dialog
        )
        assert any(
            "- section GONE" in " ".join(line.split()) for line in screen_text(app).splitlines()
        )
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: app.screen is not dialog)
        assert bench.library.bullets.get("book/rule-00001").content == "Ask them."
        assert ace.write_playbook(bench.playbooks.open("book")) == (folder / "book.txt").read_text()


@pytest.mark.parametrize("as_new", [False, True])
async def test_memories_count_towards_a_reflection_when_that_is_asked_for(
    tmp_path: Path, folder: Path, as_new: bool
) -> None:
    bench = open_bench(tmp_path)
    async with opened(bench, (80, 24)) as (app, pilot, dialog):
        await pilot.press(*(["ctrl+g"] if as_new else []))
        await name(pilot, dialog, "log.jsonl")
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: app.screen is not dialog)
        assert (bench.library.reflection.find("reflection") is not None) is as_new


RULES = """# Guide

## Deploy

- Ask Ruth before a deploy

### Do not

- Deploy on a Friday evening
- Skip the smoke test
"""


async def test_statements_of_a_document_are_chosen_one_by_one(folder: Path, tmp_path: Path) -> None:
    (folder / "AGENTS.md").write_text(RULES)
    bench = open_bench(tmp_path)
    async with opened(bench, (80, 24)) as (app, pilot, dialog):
        await name(pilot, dialog, "AGENTS.md")
        assert "3 statements make sense without the rest; ctrl+o" in " ".join(state(dialog).split())
        await pilot.press("ctrl+o")
        await until_drawn(pilot, lambda: "New: 3 memories" in state(dialog))
        await pilot.press("enter")
        rows = dialog.query_one(LineView).rows
        friday = next(at for at, row in enumerate(rows) if "Friday" in getattr(row, "content", ""))
        await pilot.press(*["down"] * friday, "space")
        await shows(pilot, "✓")
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: not isinstance(app.screen, ImportDialog))
        (taken,) = bench.library.memories.all()
        assert (taken.status, taken.category) == ("candidate", "warning")
        assert taken.content == "Warning, under “Deploy › Do not”: Deploy on a Friday evening"
        assert "Imported AGENTS.md: 1 memory." in messages(app)[-1]


async def test_a_folder_of_notes_is_read_note_by_note(tmp_path: Path, folder: Path) -> None:
    for note in ("a", "b"):
        (folder / f"inner/{note}.md").write_text(f"What is known of {note}.\n")
    bench = open_bench(tmp_path)
    async with opened(bench, (80, 24)) as (app, pilot, dialog):
        await name(pilot, dialog, "inner")
        assert "ctrl+s reads the folder note by note" in state(dialog)
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: dialog.chosen.plan)
        assert "New: 2 memories" in state(dialog)
        assert len(bench.library.memories) == 0
        await pilot.press("escape")
        await until_drawn(pilot, lambda: dialog.chosen.listing)
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: dialog.chosen.plan)
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: app.screen is not dialog)
    assert len(bench.library.memories) == 2
