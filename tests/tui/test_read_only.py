"""A store whose files can only be read: said from the start, and before anything is typed."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.support import app_over, demo_bench, messages, screen_text, shows
from tests.tui.waiting import until_drawn
from workbench.services.open import Workbench
from workbench.tui.app.app import ASKING_FIRST, BEGINS
from workbench.tui.app.areas import AREAS, Area
from workbench.tui.widgets.header import KeyBar, TopBar

REFUSED = "cannot be written: permission denied. Nothing was changed"


@pytest.fixture
def closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    """The demo store, closed; root may write anywhere, so for it the system's answer is that of
    anybody else.
    """
    bench = demo_bench(tmp_path)
    store = bench.library.folder
    for path in (store, store / "journal.jsonl"):
        path.chmod(path.stat().st_mode & 0o555)
    asked = os.access
    if os.access(store, os.W_OK):
        monkeypatch.setattr(
            os, "access", lambda path, mode: asked(path, mode) and Path(path).stat().st_mode & 0o200
        )
    yield bench
    store.chmod(0o755)


@pytest.mark.slow
async def test_the_header_says_so_in_every_area_until_it_can_be_written(closed: Workbench) -> None:
    app = app_over(closed)
    async with app.run_test(size=(80, 24)) as pilot:
        for area in AREAS:
            await pilot.press(area.key)
            await until_drawn(pilot, lambda: "READ-ONLY · demo" in screen_text(app).splitlines()[0])
            assert app.screen.query_one(TopBar).alarm
            assert not [
                action.id for action in app.screen.query_one(KeyBar).actions if action.changes
            ]
        (closed.library.folder / "journal.jsonl").chmod(0o644)
        closed.library.folder.chmod(0o755)
        await pilot.press("1")
        await until_drawn(pilot, lambda: "READ-ONLY" not in screen_text(app))
        assert "+ helpful" in screen_text(app).splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("area", AREAS.every, ids=lambda area: area.id)
async def test_forms_and_votes_are_refused_before_anything_is_typed(
    closed: Workbench, area: Area
) -> None:
    app = app_over(closed)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(area.key)
        screen = app.screen
        for action in (*area.actions.own, *AREAS.everywhere):
            if (
                action.changes and action.id.rpartition(".")[2] in BEGINS
            ) or action.id in ASKING_FIRST:
                app.clear_notifications()
                await pilot.pause()
                await (app if action in AREAS.everywhere else screen).run_action(action.method)
                await pilot.pause()
                assert app.screen is screen, action.id
                assert any(REFUSED in one for one in messages(app)), action.id


async def test_what_can_be_read_can_still_be_looked_for(closed: Workbench) -> None:
    app = app_over(closed)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("slash", *"token", "enter")
        await shows(pilot, "token")
        await pilot.press("s")
        assert messages(app) == []
