"""A text to read beside the queue: it scrolls with the keys that move in a list."""

from typing import ClassVar

from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.tui.actions import bindings
from workbench.tui.areas import LIST

_OPEN = "list.open"


class ReadingPane(VerticalScroll, inherit_bindings=False):
    """A scrolled text. `show` puts in another one; it starts at its top, or stays where one read."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(a for a in LIST if a.id != _OPEN)
    DEFAULT_CSS = """
    ReadingPane { scrollbar-size-vertical: 1; scrollbar-gutter: stable; padding: 0 1; }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._text = Static(Content(""))

    def on_mount(self) -> None:
        """Put the text in."""
        self.mount(self._text)

    def show(self, text: Content, *, keep_place: bool = False) -> None:
        """Show another text."""
        self._text.update(text)
        if not keep_place:
            self.scroll_home(animate=False)

    @property
    def plain(self) -> str:
        """The text without its styles."""
        shown = self._text.content
        return shown.plain if isinstance(shown, Content) else str(shown)

    def action_up(self) -> None:
        """One line up."""
        self._by(-1)

    def action_down(self) -> None:
        """One line down."""
        self._by(1)

    def action_half_up(self) -> None:
        """Half a page up."""
        self._by(-max(1, self.size.height // 2))

    def action_half_down(self) -> None:
        """Half a page down."""
        self._by(max(1, self.size.height // 2))

    def action_page_up(self) -> None:
        """One page up."""
        self._by(-max(1, self.size.height - 1))

    def action_page_down(self) -> None:
        """One page down."""
        self._by(max(1, self.size.height - 1))

    def action_first(self) -> None:
        """To the top."""
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        """To the end."""
        self.scroll_end(animate=False)

    def read(self, direction: int) -> bool:
        """Scroll half a page down (1) or up (−1); return whether there was anything left to scroll."""
        left = self.max_scroll_y - self.scroll_target_y if direction > 0 else self.scroll_target_y
        if left > 0:
            self._by(direction * max(1, self.size.height // 2))
        return left > 0

    def _by(self, lines: int) -> None:
        self.scroll_relative(y=lines, animate=False)
