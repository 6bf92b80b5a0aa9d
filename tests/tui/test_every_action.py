"""No key is shown that does nothing: every action of an area has a method behind it."""

import re
from operator import attrgetter
from pathlib import Path

import pytest

from tests.tui.support import demo_app
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.areas import AREAS, Area


@pytest.mark.parametrize("area", AREAS.every, ids=lambda a: a.id)
def test_every_action_of_an_area_can_be_run(area: Area) -> None:
    screen = area.screen_class
    methods = [action.method.partition("(")[0] for action in area.actions]
    missing = [m for m in methods if "." not in m and not hasattr(screen, f"action_{m}")]
    assert missing == []


@pytest.mark.slow
async def test_every_path_that_an_action_names_leads_somewhere(tmp_path: Path) -> None:
    app = demo_app(tmp_path)
    async with app.run_test() as pilot:
        for area in AREAS.every:
            await app.switch_mode(area.id)
            await pilot.pause()
            for action in area.actions:
                if named := re.fullmatch(r"do\('(.+)'\)", action.method):
                    assert callable(attrgetter(named[1])(app.screen)), action.id


def test_every_global_action_can_be_run() -> None:
    methods = [action.method.partition("(")[0] for action in AREAS.everywhere]
    assert [m for m in methods if not hasattr(WorkbenchApp, f"action_{m}")] == []
