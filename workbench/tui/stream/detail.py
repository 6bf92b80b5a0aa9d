"""A record beside a list, in full: it scrolls with the keys that move in a list, and has links."""

from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from workbench.tui.app.actions import bindings
from workbench.tui.widgets.actions import LINKS, MOVES, READ_ON
from workbench.tui.widgets.lists.long_text import LongText
from workbench.tui.widgets.lists.reading_pane import KeyScroll, LinkKeys, line_of


class DetailPane(LinkKeys, KeyScroll, inherit_bindings=False):
    """A scrolled text; with the focus it takes the keys of a list, a line for a row."""

    BINDINGS: ClassVar[list[BindingType]] = bindings((*MOVES, *LINKS, READ_ON))

    def __init__(self, shown: LongText, *, id: str | None = None) -> None:
        super().__init__(shown, id=id)
        self._shown = shown

    @property
    def text(self) -> Content:
        shown = self._shown.content
        return shown if isinstance(shown, Content) else Content("")

    def draw_anew(self, text: Content) -> None:
        """Show the same words in other styles; what is in sight stays."""
        self._shown.update(text)

    def reveal(self, end: int) -> None:
        """Bring the character before a place in the text into sight."""
        line, top, high = line_of(self.text, end, self._shown.size.width), self.scroll_offset.y, self.size.height
        if not top <= line < top + high:
            self.scroll_to(y=max(0, line - high // 2), animate=False)
