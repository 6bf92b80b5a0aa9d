"""Working memories in Agents: the layers, and variables that are pinned, dropped, corrected and
brought back.
"""

from pathlib import Path

from tests.tui.support import app_over, open_bench, opens, screen_text, shows
from tests.tui.waiting import until, until_drawn
from workbench.services.agents.working import WorkingSession
from workbench.tui.agents.planning import WorkingDialog
from workbench.tui.agents.screen import AgentsScreen
from workbench.tui.widgets.dialog import Choose, Prompt
from workbench.tui.widgets.editor import TextEditor


async def test_variables_are_pinned_corrected_dropped_and_brought_back(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    agent = WorkingSession(bench.context, "job-7")
    agent.set("goal", "add [bold]JWT[/bold]")
    agent.add_intermediate("st_1", "PyJWT")
    agent.snapshot()
    app = app_over(bench)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5")
        await opens(pilot, AgentsScreen)
        await pilot.press("W")
        await opens(pilot, WorkingDialog, lambda s: s.rows.rows)
        await until_drawn(
            pilot, lambda: "of 8,000" in screen_text(app) or "of 8\u00a0000" in screen_text(app)
        )
        await pilot.press("j")
        await shows(pilot, "add [bold]JWT[/bold]")
        await pilot.press("p")
        await until(pilot, lambda: agent.memory.variables["task.goal"].pinned)
        await pilot.press("e")
        await opens(pilot, TextEditor)
        await pilot.press("home", *"Now ", "ctrl+s")
        await until(pilot, lambda: agent.get("goal") == "Now add [bold]JWT[/bold]")
        await opens(pilot, WorkingDialog)
        await pilot.press("d")
        await until(pilot, lambda: agent.get("goal") is None)
        await pilot.press("u")
        await until(pilot, lambda: agent.get("goal") == "Now add [bold]JWT[/bold]")
        for title, words in (
            ("set", "cost 0.5 metadata"), ("push-state", '{"current_phase": "testing"}'),
            ("add-intermediate", "st_2 done"), ("prune", ""), ("rollback", ""), ("clear", "SUCCESS"),
        ):  # fmt: skip
            await pilot.press("o")
            await opens(pilot, Choose)
            await pilot.press(*title, "enter")
            await opens(pilot, Prompt)
            await pilot.press(*words, "enter")
            await until_drawn(pilot, lambda title=title: f"{title}: done." in screen_text(app))  # type: ignore[misc]
        assert agent.get("st_2", "intermediate") is None
        assert [one.outcome for one in bench.episodes.all()] == ["SUCCESS"]
        assert agent.get("cost", "metadata") == 0.5
        await pilot.press("tab", "tab", "escape")
        await opens(pilot, AgentsScreen)
