"""What is imported and opened while nobody waits, so that the app starts fast and no first visit waits."""

from importlib import import_module
from typing import Any

from textual.app import App
from textual.message_pump import MessagePump
from textual.screen import Screen

from workbench.tui.app.areas import AREAS

WITHOUT_KEYS = (
    "app.palette", "health.undoing", "reflection.flow", "stream.arranging", "stream.nearby", "tuning.options",
    "tuning.profiles.sides",
)  # fmt: skip
"""Modules of what is opened like a dialog and has no table of keys of its own."""

BEHIND_KEYS = (
    "clipboard", "services.agents.index_file", "services.duplicates.bullets", "services.forms.bullets", "services.forms.memories",
    "services.forms.proposals", "services.promotion.promotion", "services.promotion.targets", "services.review.kinds.candidate",
    "services.review.kinds.merge", "services.stream.ingest", "services.tuning.judging", "config.views", "store.history.past",
)  # fmt: skip
"""What the first use of a key imports below the screens."""

LIBRARIES = ("textual_plotext", "rapidfuzz.fuzz", "pyperclip")
"""What a key of some area needs first, imported the same way: the largest takes a tenth of a second."""


def import_all() -> None:
    """Import what areas and dialogs need, so that no first visit waits; meant for a thread while nobody waits."""
    for area in AREAS:
        _ = area.screen_class
    for place in dict.fromkeys(table.place for table in AREAS.dialogs if table.place):
        import_module(place)
    for name in WITHOUT_KEYS:
        import_module(f"workbench.tui.{name}")
    for name in BEHIND_KEYS:
        import_module(f"workbench.{name}")
    for library in LIBRARIES:
        import_module(library)


class Ahead:
    """Opens the areas of an app that nobody has visited, out of sight.

    They are built and styled, and read of the store what they show when they come into sight (`AreaScreen.begin`).
    """

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._left = [area.id for area in AREAS]

    @property
    def is_done(self) -> bool:
        """Whether every area was visited or opened, or could not be."""
        return all(mode in self._app._screen_stacks for mode in self._left)

    def open_next(self) -> None:
        """Open the next area, once: one that cannot be built is left to who visits it. Raises what building raises."""
        stacks = self._app._screen_stacks
        mode = next((mode for mode in self._left if mode not in stacks), None)
        if mode is not None:
            self._left.remove(mode)
            self._app._init_mode(mode)
            stacks[mode][0]._css_update_count = self._app._css_update_count  # its styles will be the present ones

    def forget_unbuilt(self, pump: MessagePump) -> None:
        """Let an area that an error kept from being built be built anew by whoever visits it."""
        stacks = self._app._screen_stacks
        mode = next((mode for mode, stack in stacks.items() if stack == [pump]), self._app.current_mode)
        if mode != self._app.current_mode and isinstance(pump, Screen) and not pump.is_mounted:
            del stacks[mode]
            pump.call_later(pump.remove)
