"""The areas as Textual modes; all but the first are imported when first opened, so that the app starts fast."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module

from textual.screen import Screen

SCREENS: Mapping[str, str] = {
    "stream": "StreamScreen",
    "review": "ReviewScreen",
    "playbook": "PlaybookScreen",
    "tune": "TuneScreen",
    "health": "HealthScreen",
}
"""The area of every screen; it stands in the module of the area's name."""


def openers() -> dict[str, Callable[[], Screen[object]]]:
    """Return what makes each area's screen, for `App.MODES`."""
    return {area: partial(_open, area) for area in SCREENS}


def import_all() -> None:
    """Import what every area needs, so that no first visit waits for it; meant for a thread while nobody waits."""
    for area in SCREENS:
        _module(area)


def _open(area: str) -> Screen[object]:
    screen: Screen[object] = getattr(_module(area), SCREENS[area])()
    return screen


def _module(area: str) -> object:
    return import_module(f"workbench.tui.screens.{area}")
