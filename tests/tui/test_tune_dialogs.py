"""Tune's searches and comparisons: auto-tune, better 1 or 2, two rankings side by side, duplicates."""

from collections.abc import Callable
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
    demo_app,
    demo_bench,
    first_of,
    hidden_on,
    import_file,
    open_bench,
    screen_text,
)
from tests.tui.tune_host import WIDE, files, keys, opened, settled, slider, tune
from tests.tui.waiting import until
from workbench.config.paths import shipped
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH
from workbench.services.tuning.queries import from_store
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.duplicates import DuplicatesDialog
from workbench.tui.manual import HelpScreen
from workbench.tui.records.record import OpenedRecord
from workbench.tui.tuning.judging import AutoTune, Better
from workbench.tui.tuning.profiles import CompareDialog
from workbench.tui.widgets.bars import Slider
from workbench.tui.widgets.dialog import Choose, Prompt
from workbench.tui.widgets.line_list import LineView

SIZES = first_of((80, 24), (140, 45))
D = TypeVar("D", bound=Screen[Any])


async def shown(
    pilot: Pilot[Path | None], kind: type[D], ready: Callable[[D], object] = lambda _: True
) -> D:
    """Wait for a dialog, and until it has what it works for."""
    app = pilot.app

    def there() -> bool:
        return isinstance(app.screen, kind) and bool(ready(app.screen))

    await until(pilot, there)
    await pilot.pause()
    assert isinstance(app.screen, kind)
    return app.screen


async def better(pilot: Pilot[Path | None]) -> Better:
    await keys(pilot, "B")
    return await shown(pilot, Better, lambda d: d.preferences)


def hostile(folder: Path) -> WorkbenchApp:
    bench = open_bench(folder, lambda: NOW + timedelta(days=400))
    import_file(bench, HOSTILE / "memories.jsonl")
    memories = bench.library.memories.all()
    for n, text in enumerate(("host \x1b[31m \u202e[bold]", "a\u200bb [/x]")):
        bench.judging.judge(text, None, memories[n].id, 3)
    return app_over(bench)


@pytest.mark.parametrize("size", SIZES)
async def test_auto_tune_proposes_applies_and_is_saved_with_its_gain(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    bench = demo_bench(tmp_path)
    bench.tuning.use("generative-agents")
    start, app = bench.tuning.default(), app_over(bench)
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        stored = files(tmp_path / "store")
        await keys(pilot, "A")
        dialog = await shown(pilot, AutoTune, lambda d: d.proposal)
        proposal = dialog.proposal
        assert proposal is not None
        text = str(dialog.query_one("#auto-text", Static).content)
        assert f"{proposal.before:.3f} → {proposal.after:.3f}" in text
        assert proposal.verdict.conclusion in text
        assert f"{proposal.fitted:.3f} on the queries it was chosen on" in text
        assert (
            ("Keep yours: " in text)
            == ("enter keeps the sliders as they are" in text)
            == proposal.keeps
        )
        await keys(pilot, "a" if proposal.keeps else "enter")
        await settled(pilot)
        assert tune(app).session.profile == proposal.profile != start
        assert tune(app).session.saved == start
        assert files(tmp_path / "store") == stored
        await keys(pilot, "s")
        await shown(pilot, Prompt)
        await keys(pilot, *"tuned", "enter")
        await until(pilot, lambda: tune(app).session.saved.name == "tuned")
        birth = app.bench.tuning.profiles.birth("tuned")
        assert birth is not None
        assert birth.delta == pytest.approx(proposal.verdict.delta, abs=1e-4)
        assert "cross-validated" in birth.how
        assert birth.query_set == from_store(app.bench.context).digest


@pytest.mark.slow
async def test_auto_tune_keeps_what_nothing_beats(tmp_path: Path) -> None:
    bench = open_bench(tmp_path, lambda: NOW)
    import_file(bench, shipped("fixtures/demo") / "memories.jsonl")
    for text in ("pool limit", "calendar export"):
        best = bench.tuning.rank(text, WORKBENCH, NOW, 1).ids[0]
        bench.judging.judge(text, None, best, 3)
    app = app_over(bench)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "A")
        dialog = await shown(pilot, AutoTune, lambda d: d.proposal)
        assert "Keep yours: nothing beats workbench" in str(
            dialog.query_one("#auto-text", Static).content
        )
        await keys(pilot, "a")
        assert app.screen is dialog
        await keys(pilot, "enter")
        await until(pilot, lambda: app.screen is tune(app))
        assert tune(app).session.profile == WORKBENCH


async def test_auto_tune_starts_from_the_sliders_as_they_stand(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        session = tune(app).session
        await keys(pilot, "right", "right")
        moved = session.profile
        assert moved != session.saved
        await keys(pilot, "A")
        dialog = await shown(pilot, AutoTune, lambda d: d.proposal)
        assert dialog.proposal is not None
        assert dialog.proposal.start == moved
        text = str(dialog.query_one("#auto-text", Static).content)
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
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "A")
        await shown(pilot, AutoTune)
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
        await until(pilot, lambda: "at least two judged queries" in screen_text(app))
        await keys(pilot, "enter")
        assert isinstance(app.screen, AutoTune)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_better_learns_takes_back_and_applies(tmp_path: Path, size: tuple[int, int]) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        stored = files(tmp_path / "store")
        dialog = await better(pilot)
        assert dialog.preferences is not None
        first = dialog.preferences.question
        assert first is not None
        memory = app.bench.library.memories.get(first.a)
        assert memory.content.split()[0] in screen_text(app)
        await keys(pilot, "enter")
        assert app.screen is dialog
        await keys(pilot, "a", "b", "equals_sign", "question_mark")
        assert isinstance(app.screen, HelpScreen)
        await keys(pilot, "escape", "space", "space")
        assert [answer for _, answer in dialog.preferences.answers] == ["a", "b", "=", "?", "?"]
        assert len({number for number, _ in dialog.preferences.answers}) == 5
        await keys(pilot, "u", "u", "u", "u")
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
@pytest.mark.parametrize("size", SIZES)
async def test_two_rankings_side_by_side(tmp_path: Path, size: tuple[int, int]) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        slider(app, "recency").focus()
        await keys(pilot, "right", "c")
        await shown(pilot, Choose)
        await keys(pilot, *"engram", "enter")
        dialog = await shown(pilot, CompareDialog)
        session = tune(app).session
        assert session.question is not None
        engram = next(p for p in BUILT_IN if p.name == "engram")
        theirs, mine = (
            session.question.rank(p, session.now).ids for p in (engram, session.profile)
        )
        rows = list(dialog.rows.rows)
        assert tuple(r.left.memory.id for r in rows[:10] if r.left) == theirs
        assert tuple(r.right.memory.id for r in rows[:10] if r.right) == mine
        assert f"{len(set(theirs) & set(mine))} of the top 10 are in both" in screen_text(app)
        assert "workbench • changed" in screen_text(app)
        await keys(pilot, "c")
        await shown(pilot, Choose)
        await keys(pilot, "escape")
        await until(pilot, lambda: app.screen is tune(app))


@pytest.mark.slow
async def test_in_the_groups_the_usual_keys_act_on_the_kept_one_and_never_on_the_slider(
    tmp_path: Path,
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 45)) as pilot:
        await opened(pilot)
        await keys(pilot, "D")
        dialog = await shown(pilot, DuplicatesDialog, lambda d: d.found)
        assert dialog.group is not None
        newer = dialog.group.ids[0]
        await keys(pilot, "plus", "p")
        assert app.bench.stream.live_vote(newer) == ""
        assert "press tab to go there" in " ".join(note.message for note in app._notifications)
        pinned = app.bench.stream.get(newer).pinned
        await keys(pilot, "tab", "plus", "p")
        await until(pilot, lambda: app.bench.stream.live_vote(newer) == "helpful")
        await until(pilot, lambda: app.bench.stream.get(newer).pinned != pinned)
        await keys(pilot, "enter")
        await shown(pilot, OpenedRecord)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_duplicates_follow_the_threshold(tmp_path: Path, size: tuple[int, int]) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        stored = files(tmp_path / "store")
        await keys(pilot, "D")
        dialog = await shown(pilot, DuplicatesDialog, lambda d: d.found)
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
        assert f"≠ {apart} alike, but they differ" in screen_text(app)
        await keys(pilot, "down")
        assert dialog.query_one(LineView).cursor == 1
        await keys(pilot, "backspace")
        assert dialog.query_one(Slider).value == flag
        await keys(pilot, "escape")
        assert files(tmp_path / "store") == stored


@pytest.mark.parametrize("size", SIZES)
async def test_hostile_text_is_inert_in_every_dialog(tmp_path: Path, size: tuple[int, int]) -> None:
    app = hostile(tmp_path)
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        dialog = await better(pilot)
        for _ in range(6):
            assert hidden_on(app) == []
            await keys(pilot, "a")
        assert hidden_on(app) == []
        await keys(pilot, "escape", "A")
        await shown(pilot, AutoTune)
        assert dialog is not app.screen
        await until(pilot, lambda: getattr(app.screen, "proposal", None) is not None)
        assert hidden_on(app) == []
        await keys(pilot, "escape", "c")
        await shown(pilot, Choose)
        await keys(pilot, "down", "enter")
        await shown(pilot, CompareDialog)
        assert hidden_on(app) == []
        await keys(pilot, "escape", "D")
        pairs = await shown(pilot, DuplicatesDialog, lambda d: d.found)
        pairs.query_one(Slider).value = 0.6
        await pilot.pause()
        for _ in range(6):
            assert hidden_on(app) == []
            await keys(pilot, "down")
