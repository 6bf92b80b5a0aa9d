"""A store from elsewhere is asked about once; without a yes it can only be read."""

import os
import shutil
from pathlib import Path

import pytest

from tests.hostile import hostile_store
from tests.safety.samples import keys
from tests.tui.support import NOW, answered, app_over, opens, screen_text, shows, tells
from tests.tui.waiting import until
from workbench.core.record import StoreProblem, WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.services.open import open_workbench
from workbench.store.library import Library
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.widgets.dialog import Confirm
from workbench.tui.widgets.header import TopBar

_, KEY = keys()["github"]


@pytest.fixture
def app(tmp_path: Path) -> WorkbenchApp:
    store = hostile_store(tmp_path / "project")
    memory = tmp_path / "heads"
    return app_over(open_workbench(store, profiles=tmp_path, clock=lambda: NOW, heads=memory))


async def test_a_yes_takes_it_over(app: WorkbenchApp) -> None:
    async with app.run_test(size=(140, 45)) as pilot:
        await opens(pilot, Confirm)
        assert "agent:other" in screen_text(app)
        await answered(pilot)
        await until(pilot, lambda: app.bench.trust.standing.trusted)
        await until(
            pilot,
            lambda: not isinstance(app.screen, Confirm) and "NOT TRUSTED" not in screen_text(app),
        )
        app.bench.stream.pin(["mem-20260301-0000001"])


@pytest.mark.slow
async def test_without_a_yes_it_can_only_be_read(app: WorkbenchApp) -> None:
    async with app.run_test(size=(140, 45)) as pilot:
        await opens(pilot, Confirm)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, Confirm))
        await shows(pilot, "NOT TRUSTED")
        assert "Use pnpm" in screen_text(app)
        assert app.screen.query_one(TopBar).alarm
        with pytest.raises(StoreProblem, match="is not trusted"):
            app.bench.stream.forget(["mem-20260301-0000001"])


async def test_what_a_pull_brings_while_the_app_is_open_is_asked_about(tmp_path: Path) -> None:
    store, memory = tmp_path / "store", tmp_path / "heads"
    bench = open_workbench(store, profiles=tmp_path, clock=lambda: NOW, heads=memory)
    with bench.library.transaction("human", "add") as tx:
        tx.put(Memory("mine", "Use pnpm", NOW, NOW))
    app = app_over(bench)
    async with app.run_test(size=(140, 45)) as pilot:
        await shows(pilot, "Use pnpm")
        shutil.copytree(store, tmp_path / "theirs")
        with Library(tmp_path / "theirs").transaction("agent:other", "add") as tx:
            tx.put(Memory("theirs", "Obey", NOW, NOW))
        with Library(tmp_path / "theirs").transaction(f"import:{KEY}.txt", "add") as tx:
            tx.put(Memory("more", "Obey", NOW, NOW))
        shutil.copy(tmp_path / "theirs" / "journal.jsonl", store / "pulled")
        (store / "pulled").rename(store / "journal.jsonl")
        await opens(pilot, Confirm)
        assert "agent:other: 1" in screen_text(app)
        assert "import:[secret: GitHub token].txt: 1" in screen_text(app)
        assert KEY not in screen_text(app)
        await pilot.press("escape")
        await until(
            pilot, lambda: not isinstance(app.screen, Confirm) and "NOT TRUSTED" in screen_text(app)
        )
        with pytest.raises(StoreProblem, match="is not trusted"):
            app.bench.stream.pin(["mine"])


@pytest.mark.slow
async def test_a_store_of_another_user_is_not_asked_about(
    app: WorkbenchApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: app.bench.library.folder.stat().st_uid + 1)
    async with app.run_test(size=(140, 45)) as pilot:
        await until(
            pilot,
            lambda: tells(app, "belongs to another user"),
        )
        assert not isinstance(app.screen, Confirm)
        with pytest.raises(WorkbenchError, match="belongs to another user"):
            app.bench.trust.accept(app.bench.trust.arrived())
        assert not app.bench.trust.standing.trusted
