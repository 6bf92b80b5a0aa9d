"""Tune's searches and comparisons: auto-tune, better 1 or 2, two rankings side by side, duplicates."""

from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from tests.tui.support import (
    HOSTILE,
    NOW,
    app_over,
    demo_bench,
    import_file,
    open_bench,
    opens,
    screen_text,
    shows,
)
from tests.tui.tune_host import WIDE, files, keys, opened, settled, tune, tuning
from tests.tui.waiting import until
from workbench.core.tuning.profile import WORKBENCH
from workbench.services.tuning.queries import from_store
from workbench.tui.duplicates import DuplicatesDialog
from workbench.tui.manual import HelpScreen
from workbench.tui.tuning.judging import AutoTune, Better
from workbench.tui.widgets.bars import Slider
from workbench.tui.widgets.dialog import Prompt
from workbench.tui.widgets.line_list import LineView

D = TypeVar("D", bound=Screen[Any])


async def better(pilot: Pilot[Path | None]) -> Better:
    await keys(pilot, "B")
    return await opens(pilot, Better, lambda d: d.preferences)


async def test_auto_tune_proposes_applies_and_is_saved_with_its_gain(tmp_path: Path) -> None:
    bench = demo_bench(tmp_path)
    bench.tuning.use("generative-agents")
    start, app = bench.tuning.default(), app_over(bench)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        stored = files(tmp_path / "store")
        await keys(pilot, "A")
        dialog = await opens(pilot, AutoTune, lambda d: d.proposal)
        proposal = dialog.proposal
        assert proposal is not None
        assert proposal.verdict.conclusion in str(
            dialog.query_one(".dialog--state", Static).content
        )
        await keys(pilot, "a" if proposal.keeps else "enter")
        await settled(pilot)
        assert tune(app).session.profile == proposal.profile != start
        assert tune(app).session.saved == start
        assert files(tmp_path / "store") == stored
        await keys(pilot, "s")
        await opens(pilot, Prompt)
        await keys(pilot, *"tuned", "enter")
        await until(pilot, lambda: tune(app).session.saved.name == "tuned")
        birth = app.bench.tuning.profiles.birth("tuned")
        assert birth is not None
        assert birth.delta == pytest.approx(proposal.verdict.delta, abs=1e-4)
        assert "cross-validated" in birth.how
        assert birth.query_set == from_store(app.bench.context).digest


async def test_auto_tune_starts_from_the_sliders_as_they_stand(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        session = tune(app).session
        await keys(pilot, "right right")
        moved = session.profile
        assert moved != session.saved
        await keys(pilot, "A")
        dialog = await opens(pilot, AutoTune, lambda d: d.proposal)
        assert dialog.proposal is not None
        assert dialog.proposal.start == moved
        text = str(dialog.query_one(".dialog--state", Static).content)
        assert "settings around the current sliders (workbench, changed)" in text
        assert ("The current slider values would be lost" in text) != dialog.proposal.keeps
        await keys(pilot, "a" if dialog.proposal.keeps else "enter")
        await settled(pilot)
        assert session.profile == dialog.proposal.profile
        birth = tune(app).measuring.birth(session.saved, session.profile)
        assert birth is not None
        assert birth.how == "on all queries, by which it was chosen"


@pytest.mark.slow
async def test_esc_stops_the_search_and_leaves_the_sliders(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        await keys(pilot, "A")
        await opens(pilot, AutoTune)
        await keys(pilot, "escape")
        await until(pilot, lambda: app.screen is tune(app))
        assert tune(app).session.profile == WORKBENCH


async def test_auto_tune_with_one_query_says_what_it_needs(tmp_path: Path) -> None:
    bench = open_bench(tmp_path, lambda: NOW + timedelta(days=400))
    import_file(bench, HOSTILE / "memories.jsonl")
    bench.judging.judge("host", None, bench.library.memories.all()[0].id, 3)
    app = app_over(bench)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "A")
        await shows(pilot, "at least two judged queries")
        await keys(pilot, "enter")
        assert isinstance(app.screen, AutoTune)


@pytest.mark.slow
async def test_better_learns_takes_back_and_applies(tmp_path: Path) -> None:
    async with tuning(tmp_path, (80, 24)) as (app, pilot):
        stored = files(tmp_path / "store")
        dialog = await better(pilot)
        assert dialog.preferences is not None
        first = dialog.preferences.question
        assert first is not None
        memory = app.bench.library.memories.get(first.a)
        assert memory.content.split()[0] in screen_text(app)
        await keys(pilot, "enter")
        assert app.screen is dialog
        await keys(pilot, "a b equals_sign question_mark")
        assert isinstance(app.screen, HelpScreen)
        await keys(pilot, "escape space space")
        assert [answer for _, answer in dialog.preferences.answers] == ["a", "b", "=", "?", "?"]
        assert len({number for number, _ in dialog.preferences.answers}) == 5
        await keys(pilot, "u u u u")
        assert len(dialog.preferences.answers) == 1
        await until(
            pilot, lambda: "more answers" in screen_text(app) and "1 answer" in screen_text(app)
        )
        learnt = dialog.preferences.profile
        await keys(pilot, "enter")
        await settled(pilot)
        assert tune(app).session.profile == learnt
        assert tune(app).session.saved == WORKBENCH
        assert files(tmp_path / "store") == stored


@pytest.mark.slow
async def test_duplicates_follow_the_threshold(tmp_path: Path) -> None:
    async with tuning(tmp_path, (80, 24)) as (app, pilot):
        stored = files(tmp_path / "store")
        await keys(pilot, "D")
        dialog = await opens(pilot, DuplicatesDialog, lambda d: d.found)
        found = dialog.found
        assert found is not None
        flag = found.limits.flag
        assert dialog.query_one(Slider).value == flag
        count = len(found.groups(flag))
        assert len(dialog.query_one(LineView).rows) == count
        await keys(pilot, *["left"] * 8)
        value = dialog.query_one(Slider).value
        assert value is not None
        assert value < flag
        groups = found.groups(value)
        assert len(dialog.query_one(LineView).rows) == len(groups) > count
        apart = sum(group.kind == "apart" for group in groups)
        assert f"≠ {apart} similar, but different" in screen_text(app)
        await keys(pilot, "down")
        assert dialog.query_one(LineView).cursor == 1
        await keys(pilot, "backspace")
        assert dialog.query_one(Slider).value == flag
        await keys(pilot, "escape")
        assert files(tmp_path / "store") == stored
