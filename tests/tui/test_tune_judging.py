"""Tune with judgments: judge mode, the live verdict, metrics, saving with a birth certificate."""

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.tui.support import (
    HOSTILE,
    app_over,
    demo,
    import_file,
    open_bench,
    opens,
    screen_text,
)
from tests.tui.tune_host import (
    WIDE,
    files,
    focused,
    is_measured,
    keys,
    opened,
    settled,
    slider,
    tune,
)
from tests.tui.waiting import until
from workbench.core.tuning.profile import WORKBENCH
from workbench.services.tuning.queries import from_store
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.tuning.judging import JudgeDialog, MetricsDialog
from workbench.tui.widgets.dialog import Prompt

QUERY = "why does the pipeline fail"


def verdict(app: WorkbenchApp) -> str:
    return str(tune(app).query_one("#verdict", Static).content)


async def measured(pilot: Pilot[Path | None]) -> WorkbenchApp:
    """Open Tune and wait for the verdict on the present settings."""
    app = await opened(pilot)
    await rested(pilot, app)
    return app


async def rested(pilot: Pilot[Path | None], app: WorkbenchApp) -> None:
    await settled(pilot)
    await until(pilot, lambda: is_measured(tune(app)))
    await pilot.pause()


async def judging(pilot: Pilot[Path | None], app: WorkbenchApp) -> JudgeDialog:
    await keys(pilot, "v")
    await opens(pilot, JudgeDialog, lambda s: s.rows.rows)
    assert isinstance(app.screen, JudgeDialog)
    return app.screen


async def ask(pilot: Pilot[Path | None], app: WorkbenchApp, query: str = QUERY) -> None:
    await keys(pilot, "slash ctrl+u", *[{" ": "space"}.get(c, c) for c in query], "enter")
    await until(pilot, lambda: getattr(tune(app).session.question, "text", "") == query)
    await settled(pilot)


@pytest.mark.slow
async def test_query_slide_judge_verdict_save_by_keys(tmp_path: Path) -> None:
    async with demo(tmp_path, WIDE) as (app, pilot):
        await measured(pilot)
        await ask(pilot, app)
        before = len(from_store(app.bench.context).queries)
        dialog = await judging(pilot, app)
        pool = dialog.ids
        await keys(pilot, "3 2 0 space 1 escape")
        saved = app.bench.judging.find(QUERY)
        assert saved is not None
        assert app.bench.judging.grades(QUERY) == {pool[0]: 3, pool[1]: 2, pool[2]: 0, pool[4]: 1}
        await rested(pilot, app)
        assert f"over {before + 1} judged queries" in verdict(app)

        slider(app, "relevance").focus()
        await keys(pilot, *["left"] * 10)
        slider(app, "recency").focus()
        await keys(pilot, *["right"] * 10)
        await rested(pilot, app)
        judged, profile = from_store(app.bench.context), tune(app).session.profile
        expected = app.bench.evaluator.score(judged).against(WORKBENCH, profile).verdict
        assert f"{expected.wins} better, {expected.losses} worse" in verdict(app)
        assert expected.conclusion in verdict(app)

        await keys(pilot, "s")
        await opens(pilot, Prompt)
        await keys(pilot, *"mine", "enter")
        await until(pilot, lambda: tune(app).session.saved.name == "mine")
        birth = app.bench.tuning.profiles.birth("mine")
        assert birth is not None
        assert (birth.queries, birth.query_set) == (expected.queries, judged.digest)
        await rested(pilot, app)
        assert "compare with mine" in verdict(app)


async def test_grades_are_undone_one_by_one_and_the_query_with_the_first(tmp_path: Path) -> None:
    async with demo(tmp_path, WIDE) as (app, pilot):
        await measured(pilot)
        await ask(pilot, app)
        dialog = await judging(pilot, app)
        first, second = dialog.ids[:2]
        await keys(pilot, "1 k 3 space")
        assert app.bench.judging.grades(QUERY) == {first: 3}
        assert dialog.rows.cursor == 2
        await keys(pilot, "u")
        assert dialog.ids[dialog.rows.cursor] == second
        await keys(pilot, "u")
        assert app.bench.judging.grades(QUERY) == {first: 1}
        await keys(pilot, "u")
        assert app.bench.judging.find(QUERY) is None
        await keys(pilot, "u")
        assert "Nothing graded here yet" in screen_text(app)
        # The areas' keys rest: the digits graded, and the dialog is still open.
        assert app.screen is dialog


async def test_without_judgments_the_line_says_what_makes_one(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    import_file(bench, HOSTILE / "memories.jsonl")
    app = app_over(bench)
    async with app.run_test(size=WIDE) as pilot:
        await keys(pilot, "4")
        await until(pilot, lambda: app.bench.tuning.ready)
        await until(pilot, lambda: "v grades" in verdict(app))
        await keys(pilot, "m")
        assert not isinstance(app.screen, MetricsDialog)
        await keys(pilot, "v")
        assert not isinstance(app.screen, JudgeDialog)


@pytest.mark.slow
async def test_the_metrics_of_every_query_with_their_definitions(tmp_path: Path) -> None:
    async with demo(tmp_path, (80, 24)) as (app, pilot):
        await measured(pilot)
        stored = files(tmp_path / "store")
        await keys(pilot, "m")
        await opens(pilot, MetricsDialog)
        await pilot.pause()
        found = app.bench.evaluator.score(from_store(app.bench.context)).measure(WORKBENCH)
        shown = screen_text(app)
        for name in ("ndcg@10", "mrr@10", "recall@10", "p@10"):
            assert f"{found.mean[name]:.3f}" in shown
        for title in ("nDCG@10", "MRR@10", "Recall@10", "P@10", "unjudged"):
            assert f"{title}: " in shown
        worst = min(found.queries, key=lambda query: query.values["ndcg@10"])
        assert tune(app).session.text != worst.query
        await keys(pilot, "enter")
        await until(pilot, lambda: app.screen is tune(app))
        assert tune(app).session.text == worst.query
        assert focused(app) is not None
        assert files(tmp_path / "store") == stored
