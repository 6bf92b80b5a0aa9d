"""Exporting a playbook: the exact bytes and what they change are shown first; ctrl+s writes what was shown."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.bench.exporting import Exporter, ExportPreview
from workbench.bench.filediff import DiffLine
from workbench.core.errors import Conflict, WorkbenchError
from workbench.core.playbook import Dialect
from workbench.core.text import printable
from workbench.tui.actions import bindings
from workbench.tui.areas import EXPORT
from workbench.tui.content import MUTED, assemble, body
from workbench.tui.figures import number
from workbench.tui.playbook_preview import Piece, draw, pieces, whole_file
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.line_view import CURSOR, LineView
from workbench.tui.widgets.safe_input import SafeInput

DIALECTS: tuple[tuple[Dialect | None, str], ...] = ((None, "as it is"), ("counts", "counts"), ("bare", "bare"))
BOTH = 130
"""Columns from which changes and whole file stand side by side."""


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


class ExportDialog(Dialog[ExportPreview | None]):
    """Choose the file and the dialect, look at the text, write it; the result is what was written."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(EXPORT)
    DEFAULT_CSS = """
    ExportDialog {
        & > .dialog { width: 94%; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title { margin-bottom: 0; }
        & .dialog--keys { margin-top: 0; }
        & .export--line { height: 1; }
        & .export--label { width: 9; color: $text-muted; }
        & SafeInput { width: 1fr; background: $background; }
        & DialectChoice { width: 1fr; height: 1; }
        & #export-state { height: auto; max-height: 3; margin: 1 0; }
        & #export-panes { height: 1fr; }
        & LineView { width: 1fr; background: $background; }
        & LineView > .line--cursor { background: $background; color: $foreground; }
        & LineView:focus > .line--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        & #export-whole { display: none; }
        &.-whole #export-whole, &.-new #export-whole { display: block; }
        &.-whole #export-changes, &.-new #export-changes { display: none; }
        &.-both #export-whole, &.-both #export-changes { display: block; }
        &.-both #export-whole { border-left: solid $panel; }
    }
    """

    def __init__(self, title: str, exporter: Exporter, book: str, target: Path) -> None:
        super().__init__(title, EXPORT)
        self._exporter = exporter
        self._book = book
        self._target = target
        self._chosen = 0
        self._text, self._remarks = exporter.ace(book)
        self._preview: ExportPreview | None = None
        self._problem = ""
        self._changes: Sequence[DiffLine] = ()

    def contents(self) -> Iterable[Widget]:
        """Return the file, the dialect, what will happen, and the two views."""
        path = SafeInput(str(self._target), placeholder="file to write", id="export-path")
        yield Horizontal(Static("file", classes="export--label"), path, classes="export--line")
        dialects = DialectChoice(self._choose)
        yield Horizontal(Static("dialect", classes="export--label"), dialects, classes="export--line")
        yield Static(id="export-state")
        yield Horizontal(Pane("export-changes"), Pane("export-whole"), id="export-panes")

    def on_mount(self) -> None:
        """Look at the file as it is now."""
        self.query_one("#export-path").focus()
        self._look()

    def on_resize(self, event: events.Resize) -> None:
        """Show both views where there is room."""
        self._arrange(event.size.width)

    def _arrange(self, width: int) -> None:
        """Show changes and whole file side by side, or one of them; the whole file when nothing is replaced."""
        self.set_class(not self._changes, "-new")
        self.set_class(bool(self._changes) and width >= BOTH, "-both")

    # Looking

    @on(Input.Changed, "#export-path")
    def _path_changed(self, event: Input.Changed) -> None:
        if event.value != str(self._target):
            self._target = Path(event.value)
            self._look()

    @on(Input.Submitted, "#export-path")
    def _to_preview(self) -> None:
        self.screen.focus_next()

    def action_dialect(self) -> None:
        """The next dialect."""
        self._choose((self._chosen + 1) % len(DIALECTS))

    def _choose(self, index: int) -> None:
        self._chosen = index
        try:
            self._text, self._remarks = self._exporter.ace(self._book, DIALECTS[index][0])
        except WorkbenchError as error:
            self._problem = str(error)
        self._look()

    def action_view(self) -> None:
        """Change between what changes and the whole file."""
        self.toggle_class("-whole")

    def _look(self) -> None:
        """Compare the text with the file, and show both."""
        self._preview, self._problem = None, ""
        try:
            self._preview = self._exporter.preview(self._path(), self._text, self._remarks)
        except WorkbenchError as error:
            self._problem = str(error)
        self._show()

    def _path(self) -> Path:
        name = self.query_one("#export-path", SafeInput).value.strip()
        if not name:
            raise WorkbenchError("Name the file to write.")
        try:
            return Path(name).expanduser()
        except RuntimeError as error:
            raise WorkbenchError(f"{name} names a home folder that is not known.", "Nothing was written.") from error

    def _show(self) -> None:
        self.query_one(DialectChoice).show(self._chosen)
        replaces = self._preview is not None and self._preview.present is not None
        self._changes = self._preview.lines() if self._preview and replaces else ()
        self._say(self._state(self._changes))
        self.query_one("#export-whole", Pane).show(whole_file(self._text))
        self.query_one("#export-changes", Pane).show(self._changes)
        self._arrange(self.size.width)

    def _state(self, changes: Sequence[DiffLine]) -> list[tuple[str, str]]:
        size = f"{number(len(self._text.encode()))} bytes"
        remarks = [(f"\n! {printable(remark)}", "$text-warning") for remark in self._remarks]
        if self._preview is None:
            return [(f"✗ {printable(self._problem)}", "$text-error"), *remarks]
        if self._preview.present is None:
            folder = printable(str(self._preview.path.resolve().parent))
            return [("A new file", "bold"), (f" of {size} in {folder}.", ""), *remarks]
        if not self._preview.changed:
            return [("Nothing to write:", "bold"), (f" the file holds exactly these {size} already.", ""), *remarks]
        added, removed = (sum(line.kind == kind for line in changes) for kind in ("added", "removed"))
        counts = f" {_lines(added)} in, {_lines(removed)} out; {size} in all."
        return [("Replaces the file:", "bold"), (counts, ""), *remarks]

    def _say(self, parts: Sequence[tuple[str, str]]) -> None:
        self.query_one("#export-state", Static).update(assemble(parts))

    # Writing

    def action_write(self) -> None:
        """Write what is shown; what goes wrong is said here and loses nothing."""
        preview = self._preview
        if preview is None or not preview.changed:
            self.app.bell()
            return
        try:
            self._exporter.write(preview)
        except Conflict as error:
            self._look()
            again = " Below is what your text changes in it as it is now; ctrl+s writes that."
            self._say([(f"✗ {printable(error.message)}{again}", "bold $text-error")])
        except WorkbenchError as error:
            self._say([(f"✗ {printable(str(error))}", "bold $text-error")])
        else:
            self.dismiss(preview)


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


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{number(count)} lines"
