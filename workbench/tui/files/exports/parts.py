"""The pieces of the export dialog: the line of dialects, and the pane that shows a file or its changes."""

from collections.abc import Callable, Sequence

from textual import events, work
from textual.content import Content
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.playbook.book import Dialect
from workbench.services.files.threeway import DiffLine
from workbench.tui.app.surviving import survives
from workbench.tui.playbook.preview import Piece, beginning, draw, pieces
from workbench.tui.widgets.content import MUTED, assemble, body
from workbench.tui.widgets.lists.line_list import CURSOR, LineView

AT_ONCE = 6_000
"""Characters that are wrapped at once: several screens full."""

DIALECTS: tuple[tuple[Dialect | None, str], ...] = ((None, "as it is"), ("counts", "counts"), ("bare", "bare"))


@survives
class DialectChoice(Static):
    """The dialects on one line, the chosen one marked; a click chooses."""

    ALLOW_SELECT = False

    def __init__(self, choose: Callable[[int], None]) -> None:
        super().__init__(Content(""))
        self._choose = choose

    def show(self, chosen: int) -> None:
        """Draw the line."""
        parts: list[tuple[str, str]] = []
        for index, (_, name) in enumerate(DIALECTS):
            mark, style = ("●", "bold $text-accent") if index == chosen else (" ", MUTED)
            parts.append((f"{mark} {name}   ", style))
        self.update(assemble(parts))

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked."""
        offset, at = event.get_content_offset(self), 0
        for index, (_, name) in enumerate(DIALECTS):
            at += len(name) + 5
            if offset is not None and offset.x < at:
                self._choose(index)
                return


@survives
class FormatLine(Static):
    """The format that is chosen, and the key for another; a click is that key."""

    ALLOW_SELECT = False

    def show(self, title: str, key: str) -> None:
        self._pressed = key
        self.update(assemble([(title, "bold"), ("   ", ""), (key, "bold $text-accent"), (" another one", MUTED)]))

    def on_click(self) -> None:
        """Press the key."""
        self.app.simulate_key(self._pressed)


class Wrapped(Message):
    """A thread wrapped all lines of a long text to a width; `cursor` is the piece that was asked for."""

    def __init__(self, lines: Sequence[DiffLine], width: int, pieces: Sequence[Piece], cursor: int) -> None:
        super().__init__()
        self.lines = lines
        self.width = width
        self.pieces = pieces
        self.cursor = cursor


class Pane(LineView[Piece]):
    """Numbered lines of a file or of its changes, wrapped to the width there is.

    Of a long text the beginning is there at once, and the rest as soon as a thread has wrapped it.
    """

    def __init__(self, name: str) -> None:
        super().__init__(draw, lambda piece: piece.index, id=name, empty=body("An empty file."))
        self._lines: Sequence[DiffLine] = ()
        self._wrapped_to = 0
        self._seeks = False
        """Whether the first line that changed is to be in sight, and was not placed yet."""

    def show(self, lines: Sequence[DiffLine], *, changed: bool = False) -> None:
        """Show these lines from the top, or with the first `changed` one of them in sight."""
        self._lines = lines
        self._seeks = changed
        self._wrap(0)

    def on_wrapped(self, event: Wrapped) -> None:
        """Show all of a long text, unless another one, or another width, came since."""
        if event.lines is self._lines and event.width == self._wrapped_to:
            self.set_rows(event.pieces, cursor=self.cursor or event.cursor)

    def _gutter(self, cursor: bool, marked: bool) -> str:  # noqa: ARG002 - there are no marks
        return f"{CURSOR if cursor and self.has_focus else ' '} "

    def _on_resize(self) -> None:
        if self._width != self._wrapped_to:
            self._wrap(self.cursor)
        super()._on_resize()

    def _wrap(self, cursor: int) -> None:
        self._wrapped_to = width = self._width
        if width <= 0:
            self.set_rows((), cursor=cursor)
            return
        first = beginning(self._lines, AT_ONCE)
        rows = pieces(first, width - 2)
        if self._seeks:
            self._seeks = False
            cursor = _first_change(rows)
        self.set_rows(rows, cursor=cursor)
        if cursor:
            self.call_after_refresh(self._show_from, cursor - 1)
        if first is not self._lines:
            self._wrap_all(self._lines, width, cursor)

    def _show_from(self, row: int) -> None:
        """Scroll so that a row is the first one, where the rest does not fit."""
        self.scroll_to(y=row, animate=False, force=True)

    @work(thread=True, exclusive=True, group="wrapping", exit_on_error=False, description="wrapping")
    def _wrap_all(self, lines: Sequence[DiffLine], width: int, cursor: int) -> None:
        """Wrap a long text away from the keyboard."""
        worker = get_current_worker()
        rows = pieces(lines, width - 2)
        if not worker.is_cancelled:
            self.post_message(Wrapped(lines, width, rows, cursor))


def _first_change(rows: Sequence[Piece]) -> int:
    """Return the place of the first line that changed, or the first one where nothing did."""
    return next((at for at, row in enumerate(rows) if row.kind in ("added", "removed")), 0)
