"""What is imported and opened while nobody waits, so that the app starts fast and no first visit waits."""

from importlib import import_module
from typing import Any

from textual.app import App

from workbench.tui.app.areas import AREAS, Areas

WITHOUT_KEYS = ("reflection.flow", "tuning.options", "tuning.profiles.sides")
"""Modules of what is opened like a dialog and has no table of keys of its own."""

LIBRARIES = ("textual_plotext", "rapidfuzz.fuzz", "pyperclip")
"""What a key of some area needs first, imported the same way: the largest takes a tenth of a second."""


def import_all(areas: Areas = AREAS) -> None:
    """Import what areas and dialogs need, so that no first visit waits; meant for a thread while nobody waits."""
    for area in areas:
        _ = area.screen_class
    for place in dict.fromkeys(table.place for table in areas.dialogs if table.place):
        import_module(place)
    for name in WITHOUT_KEYS:
        import_module(f"workbench.tui.{name}")
    for library in LIBRARIES:
        import_module(library)


def open_next(app: App[Any], areas: Areas) -> bool:
    """Open the next area that nobody has visited, out of sight; tell whether there was one.

    It is built and styled, and reads of the store what it shows when it comes into sight (`AreaScreen.begin`).
    """
    area = next((area for area in areas if area.id not in app._screen_stacks), None)
    if area is None:
        return False
    app._init_mode(area.id)
    app._screen_stacks[area.id][0]._css_update_count = app._css_update_count  # its styles will be the present ones
    return True
