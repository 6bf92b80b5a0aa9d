"""Another process holds the store's lock and does not go on, or takes the store's folder away: the
app goes on.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.busy_store import go_on, stopped_holder
from tests.tui.small_host import filled, started
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
            assert "the store is missing" in screen_text(app)
        assert not store.exists()
        away.rename(store)
        await until(pilot, lambda: "the store is missing" not in screen_text(app))
        await pilot.press("1", "g", "plus")
        await until(pilot, lambda: voted(app, memory.id) == "helpful")
    bench.close()
