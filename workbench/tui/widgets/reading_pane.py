"""A text to read beside the queue: it scrolls with the keys that move in a list, and draws only
what is in sight.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol

from textual import events
from textual.actions import SkipAction
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from workbench.tui.actions import LINKS, LIST, READ_ON
from workbench.tui.app.actions import bindings
from workbench.tui.widgets.content import BLANK
from workbench.tui.widgets.line_list import ListKeys


class Linked(Protocol):
    """Knows the links of a page; a pane asks it when one of its keys is pressed."""

    def go(self, step: int) -> bool:
        """Go to the next link (1) or the one before (-1); False where there is none."""

    def step(self, step: int) -> bool:
        """Go to the next link or the one before, but not beyond the last or the first; False there."""

    def follow(self) -> bool:
        """Open the link that the cursor is on; False where it is on none."""

    @property
    def is_on_one(self) -> bool:
        """Whether the cursor is on a link."""

    def draw(self) -> None:
        """Draw the links in the page, where others may have been drawn before."""


def line_of(text: Content, end: int, width: int) -> int:
    """Return the line, counted from 0, that the character before a place in a text stands on once
    it is wrapped.
    """
    return len(text[:end].wrap(width)) - 1 if end > 0 and width > 0 else 0


_OPEN = "list.open"


class ReadingPane(ScrollView, ListKeys, can_focus=True, inherit_bindings=False):
    """A scrolled text. `show` puts in another one; it starts at its top, or stays where one read.
    With a `title` it is a pane beside others.

    Unless it is to `fit`, another text never moves what stands beside the pane, so that showing one
    costs no new layout.
    """

    BINDINGS = bindings((*(a for a in LIST if a.id != _OPEN), *LINKS))
    links: Linked | None = None
    """What knows the links of the text, where there may be some."""
    acts: Callable[[str], Awaitable[None]] | None = None
    """What the usual keys do to what the text names: it is a list of that, and up and down go from
    one to the next.
    """
    DEFAULT_CSS = """
    ReadingPane {
        overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; scrollbar-gutter: stable; padding: 0 1;
    }
    """

    def __init__(self, *, id: str, title: str = "") -> None:
        super().__init__(id=id)
        if title:
            self.add_class("pane")
            self.border_title = Content(f"{title} ")
        self._text = BLANK
        self._lines: list[Content] = []
        self._wrapped_at = -1
        self._share = 0.0

    async def action_act(self, what: str) -> None:
        """Do something to what the link under the cursor names."""
        if self.acts is not None:
            await self.acts(what)

    def on_focus(self) -> None:
        """Show where one was, or begin with the first that a list names."""
        self._begin()

    def _begin(self) -> None:
        if self.links is not None and self.links.is_on_one:
            self.links.draw()
        elif self.links is not None and self.acts is not None:
            self.links.go(1)

    def _steps(self, step: int) -> bool:
        """Go to the next one of a list; False for a text that is none, and at its ends."""
        return self.acts is not None and self.links is not None and self.links.step(step)

    def show(self, text: Content, *, keep_place: bool = False) -> None:
        """Show another text."""
        self._put(text, keep_place=keep_place)
        if self.links is not None and self.screen.focused is self:
            self._begin()

    def _put(self, text: Content, *, keep_place: bool) -> None:
        self._text = text
        self._wrap()
        if not keep_place:
            self.scroll_to(y=0, animate=False, immediate=True)

    @property
    def plain(self) -> str:
        """The text without its styles."""
        return self._text.plain

    @property
    def text(self) -> Content:
        return self._text

    def draw_anew(self, text: Content) -> None:
        """Show the same words in other styles; what is in sight stays."""
        self._put(text, keep_place=True)

    def reveal(self, end: int) -> None:
        """Bring the character before a place in the text into sight."""
        line, top = (
            line_of(self._text, end, self.scrollable_content_region.width),
            self.scroll_offset.y,
        )
        if not top <= line < top + self._high:
            self.scroll_to(y=max(0, line - self._high // 2), animate=False, immediate=True)

    def _wrap(self) -> None:
        width = self._wrapped_at = self.scrollable_content_region.width
        self._lines = self._text.wrap(width) if width > 0 and self._text.plain else []
        self.virtual_size = Size(0, len(self._lines))
        if self._share:
            self.fit(self._share)
        self.refresh()

    def on_resize(self, _event: events.Resize) -> None:
        """Wrap the text anew where the width changed."""
        if self.scrollable_content_region.width != self._wrapped_at:
            self._wrap()

    # Its links; where there is none, their keys mean what they do around it

    def action_next_link(self) -> None:
        """To the next link, or on to what the key means around the text."""
        if self.links is None or not self.links.go(1):
            raise SkipAction

    def action_previous_link(self) -> None:
        if self.links is None or not self.links.go(-1):
            raise SkipAction

    def action_open_link(self) -> None:
        """Open what the link under the cursor names."""
        if self.links is None or not self.links.follow():
            raise SkipAction

    # Drawing

    def render_line(self, y: int) -> Strip:
        """Return one line in sight; Textual calls this for lines that must be repainted."""
        width, at = self.scrollable_content_region.width, y + self.scroll_offset.y
        if at >= len(self._lines):
            return Strip.blank(width, self.visual_style.rich_style)
        return self._strip(at, width)

    def _strip(self, at: int, width: int) -> Strip:
        line = self._lines[at]
        span = None if self.text_selection is None else self.text_selection.get_span(at)
        if span is not None:
            start, end = span
            marked = self.screen.get_visual_style("screen--selection")
            line = line.stylize(marked, start, len(line) if end == -1 else end)
        style = self.visual_style
        return (
            Strip(line.render_segments(style))
            .adjust_cell_length(width, style.rich_style)
            .apply_offsets(0, at)
        )

    # Selecting with the mouse

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text, as it is wrapped."""
        return selection.extract("\n".join(line.plain for line in self._lines)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002 - as Textual calls it
        self.refresh()

    # Moving

    def move_by(self, lines: int) -> None:
        """Scroll; up and down go to the one before and the next in a list of what is named."""
        if abs(lines) > 1 or not self._steps(lines):
            self.scroll_to(y=self.scroll_target_y + lines, animate=False)

    @property
    def at_end(self) -> bool:
        """Whether the last line is in sight."""
        return bool(self._lines) and self.scroll_offset.y + self._high >= len(self._lines)

    @property
    def _high(self) -> int:
        """The lines in sight, also where a fitted height is not laid out yet."""
        height = self.styles.height
        rows = self.scrollable_content_region.height
        return (
            rows
            if height is None or not height.is_cells
            else min(rows, int(height.value) - self.gutter.height)
        )

    def fit(self, share: float) -> None:
        """Be as high as the text from now on, up to a share of the screen; with 0 as the style says."""
        self._share = share
        most = max(1, int(self.screen.size.height * share))
        lines = max(1, len(self._lines)) + self.gutter.height
        self.styles.height = min(most, lines) if share else None

    @property
    def line_in_sight(self) -> int:
        """The line of the text, counted from 0, that stands first in sight, or is wrapped to there."""
        width, left = self.scrollable_content_region.width, self.scroll_offset.y
        for number, line in enumerate(self._text.plain.split("\n")):
            left -= max(1, len(Content(line).wrap(width))) if width > 0 else 1
            if left < 0:
                return number
        return 0

    def go_to_line(self, line: int) -> None:
        """Scroll to a line of the text, counted from 0, wherever it is after wrapping."""
        width, before = (
            self.scrollable_content_region.width,
            "\n".join(self._text.plain.split("\n")[:line]),
        )
        above = len(Content(before).wrap(width)) if line > 0 and width > 0 else 0
        self.scroll_to(y=above, animate=False, immediate=True)

    def read(self, direction: int) -> bool:
        """Scroll half a page down (1) or up (−1); return whether there was anything left to scroll."""
        left = self.max_scroll_y - self.scroll_target_y if direction > 0 else self.scroll_target_y
        if left > 0:
            self.move_by(direction * max(2, self.size.height // 2))
        return left > 0


# A record beside a list, in full: it scrolls with the keys that move in a list, and has links.


class DetailPane(ReadingPane):
    """A text beside a list in which space marks a row: while the text has the focus, it reads on."""

    BINDINGS = bindings((READ_ON,))
