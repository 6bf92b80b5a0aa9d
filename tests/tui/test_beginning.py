"""An empty store says what it can begin with: what lies beside it, and what is looked for elsewhere
only once that is asked for.
"""

from pathlib import Path

import pytest

from tests.tui.support import app_over, open_bench, opens, screen_text, shows
from tests.tui.waiting import until
from workbench.core.first_run import TRY_DEMO
from workbench.tui.files.imports import ImportDialog
from workbench.tui.opening import BeginDialog
from workbench.tui.stream.screen import StreamScreen
from workbench.tui.widgets.line_list import LineView

RULES = "# Shop\n\n- Use uv, never pip.\n- Run the tests before you push.\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files of agents, and a home in which agents keep sessions."""
    here = tmp_path / "shop"
    (here / "memory-bank").mkdir(parents=True)
    (here / "CLAUDE.md").write_text(RULES, "utf-8")
    (here / "memory-bank" / "activeContext.md").write_text("# Now\n\nThe checkout.\n", "utf-8")
    sessions = tmp_path / "home" / ".claude" / "projects" / "-work-shop"
    sessions.mkdir(parents=True)
    for number in range(3):
        (sessions / f"{number}.jsonl").write_text("{}\n", "utf-8")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(here)
    return here


async def test_enter_imports_what_lies_beside_an_empty_store(tmp_path: Path) -> None:
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "Found here: CLAUDE.md, memory-bank/")
        await pilot.press("enter")
        await opens(pilot, BeginDialog)
        await pilot.press("enter")
        await opens(pilot, ImportDialog, lambda dialog: dialog.chosen.plan)
        assert not len(app.bench.library.memories), "nothing is written yet"
        await shows(pilot, "Run the tests before you push.")
        await pilot.press("ctrl+s")
        await opens(pilot, StreamScreen)
        assert {m.content.split(": ")[-1] for m in app.bench.library.memories.all()} == {
            "Use uv, never pip.",
            "Run the tests before you push.",
        }
        await pilot.press("I", "down", "enter")
        await opens(pilot, ImportDialog, lambda dialog: dialog.chosen.plan)
        await pilot.press("escape")
        await opens(pilot, BeginDialog)
        await pilot.press("escape")
        await pilot.press("u")
        await shows(pilot, "No memories yet")


async def test_this_machine_is_looked_at_only_when_that_is_asked_for(tmp_path: Path) -> None:
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "Found here")
        await pilot.press("I")
        begin = await opens(pilot, BeginDialog)
        assert "sessions" not in screen_text(app)
        rows = begin.query_one(LineView)
        rows.cursor = [row.label for row in rows.rows].index("Agents on this machine")
        await pilot.press("enter")
        await shows(pilot, "Claude Code: sessions")
        await shows(pilot, "3 files")


async def test_the_demo_is_opened_by_whoever_started_the_app(tmp_path: Path) -> None:
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "No memories yet")
        await pilot.press("I")
        await opens(pilot, BeginDialog)
        await pilot.press("G", "enter")
        await until(pilot, lambda: app.return_code == TRY_DEMO)
