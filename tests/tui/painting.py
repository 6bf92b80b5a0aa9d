"""Painting at rest: what an app shows once it has done what a key brought about, and none of the
steps on the way.

A key is followed by several paints, each of which draws widgets that the next one draws again: a
fifth of what the tests of the app cost. So is what stands between two keys that a test presses at
once: nobody looks at it.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

Pause = Callable[..., Awaitable[None]]


def pressed(press: Pause, rests: Pause) -> Pause:
    """Return a way to press keys that waits for the rest, and for what is painted at it, after the
    last of them.
    """

    async def keys(pilot: Pilot[Any], *names: str) -> None:
        await press(pilot, *names)
        await rests()

    return keys


class Painter:
    """Paints screens when it is told to."""

    def __init__(self) -> None:
        self._paint = Screen._compositor_refresh
        self._due: dict[Screen[object], None] = {}

    def noting(self) -> Callable[[Screen[object]], None]:
        """Return what stands in for a screen's own painting: it is noted as due."""

        def note(screen: Screen[object]) -> None:
            self._due[screen] = None
            # Where they are is known by now; a screen that has some asks to be painted again and
            # again.
            screen._dirty_widgets.clear()

        return note

    def after(self, pause: Pause) -> Pause:
        """Return a pause after which what is due is painted: one of so many seconds does not wait
        for any rest.
        """

        async def painted(pilot: Pilot[Any], delay: float | None = None) -> None:
            await pause(pilot, delay)
            self.paint()

        return painted

    def paint(self) -> bool:
        """Paint what is due and still there; tell whether anything was."""
        due, self._due = [screen for screen in self._due if screen.is_running], {}
        for screen in due:
            with screen._context():
                self._paint(screen)
        return bool(due)
