"""Painting at rest: what an app shows once it has done what a key brought about, and none of the steps on the way.

A key is followed by several paints, each of which draws widgets that the next one draws again: a fifth of what the
tests of the app cost.
"""

from textual.screen import Screen


class Painter:
    """Paints screens when it is told to. `keep` stands in for a screen's own painting."""

    def __init__(self) -> None:
        self._paint = Screen._compositor_refresh
        self._due: dict[Screen[object], None] = {}

    def keep(self, screen: Screen[object]) -> None:
        """Note a screen that is to be painted."""
        self._due[screen] = None

    def paint(self) -> bool:
        """Paint what is due and still there; tell whether anything was."""
        due, self._due = [screen for screen in self._due if screen.is_running], {}
        for screen in due:
            with screen._context():
                self._paint(screen)
        return bool(due)
