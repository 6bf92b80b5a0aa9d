"""Another process holds the store's lock and does not go on, or takes the store's folder away: the
app goes on.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from textual.widgets import TextArea

from tests.busy_store import go_on, stopped_holder
from tests.tui.small_host import filled, quiet, started
from tests.tui.support import DEMO, app_over, opens, screen_text, shows
from tests.tui.waiting import until
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.files.imports import ImportDialog
from workbench.tui.stream.screen import StreamScreen
from workbench.tui.widgets.dialog import Confirm, SafeInput


def stream(app: WorkbenchApp) -> StreamScreen:
    assert isinstance(app.screen, StreamScreen)
    return app.screen


def voted(app: WorkbenchApp, id: str) -> str:
    return app.bench.stream.live_vote(id)


async def test_esc_gives_up_for_the_threads_that_wait_then_and_for_none_that_comes_after(
    tmp_path: Path,
) -> None:
    async with app_over(filled(tmp_path)).run_test(size=(80, 24)) as pilot:
        app = await started(pilot)
        gives_up = app.waits.patience.gives_up
        assert gives_up is not None
        with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
            assert not one.submit(gives_up).result()
            assert app.waits.give_up()
            assert not other.submit(gives_up).result()
            assert one.submit(gives_up).result()
            assert not one.submit(gives_up).result()


@pytest.mark.slow
async def test_leaving_asks_before_changes_that_wait_are_lost(tmp_path: Path) -> None:
    bench = filled(tmp_path)
    async with app_over(bench).run_test(size=(80, 24)) as pilot:
        app = await started(pilot)
        first = stream(app).memories[0].id
        with stopped_holder(bench.library.folder) as holder:
            await pilot.press("plus", "q")
            await opens(pilot, Confirm)
            assert f"1 change waits for PID {holder.pid}" in screen_text(app)
            await pilot.press("n")
            await opens(pilot, StreamScreen)
            go_on(holder)
            await until(pilot, lambda: voted(app, first) == "helpful")
        await pilot.press("q")
        await until(pilot, lambda: app._exit)


@pytest.mark.slow
async def test_leaving_does_not_wait_for_a_thread_that_waits(tmp_path: Path) -> None:
    bench = filled(tmp_path)
    lines = (DEMO / "memories.jsonl").read_text("utf-8").splitlines()
    more = tmp_path / "more.jsonl"
    more.write_text("\n".join(lines[-3:]), "utf-8")
    with ExitStack() as stack:
        async with app_over(bench).run_test(size=(80, 24)) as pilot:
            app = await started(pilot)
            await pilot.press("F")
            app.screen.query_one("#import-path", SafeInput).value = str(more)
            await opens(pilot, ImportDialog, lambda s: s.chosen.plan is not None)
            holder = stack.enter_context(stopped_holder(bench.library.folder))
            await pilot.press("ctrl+s")
            await shows(pilot, f"waiting for PID {holder.pid}")
        await asyncio.get_running_loop().shutdown_default_executor()
    bench.close()


async def test_a_store_that_is_taken_away_is_said_and_never_made_anew(tmp_path: Path) -> None:
    bench = filled(tmp_path)
    store, away = bench.library.folder, tmp_path / "away"
    async with app_over(bench).run_test(size=(80, 24)) as pilot:
        app = await started(pilot)
        memory = stream(app).memories[0]
        store.rename(away)
        await shows(pilot, "the store is missing")
        await pilot.press("plus", "u", "4", "slash", *"deploy", "enter")
        for key in "12346":
            await pilot.press(key)
            await pilot.pause()
            assert "the store is missing" in screen_text(app)
        assert not store.exists()
        away.rename(store)
        await until(pilot, lambda: "the store is missing" not in screen_text(app))
        await pilot.press("1", "g", "plus")
        await until(pilot, lambda: voted(app, memory.id) == "helpful")
    bench.close()


CHANGES = {
    "stream": ("1", "g", "plus", "p", "u"),
    "stream, typed": ("1", "g", "e", *"xyz", "ctrl+s"),
    "review": ("2", "g", "a", "x", "space"),
    "playbook": ("3", "g", "j", "plus", "p", "right_curly_bracket"),
    "playbook, typed": ("3", "g", "j", "O", *"xyz", "enter"),
    "tune": ("4", "slash", *"deploy", "enter", "Q"),
    "agents": ("5", "enter", "j", "plus", "p"),
    "health": ("6", "g", "a", "c", "r"),
    "health, backup": ("6", "b", "ctrl+s"),
}
"""Keys of every area that would change the store, or take it for one."""


@pytest.mark.slow
@pytest.mark.parametrize("area", CHANGES)
async def test_no_change_makes_a_store_anew_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, area: str
) -> None:
    monkeypatch.chdir(tmp_path)
    bench = filled(tmp_path)
    store, away, rev = bench.library.folder, tmp_path / "away", bench.library.journal.rev
    async with app_over(bench).run_test(size=(80, 24)) as pilot:
        app = await started(pilot)
        store.rename(away)
        await shows(pilot, "the store is missing")
        for key in CHANGES[area]:
            await pilot.press(key)
        await quiet(app, pilot)
        assert "the store is missing" in screen_text(app)
        assert not store.exists()
        assert not list(tmp_path.glob("*.tar.gz"))
        if area.endswith("typed"):
            box = app.screen.query_one("TextArea, Input")
            assert "xyz" in (box.text if isinstance(box, TextArea) else getattr(box, "value", ""))
        away.rename(store)
        await until(pilot, lambda: "the store is missing" not in screen_text(app))
        assert bench.library.journal.rev == rev
    bench.close()
