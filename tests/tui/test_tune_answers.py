"""Tune where something is missing or odd: profiles, queries of no words, a large k, frozen bounds,
saved moments.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.demo import SERVED
from tests.tui.support import DEMO, NOW, app_over, demo_app, import_file, open_bench, screen_text
from tests.tui.test_tune_hands import said
from tests.tui.tune_host import WIDE, keys, opened, ranked, settled, slider, tune, why
from tests.tui.waiting import until
from workbench.config.loading import Settings
from workbench.core.stream.memory import Memory
from workbench.core.tuning.profile import WORKBENCH
from workbench.services.demo import fill
from workbench.services.open import open_workbench
from workbench.tui.tuning.screen import TuneScreen
from workbench.tui.widgets.dialog import Choose

QUERY = "where is the backup kept"


@pytest.mark.slow
async def test_a_profile_that_does_not_exist_is_named_and_the_default_takes_its_place(
    tmp_path: Path,
) -> None:
    settings = Settings(profile="nope")
    bench = open_workbench(
        tmp_path / "store", profiles=tmp_path / "p", clock=lambda: NOW, settings=settings
    )
    fill(bench, DEMO)
    app = app_over(bench)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await opened(pilot)
        assert "There is no profile “nope”" in said(app)
        assert "workbench instead" in said(app)
        assert len(ranked(app)) == WORKBENCH.k


@pytest.mark.slow
async def test_k_beyond_the_store_serves_all_and_says_so(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    with bench.library.transaction("person", "write") as tx:
        for number in range(3):
            tx.put(Memory(f"mem-20260301-000000{number}", f"note {number} on deploys", NOW, NOW))
    app = app_over(bench)
    async with app.run_test(size=WIDE) as pilot:
        await keys(pilot, "4", "slash", *"deploys", "enter")
        await until(pilot, lambda: len(ranked(app)) == 3)
        await settled(pilot)
        assert "All 3 (k = 10)" in screen_text(app)
        slider(app, "k").focus()
        await keys(pilot, "enter", "5", "0", "enter")
        await settled(pilot)
        assert "All 3 (k = 50)" in screen_text(app)
        await keys(pilot, *["left"] * 48)
        await settled(pilot)
        assert "Top 2 of 3" in screen_text(app)
        assert len(ranked(app)) == 2


async def test_frozen_bounds_hold_for_every_query_and_are_said_to_be_in_force(
    tmp_path: Path,
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        before = ranked(app)
        assert f"0 to 1 over all {SERVED} served memories" in why(app)
        await keys(pilot, "o", *"freeze", "enter")
        await until(pilot, lambda: tune(app).session.profile.scope == "frozen")
        await settled(pilot)
        bounds = tune(app).session.profile.frozen
        assert bounds is not None
        assert ranked(app) == before
        assert "0 to 1 by frozen bounds" in screen_text(app)
        await keys(pilot, "M")
        assert f"max   {bounds.recency[1]:.4f}  frozen" in why(app)
        await keys(pilot, "slash", "ctrl+u", *"redis", "enter")
        await until(pilot, lambda: getattr(tune(app).session.question, "text", "") == "redis")
        await settled(pilot)
        ranking = tune(app).session.ranking
        assert ranking is not None
        relevance = ranking.factors["relevance"]
        assert (relevance.low, relevance.high) == bounds.relevance
        assert (float(relevance.raw.min()), float(relevance.raw.max())) != bounds.relevance
        await keys(pilot, "o", *"over all", "enter")
        await until(pilot, lambda: tune(app).session.profile.scope == "pool")
        assert "frozen" not in why(app)


@pytest.mark.slow
async def test_words_of_an_imported_query_find_its_moment_and_its_judgments(tmp_path: Path) -> None:
    bench = open_bench(tmp_path, lambda: NOW + timedelta(days=40))
    for name in ("memories.jsonl", "queries.jsonl"):
        import_file(bench, DEMO / name)
    saved = next(q for q in bench.tuning.queries() if q.now is not None)
    graded = bench.tuning.grades(saved)
    assert graded
    app = app_over(bench)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(
            pilot,
            "slash",
            "ctrl+u",
            *[{" ": "space", "_": "underscore"}.get(c, c) for c in saved.text],
        )
        await until(pilot, lambda: tune(app).session.query == saved)
        await keys(pilot, "enter")
        await until(pilot, lambda: tune(app).session.asked_at == saved.now)
        await settled(pilot)
        assert f"saved · {graded} judged" in screen_text(app)
        assert "as of 2026-03-20 17:30" in screen_text(app)
        assert tune(app).session.query == saved


@pytest.mark.slow
async def test_of_several_moments_of_the_same_words_one_is_chosen(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    import_file(bench, DEMO / "memories.jsonl")
    early, late = (bench.judging.save_query(QUERY, NOW - timedelta(days=days)) for days in (9, 2))
    app = app_over(bench)
    async with app.run_test(size=WIDE) as pilot:
        await keys(pilot, "4")
        await until(pilot, lambda: isinstance(app.screen, TuneScreen))
        await keys(pilot, "slash", "ctrl+u", *[{" ": "space"}.get(c, c) for c in QUERY])
        await until(pilot, lambda: tune(app).session.query == late)
        await keys(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        assert "2 saved queries have these words" in screen_text(app)
        await keys(pilot, *"03-11", "enter")
        await until(pilot, lambda: tune(app).session.asked_at == early.now)
        assert tune(app).session.query == early
