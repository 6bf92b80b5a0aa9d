"""Patterns in Agents: looked at with their evidence, edited, decided upon, and taken back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.core.agents.patterns.samples import FULL
from tests.tui.support import app_over, open_bench, opens, shows
from tests.tui.waiting import until
from workbench.services.open import Workbench
from workbench.tui.agents.experience import PatternsDialog
from workbench.tui.agents.screen import AgentsScreen
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.widgets.dialog import Choose, Prompt
from workbench.tui.widgets.editor import InertTextArea, TextEditor

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
        await opens(pilot, AgentsScreen)
        await pilot.press("l")
        await opens(pilot, PatternsDialog, lambda s: s.rows.rows)
        yield pilot


def dialog(app: WorkbenchApp) -> PatternsDialog:
    return next(screen for screen in app.screen_stack if isinstance(screen, PatternsDialog))


async def test_a_pattern_is_decided_upon_and_that_is_taken_back(bench: Workbench) -> None:
    app = app_over(bench)
    async with opened(app) as pilot:
        await pilot.press("j", "a")
        await until(pilot, lambda: bench.patterns.get("pat-1").status == "validated")
        await until(pilot, lambda: dialog(app).rows.rows[1].status == "validated")
        await pilot.press("D")
        await opens(pilot, Prompt)
        await pilot.press("enter")
        await shows(pilot, "Give a reason")
        await pilot.press(*"old", "enter")
        await until(pilot, lambda: bench.patterns.get("pat-1").status == "deprecated")
        await until(pilot, lambda: dialog(app).rows.rows[1].status == "deprecated")
        assert bench.patterns.get("pat-1").status_reason == "old"
        await pilot.press("D")
        await until(pilot, lambda: bench.patterns.get("pat-1").status == "candidate")
        await pilot.press("u")
        await shows(pilot, "Undone: restore the pattern pat-1")
        await pilot.press("a")
        await shows(pilot, "not a candidate")


async def test_evidence_is_weighed(bench: Workbench) -> None:
    for number in range(4):
        bench.patterns.record("pat-1", f"ep-{number}", "success")
    app = app_over(bench)
    async with opened(app) as pilot:
        await pilot.press("w")
        await shows(pilot, "Too few applications")
        await pilot.press("j", "w")
        await until(pilot, lambda: bench.patterns.get("pat-1").status == "validated")
        await shows(pilot, "5 of 5 succeeded, p = 0.0312")


async def test_a_pattern_is_edited_and_what_is_wrong_is_named(bench: Workbench) -> None:
    app = app_over(bench)
    async with opened(app) as pilot:
        await pilot.press("j", "e")
        await opens(pilot, TextEditor)
        area = app.screen.query_one(InertTextArea)
        area.text = (
            '{"name": "Ask", "category": "strategy", "summary": "s", '
            '"applicability": {"anti_conditions": ["a =="]}}'
        )
        await pilot.press("ctrl+s")
        await shows(pilot, "applicability.anti_conditions[0]: position 5")
        area.text = '{"name": "Ask", "category": "strategy", "summary": "Always."}'
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.patterns.get("pat-1").edition == 2)
        assert (bench.patterns.get("pat-1").name, bench.patterns.get("pat-1").summary) == (
            "Ask",
            "Always.",
        )
        await shows(pilot, "is changed.")


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
        await opens(pilot, TextEditor)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bench.patterns.get(one).status == "validated")
        assert bench.patterns.get(one).support.counter_episodes == ()
        await pilot.press("R")
        await shows(pilot, "Only a pattern under review")
        await pilot.press("r")
        await opens(pilot, Choose)
        await pilot.press(*"complements", "enter")
        await shows(pilot, "It complements")
        await pilot.press(*"nobody", "enter")
        await until(pilot, lambda: bench.patterns.get(four).relationships.complements == (one,))
        go_to(two)
        await pilot.press("s")
        await opens(pilot, Choose)
        await pilot.press(*"channel", "enter")
        await until(pilot, lambda: bench.patterns.get(two).superseded_by == three)
        go_to(three)
        await pilot.press("m")
        await opens(pilot, Choose)
        await pilot.press(*"nobody", "enter")
        await until(pilot, lambda: bench.patterns.get(three).status == "deprecated")
        await pilot.press("x")
        await shows(pilot, "No weak patterns")


async def test_a_pattern_is_written_found_by_a_task_and_counted(bench: Workbench) -> None:
    app = app_over(bench)
    async with opened(app) as pilot:
        await pilot.press("n")
        await opens(pilot, TextEditor)
        app.screen.query_one(
            InertTextArea
        ).text = '{"name": "Ask twice", "category": "domain", "summary": "And then act."}'
        await pilot.press("ctrl+s")
        await until(pilot, lambda: len(dialog(app).rows.rows) == 3)
        (new,) = (one for one in bench.patterns.all() if one.name == "Ask twice")
        assert (new.category, new.status) == ("domain", "candidate")
        await pilot.press("t")
        await opens(pilot, Prompt)
        await pilot.press(*"an api timeout", "enter")
        await until(pilot, lambda: len(dialog(app).rows.rows) < 3)
        await shows(pilot, "the task names it")
        await pilot.press("t", *["backspace"] * 14, "enter")
        await until(pilot, lambda: len(dialog(app).rows.rows) == 3)
        rows = dialog(app).rows
        rows.set_rows(
            rows.rows, cursor=next(n for n, row in enumerate(rows.rows) if row.id == "pat-1")
        )
        await pilot.press("A")
        await opens(pilot, Prompt)
        await pilot.press(*"ep-8 well", "enter")
        await shows(pilot, "Write an episode")
        await pilot.press(*["backspace"] * 4, *"failure no luck", "enter")
        await until(pilot, lambda: len(bench.patterns.applications("pat-1")) == 2)
        assert {one.outcome for one in bench.patterns.applications("pat-1")} == {
            "success",
            "failure",
        }
