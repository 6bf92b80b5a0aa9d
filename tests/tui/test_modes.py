"""Every area has a screen, and all of them can be imported ahead."""

import sys

import pytest

from workbench.tui import modes
from workbench.tui.screens.area import AreaScreen


@pytest.mark.parametrize("area", modes.SCREENS)
def test_every_area_opens_its_own_screen(area: str) -> None:
    screen = modes.openers()[area]()
    assert isinstance(screen, AreaScreen)
    assert area == screen.AREA


def test_what_every_area_needs_is_imported_ahead() -> None:
    modes.import_all()
    assert {f"workbench.tui.screens.{area}" for area in modes.SCREENS} <= sys.modules.keys()
