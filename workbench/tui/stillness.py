"""Keeps the garbage collector still between a key and what it brings to the screen.

A full collection of a large store's app takes as long as a decision; a moment after the paint nobody waits for it.
"""

import gc

from textual.screen import Screen
from textual.timer import Timer

AFTER = 0.2
"""Seconds after the last hold in which collections happen again."""


class Stillness:
    """Holds collections back for a moment."""

    def __init__(self, screen: Screen[object]) -> None:
        self._screen = screen
        self._timer: Timer | None = None

    def hold(self) -> None:
        """Hold collections back from now on; where somebody else does, they are left alone."""
        if self._timer is not None:
            self._timer.reset()
        elif gc.isenabled():
            gc.disable()
            self._timer = self._screen.set_timer(AFTER, self.release)

    def release(self) -> None:
        """Let collections happen again."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
            gc.enable()
