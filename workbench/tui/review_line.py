"""The line below the texts of Review: after a rejection it offers reasons, else it explains the signs."""

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from workbench.tui.areas import REASONS
from workbench.tui.content import MUTED, assemble, fitted
from workbench.tui.review_rows import legend

HEAD = "Why?  "
REST = "or go on"


class ReasonLine(Widget):
    """One line that is always there, so that nothing moves when it asks."""

    class Picked(Message):
        """A reason was clicked; `index` is its place in `REASONS`."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    ReasonLine { height: 1; padding: 0 1; color: $foreground; }
    """

    asking = reactive(False)
    hint = reactive("")
    """Stands on the right while nothing is asked."""

    def render(self) -> Content:
        """Return the reasons with their keys, or the legend."""
        if not self.asking:
            hint = Content.styled(self.hint, MUTED)
            room = max(0, self.content_size.width - len(self.hint))
            return fitted(legend(room), room) + hint
        pieces = [(HEAD, "bold")]
        for action in REASONS:
            pieces += [(action.shown_key, "bold $text-accent"), (f" {action.label}  ", "")]
        return fitted(assemble([*pieces, (REST, MUTED)]), self.content_size.width)

    def on_click(self, event: events.Click) -> None:
        """Take the reason under the mouse."""
        offset = event.get_content_offset(self)
        if not self.asking or offset is None:
            return
        at = len(HEAD)
        for index, action in enumerate(REASONS):
            end = at + len(action.shown_key) + len(action.label) + 3
            if at <= offset.x < end:
                self.post_message(self.Picked(index))
            at = end
