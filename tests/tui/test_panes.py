"""How wide the list of an area is beside its text: moved, remembered, and over the whole width."""

from pathlib import Path

import pytest

from tests.tui.support import demo, demo_app, opens
from tests.tui.waiting import until
from workbench.config import recent
from workbench.tui.app.area import LEAST, MOST, AreaScreen
from workbench.tui.app.areas import AREAS
from workbench.tui.app.host import Host


def widths(app: Host) -> tuple[int, int]:
    screen = app.screen
    assert isinstance(screen, AreaScreen)
    left, right = (screen.query_one(pane).outer_size.width for pane in screen.PANES)
    return left, right


@pytest.mark.parametrize("area", [area.key for area in AREAS.every])
async def test_the_list_takes_more_or_less_of_the_width(tmp_path: Path, area: str) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 40)) as pilot:
        await pilot.press(area)
        await until(
            pilot, lambda: isinstance(app.screen, AreaScreen) and app.screen.area.key == area
        )
        await until(pilot, lambda: min(widths(app)) > 0)
        first = widths(app)
        await pilot.press("greater_than_sign", "greater_than_sign")
        await until(pilot, lambda: widths(app)[0] > first[0])
        wider = widths(app)
        assert abs(sum(wider) - sum(first)) <= 1
        await pilot.press("less_than_sign")
        await until(pilot, lambda: widths(app)[0] < wider[0])
        assert all(LEAST <= share <= MOST for share in app.panes.values())


async def test_one_pane_has_the_whole_width_and_opens_the_text_in_its_place(
    tmp_path: Path,
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AreaScreen))
        side = app.screen.query_one("#side")
        await pilot.press("Z")
        await until(pilot, lambda: widths(app)[0] == 140 and not side.display)
        before = dict(app.panes)
        await pilot.press("greater_than_sign")
        assert app.panes == before
        await pilot.press("enter")
        await until(pilot, lambda: side.display)
        await pilot.press("escape", "Z")
        await until(pilot, lambda: side.display and widths(app)[0] < 140)


def test_what_was_moved_is_remembered(tmp_path: Path) -> None:
    assert recent.last_panes(tmp_path) == {}
    recent.remember_panes(tmp_path, {"stream": 75})
    assert recent.last_panes(tmp_path) == {"stream": 75}
    (tmp_path / "panes.json").write_text('{"stream": 300, "review": "x", "tune": 40}')
    assert recent.last_panes(tmp_path) == {"tune": 40}


@pytest.mark.parametrize(("share", "is_narrower"), [(30, True), (75, False)])
async def test_an_area_begins_as_it_was_left(tmp_path: Path, share: int, is_narrower: bool) -> None:
    app = demo_app(tmp_path)
    app.panes["stream"] = share
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, AreaScreen) and min(widths(app)) > 0)
        left, right = widths(app)
        assert (left < right) is is_narrower


@pytest.mark.parametrize("area", ["1", "2", "3"])
async def test_on_a_narrow_screen_enter_shows_the_text_in_place_of_the_list(
    tmp_path: Path, area: str
) -> None:
    async with demo(tmp_path, (80, 24)) as (_app, pilot):
        await pilot.press(area)
        screen = await opens(pilot, AreaScreen, lambda s: s.area.key == area and s.focused)
        rows, text = (screen.query_one(pane) for pane in screen.PANES)
        await until(pilot, lambda: (rows.display, text.display) == (True, False))
        await pilot.press("j", "enter")
        await until(pilot, lambda: (rows.display, text.display) == (False, True))
        await pilot.press("escape")
        await until(pilot, lambda: (rows.display, text.display) == (True, False))
