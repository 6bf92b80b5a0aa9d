"""Tune: flips, "why not this one?", options, saved queries, and profiles to save and load."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tui.support import DEMO, NOW, app_over, demo_app, import_file, open_bench, screen_text
from tests.tui.tune_host import WIDE, keys, opened, ranked, row, settled, slider, tune, why
from tests.tui.waiting import until
from workbench.core.tuning.profile import WORKBENCH
from workbench.tui.tuning.ranking import Row
from workbench.tui.widgets.dialog import Choose, Confirm, Prompt


async def test_brackets_jump_just_beyond_the_swaps_that_the_hint_names(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
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


@pytest.mark.slow
async def test_flips_belong_to_weights_and_other_sliders_say_what_a_step_moves(
    tmp_path: Path,
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await opened(pilot)
        slider(app, "blend").focus()
        await settled(pilot)
        assert re.search(r"← \w+ of 10 moves? · → \w+ of 10 moves?", screen_text(app))
        await keys(pilot, "right_square_bracket")
        assert slider(app, "blend").value == WORKBENCH.blend
        assert "Flips are known" in screen_text(app)


@pytest.mark.slow
async def test_a_factor_without_spread_is_called_dead(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "o")
        await keys(pilot, *"off")
        await keys(pilot, "enter")
        await until(pilot, lambda: app.screen is tune(app))
        assert "dead: all have 1.0000" in why(app)
        assert slider(app, "half-life-episodic").disabled
        await until(pilot, lambda: "recency is off" in screen_text(app))


async def test_why_not_shows_any_memory_with_its_place_and_esc_lets_it_go(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "w")
        await until(pilot, lambda: isinstance(app.screen, Choose))
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
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
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
async def test_a_hidden_memory_says_why_it_is_hidden(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "w")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await keys(pilot, *"status:candidate")
        assert "waits for review" in screen_text(app)
        await keys(pilot, "enter")
        await until(pilot, lambda: app.screen is tune(app))
        assert "Not served: waits for review" in why(app)


@pytest.mark.slow
async def test_saving_makes_the_settings_the_profile_and_errors_stay_in_the_box(
    tmp_path: Path,
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "right", "right", "s")
        await until(pilot, lambda: isinstance(app.screen, Prompt))
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


@pytest.mark.slow
async def test_a_folder_that_cannot_be_written_keeps_the_box_and_the_settings(
    tmp_path: Path,
) -> None:
    (tmp_path / "profiles").write_text("a file where the folder should be")
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "right", "s")
        await until(pilot, lambda: isinstance(app.screen, Prompt))
        await keys(pilot, *"mine", "enter")
        assert isinstance(app.screen, Prompt)
        assert "The profile cannot be written" in screen_text(app)
        await keys(pilot, "escape")
        assert tune(app).session.changed


async def test_loading_asks_before_changed_settings_go_and_stretches_the_scales(
    tmp_path: Path,
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "right", "l")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await keys(pilot, *"gen", "enter")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await keys(pilot, "y")
        await until(pilot, lambda: app.screen is tune(app))
        assert slider(app, "relevance").value == 3.0
        assert slider(app, "relevance").scale.maximum == 3.0
        assert tune(app).session.profile == app.bench.tuning.profiles.get("generative-agents")
        await until(pilot, lambda: "recency by rank" in screen_text(app))


@pytest.mark.slow
async def test_a_saved_query_is_asked_at_its_own_time(tmp_path: Path) -> None:
    bench = open_bench(tmp_path, lambda: NOW + timedelta(days=40))
    for name in ("memories.jsonl", "queries.jsonl"):
        import_file(bench, DEMO / name)
    app = app_over(bench)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        assert "as of 2026-03-20 17:30" in screen_text(app)
        await keys(pilot, "f")
        await until(pilot, lambda: isinstance(app.screen, Choose))
        await keys(pilot, *"Port", "enter")
        await until(pilot, lambda: app.screen is tune(app))
        assert (
            tune(app).query_one("#query", Input).value.startswith("what has to happen in Portugal")
        )


async def test_a_candidate_filter_says_who_takes_part_and_why_another_does_not(
    tmp_path: Path,
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        asked = tune(app).rows.current
        assert isinstance(asked, Row)
        left_out = asked.standing.memory
        await keys(pilot, "C")
        await until(pilot, lambda: isinstance(app.screen, Prompt))
        await keys(pilot, *"tokn", "enter")
        assert "“tokn” is no condition." in screen_text(app)
        await keys(pilot, *["backspace"] * 4, *f"-id:{left_out.id}", "enter")
        await until(pilot, lambda: app.screen is tune(app))
        assert f"only -id:{left_out.id}" in screen_text(app)
        session = tune(app).session
        assert session.ranking is not None
        assert left_out.id not in {scored.memory.id for scored in session.ranking.best(10_000)}
        session.watched = left_out.id
        tune(app).show_store()
        await settled(pilot)
        tune(app).rows.cursor = tune(app).rows.index_of(("memory", left_out.id)) or 0
        await pilot.pause()
        assert "candidate filter leaves it out" in " ".join(why(app).split())
        assert "C changes the filter" in why(app)
        await keys(pilot, "escape", "C", *["backspace"] * 40, *"tag:no-such-tag", "enter")
        await until(pilot, lambda: "matches none of" in screen_text(app))
        await keys(pilot, "u")
        await keys(pilot, "u")
        assert session.profile == WORKBENCH
        await keys(pilot, "o", *"made", "enter")
        await until(pilot, lambda: app.screen is tune(app))
        assert session.profile.mode == "days"
        assert not slider(app, "half-life-episodic").disabled
        await until(pilot, lambda: "made" in screen_text(app))
