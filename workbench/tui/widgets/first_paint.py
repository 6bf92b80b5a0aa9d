"""What a screen does between its opening and its first paint."""

from typing import Any

from textual.screen import Screen


def take_width(screen: Screen[Any]) -> None:
    """Give a screen the classes of the app's width before anything is in it: all of it would be styled anew later."""
    for name in screen._get_breakpoint_classes(screen.app.size.width, screen.app.HORIZONTAL_BREAKPOINTS or []):
        screen.add_class(name, update=False)


class FirstPaint:
    """Waits until a screen stands: opening lays it out several times, and what it shows comes last."""

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen
        self.waits = True

    def follow(self) -> None:
        """Let the screen, which was just mounted, be painted after what it is about to do."""
        self._screen.call_later(self._screen.call_later, self._let)

    def _let(self) -> None:
        self.waits = False
        self._screen.refresh(layout=True)
