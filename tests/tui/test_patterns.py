"""Patterns in Agents: looked at with their evidence, edited, decided upon, and taken back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.core.agents.patterns.samples import FULL
from tests.tui.support import app_over, open_bench, screen_text
from tests.tui.waiting import until, until_drawn
from workbench.services.open import Workbench
from workbench.tui.agents.experience import PatternsDialog
from workbench.tui.agents.screen import AgentsScreen
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.widgets.dialog import Choose, Prompt
from workbench.tui.widgets.editor import InertTextArea, TextEditor

SIZES = [(80, 24), (120, 40), (200, 60)]
BARE = {
    "pattern_id": "pat-1",
    "name": "Ask [bold]first[/bold]",
    "category": "strategy",
    "summary": "Before a deploy.",
}


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    bench = open_bench(tmp_path)
    bench.patterns.add([BARE, FULL])
    bench.patterns.record("pat-1", "ep-7", "success", note="went well")
    return bench


@asynccontextmanager
async def opened(
    app: WorkbenchApp, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Pilot[Path | None]]:
    async with app.run_test(size=size) as pilot:
        await pilot.press("5")
        await until(pilot, lambda: isinstance(app.screen, AgentsScreen))
        await pilot.press("K")
        await until(
            pilot, lambda: isinstance(app.screen, PatternsDialog) and bool(app.screen.rows.rows)
        )
        yield pilot


def dialog(app: WorkbenchApp) -> PatternsDialog:
    return next(screen for screen in app.screen_stack if isinstance(screen, PatternsDialog))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_patterns_are_shown_with_what_speaks_for_them(
    bench: Workbench, size: tuple[int, int]
) -> None:
    app = app_over(bench)
    async with opened(app, size) as pilot:
        assert [row.id for row in dialog(app).rows.rows] == [FULL["pattern_id"], "pat-1"]
        await until_drawn(pilot, lambda: "Only when: attempts < 5" in screen_text(app))
        await pilot.press("j")
        await until_drawn(pilot, lambda: "Ask [bold]first[/bold]" in screen_text(app))
        await until_drawn(pilot, lambda: "ep-7" in screen_text(app))
        await pilot.press("tab", "tab", "escape")
        await until(pilot, lambda: isinstance(app.screen, AgentsScreen))


async def test_a_pattern_is_decided_upon_and_that_is_taken_back(bench: Workbench) -> None:
    app = app_over(bench)
    async with opened(app) as pilot:
        await pilot.press("j", "a")
        await until(pilot, lambda: bench.patterns.get("pat-1").status == "validated")
        await until(pilot, lambda: dialog(app).rows.rows[1].status == "validated")
        await pilot.press("D")
        await until(pilot, lambda: isinstance(app.screen, Prompt))
        await pilot.press("enter")
        await until_drawn(pilot, lambda: "Say why" in screen_text(app))
        await pilot.press(*"old", "enter")
        await until(pilot, lambda: bench.patterns.get("pat-1").status == "deprecated")
        await until(pilot, lambda: dialog(app).rows.rows[1].status == "deprecated")
        assert bench.patterns.get("pat-1").status_reason == "old"
        await pilot.press("D")
        await until(pilot, lambda: bench.patterns.get("pat-1").status == "candidate")
        await pilot.press("u")
        await until_drawn(pilot, lambda: "Undone: restore the pattern pat-1" in screen_text(app))
        await pilot.press("a")
        await until_drawn(pilot, lambda: "not a candidate" in screen_text(app))


async def test_evidence_is_weighed(bench: Workbench) -> None:
    for number in range(4):
        bench.patterns.record("pat-1", f"ep-{number}", "success")
    app = app_over(bench)
    async with opened(app) as pilot:
        await pilot.press("w")
        await until_drawn(pilot, lambda: "too few applications" in screen_text(app))
        await pilot.press("j", "w")
        await until(pilot, lambda: bench.patterns.get("pat-1").status == "validated")
        await until_drawn(pilot, lambda: "5 of 5 succeeded, p = 0.0312" in screen_text(app))


async def test_a_pattern_is_edited_and_what_is_wrong_is_named(bench: Workbench) -> None:
    app = app_over(bench)
    async with opened(app) as pilot:
        await pilot.press("j", "e")
        await until(pilot, lambda: isinstance(app.screen, TextEditor))
        area = app.screen.query_one(InertTextArea)
        area.text = (
            '{"name": "Ask", "category": "strategy", "summary": "s", '
            '"applicability": {"anti_conditions": ["a =="]}}'
        )
        await pilot.press("ctrl+s")
        await until_drawn(
            pilot, lambda: "applicability.anti_conditions[0]: position 5" in screen_text(app)
        )
        area.text = '{"name": "Ask"'
        await pilot.press("ctrl+s")
        await until_drawn(pilot, lambda: "Line 1: no JSON" in screen_text(app))
        area.text = '{"name": "Ask", "category": "strategy", "summary": "Always."}'
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.patterns.get("pat-1").edition == 2)
        assert (bench.patterns.get("pat-1").name, bench.patterns.get("pat-1").summary) == (
            "Ask",
            "Always.",
        )
        await until_drawn(pilot, lambda: "is changed." in screen_text(app))


async def test_a_store_without_patterns_says_how_to_have_some(tmp_path: Path) -> None:
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("5")
        await until(pilot, lambda: isinstance(app.screen, AgentsScreen))
        await pilot.press("K")
        await until_drawn(pilot, lambda: "No patterns yet" in screen_text(app))
        await pilot.press("a", "D", "w", "e", "y")
        assert isinstance(app.screen, PatternsDialog)


async def test_patterns_are_refined_merged_superseded_related_and_pruned(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    names = ("Ask first", "Ask before it", "Ask in the channel", "Ask nobody")
    one, two, three, four = (made.id for made in bench.patterns.add([{**BARE, "pattern_id": f"pat-{n}", "name": name}
                                                                     for n, name in enumerate(names)]))  # fmt: skip
    for n in range(6):
        bench.patterns.record(one, f"ep-{n}", "failure")
    bench.patterns.approve(one)
    bench.patterns.validate([one])
    app = app_over(bench)

    def go_to(id: str) -> None:
        rows = dialog(app).rows
        rows.set_rows(rows.rows, cursor=next(n for n, row in enumerate(rows.rows) if row.id == id))

    async with opened(app) as pilot:
        go_to(one)
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, TextEditor))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.patterns.get(one).status == "validated")
        assert bench.patterns.get(one).support.counter_episodes == ()
        await pilot.press("R")
        await until_drawn(pilot, lambda: "Only a pattern under review" in screen_text(app))
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press(*"complements", "enter")
        await until_drawn(pilot, lambda: "It complements" in screen_text(app))
        await pilot.press(*"nobody", "enter")
        await until(pilot, lambda: bench.patterns.get(four).relationships.complements == (one,))
        go_to(two)
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press(*"channel", "enter")
        await until(pilot, lambda: bench.patterns.get(two).superseded_by == three)
        go_to(three)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await pilot.press(*"nobody", "enter")
        await until(pilot, lambda: bench.patterns.get(three).status == "deprecated")
        await pilot.press("x")
        await until_drawn(pilot, lambda: "No pattern is worth little" in screen_text(app))


async def test_a_pattern_is_written_found_by_a_task_and_counted(bench: Workbench) -> None:
    app = app_over(bench)
    async with opened(app) as pilot:
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, TextEditor))
        app.screen.query_one(
            InertTextArea
        ).text = '{"name": "Ask twice", "category": "domain", "summary": "And then act."}'
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(dialog(app).rows.rows) == 3)
        (new,) = (one for one in bench.patterns.all() if one.name == "Ask twice")
        assert (new.category, new.status) == ("domain", "candidate")
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, Prompt))
        await pilot.press(*"an api timeout", "enter")
        await until(pilot, lambda: len(dialog(app).rows.rows) < 3)
        await until_drawn(pilot, lambda: "the task names it" in screen_text(app))
        await pilot.press("t", *["backspace"] * 14, "enter")
        await until(pilot, lambda: len(dialog(app).rows.rows) == 3)
        rows = dialog(app).rows
        rows.set_rows(
            rows.rows, cursor=next(n for n, row in enumerate(rows.rows) if row.id == "pat-1")
        )
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, Prompt))
        await pilot.press(*"ep-8 well", "enter")
        await until_drawn(pilot, lambda: "Write an episode" in screen_text(app))
        await pilot.press(*["backspace"] * 4, *"failure no luck", "enter")
        await until(pilot, lambda: len(bench.patterns.applications("pat-1")) == 2)
        assert {one.outcome for one in bench.patterns.applications("pat-1")} == {
            "success",
            "failure",
        }
