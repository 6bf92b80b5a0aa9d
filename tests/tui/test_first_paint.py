"""How often what opens is painted before it stands: once, however many times it is laid out."""

import asyncio
from pathlib import Path

import pytest
from textual import events
from textual.screen import Screen

from tests.tui.support import demo_app
from tests.tui.waiting import until
from workbench.tui.app.area import AreaScreen
from workbench.tui.widgets.dialog import Dialog

AT_REST_S = 0.4
"""Seconds in which whatever still moves would be painted again, many frames of it."""


PATIENCE_S = 60.0


@pytest.mark.parametrize(("key", "opens"), [("question_mark", "HelpScreen"), ("e", "RecordForm")])
async def test_a_dialog_is_painted_once_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, opens: str
) -> None:
    app, painted = demo_app(tmp_path), []
    paint = Screen._compositor_refresh

    def painting(screen: Screen[object]) -> None:
        if isinstance(screen, Dialog) and screen is app.screen:
            painted.append(type(screen).__name__)
        paint(screen)

    monkeypatch.setattr(Screen, "_compositor_refresh", painting)
    async with app.run_test(size=(140, 45)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AreaScreen) and bool(app.screen.focused))
        # The pilot paints by itself while it waits, so it is not asked to.
        event = events.Key(key, key if len(key) == 1 else "?")
        event.set_sender(app)
        app.post_message(event)
        async with asyncio.timeout(PATIENCE_S):
            while not painted:
                await asyncio.sleep(0.01)
        await asyncio.sleep(AT_REST_S)
        assert painted == [opens]
