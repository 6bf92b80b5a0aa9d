"""Keeps the garbage collector still between a key and what it brings to the screen.

A full collection of a large store's app takes as long as a decision; a moment after the paint nobody waits for it.
What stays for as long as the app does (the store's records, the index, the modules) is not walked at all: with it a
collection takes a tenth of a second and more, and comes with whichever key is pressed then.
"""

import gc
from time import monotonic

from textual.screen import Screen
from textual.timer import Timer

from workbench.core.runtime import be_usual, give_back, withhold

AFTER = 0.2
"""Seconds after the last hold in which collections happen again."""

REST, LONG_REST = 0.1, 60.0
"""Seconds without a key in which nobody minds a collection, and one of everything: the sooner, the less there is to
collect. Three hundred thousand objects, what a minute of keys leaves, take a fifth of a second."""

DUE, THOROUGH = 3, 400
"""Collections of the younger objects after which a sweep is due, and sweeps after which one of everything is."""

LATE = 200
"""Collections of the younger objects after which a full one happens even so; Python's own is 10."""


YOUNG = 1
"""The generation up to which what came during a hold is collected at its end, before the next key would have to."""


class Stillness:
    """Holds collections back for a moment: until `after` seconds after the last hold."""

    def __init__(self, screen: Screen[object], after: float = AFTER) -> None:
        self._screen, self._after = screen, after
        self._timer: Timer | None = None

    def hold(self) -> None:
        """Hold collections back from now on; where somebody else does, they are left alone."""
        if self._timer is not None:
            self._timer.reset()
        elif gc.isenabled():
            gc.disable()
            self._timer = self._screen.set_timer(self._after, self._rested)

    def _rested(self) -> None:
        self.release()
        gc.collect(YOUNG)

    def release(self) -> None:
        """Let collections happen again."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
            gc.enable()


class Heap:
    """Keeps the collector away from the keyboard while the app runs.

    What is there once everything is loaded is left out of every collection, and so is what areas built since then. A
    full collection of the rest happens while nobody presses a key, and otherwise only after very much was made.
    """

    def __init__(self) -> None:
        self._before: tuple[int, int, int] | None = None
        self._pressed = 0.0
        self._sweeps = 0

    def settle(self) -> None:
        """Leave out what is there now, until `let_go`; what nothing holds any more still goes."""
        if self._before is None:
            be_usual()
            self._before = gc.get_threshold()
        withhold()
        gc.set_threshold(self._before[0], self._before[1], LATE)

    def pressed(self) -> None:
        """Note that somebody is at the keyboard."""
        self._pressed = monotonic()

    @property
    def rest(self) -> float:
        """Seconds since somebody was at the keyboard."""
        return monotonic() - self._pressed

    def sweep(self, *, stays: bool = True) -> None:
        """Collect what is due, unless a key was pressed just now.

        What is left then `stays` where no dialog is open.
        Without that, what keys leave in dialogs would be as much as takes half a second, all at once. Of what stays,
        too, some is no longer used one day: a long rest is for looking there.
        """
        rest = self.rest
        if self._before is None or rest < REST or not gc.isenabled() or gc.get_count()[2] < DUE:
            return
        if not stays:
            gc.collect()
            return
        self._sweeps += 1
        if self._sweeps >= THOROUGH and rest > LONG_REST:
            self._sweeps = 0
            give_back()
        gc.collect()
        withhold()

    def let_go(self) -> None:
        """Leave the collector as it was found: what the app held may go with it."""
        if self._before is not None:
            gc.set_threshold(*self._before)
            give_back()
            self._before = None
