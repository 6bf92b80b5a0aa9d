"""The line below the texts of Review: what was decided last, else what the signs mean."""

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from workbench.tui.app.surviving import survives
from workbench.tui.review.rows import legend
from workbench.tui.widgets.content import MUTED, fitted


@survives
class DecisionLine(Widget):
    """One line that is always there, so that nothing moves. What is `said` stays until the cursor goes on."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    DecisionLine { height: 1; padding: 0 1; color: $foreground; }
    """

    said = reactive("")
    hint = reactive("")
    """Stands on the right."""

    def __init__(self) -> None:
        super().__init__()
        self._beside = ""

    def say(self, text: str, beside: str) -> None:
        """Say what was decided, while the cursor is `beside` where that stood; an empty text says nothing."""
        self.said, self._beside = text, beside

    def rest(self, beside: str) -> None:
        """Say no more of a decision once the cursor went on from there."""
        if beside != self._beside:
            self.said = ""

    def render(self) -> Content:
        """Return what was decided, or the legend."""
        hint = Content.styled(self.hint, MUTED)
        room = max(0, self.content_size.width - len(self.hint))
        return fitted(Content(self.said) if self.said else legend(room), room) + hint
