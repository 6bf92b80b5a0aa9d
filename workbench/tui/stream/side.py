"""The memory beside the Stream's list, in full: it scrolls with the keys that move in a list."""

from typing import ClassVar

from textual.binding import BindingType
from textual.containers import VerticalScroll

from workbench.tui.app.actions import bindings
from workbench.tui.app.surviving import survives
from workbench.tui.widgets.actions import MOVES


@survives
class Side(VerticalScroll, inherit_bindings=False):
    """A scrolled text; with the focus it takes the keys of a list, a line for a row."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(MOVES)

    def action_up(self) -> None:
        """One line back."""
        self.scroll_up(animate=False)

    def action_down(self) -> None:
        """One line on."""
        self.scroll_down(animate=False)

    def action_half_up(self) -> None:
        """Half a page back."""
        self.scroll_relative(y=-max(1, self.size.height // 2), animate=False)

    def action_half_down(self) -> None:
        """Half a page on."""
        self.scroll_relative(y=max(1, self.size.height // 2), animate=False)

    def action_page_up(self) -> None:
        """A page back."""
        self.scroll_page_up(animate=False)

    def action_page_down(self) -> None:
        """A page on."""
        self.scroll_page_down(animate=False)

    def action_first(self) -> None:
        """To the beginning."""
        self.scroll_home(animate=False)

    def action_last(self) -> None:
        """To the end."""
        self.scroll_end(animate=False)
