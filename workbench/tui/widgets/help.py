"""The help: every key of what is open, by group, and the words of the filter."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from workbench.tui.app.actions import Action, HelpGroup, bindings, help_groups
from workbench.tui.widgets.actions import HELP
from workbench.tui.widgets.content import assemble, body, fitted
from workbench.tui.widgets.dialog import Dialog

_TWO_COLUMNS = 76
_KEYS = 9
_KEY = "key"
"""What a row knows of itself: the name of its key."""

_SECOND = re.compile(r" +\S.*?\s{2,}(?=\S)")
"""An indented line up to its second column."""


class HelpScreen(Dialog[None]):
    """Every action with its keys, in one or two columns, then `more` (such as the filter's words).

    A click on a row closes the help and presses its key, so that the mouse reaches every action.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(HELP)
    DEFAULT_CSS = """
    HelpScreen {
        & > .dialog { width: 110; height: 90%; }
        & VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; }
    }
    """

    def __init__(self, title: str, actions: Sequence[Action], more: str = "") -> None:
        super().__init__(f"{title} · a click on a row presses its key", HELP)
        self._groups = help_groups(actions)
        self._more = more

    def contents(self) -> Iterable[Widget]:
        """Return the scrolled table and the further text."""
        return (VerticalScroll(Static(Content(""), id="keys"), Static(Content(""), id="more")),)

    def on_resize(self, event: events.Resize) -> None:
        """Lay the table out for the width there is."""
        width = min(110, event.size.width) - 5
        self.query_one("#keys", Static).update(help_table(self._groups, width))
        self.query_one("#more", Static).update(body(hanging(self._more, width)))

    def on_click(self, event: events.Click) -> None:
        """Press the key of the row under the mouse."""
        key = event.style.meta.get(_KEY)
        if isinstance(key, str):
            event.stop()
            self.dismiss(None)
            self.app.call_later(self.app.simulate_key, key)

    def action_close(self) -> None:
        """Close the help."""
        self.dismiss(None)


def hanging(text: str, width: int) -> str:
    """Return a text wrapped to `width`; what continues a line stands below the second column, where it has one."""
    wrapped: list[str] = []
    for row in text.split("\n"):
        column = _SECOND.match(row)
        indent = " " * (column.end() if column and column.end() <= width // 2 else len(row) - len(row.lstrip()))
        wrapped += textwrap.wrap(row, width, subsequent_indent=indent, break_on_hyphens=False) or [""]
    return "\n".join(wrapped)


def help_table(groups: Sequence[HelpGroup], width: int) -> Content:
    """Return the groups below each other, or in two columns of like length where the width allows."""
    blocks = [_block(group) for group in groups]
    if width < _TWO_COLUMNS:
        return Content("\n").join([line for block in blocks for line in block])
    left: list[Content] = []
    right: list[Content] = []
    for block in blocks:
        (left if len(left) <= len(right) else right).extend(block)
    column = width // 2 - 1
    rows = max(len(left), len(right))
    pairs = zip(_filled(left, rows), _filled(right, rows), strict=True)
    return Content("\n").join([fitted(one, column) + Content("  ") + fitted(two, column) for one, two in pairs])


def _block(group: HelpGroup) -> list[Content]:
    rows = [
        assemble([(f"{keys:<{_KEYS}} ", "bold $text-accent"), (text, "")]).stylize(Style.from_meta({_KEY: key}))
        for (keys, text), key in zip(group.rows, group.keys, strict=True)
    ]
    return [Content.styled(group.title, "bold underline"), *rows, Content("")]


def _filled(lines: list[Content], rows: int) -> list[Content]:
    return lines + [Content("")] * (rows - len(lines))
