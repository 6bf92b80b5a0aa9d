"""What a text needs that has links in it: to draw them, to bring one into sight, and somebody who knows them."""

from typing import Any, Protocol

from textual.actions import SkipAction
from textual.content import Content
from textual.screen import Screen

from workbench.core.named import implementation

LINKS = "workbench.tui.records.links:links_of"
"""What makes the links of a pane of an area."""


class Page(Protocol):
    """A text in a pane, whose links can be drawn and brought into sight."""

    @property
    def screen(self) -> Screen[Any]:
        """The screen it is on."""

    @property
    def text(self) -> Content:
        """The text as it is shown."""

    def draw_anew(self, text: Content) -> None:
        """Show the same words in other styles; what is in sight stays."""

    def reveal(self, end: int) -> None:
        """Bring the character before a place in the text into sight."""


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


class LinkKeys:
    """The keys of a pane's links (`widgets.actions.LINKS`); where there is none they mean what they do around it."""

    links: Linked | None = None
    """What knows the links of the text, where there may be some."""

    def action_next_link(self) -> None:
        """To the next link, or on to what the key means around the text."""
        if self.links is None or not self.links.go(1):
            raise SkipAction

    def action_previous_link(self) -> None:
        """To the link before."""
        if self.links is None or not self.links.go(-1):
            raise SkipAction

    def action_open_link(self) -> None:
        """Open what the link under the cursor names."""
        if self.links is None or not self.links.follow():
            raise SkipAction


class Later:
    """The links of a page, made when one of its keys is first pressed: a start waits for none of that."""

    def __init__(self, name: str, *made_of: object) -> None:
        self._name, self._made_of = name, made_of
        self._links: Linked | None = None

    @property
    def _made(self) -> Linked:
        if self._links is None:
            self._links = implementation(self._name)(*self._made_of)
        assert self._links is not None
        return self._links

    def go(self, step: int) -> bool:
        """Go to the next link (1) or the one before (-1); False where there is none."""
        return self._made.go(step)

    def step(self, step: int) -> bool:
        """Go to the next link or the one before, but not beyond the last or the first; False there."""
        return self._made.step(step)

    @property
    def is_on_one(self) -> bool:
        """Whether the cursor is on a link."""
        return self._links is not None and self._links.is_on_one

    def draw(self) -> None:
        """Draw the links in the page, where others may have been drawn before."""
        self._made.draw()

    def follow(self) -> bool:
        """Open the link that the cursor is on; False where it is on none."""
        return self._links is not None and self._links.follow()


def line_of(text: Content, end: int, width: int) -> int:
    """Return the line, counted from 0, that the character before a place in a text stands on once it is wrapped."""
    return len(text[:end].wrap(width)) - 1 if end > 0 and width > 0 else 0
