"""A whole file with its bytes; of a MEMORY.md, the line at which Claude Code stops loading, and what lies below."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.files.memory_md import MAX_BYTES, MAX_LINES, Cut, measure
from workbench.services.files.threeway import DiffLine
from workbench.tui.app.actions import bindings
from workbench.tui.files.actions import WHOLE
from workbench.tui.playbook.preview import GUTTER, pieces
from workbench.tui.widgets.content import MUTED, assemble, body
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.lists.line_list import LineView

NOT_LOADED = "not loaded"
LINE, BYTES = 6, 9
"""Columns of the line's number and of the bytes up to its end."""


@dataclass(frozen=True, slots=True)
class Part:
    """As much of a line as fits, or (without a number and with `cut`) the line that the cut is drawn as."""

    index: int
    text: str
    number: int = 0
    bytes: int = 0
    loaded: bool = True
    cut: bool = False


class WholeFile(Dialog[None]):
    """A file line by line; `loads` tells that Claude Code loads only its beginning.

    `masks` are the lines that hold secrets, with what is shown in their place.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(WHOLE)
    DEFAULT_CSS = """
    WholeFile {
        & > .dialog { width: 94%; max-width: 150; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title { margin-bottom: 0; }
        & .dialog--keys { margin-top: 0; }
        & #whole-said { height: auto; max-height: 3; margin-bottom: 1; }
        & LineView { background: $background; }
    }
    """

    def __init__(self, name: str, text: str, masks: Mapping[str, str], loads: bool) -> None:
        super().__init__(name, WHOLE if loads else WHOLE[1:])
        self._cut = measure(text)
        self._masks = masks
        self._loads = loads
        self._wrapped_to = 0

    def contents(self) -> Iterable[Widget]:
        """Return how long the file is, and its lines."""
        said = cut_said(self._cut) if self._loads else Content(_size(self._cut))
        yield Static(said, id="whole-said")
        yield LineView(self._draw, lambda part: part.index, empty=body("An empty file."), id="whole-lines")

    def on_mount(self) -> None:
        """Go to the lines."""
        self._list.focus()

    @property
    def _list(self) -> LineView[Part]:
        return self.query_one(LineView)

    def on_resize(self, _event: events.Resize) -> None:
        """Wrap the lines to the width there is, once that is known."""
        self.call_after_refresh(self._wrap)

    def _wrap(self) -> None:
        width = self._list.scrollable_content_region.width - 2
        if width > 0 and width != self._wrapped_to:
            self._wrapped_to = width
            self._list.set_rows(parts(self._cut, width, self._loads, self._masks), cursor=self._list.cursor)

    def _draw(self, part: Part, width: int) -> Content:
        return draw(part, width)

    def action_cut(self) -> None:
        """Go to the first line below the cut, when there is one."""
        place = next((part.index for part in self._list.rows if part.cut), None)
        if place is None:
            self.app.bell()
        else:
            self._list.cursor = min(place + 1, len(self._list.rows) - 1)


def parts(cut: Cut, width: int, loads: bool, masks: Mapping[str, str]) -> list[Part]:
    """Wrap the lines of a file, and put the cut where it belongs."""
    found: list[Part] = []
    room = width - LINE - BYTES - 4 - (len(NOT_LOADED) + 2 if loads and cut.below else 0)
    drawn = not (loads and cut.below)
    for line in cut.lines:
        loaded = line.loaded or not loads
        if not loaded and not drawn:
            found.append(Part(len(found), _stops(cut), cut=True))
            drawn = True
        for at, piece in enumerate(
            pieces([DiffLine("same", masks.get(line.text, line.text), line.number)], room + GUTTER)
        ):
            first = (line.number, line.bytes) if not at else (0, 0)
            found.append(Part(len(found), piece.text, *first, loaded))
    return found


def draw(part: Part, width: int) -> Content:
    """Return a part as one line: number, bytes, text, and the word for what is not loaded."""
    if part.cut:
        return Content.styled(f"── {part.text} {'─' * max(0, width - len(part.text) - 4)}", "bold $text-warning")
    figures = f"{part.number:>{LINE}}  {number(part.bytes):>{BYTES}}" if part.number else " " * (LINE + 2 + BYTES)
    text = assemble([(figures, MUTED), ("  ", ""), (part.text, "" if part.loaded else "$text-muted")])
    if part.loaded or not part.number:
        return text
    gap = max(2, width - text.cell_length - len(NOT_LOADED))
    return text + assemble([(" " * gap, ""), (NOT_LOADED, "$text-warning")])


def cut_said(cut: Cut) -> Content:
    """Return the size of a MEMORY.md, and how much of it is loaded."""
    if not cut.below:
        rest = f" · all of it is loaded (up to {number(MAX_LINES)} lines and {number(MAX_BYTES)} bytes)"
        return assemble([(_size(cut), "bold"), (rest, "")])
    count = len(cut.below)
    lost = f"{amount(count, 'line')} below {cut.limit} {'is' if count == 1 else 'are'} not loaded"
    return assemble([(f"{_size(cut)} · ", "bold"), (lost, "bold $text-warning")])


def _stops(cut: Cut) -> str:
    limit = cut.limit.replace(",", "\u00a0")
    return f"{limit}: Claude Code stops loading here, {amount(len(cut.below), 'line')} below"


def _size(cut: Cut) -> str:
    return f"{amount(len(cut.lines), 'line')}, {number(cut.bytes)} bytes"
