"""What agents keep in documents: by folder and section with tokens, and the text of the one under the cursor."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.bench.open import Workbench
from workbench.core.agents.document import ROOT, Document, DocumentSection
from workbench.core.errors import WorkbenchError
from workbench.core.tokens import tokens_of
from workbench.tui.agents.actions import DOCUMENTS
from workbench.tui.app.actions import bindings
from workbench.tui.widgets.content import MUTED, body
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell

EMPTY = (
    "No documents yet: no session of external memory of this project, no followed folder (`workbench documents DIR "
    "--follow`), and nothing under /memories."
)
LOOKING = "Looking …"

_TOKENS = 9


@dataclass(frozen=True, slots=True)
class Part:
    """A row: a folder, a document of it, or one of its sections; `said` is what stands beside its name."""

    folder: str
    path: str = ""
    title: str = ""
    tokens: int = 0
    said: str = ""
    section: DocumentSection | None = None
    document: Document | None = None


class Opened(Message):
    """A thread has read the documents; `problems` are what could not be."""

    def __init__(self, rows: Sequence[Part], problems: Sequence[str]) -> None:
        super().__init__()
        self.rows = rows
        self.problems = problems


class DocumentsDialog(Dialog[None]):
    """The documents around a store, and the text of the section under the cursor; it only looks."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(DOCUMENTS)
    DEFAULT_CSS = """
    DocumentsDialog {
        & > .dialog { width: 94%; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & #documents-body { height: 1fr; }
        & #documents-list { width: 1fr; }
        & #documents-text { width: 1fr; border-left: solid $panel; }
        & #documents-line { height: auto; max-height: 3; color: $text-warning; }
    }
    """

    def __init__(self, bench: Workbench) -> None:
        super().__init__("Documents of agents", DOCUMENTS)
        self._bench = bench
        self.rows: LineView[Part] = LineView(
            self._draw,
            lambda row: (row.folder, row.path, row.section.line if row.section is not None else 0),
            is_heading=lambda row: row.document is None,
            empty=Content(LOOKING),
            id="documents-list",
        )

    def contents(self) -> Iterable[Widget]:
        """Return the list, the text, and a line for what could not be read."""
        yield Horizontal(self.rows, ReadingPane(id="documents-text"), id="documents-body")
        yield Static(id="documents-line")

    def on_mount(self) -> None:
        """Have the documents read."""
        self.rows.focus()
        self._read()

    @work(thread=True, group="documents", description="read documents")
    def _read(self) -> None:
        worker = get_current_worker()
        rows, problems = rows_of(self._bench)
        if not worker.is_cancelled:
            self.post_message(Opened(rows, problems))

    @on(Opened)
    def _opened(self, event: Opened) -> None:
        self.rows.set_empty(Content(EMPTY))
        self.rows.set_rows(event.rows)
        if event.problems:
            self.query_one("#documents-line", Static).update(body("\n".join(event.problems[:3])))
        self._show()

    @on(LineView.Highlighted, "#documents-list")
    def _show(self) -> None:
        row = self.rows.current
        if row is None or row.document is None:
            said = "" if row is None else self._bench.safety.masked(f"{row.folder}\n{row.said}")
            self.query_one(ReadingPane).show(body(said, MUTED))
            return
        text = self._bench.safety.masked(row.document.content)
        if row.section is not None:
            text = "\n".join(text.split("\n")[row.section.line - 1 : row.section.end])
        self.query_one(ReadingPane).show(body(text))

    @on(LineView.Opened, "#documents-list")
    def _into(self) -> None:
        self.query_one(ReadingPane).focus()

    def action_pane(self) -> None:
        """To the text, and back."""
        pane = self.query_one(ReadingPane)
        (self.rows if pane.has_focus else pane).focus()

    def _draw(self, row: Part, width: int) -> list[Cell]:  # noqa: ARG002 - as a list asks for its cells
        mask = self._bench.safety.masked
        if row.document is None:
            return [Cell(mask(Path(row.folder).name), 0, "bold"), Cell(row.said, len(row.said), MUTED)]
        if row.section is None:
            name = Cell(mask(row.path) + (f" · {row.said}" if row.said else ""), 0, "$text-accent")
        else:
            name = Cell("· " * max(1, row.section.level) + mask(row.section.title or "(no heading)"), 0)
        return [name, Cell(number(row.tokens), _TOKENS, MUTED, "right")]


def rows_of(bench: Workbench) -> tuple[list[Part], list[str]]:
    """Return a row for each folder, document and section, and what could not be read; on any thread."""
    rows, problems = list[Part](), list[str]()
    documents = bench.documents
    for path in (*documents.sessions(), *documents.followed()):
        try:
            opened = documents.opened(path)
        except WorkbenchError as error:
            problems.append(str(error))
            continue
        changes, folder = opened.changes, str(opened.folder.root)
        total = sum(tokens_of(one.document.content) for one in opened.documents)
        seen = "" if changes.are_none else " · not looked at"
        rows.append(Part(folder, said=f"{number(total)} tokens{seen}"))
        for one in opened.documents:
            path_ = one.entry.path
            said = "new" if path_ in changes.new else "changed" if path_ in changes.changed else ""
            rows += _parts(folder, one.document, said)
        problems += [reason for _, reason in opened.unread]
    own = documents.stored()
    if own:
        total = sum(tokens_of(one.content) for one in own)
        rows.append(Part(ROOT, said=f"{number(total)} tokens"))
        for document in own:
            rows += _parts(ROOT, document, "")
    return rows, problems


def _parts(folder: str, document: Document, said: str) -> list[Part]:
    whole = Part(folder, document.path, "", tokens_of(document.content), said, None, document)
    sections = document.sections
    if len(sections) < 2:
        return [whole]
    return [whole, *(Part(folder, document.path, s.title, s.tokens, "", s, document) for s in sections)]
