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

from workbench.core.words import words
from workbench.tui.actions import HELP
from workbench.tui.app.actions import Action, HelpGroup, bindings, help_groups
from workbench.tui.widgets.content import assemble, body, fitted
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.texts.safe_input import SafeInput

_TWO_COLUMNS = 76
NO_MATCH = "Nothing here holds these words. Ctrl+p looks through the actions of the other areas, too."
_KEYS = 9
_KEY = "key"
"""What a row knows of itself: the name of its key."""

_SECOND = re.compile(r" +\S.*?\s{2,}(?=\S)")
"""An indented line up to its second column."""


class HelpScreen(Dialog[None]):
    """Every action with its keys, in one or two columns, then `more` (such as the filter's words).

    A click on a row closes the help and presses its key, so that the mouse reaches every action. Words narrow it to the
    rows that hold them all, or other words for them.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(HELP)
    DEFAULT_CSS = """
    HelpScreen {
        & > .dialog { width: 110; height: 90%; }
        & VerticalScroll { height: 1fr; scrollbar-size-vertical: 1; }
        & SafeInput { margin-bottom: 1; background: $background; }
    }
    """

    def __init__(self, title: str, actions: Sequence[Action], more: str = "") -> None:
        super().__init__(f"{title} · a click on a row presses its key", HELP)
        self._groups = help_groups(actions)
        self._more = more

    def contents(self) -> Iterable[Widget]:
        """Return the words to look for, the scrolled table and the further text."""
        box = SafeInput(placeholder="what to look for, such as delete or sort")
        box.display = False
        yield box
        yield VerticalScroll(Static(Content(""), id="keys"), Static(Content(""), id="more"))

    def on_mount(self) -> None:
        """Let the keys scroll."""
        self.query_one(VerticalScroll).focus()

    def on_resize(self, event: events.Resize) -> None:
        """Lay the table out for the width there is."""
        self._show(event.size.width)

    def on_input_changed(self) -> None:
        """Show what holds the words."""
        self._show(self.size.width)
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def on_input_submitted(self) -> None:
        """Let the keys scroll what was found."""
        self.query_one(VerticalScroll).focus()

    def _show(self, screen: int) -> None:
        width = min(110, screen) - 5
        groups, more = narrowed(self._groups, self._more, words(self.query_one(SafeInput).value))
        table = help_table(groups, width) if groups or more else Content(NO_MATCH)
        self.query_one("#keys", Static).update(table)
        self.query_one("#more", Static).update(body(hanging(more, width)))

    def action_find(self) -> None:
        """Go to the words to look for."""
        box = self.query_one(SafeInput)
        box.display = True
        self.set_focus(box)

    def on_click(self, event: events.Click) -> None:
        """Press the key of the row under the mouse."""
        key = event.style.meta.get(_KEY)
        if isinstance(key, str):
            event.stop()
            self.dismiss(None)
            self.app.call_later(self.app.simulate_key, key)

    def action_close(self) -> None:
        """Let go of the words that are looked for, or close the help."""
        box = self.query_one(SafeInput)
        if not box.display:
            self.dismiss(None)
            return
        box.value = ""
        box.display = False
        self.query_one(VerticalScroll).focus()


def narrowed(groups: Sequence[HelpGroup], more: str, asked: list[str]) -> tuple[Sequence[HelpGroup], str]:
    """Return the rows, and the indented lines of the further text, that hold all words or others for them.

    The groups with the words themselves come first.
    """
    if not asked:
        return groups, more
    from workbench.tui.app.palette import described  # most people only look

    found: list[tuple[float, HelpGroup]] = []
    for group in groups:
        rows = zip(group.rows, group.keys, group.labels, strict=True)
        fits = [(described(asked, " ".join((*row[0], row[2]))), row) for row in rows]
        kept = [row for fit, row in fits if fit]
        if kept:
            found.append((max(fit for fit, _ in fits), HelpGroup(group.title, *zip(*kept, strict=True))))
    found.sort(key=lambda one: -one[0])
    return [group for _, group in found], "\n".join(
        line for line in more.split("\n") if line.startswith("  ") and described(asked, line)
    )


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
