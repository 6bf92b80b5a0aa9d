"""Tune where something is missing or odd: profiles, queries of no words, a large k, frozen bounds,
saved moments.
"""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.demo import SERVED
from tests.tui.support import (
    DEMO,
    NOW,
    app_over,
    import_file,
    open_bench,
    opens,
    screen_text,
)
from tests.tui.tune_host import WIDE, keys, ranked, settled, slider, tune, tuning, why
from tests.tui.waiting import until
from workbench.core.stream.memory import Memory
from workbench.tui.tuning.screen import TuneScreen
from workbench.tui.widgets.dialog import Choose

QUERY = "where is the backup kept"


@pytest.mark.slow
async def test_k_beyond_the_store_serves_all_and_says_so(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    with bench.library.transaction("person", "write") as tx:
        for number in range(3):
            tx.put(Memory(f"mem-20260301-000000{number}", f"note {number} on deploys", NOW, NOW))
    app = app_over(bench)
    async with app.run_test(size=WIDE) as pilot:
        await keys(pilot, "4 slash", *"deploys", "enter")
        await until(pilot, lambda: len(ranked(app)) == 3)
        await settled(pilot)
        assert "All 3 (k = 10)" in screen_text(app)
        slider(app, "k").focus()
        await keys(pilot, "enter 5 0 enter")
        await settled(pilot)
        assert "All 3 (k = 50)" in screen_text(app)
        await keys(pilot, *["left"] * 48)
        await settled(pilot)
        assert "Top 2 of 3" in screen_text(app)
        assert len(ranked(app)) == 2


async def test_frozen_bounds_hold_for_every_query_and_are_said_to_be_in_force(
    tmp_path: Path,
) -> None:
    async with tuning(tmp_path) as (app, pilot):
        before = ranked(app)
        assert f"0 to 1 over all {SERVED} served memories" in why(app)
        await keys(pilot, "o", *"freeze", "enter")
        await until(pilot, lambda: tune(app).session.profile.scope == "frozen")
        await settled(pilot)
        bounds = tune(app).session.profile.frozen
        assert bounds is not None
        assert ranked(app) == before
        assert "0 to 1 by frozen bounds" in screen_text(app)
        await keys(pilot, "slash ctrl+u", *"redis", "enter")
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
async def test_of_several_moments_of_the_same_words_one_is_chosen(tmp_path: Path) -> None:
    bench = open_bench(tmp_path)
    import_file(bench, DEMO / "memories.jsonl")
    early, late = (bench.judging.save_query(QUERY, NOW - timedelta(days=days)) for days in (9, 2))
    app = app_over(bench)
    async with app.run_test(size=WIDE) as pilot:
        await keys(pilot, "4")
        await opens(pilot, TuneScreen)
        await keys(pilot, "slash ctrl+u", *[{" ": "space"}.get(c, c) for c in QUERY])
        await until(pilot, lambda: tune(app).session.query == late)
        await keys(pilot, "enter")
        await opens(pilot, Choose)
        assert "2 saved queries have these words" in screen_text(app)
        await keys(pilot, *"03-11", "enter")
        await until(pilot, lambda: tune(app).session.asked_at == early.now)
        assert tune(app).session.query == early
