"""Judged queries from a file: what is new, what is there already, what cannot be read; then one import."""

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
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.core.errors import WorkbenchError
from workbench.core.text import printable
from workbench.services.files.imports.importing import ImportPlan
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked
from workbench.services.tuning.queries.plan import QueryPlan, plan_queries
from workbench.services.tuning.run_scores import RunScores, is_run, score_run
from workbench.tui.app.actions import bindings
from workbench.tui.app.waiting import change
from workbench.tui.tuning.actions import QUERIES_IN
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.keys import keyed
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.safe_input import SafeInput

START = "Name a query set (JSON lines), TREC qrels, or a TREC run to measure."


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the preview: a mark, what it is about, and how much."""

    mark: str
    text: str
    note: str
    style: str = ""


class QueriesIn(Dialog[Path | None]):
    """Choose a file, look at what it would bring, take it in; the result is the file that was imported."""

    class Read(Message):
        """What a file holds: a plan, the scores of a run, or why neither."""

        def __init__(self, name: str, found: QueryPlan | RunScores | None, problem: str) -> None:
            super().__init__()
            self.name = name
            self.found = found
            self.problem = problem

    BINDINGS: ClassVar[list[BindingType]] = bindings(QUERIES_IN)
    DEFAULT_CSS = """
    QueriesIn {
        & > .dialog { width: 94%; max-width: 130; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title { margin-bottom: 0; }
        & .dialog--keys { margin-top: 0; }
        & .in--line { height: 1; }
        & .in--label { width: 9; color: $text-muted; }
        & SafeInput { width: 1fr; background: $background; }
        & #in-state { height: auto; max-height: 5; margin: 1 0; }
        & LineView { background: $background; }
    }
    """

    def __init__(self, bench: Workbench) -> None:
        super().__init__(keyed("Import queries · nothing is read in before {queries-in.read}"), QUERIES_IN)
        self._bench = bench
        self.plan: ImportPlan | None = None

    def contents(self) -> Iterable[Widget]:
        """Return the file, what it would bring, and its queries and skipped lines."""
        path = SafeInput("", placeholder="file to read", id="in-path")
        yield Horizontal(Static("file", classes="in--label"), path, classes="in--line")
        yield Static(Content.styled(START, MUTED), id="in-state")
        yield LineView(self._draw, lambda row: (row.mark, row.text), empty=Content(""), id="in-rows")

    def on_mount(self) -> None:
        """Ask for the file."""
        self.query_one("#in-path").focus()

    @on(Input.Changed, "#in-path")
    def _typed(self, event: Input.Changed) -> None:
        self.plan = None
        self.workers.cancel_node(self)
        self.query_one(LineView).set_rows((), cursor=0)
        name = event.value.strip()
        if not name:
            self._say([(START, MUTED)])
            return
        self._read(name)

    @work(thread=True, group="queries-in")
    def _read(self, name: str) -> None:
        worker = get_current_worker()
        found: QueryPlan | RunScores | None = None
        problem = ""
        try:
            path = Path(name).expanduser()
            context = self._bench.context
            scored = is_run(path)
            found = score_run(context, path) if scored else plan_queries(self._bench, path)
        except WorkbenchError as error:
            problem = str(error)
        except RuntimeError:  # "~someone" without such a user
            problem = f"{name} names a home folder that is not known."
        if not worker.is_cancelled:
            self.post_message(self.Read(name, found, problem))

    @on(Read)
    def _show(self, event: Read) -> None:
        if event.name != self.query_one("#in-path", SafeInput).value.strip():
            return
        if event.found is None:
            self._say([(f"✗ {printable(self._bench.safety.masked(event.problem))}", "$text-error")])
        elif isinstance(event.found, RunScores):
            self._say(_measured(masked(event.found, self._bench.safety.masked)))
        else:
            self.plan = event.found.plan if event.found.plan.records else None
            self._say(_counted(event.found))
            self.query_one(LineView).set_rows(_rows(event.found), cursor=0)

    @on(Input.Submitted, "#in-path")
    def _entered(self) -> None:
        self.query_one(LineView).focus()

    def action_read(self) -> None:
        """Take in what is new, as one action that undo takes back."""
        plan = self.plan
        if plan is None:
            self.app.bell()
            return

        def read() -> None:
            self._bench.importer.carry_out(plan)
            self.dismiss(plan.path)

        change(self, read, lambda error: self._say([(f"✗ {printable(str(error))}", "bold $text-error")]))

    def action_cancel(self) -> None:
        """Close without importing."""
        self.workers.cancel_node(self)
        self.dismiss(None)

    def _draw(self, row: Row, width: int) -> list[Cell]:  # noqa: ARG002 - the signature of drawing
        note = [Cell(row.note, len(row.note), MUTED, "right")] if row.note else []
        return [Cell(row.mark, 1, "bold"), Cell(self._bench.safety.masked(row.text), 0, row.style), *note]

    def _say(self, parts: list[tuple[str, str]]) -> None:
        self.query_one("#in-state", Static).update(assemble(parts))


def _counted(found: QueryPlan) -> list[tuple[str, str]]:
    new = f"{amount(found.queries, 'query', 'queries')} and {amount(found.judgments, 'judgment', 'judgments')} new"
    parts = [(new if found.plan.records else "Nothing is new", "bold")]
    if found.present:
        parts.append((f" · {amount(found.present, 'query', 'queries')} saved already", ""))
    if found.skipped:
        parts.append((f" · {number(found.skipped)} skipped", "$text-warning"))
    if found.unknown:
        ids = amount(found.unknown, "graded id is", "graded ids are")
        parts.append((f"\n! {ids} not in this store; kept, and left out of every measurement", "$text-warning"))
    if found.differing:
        grades = amount(found.differing, "grade differs", "grades differ")
        parts.append((f"\n! {grades} from yours, which stay", "$text-warning"))
    return parts


def _measured(found: RunScores) -> list[tuple[str, str]]:
    return [
        ("A TREC run:", "bold"),
        (f" rankings by {printable(found.tag)}, which are measured and not stored.\n", ""),
        (printable(found.sentence), "bold"),
    ]


def _rows(found: QueryPlan) -> Sequence[Row]:
    issues = [Row("✗", str(issue), "", "$text-warning") for issue in found.plan.parsed.issues]
    notes = [Row("!", f"{m.field}: {m.how}", number(m.count), MUTED) for m in found.plan.parsed.mappings]
    queries = [
        Row("+" if line.new else "=", line.text, f"{number(line.grades)} graded", "" if line.new else MUTED)
        for line in found.lines
    ]
    return [*issues, *notes, *queries]
