"""A question before something is taken away; the answering key differs from the asking one."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.tui.app.actions import bindings
from workbench.tui.widgets.actions import CONFIRM
from workbench.tui.widgets.dialog import Dialog

GUARD = 0.15
"""Seconds after it appears in which a question takes no "yes", against stray keys."""

_AROUND = 9
"""Lines of the box at most beside the detail: its border, the question, and the keys, with the gaps between."""


class Confirm(Dialog[bool]):
    """Ask yes or no; the result is True only for a yes.

    `clock` gives seconds that never go back (such as `time.monotonic`). `question` may hold stored
    text; `detail` says what will happen and what will not be lost. One that is too long for the screen scrolls.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(CONFIRM)
    DEFAULT_CSS = """
    Confirm .confirm--detail { height: auto; }
    """

    def __init__(
        self,
        question: str,
        *,
        clock: Callable[[], float],
        detail: Content | None = None,
        yes: str = "yes",
        no: str = "no",
        guard: float = GUARD,
    ) -> None:
        super().__init__(question, (replace(CONFIRM[0], label=yes), replace(CONFIRM[1], label=no)))
        self._detail = detail
        self._clock = clock
        self._guard = guard
        self._shown_at: float | None = None

    def contents(self) -> Iterable[Widget]:
        """Return the detail, if there is one."""
        return (VerticalScroll(Static(self._detail), classes="confirm--detail"),) if self._detail else ()

    def on_resize(self, event: events.Resize) -> None:
        """Leave room for the keys."""
        for detail in self.query(".confirm--detail"):
            detail.styles.max_height = max(1, event.size.height - _AROUND)

    def on_mount(self) -> None:
        """Start the guard."""
        self._shown_at = self._clock()

    def action_yes(self) -> None:
        """Agree, unless the key came too early to be meant."""
        if self._shown_at is not None and self._clock() - self._shown_at >= self._guard:
            self.dismiss(True)

    def action_no(self) -> None:
        """Leave everything as it is."""
        self.dismiss(False)
