"""What is imported while nobody waits, so that the app starts fast and no first visit waits."""

from importlib import import_module

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
