"""What a dialog does between its opening and its first paint."""

import asyncio
from typing import Any

from textual.screen import Screen

_ROUNDS, _TURNS = 4, 4
"""How often a screen is laid out again at most before it is painted, and the turns of the event loop in which what was
given another size says what that changes."""


class FirstPaint:
    """Keeps a dialog from being painted until its layout has settled: opening lays it out several times.

    The library lays out and paints by its clock, each time all of it, as long as one layout brings about another.
    """

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen
        self._rounds = _ROUNDS
        self.waits = True

    def follow(self) -> None:
        """Let the screen, which was just mounted, be painted after what it is about to do."""
        self._screen.call_later(self._screen.call_later, self._lay_out)

    async def _lay_out(self) -> None:
        """Lay the screen out until that changes nothing more, and paint it then."""
        screen = self._screen
        if not self._rounds or not screen.is_current:
            self._let()
            return
        self._rounds -= 1
        screen._refresh_layout()
        screen._layout_required = False
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        screen.call_later(self._look)

    async def _look(self) -> None:
        if self._screen._layout_required:
            await self._lay_out()
        else:
            self._let()

    def _let(self) -> None:
        self.waits = False
        self._screen.refresh(layout=self._screen._layout_required)
        self._screen._on_timer_update()
