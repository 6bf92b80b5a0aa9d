"""The top line: which store is open, and the areas with what waits in them."""

from collections.abc import Mapping

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from workbench.core.text import cell_width, one_line
from workbench.tui.app.actions import Action, footer_entries, key_in_line
from workbench.tui.app.areas import Area
from workbench.tui.widgets.content import BLANK, MUTED, assemble, cut, fitted, line

GAP = 2
"""Cells between the store's name and what stands beside it, at least."""

DUE = "!"
"""What stands behind an area in which something is due."""

NEWS_AREA = "agents"
"""The area that tells more of what an agent does; a click on the news goes there."""

Piece = tuple[str, str, str]
"""Text, style, and the id of the area it belongs to ("" for none)."""


class TopBar(Widget):
    """One line: the store on the left, the areas as tabs on the right; a click on a tab selects it."""

    class Selected(Message):
        """A tab was clicked; `area` is the id of its area."""

        def __init__(self, area: str) -> None:
            super().__init__()
            self.area = area

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    TopBar {
        dock: top;
        height: 1;
        background: $panel;
        color: $foreground;
        padding: 0 1;
    }
    """

    areas: reactive[tuple[Area, ...]] = reactive[tuple[Area, ...]](())
    store = reactive("")
    why = reactive("")
    """Why this store is the open one; left out where there is no room beside the areas' names."""

    alarm = reactive(False)
    """Whether what is said about the store has to be seen first."""

    active = reactive("stream")
    news: reactive[tuple[str, ...]] = reactive[tuple[str, ...]](())
    """What an agent does, in several wordings, the longest first: the first that there is room for
    is shown.
    """

    counts: reactive[Mapping[str, int]] = reactive[Mapping[str, int]]({})
    """How many decisions wait, by area id; replace the whole mapping to change it."""

    due: reactive[frozenset[str]] = reactive[frozenset[str]](frozenset())
    """The ids of the areas in which something is due."""

    def render(self) -> Content:
        """Return the whole line."""
        return assemble([(text, style) for text, style, _ in self._pieces()])

    def on_click(self, event: events.Click) -> None:
        """Select the tab under the mouse."""
        offset = event.get_content_offset(self)
        at = 0
        for text, _, area in self._pieces():
            at += Content(text).cell_length
            if offset is not None and offset.x < at:
                if area:
                    self.post_message(self.Selected(area))
                return

    def _pieces(self) -> list[Piece]:
        width = self.content_size.width
        store = one_line(self.store, 40)
        for names in (True, False):
            tabs = self._tabs(names)
            taken = sum(len(text) for text, _, _ in tabs)
            if taken + cell_width(store) + GAP <= width:
                break
        room = max(0, width - taken - GAP)
        wanted = Content(store).cell_length + GAP
        news = next((text for text in self.news if wanted + Content(text).cell_length <= room), "")
        head = fitted(Content(store), room - Content(news).cell_length)
        why = f" · {self.why}" if self.why else ""
        if wanted + len(why) <= room - Content(news).cell_length:
            head = fitted(Content(store + why), room - Content(news).cell_length)
        name = len(store)
        pieces = [
            (head.plain[:name], "bold $text-warning" if self.alarm else "bold", ""),
            (head.plain[name:], MUTED, ""),
            (news, "$text-accent", NEWS_AREA),
            (" " * GAP, "", ""),
            *tabs,
        ]
        return [piece for piece in pieces if piece[0]]

    def _tabs(self, names: bool) -> list[Piece]:
        tabs: list[Piece] = []
        for area in self.areas:
            is_active = area.id == self.active
            style = "bold $text-accent" if is_active else MUTED
            tabs.append((self._tab(area, is_active, names or is_active), style, area.id))
        return tabs

    def _tab(self, area: Area, is_active: bool, name: bool) -> str:
        count, due = self.counts.get(area.id), f" {DUE}" if area.id in self.due else ""
        title = f"{area.key} {area.title}" if name else area.key
        text = f"{title}{f' ({count})' if count else ''}{due}"
        return f"[{text}]" if is_active else f" {text} "


# The bottom line: the keys of what is open, as many as fit, and a status on the right.


GAPS = ("   ", "  ")
ALWAYS = "app.help"
"""The action that is shown however narrow the line is: the way to all the others."""

Held = list[tuple[str, str]]
"""Keys and what is said of them."""


def fitted_keys(held: Held, width: int, keep: int = 1) -> tuple[str, Held]:
    """Return the gap, and the keys that fit into `width` cells with it: whole ones, and the last
    `keep` of them always.
    """
    kept = list(held)
    while True:
        for gap in GAPS:
            cells = sum(_length(key, label, gap) for key, label in kept) - len(gap)
            if cells <= width or len(kept) <= keep:
                return gap, kept
        kept.pop(-1 - keep)


def _length(key: str, label: str, gap: str) -> int:
    return len(key_in_line(key)) + 1 + len(label) + len(gap)


class KeyBar(Widget):
    """One line of keys and labels built from actions; a click on one is its key. The status stands
    on the right.

    While there is something `urgent`, it alone is shown.

    Give the actions of what is open first, then the global ones: what does not fit is left out from
    the end, except help.
    """

    LABEL = ""
    """The style of what is said of a key."""
    ALLOW_SELECT = False
    DEFAULT_CSS = """
    KeyBar {
        dock: bottom;
        height: 1;
        background: $panel;
        color: $foreground;
        padding: 0 1;
    }
    """

    actions: reactive[tuple[Action, ...]] = reactive[tuple[Action, ...]](())
    status: reactive[Content] = reactive(BLANK)
    urgent: reactive[str] = reactive("")

    def held(self) -> tuple[Held, int]:
        """Return the keys to show, and how many of the last are shown however little room there is."""
        shown = sorted(footer_entries(self.actions), key=lambda action: action.id == ALWAYS)
        return [(action.first_key, action.label) for action in shown], 1

    def _fitted(self) -> tuple[str, Held]:
        width = self.content_size.width
        held, keep = self.held()
        return fitted_keys(held, width - min(self.status.cell_length, width // 2), keep)

    def render(self) -> Content:
        """Return the keys, padded, and the status."""
        width = self.content_size.width
        if self.urgent:
            return line(self.urgent, width, "bold $text-warning")
        (gap, held), pieces = self._fitted(), list[tuple[str, str]]()
        for key, label in held:
            pieces += [(key_in_line(key), "bold $text-accent"), (f" {label}{gap}", self.LABEL)]
        status = cut(self.status, width // 2)
        return fitted(assemble(pieces).rstrip(), max(0, width - status.cell_length)) + status

    def on_click(self, event: events.Click) -> None:
        """Press the key that was clicked, so that a click is never more than a key."""
        offset, at = None if self.urgent else event.get_content_offset(self), 0
        gap, held = self._fitted()
        for key, label in held:
            at += _length(key, label, gap)
            if offset is not None and offset.x < at:
                self.app.simulate_key(key)
                return
