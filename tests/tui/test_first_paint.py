"""What opens is first seen where it stands, and the threads that it starts wait for that."""

import asyncio
from functools import partial
from pathlib import Path

import pytest
from textual import events
from textual.geometry import Region, Size
from textual.screen import Screen

from tests.tui.support import demo, demo_app, opens
from tests.tui.waiting import until
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.area import AreaScreen
from workbench.tui.widgets.dialog import Dialog, KeysLine
from workbench.tui.widgets.header import KeyBar, TopBar

PATIENCE_S = 60.0


@pytest.mark.parametrize(("key", "screen"), [("question_mark", "HelpScreen"), ("e", "RecordForm")])
async def test_a_dialog_stands_where_it_is_seen_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, screen: str
) -> None:
    app, frames = demo_app(tmp_path), list[Region]()
    paint = Screen._compositor_refresh

    def painting(shown: Screen[object]) -> None:
        paint(shown)
        if isinstance(shown, Dialog) and shown is app.screen:
            frames.append(shown.query_one(".dialog").region)

    monkeypatch.setattr(Screen, "_compositor_refresh", painting)
    async with app.run_test(size=(140, 45)) as pilot:
        await opens(pilot, AreaScreen, lambda s: s.focused)
        # The pilot paints by itself while it waits, so it is not asked to.
        event = events.Key(key, key if len(key) == 1 else "?")
        event.set_sender(app)
        app.post_message(event)
        async with asyncio.timeout(PATIENCE_S):
            while not frames:
                await asyncio.sleep(0.01)
        assert type(app.screen).__name__ == screen
        await pilot.pause()
        assert frames[0].area > 0
        assert frames[0] == app.screen.query_one(".dialog").region


@pytest.mark.parametrize("key", ["question_mark", "e", "H"])
async def test_a_window_of_another_size_lays_out_the_dialog_and_what_is_below_it(
    tmp_path: Path, key: str
) -> None:
    async with demo(tmp_path) as (app, pilot):
        await opens(pilot, AreaScreen, lambda s: s.focused)
        await pilot.press(key)
        await until(
            pilot,
            lambda: isinstance(app.screen, Dialog) and bool(app.screen.query_one(KeysLine).size),
        )
        for size in (Size(80, 24), Size(160, 50), Size(80, 24)):
            await pilot.resize_terminal(*size)
            await until(pilot, partial(_fits, app, size))


def _fits(app: WorkbenchApp, size: Size) -> bool:
    """Tell whether the whole box of a dialog is in the window, and what is below it fills that."""
    bar, top = (app.screen_stack[0].query_one(kind).region for kind in (KeyBar, TopBar))
    box = app.screen.query_one(".dialog").region
    return size.region.contains_region(box) and (bar.bottom, bar.width, top.width) == (
        size.height,
        *[size.width] * 2,
    )
