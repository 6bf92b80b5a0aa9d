"""Sessions of agents in the app: a person who opens one is led to what it teaches, sees it, and
stores it.
"""

import json
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.support import app_over, messages, open_bench, opens, screen_text, shows
from tests.tui.waiting import until_drawn
from workbench.services.open import Workbench
from workbench.tui.agents.browse import LessonsDialog
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.files.imports import ImportDialog

SECRET = "AKIAZ7QWERTYUI5PLMNB"


def session(path: Path, correction: str = f"No, use pnpm instead of npm, key {SECRET}") -> Path:
    """A session in which a push failed and then worked, and a person corrected the agent."""
    number, lines = 0, []

    def said(kind: str, content: object) -> None:
        nonlocal number
        number += 1
        known = {
            "sessionId": path.stem, "uuid": f"u{number}", "cwd": "/home/ann/shop", "isSidechain": False,
            "timestamp": f"2025-03-19T10:{number:02}:00.000Z", "type": kind, "version": "2.1.39",
        }  # fmt: skip
        lines.append(json.dumps({**known, "message": {"role": kind, "content": content}}))

    def ran(command: str, output: str, *, failed: bool = False) -> None:
        id = f"toolu_{path.stem}{number:04}"
        said(
            "assistant",
            [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}],
        )
        said(
            "user",
            [{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}],
        )

    said("user", "build the cart and push it")
    ran(
        "git push",
        "Exit code 128\nfatal: The current branch cart has no upstream branch.",
        failed=True,
    )
    ran("git push -u origin cart", "done")
    said("user", correction)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a session in it, and a file of another kind."""
    here = tmp_path / "here"
    session(here / "0b5e6a34.jsonl")
    (here / "notes.md").write_text("# Nothing\n")
    monkeypatch.chdir(here)
    return here


async def taught(app: WorkbenchApp, pilot: Pilot[Path | None], *keys: str) -> LessonsDialog:
    """Go from the import dialog to what the sessions teach."""
    await pilot.press("F")
    await opens(pilot, ImportDialog, lambda s: s.chosen.listing)
    await pilot.press(*keys)
    await opens(pilot, LessonsDialog, lambda s: s.harvest)
    assert isinstance(app.screen, LessonsDialog)
    return app.screen


def stored(bench: Workbench) -> int:
    return len(bench.library.memories)


@pytest.mark.slow
async def test_a_folder_leads_to_what_its_sessions_teach(tmp_path: Path, folder: Path) -> None:
    bench = open_bench(tmp_path)
    app = app_over(bench)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("F")
        await opens(pilot, ImportDialog, lambda s: s.chosen.listing)
        assert "1 session of an agent among them: ctrl+y lists" in screen_text(app)
        await pilot.press("ctrl+y")
        await opens(pilot, LessonsDialog, lambda s: s.harvest)
        text = screen_text(app)
        assert "2 new lessons · 2 of them would wait" in text
        assert "correction" in text
        assert SECRET not in text
        assert stored(bench) == 0
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: not isinstance(app.screen, (LessonsDialog, ImportDialog)))
        assert stored(bench) == 2
        assert messages(app)[-1] == "Stored 2 lessons. 2 wait in Review. u takes it back."
        await pilot.press("u")
        assert stored(bench) == 0


async def test_a_session_that_is_picked_is_opened_as_one(tmp_path: Path, folder: Path) -> None:
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        dialog = await taught(app, pilot, "down", "enter")
        assert [one.kind for one in dialog.rows.rows] == ["correction", "failure"]
        await pilot.press("escape")
        await opens(pilot, ImportDialog)
        assert app.screen.is_attached


async def test_what_was_taken_back_is_read_from_the_start_on_a_word(
    tmp_path: Path, folder: Path
) -> None:
    bench = open_bench(tmp_path)
    app = app_over(bench)
    async with app.run_test(size=(120, 40)) as pilot:
        await taught(app, pilot, "ctrl+y")
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: stored(bench) == 2)
        await until_drawn(pilot, lambda: not isinstance(app.screen, (LessonsDialog, ImportDialog)))
        dialog = await taught(app, pilot, "ctrl+y")
        assert not dialog.rows.rows
        assert "Sessions read before are skipped; ctrl+r reads them again." in screen_text(app)
        bench.history.undo()
        await pilot.press("ctrl+r")
        await until_drawn(pilot, lambda: len(dialog.rows.rows) == 2)
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: stored(bench) == 2)


async def test_what_cannot_be_read_is_said(tmp_path: Path, folder: Path) -> None:
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        gone = LessonsDialog(app.bench, [folder / "gone.jsonl"])
        app.push_screen(gone)
        await shows(pilot, "Nothing was read from it.")
        await pilot.press("ctrl+s", "escape")
        await until_drawn(pilot, lambda: app.screen is not gone)
