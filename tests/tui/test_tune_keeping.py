"""Tune's snapshots and profiles, the threshold of duplicates in the settings, and the episodes' own
score.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Static

from tests.tui.support import (
    answered,
    app_over,
    demo_app,
    messages,
    open_bench,
    opens,
    screen_text,
    shows,
)
from tests.tui.tune_host import WIDE, files, keys, opened, settled, slider, tune, tuning
from tests.tui.waiting import until
from workbench.config.loading import load
from workbench.core.tuning.profile import WORKBENCH
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.duplicates import DuplicatesDialog
from workbench.tui.tuning.profiles import CompareDialog, LibraryDialog, Side
from workbench.tui.widgets.bars import Slider
from workbench.tui.widgets.dialog import Confirm, Prompt
from workbench.tui.widgets.reading_pane import ReadingPane


def text(dialog: LibraryDialog) -> str:
    return dialog.query_one(ReadingPane).plain


def go_to(dialog: LibraryDialog, name: str) -> Side:
    place = next(i for i, side in enumerate(dialog.rows.rows) if side.name == name)
    dialog.rows.cursor = place
    found: Side = dialog.rows.rows[place]
    return found


def with_config(app: WorkbenchApp, path: Path) -> WorkbenchApp:
    app.options = replace(app.options, config=path)
    return app


async def test_snapshots_are_taken_named_compared_and_gone_back_to(tmp_path: Path) -> None:
    async with tuning(tmp_path, (80, 24)) as (app, pilot):
        stored = files(tmp_path / "store")
        await keys(pilot, "right n n")
        moved = tune(app).session.profile
        await keys(pilot, "right right n")
        assert [s.name for s in app.bench.tuning.snapshots.all()] == ["A", "B"]
        await keys(pilot, "N")
        dialog = await opens(pilot, LibraryDialog)
        current = dialog.rows.current
        assert current is not None
        assert (current.kind, current.name) == ("snapshot", "B")
        await keys(pilot, "k")
        assert "of the top 10 are in both" in text(dialog)
        await keys(pilot, "e")
        await opens(pilot, Prompt)
        await keys(pilot, "end backspace", *"B", "enter")
        assert "A snapshot “B” already exists." in screen_text(app)
        await keys(pilot, "backspace", *"less recency", "enter")
        await until(pilot, lambda: app.screen is dialog)
        assert [side.name for side in dialog.rows.rows][:3] == [
            "workbench • changed",
            "less recency",
            "B",
        ]
        await keys(pilot, "c")
        beside = await opens(pilot, CompareDialog)
        assert "snapshot less recency" in str(beside.query_one("#compare-head", Static).content)
        question, now = tune(app).session.question, tune(app).session.now
        assert question is not None
        assert (
            tuple(r.right.memory.id for r in beside.rows.rows[:10] if r.right)
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


async def test_a_snapshot_is_saved_with_its_certificate_and_copied(tmp_path: Path) -> None:
    async with tuning(tmp_path, (80, 24)) as (app, pilot):
        await keys(pilot, "right right n")
        kept = tune(app).session.profile
        await keys(pilot, "r N")
        dialog = await opens(pilot, LibraryDialog)
        await keys(pilot, "s")
        await opens(pilot, Prompt)
        await keys(pilot, *"workbench", "enter")
        assert isinstance(app.screen, Prompt)
        await keys(pilot, *"-two", "enter")
        await until(pilot, lambda: app.screen is dialog)
        profiles = app.bench.tuning.profiles
        assert profiles.get("workbench-two").recency == kept.recency
        birth = profiles.birth("workbench-two")
        assert birth is not None
        go_to(dialog, "workbench-two")
        await pilot.pause()
        assert birth.query_set in text(dialog).replace("\n", "")
        await keys(pilot, "y")
        assert app.clipboard == profiles.text("workbench-two")
        go_to(dialog, "A")
        await keys(pilot, "d")
        await answered(pilot)
        assert app.bench.tuning.snapshots.all() == ()


async def test_a_saved_profile_is_put_to_use_and_taken_back(tmp_path: Path) -> None:
    async with tuning(tmp_path, (80, 24)) as (app, pilot):
        assert "profile workbench (default)" in screen_text(app)
        await keys(pilot, "right a")
        assert messages(app)[-1].startswith("The changed sliders are in no profile yet: s ")
        assert app.bench.tuning.used.origin == "default"
        await keys(pilot, "s")
        await opens(pilot, Prompt)
        await keys(pilot, *"mine", "enter")
        await until(pilot, lambda: tune(app).session.saved.name == "mine")
        assert messages(app)[-1] == "Saved mine. a Use for agents."
        await keys(pilot, "a")
        assert (app.bench.tuning.used.name, app.bench.tuning.used.origin) == ("mine", "store")
        await shows(pilot, "profile mine (store)")
        await keys(pilot, "u")
        await until(pilot, lambda: app.bench.tuning.used.name == "workbench")
        await shows(pilot, "profile mine agents: workbench")
        await keys(pilot, "N")
        dialog = await opens(pilot, LibraryDialog)
        go_to(dialog, "engram")
        await keys(pilot, "a")
        assert app.bench.tuning.default().name == "engram"
        assert "in use (store)" in screen_text(app)


async def test_the_threshold_is_written_to_the_settings_and_holds(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("# mine\n[thresholds]\norder = 90 # loose\n")
    app = with_config(demo_app(tmp_path), path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await opened(pilot)
        await keys(pilot, "D")
        dialog = await opens(pilot, DuplicatesDialog, lambda d: d.found)
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
        dialog.query_one(Slider).value = 0.8
        await keys(pilot, "r")
        assert load(path).settings.thresholds.review == 0.8


@pytest.mark.slow
async def test_quitting_asks_only_while_the_sliders_stand_nowhere_else(tmp_path: Path) -> None:
    async with tuning(tmp_path) as (app, pilot):
        await keys(pilot, "right 1 q")
        await opens(pilot, Confirm)
        assert "in no profile and no snapshot" in screen_text(app)
        await keys(pilot, "n")
        await until(pilot, lambda: not isinstance(app.screen, Confirm))
        await keys(pilot, "4 n q")
        await until(pilot, lambda: not app.is_running)
    app = app_over(open_bench(tmp_path))
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot)
        await keys(pilot, "N")
        dialog = await opens(pilot, LibraryDialog)
        current = dialog.rows.current
        assert current is not None
        assert (current.kind, current.name) == ("snapshot", "A")
