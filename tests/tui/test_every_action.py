"""No key is shown that does nothing: every action of an area has a method behind it."""

import pytest

from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.areas import AREAS, Area


@pytest.mark.parametrize("area", AREAS.every, ids=lambda a: a.id)
def test_every_action_of_an_area_can_be_run(area: Area) -> None:
    screen = area.screen_class
    methods = [action.method.partition("(")[0] for action in area.actions]
    missing = [m for m in methods if "." not in m and not hasattr(screen, f"action_{m}")]
    assert missing == []


def test_every_global_action_can_be_run() -> None:
    methods = [action.method.partition("(")[0] for action in AREAS.everywhere]
    assert [m for m in methods if not hasattr(WorkbenchApp, f"action_{m}")] == []
