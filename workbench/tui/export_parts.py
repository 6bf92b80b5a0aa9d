"""The pieces of the export dialog: the line of dialects, and the pane that shows a file or its changes."""

from collections.abc import Callable, Sequence

from textual import events
from textual.content import Content
from textual.widgets import Static

from workbench.bench.filediff import DiffLine
from workbench.core.playbook import Dialect
from workbench.tui.content import MUTED, assemble, body
from workbench.tui.playbook_preview import Piece, draw, pieces
from workbench.tui.widgets.line_view import CURSOR, LineView

DIALECTS: tuple[tuple[Dialect | None, str], ...] = ((None, "as it is"), ("counts", "counts"), ("bare", "bare"))


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
            mark, style = ("●", "bold $text-accent") if index == chosen else ("○", MUTED)
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


class FormatLine(Static):
    """The format that is chosen, and the key for another; a click is that key."""

    ALLOW_SELECT = False

    def show(self, title: str, key: str) -> None:
        """Draw the line."""
        self._pressed = key
        self.update(assemble([(title, "bold"), ("   ", ""), (key, "bold $text-accent"), (" another one", MUTED)]))

    def on_click(self) -> None:
        """Press the key."""
        self.app.simulate_key(self._pressed)


class Pane(LineView[Piece]):
    """Numbered lines of a file or of its changes, wrapped to the width there is."""

    def __init__(self, name: str) -> None:
        super().__init__(draw, lambda piece: piece.index, id=name, empty=body("An empty file."))
        self._lines: Sequence[DiffLine] = ()
        self._wrapped_to = 0

    def show(self, lines: Sequence[DiffLine]) -> None:
        """Show these lines from the top."""
        self._lines = lines
        self._wrap(0)

    def _gutter(self, cursor: bool, marked: bool) -> str:  # noqa: ARG002 - there are no marks
        return f"{CURSOR if cursor and self.has_focus else ' '} "

    def _on_resize(self) -> None:
        if self._width != self._wrapped_to:
            self._wrap(self.cursor)
        super()._on_resize()

    def _wrap(self, cursor: int) -> None:
        self._wrapped_to = self._width
        self.set_rows(pieces(self._lines, self._width - 2) if self._width > 0 else (), cursor=cursor)
