"""A host app for one widget, and what the tests look at: the lines on the screen."""

import unicodedata
from collections.abc import Callable
from typing import Any

from textual.app import App, ComposeResult
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from workbench.core.text import LRM, direction_marks, is_needed

HOSTILE = "\x1b[31mred\x1b[0m \x9b2J \u202etxt.exe\u202c [b]bold[/b] [/x] [shr-00001] \u200bzero"


class Host(App[Any]):
    """An app with the given widgets that keeps the messages they send."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, *widgets: Widget) -> None:
        super().__init__()
        self._widgets = widgets
        self.sent: list[Message] = []
        self.results: list[Any] = []

    def compose(self) -> ComposeResult:
        yield from self._widgets

    def ask(self, dialog: Screen[Any]) -> None:
        """Open a dialog and keep its result."""
        self.push_screen(dialog, self.results.append)

    def of(self, kind: type[Message]) -> list[Any]:
        """Return the kept messages of one kind, oldest first."""
        return [m for m in self.sent if isinstance(m, kind)]


def keeping(host: Host) -> Callable[[Message], None]:
    """Return a `message_hook` for `run_test` that keeps every message."""

    def keep(message: Message) -> None:
        # A message is seen once per widget it bubbles through.
        if not any(message is known for known in host.sent[-50:]):
            host.sent.append(message)

    return keep


def picture(host: App[Any]) -> list[str]:
    """Return the lines on the screen as text."""
    strips = host.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip) for strip in strips]


def is_inert(text: str) -> bool:
    """Whether no character of a text could control a terminal or reorder a line, or is hidden for
    nothing.

    Marks that keep the columns beside right-to-left text in order belong to the app.
    """
    text = text.replace(LRM, "") if direction_marks(text) else text
    odd = (
        at
        for at, c in enumerate(text)
        if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
    )
    return all(text[at] in "\u200c\u200d" and is_needed(text, at) for at in odd)
