"""The line below the texts of Review: what was decided last, reasons after a rejection, else what the signs mean."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from workbench.tui.app.actions import Action
from workbench.tui.app.surviving import survives
from workbench.tui.review.rows import legend
from workbench.tui.widgets.content import MUTED, assemble, fitted

HEAD = "Why? "
REST = "others go on"
"""What the line says behind the reasons: they hold until then, and no digit leaves the area meanwhile."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """What was rejected last, and where the cursor came to rest: a reason may be given while it stays there."""

    group: str
    ids: tuple[str, ...]
    beside: str


@survives
class ReasonLine(Widget):
    """One line that is always there, so that nothing moves when it asks.

    `rejected` is what a reason would be for. It is `asking` from when the cursor has come to rest beside that. What is
    `said` of another decision stays until the cursor goes on from there.
    """

    class Picked(Message):
        """A reason was clicked; `index` is its place among the reasons."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    ReasonLine { height: 1; padding: 0 1; color: $foreground; }
    """

    asking = reactive(False)
    said = reactive("")
    hint = reactive("")
    """Stands on the right while nothing is asked."""

    def __init__(self, reasons: Sequence[Action]) -> None:
        super().__init__()
        self._reasons = tuple(reasons)
        self.rejected: Rejected | None = None
        self._beside = ""

    def say(self, text: str, beside: str) -> None:
        """Say what was decided, while the cursor is `beside` where that stood; an empty text says nothing."""
        self.said, self._beside = text, beside

    def rest(self, beside: str, *, moving: bool) -> None:
        """Ask while the cursor is where the rejection left it, or still on its way there."""
        if self.rejected is not None and not moving and beside != self.rejected.beside:
            self.rejected = None
        if not moving and beside != self._beside:
            self.said = ""
        self.asking = self.rejected is not None

    def go_on(self) -> None:
        """Go on without a reason."""
        self.rejected = None
        self.asking = False

    def render(self) -> Content:
        """Return the reasons with their keys, or the legend."""
        if not self.asking:
            hint = Content.styled(self.hint, MUTED)
            room = max(0, self.content_size.width - len(self.hint))
            told = Content(self.said) if self.said else legend(room)
            return fitted(told, room) + hint
        pieces = [(HEAD, "bold")]
        for action in self._reasons:
            pieces += [(action.shown_key, "bold $text-accent"), (f" {action.label}  ", "")]
        return fitted(assemble([*pieces, (REST, MUTED)]), self.content_size.width)

    def on_click(self, event: events.Click) -> None:
        """Take the reason under the mouse."""
        offset = event.get_content_offset(self)
        if not self.asking or offset is None:
            return
        at = len(HEAD)
        for index, action in enumerate(self._reasons):
            end = at + len(action.shown_key) + len(action.label) + 3
            if at <= offset.x < end:
                self.post_message(self.Picked(index))
            at = end
