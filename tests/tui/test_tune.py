"""Tune by its keys, over a real store: sliders, ranking, explanation, time, queries."""

import re
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.demo import SERVED
from tests.tui.support import (
    demo,
    opens,
    screen_text,
    shows,
)
from tests.tui.tune_host import (
    WIDE,
    focused,
    keys,
    ranked,
    row,
    slider,
    tune,
    tuning,
    why,
)
from tests.tui.waiting import until
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.tuning.ranking import Row
from workbench.tui.tuning.screen import TuneScreen
from workbench.tui.tuning.why import DifferenceDialog
from workbench.tui.widgets.bars import Slider


@pytest.mark.slow
async def test_a_step_ranks_at_once_and_shows_who_moved(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        before = ranked(app)
        assert {row(app, place).move[0] for place in range(1, 11)} == {""}
        await keys(pilot, *["right"] * 4)
        assert ranked(app) != before
        assert "• changed" in screen_text(app)
        for line in tune(app).rows.rows:
            if isinstance(line, Row) and line.move[0].startswith("▲"):
                place, was = line.standing.place, line.standing.before
                assert place is not None
                assert was is not None
                assert line.move[0] == f"▲{was - place}"
        assert slider(app, "recency").shown_value.startswith("0.25 21%")
        await keys(pilot, "backspace")
        assert ranked(app) == before
        assert "• changed" not in screen_text(app)


@pytest.mark.slow
async def test_the_explanation_adds_up_and_names_who_set_the_bounds(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        await keys(pilot, "tab j j")
        line = row(app, 3)
        text = why(app)
        assert "#3" in text
        assert line.standing.scored is not None
        assert f"{line.standing.scored.total:.4f}\n" in f"{text}\n"
        parts = [float(v) for v in re.findall(r"= (\d\.\d{4})$", text, re.M)]
        assert sum(parts) == pytest.approx(line.standing.scored.total, abs=2e-4)
        assert not re.search(r"^    (?:min|max) ", text, re.M)
        await pilot.press("M")
        assert len(re.findall(r"^    (?:min|max) +\S+ +\S", why(app), re.M)) == 6
        assert all(
            word in text
            for word in ("meaning", "words", "carried", f"all {SERVED} served memories")
        )
        assert "half-life" in screen_text(app)
        assert "●" in screen_text(app)


@pytest.mark.slow
async def test_the_time_machine_moves_now_and_hides_what_was_not_there_yet(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        served = len(tune(app).session.ranking.candidates)  # type: ignore[union-attr]
        await keys(pilot, *["comma"] * 4)
        assert "as of 2026-02-28 17:30 (−20 d)" in screen_text(app).replace("\u00a0", " ")
        assert len(tune(app).session.ranking.candidates) < served  # type: ignore[union-attr]
        await keys(pilot, *["full_stop"] * 4)
        assert "as of" not in screen_text(app)
        assert {row(app, place).move[0] for place in range(1, 11)} == {""}


async def test_while_the_model_loads_typing_works_and_the_ranking_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WorkbenchApp, "_load_retriever", lambda self: None)
    async with demo(tmp_path, WIDE) as (app, pilot):
        await keys(pilot, "4")
        await opens(pilot, TuneScreen)
        await shows(pilot, "model is loading")
        await keys(pilot, "slash ctrl+u", *"cookie")
        assert tune(app).query_one("#query", Input).value == "cookie"
        app.bench.retriever.load()
        tune(app).retriever_ready()
        await until(pilot, lambda: bool(ranked(app)))


@pytest.mark.slow
async def test_three_sliders_have_their_sentence_and_a_key_shows_the_others(tmp_path: Path) -> None:
    async with tuning(tmp_path, (80, 24)) as (app, pilot):
        in_sight = [one for one in tune(app).query(Slider) if one.is_on_screen]
        assert in_sight == [slider(app, name) for name in ("recency", "importance", "relevance")]
        assert screen_text(app).count("Prefers what") == 3
        await keys(pilot, "z")
        assert focused(app) is slider(app, "half-life-episodic")
        await keys(pilot, "right z")
        assert focused(app) is slider(app, "recency")
        assert "1 changed" in screen_text(app)


async def test_two_marked_rows_say_why_one_is_above_and_a_weight_swaps_them(
    tmp_path: Path,
) -> None:
    async with tuning(tmp_path) as (app, pilot):
        before = ranked(app)
        await keys(pilot, "tab j j t j t w")
        dialog = await opens(pilot, DifferenceDialog)
        text = dialog.pane.plain
        assert "Why #3 is above #4" in screen_text(app)
        parts = [float(v) for v in re.findall(r"([+-]\d\.\d{4})", text)]
        assert sum(parts[:-1]) == pytest.approx(parts[-1], abs=3e-4)
        assert [abs(v) for v in parts[:-1]] == sorted((abs(v) for v in parts[:-1]), reverse=True)
        await keys(pilot, "enter")
        after = ranked(app)
        assert after.index(before[3]) < after.index(before[2])
        assert tune(app).session.changed
        await keys(pilot, "u")
        assert ranked(app) == before
        await keys(pilot, "escape")
        assert not tune(app).session.marked
