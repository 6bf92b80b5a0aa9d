"""Plans in Agents: a tree edited in place, saved at once, taken back, and what to do next with its
reasons.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.support import app_over, open_bench, opens, screen_text, shows
from tests.tui.waiting import until
from workbench.core.agents.plan import plan_text, read_plan
from workbench.services.open import Workbench
from workbench.tui.agents.planning import PlansDialog
from workbench.tui.agents.screen import AgentsScreen
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.widgets.dialog import Prompt

pytestmark = pytest.mark.slow

LIST = "Fix the [bold]login\n- [ ] Reproduce it (15 min)\n- [ ] Fix it (30 min)\n  - [ ] Write the test (10 min)"


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    bench = open_bench(tmp_path)
    bench.plans.make(read_plan(LIST))
    return bench


@asynccontextmanager
async def opened(
    app: WorkbenchApp, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Pilot[Path | None]]:
    async with app.run_test(size=size) as pilot:
        await pilot.press("5")
        await opens(pilot, AgentsScreen)
        await pilot.press("T")
        await opens(pilot, PlansDialog)
        yield pilot


async def typed(app: WorkbenchApp, pilot: Pilot[Path | None], key: str, text: str) -> None:
    await pilot.press(key)
    await opens(pilot, Prompt)
    await pilot.press("ctrl+u", *text, "enter")
    await opens(pilot, PlansDialog)


def stored(bench: Workbench) -> list[str]:
    bench.library.refresh()
    return plan_text(read_plan(bench.plans.all()[0].content)).splitlines()[1:]


async def test_a_plan_is_edited_in_its_tree_and_taken_back(bench: Workbench) -> None:
    app = app_over(bench)
    async with opened(app, (80, 24)) as pilot:
        await shows(pilot, "Write the test")
        assert "[bold]login" in screen_text(app)
        await pilot.press("j", "x")
        await until(pilot, lambda: stored(bench)[0] == "- [x] Reproduce it (15 min)")
        await typed(app, pilot, "e", "Show it (5 min)")
        assert stored(bench)[0] == "- [x] Show it (5 min)"
        await typed(app, pilot, "a", "Ask (1 h)")
        assert stored(bench)[1] == "- [ ] Ask (60 min)"
        await pilot.press("right_curly_bracket")
        await until(pilot, lambda: stored(bench)[0] == "- [ ] Ask (60 min)")
        await typed(app, pilot, "A", "Whom?")
        await until(pilot, lambda: "  - [ ] Whom?" in stored(bench))
        await pilot.press("d")
        await until(pilot, lambda: "- [ ] Show it" not in stored(bench))
        await pilot.press("u")
        await until(pilot, lambda: "- [ ] Show it" in stored(bench))


async def test_candidates_are_shown_with_values_and_reasons(bench: Workbench) -> None:
    app = app_over(bench)
    async with opened(app) as pilot:
        await shows(pilot, "Write the test")
        await pilot.press("w")
        await shows(pilot, "1.00 grounding")
        assert "goals are finished" in screen_text(app)


async def test_an_empty_store_says_how_a_plan_is_made(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    app = app_over(bench)
    async with opened(app) as pilot:
        await shows(pilot, "No plans yet")
        await typed(app, pilot, "n", "Ship it (60 min)")
        await until(pilot, lambda: len(stored(bench)) == 4)
