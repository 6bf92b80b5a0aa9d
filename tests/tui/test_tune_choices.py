"""Tune: flips, "why not this one?", options, saved queries, and profiles to save and load."""

import re
from pathlib import Path

import pytest

from tests.tui.support import (
    answered,
    opens,
    screen_text,
    shows,
)
from tests.tui.tune_host import keys, ranked, row, settled, slider, tune, tuning, why
from tests.tui.waiting import until
from workbench.core.tuning.profile import WORKBENCH
from workbench.tui.tuning.ranking import Row
from workbench.tui.widgets.dialog import Choose, Prompt


async def test_brackets_jump_just_beyond_the_swaps_that_the_hint_names(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        recency = slider(app, "recency")
        assert recency.ticks
        for key, forth in (("right_square_bracket", True), ("left_square_bracket", False)):
            value, before = recency.value, ranked(app)
            assert value is not None
            named = [
                (float(v), int(a), int(b))
                for v, a, b in re.findall(r"([\d.]+): #(\d+) ↔ #(\d+)", recency.hint)
            ]
            at, upper, lower = named[-1] if forth else named[0]
            await keys(pilot, key)
            await settled(pilot)
            assert recency.value is not None
            low, high = sorted((value, recency.value))
            assert forth == (recency.value > value)
            assert low <= at <= high, "the hint rounds"
            after = ranked(app)
            if lower <= WORKBENCH.k:
                assert (after[upper - 1], after[lower - 1]) == (
                    before[lower - 1],
                    before[upper - 1],
                )
            assert after != before


async def test_why_not_shows_any_memory_with_its_place_and_esc_lets_it_go(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        await keys(pilot, "w")
        await opens(pilot, Choose)
        await keys(pilot, *"audit w")
        await keys(pilot, "enter")
        await until(pilot, lambda: app.screen is tune(app))
        await settled(pilot)
        current = tune(app).rows.current
        assert isinstance(current, Row)
        assert current.asked
        place = current.standing.place
        assert place is not None
        assert place > 50
        assert f"#{place}" in why(app)
        await until(pilot, lambda: "into the top 10" in why(app))
        await keys(pilot, "escape")
        assert not any(isinstance(line, Row) and line.asked for line in tune(app).rows.rows)


@pytest.mark.slow
async def test_the_way_in_that_is_named_brings_the_memory_in(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        await keys(pilot, "tab", *["j"] * 11)
        await until(pilot, lambda: "One change brings it" in why(app))
        current = tune(app).rows.current
        assert isinstance(current, Row)
        found = re.search(r"^  (recency|importance|relevance) ([\d.]+) ", why(app), re.M)
        assert found
        slider(app, found[1]).value = float(found[2])
        await settled(pilot)
        assert current.standing.memory.id in ranked(app)


@pytest.mark.slow
async def test_saving_makes_the_settings_the_profile_and_errors_stay_in_the_box(
    tmp_path: Path,
) -> None:
    async with tuning(tmp_path) as (app, pilot):
        await keys(pilot, "right right s")
        await opens(pilot, Prompt)
        await keys(pilot, *"workbench", "enter")
        assert isinstance(app.screen, Prompt)
        assert "built-in profile" in screen_text(app)
        await keys(pilot, *"-two", "enter")
        await until(pilot, lambda: app.screen is tune(app))
        saved = app.bench.tuning.profiles.get("workbench-two")
        assert saved.recency == slider(app, "recency").value == slider(app, "recency").default
        assert "profile workbench-two" in screen_text(app)
        assert "• changed" not in screen_text(app)
        assert {row(app, place).move[0] for place in range(1, 11)} == {""}


async def test_loading_asks_before_changed_settings_go_and_stretches_the_scales(
    tmp_path: Path,
) -> None:
    async with tuning(tmp_path) as (app, pilot):
        await keys(pilot, "right l")
        await opens(pilot, Choose)
        await keys(pilot, *"gen", "enter")
        await answered(pilot)
        await until(pilot, lambda: app.screen is tune(app))
        assert slider(app, "relevance").value == 3.0
        assert slider(app, "relevance").scale.maximum == 3.0
        assert tune(app).session.profile == app.bench.tuning.profiles.get("generative-agents")
        await shows(pilot, "recency by rank")


async def test_a_candidate_filter_says_who_takes_part(
    tmp_path: Path,
) -> None:
    async with tuning(tmp_path) as (app, pilot):
        asked = tune(app).rows.current
        assert isinstance(asked, Row)
        left_out = asked.standing.memory
        await keys(pilot, "C")
        await opens(pilot, Prompt)
        await keys(pilot, *"tokn", "enter")
        assert "“tokn” is not a condition." in screen_text(app)
        await keys(pilot, *["backspace"] * 4, *f"-id:{left_out.id}", "enter")
        await until(pilot, lambda: app.screen is tune(app))
        assert f"only -id:{left_out.id}" in screen_text(app)
        session = tune(app).session
        assert session.ranking is not None
        assert left_out.id not in {scored.memory.id for scored in session.ranking.best(10_000)}
        await keys(pilot, "C", *["backspace"] * 40, *"tag:no-such-tag", "enter")
        await shows(pilot, "matches none of")
        await keys(pilot, "u u")
        assert session.profile == WORKBENCH
        await keys(pilot, "o", *"made", "enter")
        await until(pilot, lambda: app.screen is tune(app))
        assert session.profile.mode == "days"
        assert not slider(app, "half-life-episodic").disabled
        await shows(pilot, "made")
