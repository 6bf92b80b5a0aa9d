"""Tune's snapshots and profiles, the threshold of duplicates in the settings, and the episodes' own
score.
"""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Static

from tests.tui.support import app_over, demo_app, first_of, open_bench, screen_text
from tests.tui.test_tune_dialogs import shown
from tests.tui.tune_host import WIDE, files, keys, opened, settled, slider, tune, why
from tests.tui.waiting import until
from workbench.config.loading import load
from workbench.core.tuning.profile import BUILT_IN, WORKBENCH
from workbench.services.tuning.profiles import changes
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.duplicates import DuplicatesDialog
from workbench.tui.tuning.profiles import CompareDialog, LibraryDialog, Side
from workbench.tui.widgets.bars import Slider
from workbench.tui.widgets.dialog import Choose, Confirm, Prompt
from workbench.tui.widgets.line_list import LineView
from workbench.tui.widgets.reading_pane import ReadingPane

SIZES = first_of((80, 24), (140, 45))


def text(dialog: LibraryDialog) -> str:
    return dialog.query_one(ReadingPane).plain


def go_to(dialog: LibraryDialog, name: str) -> Side:
    place = next(i for i, side in enumerate(dialog.rows.rows) if side.name == name)
    dialog.rows.cursor = place
    return dialog.rows.rows[place]


def with_config(app: WorkbenchApp, path: Path) -> WorkbenchApp:
    app.options = replace(app.options, config=path)
    return app


@pytest.mark.parametrize("size", SIZES)
async def test_snapshots_are_taken_named_compared_and_gone_back_to(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        stored = files(tmp_path / "store")
        await keys(pilot, "right", "n", "n")
        moved = tune(app).session.profile
        await keys(pilot, "right", "right", "n")
        assert [s.name for s in app.bench.tuning.snapshots.all()] == ["A", "B"]
        await keys(pilot, "N")
        dialog = await shown(pilot, LibraryDialog)
        current = dialog.rows.current
        assert current is not None
        assert (current.kind, current.name) == ("snapshot", "B")
        assert "The same settings." in text(dialog)
        await keys(pilot, "k")
        (change,) = changes(tune(app).session.profile, moved)
        assert (change.parameter, change.after) == ("recency", moved.recency)
        assert f"{change.before:.4g} → {change.after:.4g}" in text(dialog)
        assert "of the top 10 are in both" in text(dialog)
        await keys(pilot, "e")
        await shown(pilot, Prompt)
        await keys(pilot, "end", "backspace", *"B", "enter")
        assert "There is a snapshot “B” already." in screen_text(app)
        await keys(pilot, "backspace", *"less recency", "enter")
        await until(pilot, lambda: app.screen is dialog)
        assert [side.name for side in dialog.rows.rows][:3] == [
            "workbench • changed",
            "less recency",
            "B",
        ]
        await keys(pilot, "c")
        beside = await shown(pilot, CompareDialog)
        assert "snapshot less recency" in str(beside.query_one("#compare-head", Static).content)
        question, now = tune(app).session.question, tune(app).session.now
        assert question is not None
        assert (
            tuple(r.right.memory.id for r in beside.rows.rows[:10] if r.right)
            == question.rank(moved, now).ids
        )
        await keys(pilot, "x")
        assert (
            tuple(r.left.memory.id for r in beside.rows.rows[:10] if r.left)
            == question.rank(moved, now).ids
        )
        await keys(pilot, "escape")
        await until(pilot, lambda: app.screen is dialog)
        await keys(pilot, "enter")
        await until(pilot, lambda: app.screen is tune(app))
        await settled(pilot)
        assert tune(app).session.profile == moved
        assert tune(app).session.saved == WORKBENCH
        assert slider(app, "recency").value == moved.recency
        assert files(tmp_path / "store") == stored


async def test_any_two_rankings_can_be_compared(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "right", "n", "N")
        dialog = await shown(pilot, LibraryDialog)
        go_to(dialog, "engram")
        await keys(pilot, "t")
        assert dialog.against.name == "engram"
        assert "against" not in text(dialog)
        await keys(pilot, "c")
        assert app.screen is dialog
        go_to(dialog, "no-decay")
        await keys(pilot, "c")
        beside = await shown(pilot, CompareDialog)
        head = str(beside.query_one("#compare-head", Static).content)
        assert "engram" in head
        assert "no-decay" in head
        await keys(pilot, "C")
        await shown(pilot, Choose)
        await keys(pilot, *"snapshot A", "enter")
        other = await shown(pilot, CompareDialog, lambda d: d is not beside)
        assert "snapshot A" in str(other.query_one("#compare-head", Static).content)


@pytest.mark.parametrize("size", SIZES)
async def test_a_snapshot_is_saved_with_its_certificate_and_copied(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await keys(pilot, "right", "right", "n")
        kept = tune(app).session.profile
        await keys(pilot, "r", "N")
        dialog = await shown(pilot, LibraryDialog)
        await keys(pilot, "s")
        await shown(pilot, Prompt)
        await keys(pilot, *"workbench", "enter")
        assert isinstance(app.screen, Prompt)
        await keys(pilot, *"-two", "enter")
        await until(pilot, lambda: app.screen is dialog)
        profiles = app.bench.tuning.profiles
        assert profiles.get("workbench-two").recency == kept.recency
        birth = profiles.birth("workbench-two")
        assert birth is not None
        side = go_to(dialog, "workbench-two")
        await pilot.pause()
        assert side.kind == "yours"
        for said in (
            birth.query_set,
            f"{birth.judgments} judgments",
            birth.parent,
            str(profiles.path("workbench-two")),
        ):
            assert said in text(dialog).replace("\n", "")
        await keys(pilot, "y")
        assert app.clipboard == profiles.text("workbench-two")
        go_to(dialog, "engram")
        await keys(pilot, "y")
        assert tomllib.loads(app.clipboard)["name"] == "engram"
        go_to(dialog, "A")
        await keys(pilot, "d")
        await shown(pilot, Confirm)
        await keys(pilot, "y")
        await until(pilot, lambda: app.screen is dialog)
        assert app.bench.tuning.snapshots.all() == ()


async def test_another_profile_begins_at_the_first_row(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        tune(app).rows.cursor = 8
        await keys(pilot, "l")
        await shown(pilot, Choose)
        await keys(pilot, *"no-decay", "enter")
        await until(pilot, lambda: tune(app).session.saved.name == "no-decay")
        await settled(pilot)
        assert (tune(app).rows.cursor, tune(app).rows.scroll_offset.y) == (0, 0)
        tune(app).rows.cursor = 8
        await keys(pilot, "s")
        await shown(pilot, Prompt)
        await keys(pilot, *"mine", "enter")
        await until(pilot, lambda: tune(app).session.saved.name == "mine")
        assert tune(app).rows.cursor == 8


async def test_a_saved_profile_is_put_to_use_and_taken_back(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        assert "profile workbench (default)" in screen_text(app)
        await keys(pilot, "right", "a")
        assert [note.message for note in app._notifications][-1].startswith(
            "The changed sliders are in no profile yet: s "
        )
        assert app.bench.tuning.used.origin == "default"
        await keys(pilot, "s")
        await shown(pilot, Prompt)
        await keys(pilot, *"mine", "enter")
        await until(pilot, lambda: tune(app).session.saved.name == "mine")
        assert [note.message for note in app._notifications][-1] == "Saved mine. a Use for agents."
        await keys(pilot, "a")
        assert (app.bench.tuning.used.name, app.bench.tuning.used.origin) == ("mine", "store")
        await until(pilot, lambda: "profile mine (store)" in screen_text(app))
        await keys(pilot, "u")
        await until(pilot, lambda: app.bench.tuning.used.name == "workbench")
        await until(pilot, lambda: "profile mine agents: workbench" in screen_text(app))
        await keys(pilot, "N")
        dialog = await shown(pilot, LibraryDialog)
        go_to(dialog, "engram")
        await keys(pilot, "a")
        assert app.bench.tuning.default().name == "engram"
        assert "in use (store)" in screen_text(app)


@pytest.mark.slow
async def test_a_broken_profile_is_said_and_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "odd.toml").write_text("relevance = nan\n")
    (tmp_path / "profiles" / "orphan.toml").write_text("relevance = 1.0\n[birth]\nat = 3\n")
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "N")
        dialog = await shown(pilot, LibraryDialog)
        go_to(dialog, "odd")
        await keys(pilot, "enter", "c", "t", "s", "y")
        assert app.screen is dialog
        assert "not a number" in text(dialog)
        go_to(dialog, "orphan")
        await pilot.pause()
        assert "birth certificate" in text(dialog)
        await keys(pilot, "enter")
        await until(pilot, lambda: app.screen is tune(app))
        assert tune(app).session.saved.name == "orphan"


@pytest.mark.parametrize("size", SIZES)
async def test_the_threshold_is_written_to_the_settings_and_holds(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    path = tmp_path / "config.toml"
    path.write_text("# mine\n[thresholds]\norder = 90 # loose\n")
    app = with_config(demo_app(tmp_path), path)
    async with app.run_test(size=size, notifications=True) as pilot:
        await opened(pilot)
        await keys(pilot, "D")
        dialog = await shown(pilot, DuplicatesDialog, lambda d: d.found)
        before = app.bench.retriever.thresholds()
        await keys(pilot, "s")
        assert path.read_text().startswith("# mine\n[thresholds]\norder = 90 # loose\n")
        assert "duplicate" not in path.read_text()
        await keys(pilot, *["left"] * 3, "s")
        written = load(path)
        assert written.problems == ()
        assert written.settings.thresholds.flag == pytest.approx(before.flag - 0.03)
        assert written.settings.thresholds.review == before.review
        assert "order = 90 # loose" in path.read_text()
        assert app.bench.retriever.thresholds().flag == written.settings.thresholds.flag
        assert (
            f"thresholds.duplicate {before.flag:g} → {written.settings.thresholds.flag:g}"
            in screen_text(app)
        )
        dialog.query_one(Slider).value = 0.7
        await keys(pilot, "s")
        both = load(path).settings.thresholds
        assert (both.flag, both.review) == (0.7, 0.7)
        dialog.query_one(Slider).value = 0.8
        await keys(pilot, "S")
        both = load(path).settings.thresholds
        assert (both.flag, both.review) == (0.8, 0.8)
        assert dialog.query_one(Slider).ticks == (0.8, 0.8)


@pytest.mark.slow
async def test_a_store_for_trying_out_writes_no_settings(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE, notifications=True) as pilot:
        await opened(pilot)
        await keys(pilot, "D")
        await shown(pilot, DuplicatesDialog, lambda d: d.found)
        await keys(pilot, "left", "s")
        assert "no settings are written" in screen_text(app)


@pytest.mark.parametrize("size", SIZES)
async def test_episodes_are_explained_by_their_five_terms(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    app = demo_app(tmp_path)
    episodic = next(p for p in BUILT_IN if p.name == "episodic")
    async with app.run_test(size=size) as pilot:
        await opened(pilot)
        await keys(pilot, "l")
        await shown(pilot, Choose)
        await keys(pilot, *"episodic", "enter")
        await until(pilot, lambda: tune(app).session.profile == episodic)
        await settled(pilot)
        assert tune(app).session.ranking is not None
        await keys(pilot, "tab", "enter")
        for term in ("similarity", "recency", "success", "use", "domain"):
            assert term in why(app)
        assert "unknown" in why(app)
        assert "episodes" in why(app)
        for name in ("half-life-semantic", "feedback", "feedback-half-life", "contiguity"):
            assert slider(app, name).disabled
        for name in ("recency", "importance", "relevance", "half-life-episodic", "blend", "k"):
            assert not slider(app, name).disabled
        await keys(pilot, "escape")
        semantic = next(m for m in app.bench.library.memories.all() if m.memory_type == "semantic")
        explained = tune(app).session.explain(semantic.id)
        assert explained is not None
        assert explained.hidden in (
            "waits for review",
            "no episode, and this profile ranks only those",
        )


@pytest.mark.slow
async def test_the_metrics_and_the_verdict_are_about_what_is_served(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        slider(app, "k").value = 4.0
        await settled(pilot)
        await until(pilot, lambda: "nDCG@4" in screen_text(app))
        await keys(pilot, "m")
        await until(pilot, lambda: "Recall@4" in screen_text(app))
        assert "MRR@4" in screen_text(app)
        assert "among the first 4 without a grade" in screen_text(app)
        assert isinstance(app.screen.query_one(LineView), LineView)


@pytest.mark.slow
async def test_quitting_asks_only_while_the_sliders_stand_nowhere_else(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "right", "1", "q")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        assert "in no profile and no snapshot" in screen_text(app)
        await keys(pilot, "n")
        await until(pilot, lambda: not isinstance(app.screen, Confirm))
        await keys(pilot, "4", "n", "q")
        await until(pilot, lambda: not app.is_running)
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "N")
        dialog = await shown(pilot, LibraryDialog)
        current = dialog.rows.current
        assert current is not None
        assert (current.kind, current.name) == ("snapshot", "A")
