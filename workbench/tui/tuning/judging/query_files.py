"""Saved queries to a file: the format, the exact text, what it replaces; then one atomic write."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, cast

from textual import events, on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.core.record import WorkbenchError, WorkStopped
from workbench.core.text import printable
from workbench.core.tuning.profile import Profile
from workbench.services.files.exports.exporting import ExportPreview, Written
from workbench.services.files.imports.importing import ImportPlan
from workbench.services.files.overwriting import why_said
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked
from workbench.services.tuning.queries.export import KINDS, QUERY_FILES, QueryFile, run
from workbench.services.tuning.queries.plan import QueryPlan, plan_queries
from workbench.services.tuning.run_scores import RunScores, is_run, score_run
from workbench.tui.app.actions import bindings
from workbench.tui.app.host import Host
from workbench.tui.app.surviving import survives
from workbench.tui.app.waiting import asking, change
from workbench.tui.tuning.actions import QUERIES_IN, QUERIES_OUT
from workbench.tui.widgets.bars import gauge
from workbench.tui.widgets.content import MUTED, assemble, keyed
from workbench.tui.widgets.dialog import Confirm, Dialog, Progressed
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.safe_input import SafeInput

# Judged queries from a file: what is new, what is there already, what cannot be read; then one import.


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
            problem = f"{name} names an unknown home folder."
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


LABELS: dict[QueryFile, str] = {
    "jsonl": "JSON lines",
    "qrels": "TREC qrels",
    "run": "TREC run",
    "judgments": "judgments",
}
ABOUT: dict[QueryFile, str] = {
    "jsonl": "queries with grades, tags and moments: what `workbench eval` reads",
    "qrels": "the grades alone, by query id, for trec_eval, ranx and the like",
    "run": "the ranking of every query, with scores, for the same tools",
    "judgments": "every grade with who gave it and when, for a look or an audit",
}
USUAL: dict[QueryFile, str] = {
    "jsonl": "queries.jsonl",
    "qrels": "judgments.qrels",
    "run": "ranking.run",
    "judgments": "judgments.jsonl",
}

_SHOWN = 5_000
"""Lines of the new file that are listed at most."""


@survives
class FormatChoice(Static):
    """The formats on one line, the chosen one marked; a click chooses."""

    ALLOW_SELECT = False

    def __init__(self, choose: Callable[[QueryFile], None]) -> None:
        super().__init__(Content(""))
        self._choose = choose

    def show(self, chosen: QueryFile, profile: str) -> None:
        """Draw the line."""
        parts: list[tuple[str, str]] = []
        for kind, label in LABELS.items():
            mark, style = ("●", "bold $text-accent") if kind == chosen else (" ", MUTED)
            parts.append((f"{mark} {label}   ", style))
        if chosen == "run":
            parts.append((f"of {printable(profile)}", "bold"))
        self.update(assemble(parts))

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked."""
        offset, at = event.get_content_offset(self), 0
        for kind, label in LABELS.items():
            at += len(label) + 5
            if offset is not None and offset.x < at:
                self._choose(kind)
                return


class QueriesOut(Dialog[Written | None]):
    """Choose file and format, look at the text, write it; the result is what was written."""

    class Went(Progressed):
        pass

    class Made(Message):
        """The text of the file, or `problem` says why there is none; `masks` are its lines with secrets, masked."""

        def __init__(self, kind: QueryFile, text: str, problem: str, masks: dict[str, str] | None = None) -> None:
            super().__init__()
            self.kind = kind
            self.text = text
            self.masks = masks or {}
            self.problem = problem

    BINDINGS: ClassVar[list[BindingType]] = bindings(QUERIES_OUT)
    DEFAULT_CSS = """
    QueriesOut {
        & > .dialog { width: 94%; max-width: 130; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title { margin-bottom: 0; }
        & .dialog--keys { margin-top: 0; }
        & .out--line { height: 1; }
        & .out--label { width: 9; color: $text-muted; }
        & SafeInput { width: 1fr; background: $background; }
        & FormatChoice { width: 1fr; height: 1; }
        & #out-state { height: auto; max-height: 4; margin: 1 0; }
        & LineView { background: $background; }
    }
    """

    def __init__(self, bench: Workbench, profile: str) -> None:
        super().__init__("Export queries · the file is written as shown", [a for a in QUERIES_OUT if a.show])
        self._bench = bench
        self._profile = profile
        self._kind: QueryFile = "jsonl"
        self._text = ""
        self._problem = ""
        self._preview: ExportPreview | None = None
        self._hidden = 0

    @property
    def workbench_app(self) -> Host:
        return cast(Host, self.app)

    def contents(self) -> Iterable[Widget]:
        """Return the file, the format, what will happen, and the text."""
        path = SafeInput(USUAL["jsonl"], placeholder="file to write", id="out-path")
        yield Horizontal(Static("file", classes="out--label"), path, classes="out--line")
        yield Horizontal(Static("format", classes="out--label"), FormatChoice(self._choose), classes="out--line")
        yield Static(id="out-state")
        yield LineView(_draw, lambda row: row[0], empty=Content(""), id="out-text")

    def on_mount(self) -> None:
        """Make the first text."""
        self.query_one("#out-path").focus()
        self._make()

    # Making the text

    def action_format(self) -> None:
        self._choose(QUERY_FILES[(QUERY_FILES.index(self._kind) + 1) % len(QUERY_FILES)])

    def _choose(self, kind: QueryFile) -> None:
        box = self.query_one("#out-path", SafeInput)
        if box.value == USUAL[self._kind]:
            with box.prevent(Input.Changed):
                box.value = USUAL[kind]
        self._kind = kind
        self._make()

    @asking
    async def action_profile(self) -> None:
        """Choose whose ranking the run has."""
        from workbench.tui.tuning.profiles import choose_side, saved_sides

        found = saved_sides(self._bench.tuning.profiles)
        current = next((side.id for side in found if side.name == self._profile), "")
        side = await choose_side(self.workbench_app, "A run of", found, current)
        if side is not None:
            self._profile = side.name
            self._choose("run")

    def _make(self) -> None:
        self.workers.cancel_node(self)
        self._text, self._problem, self._preview, self._hidden = "", "", None, 0
        self.query_one(FormatChoice).show(self._kind, self._profile)
        self.query_one(LineView).set_rows((), cursor=0)
        self._say([("Putting it together …", MUTED)])
        try:
            ranks = KINDS[self._kind].write is None
            profile = self._bench.tuning.profiles.get(self._profile) if ranks else None
            if ranks and not self._bench.tuning.ready:
                raise WorkbenchError("The model is still loading.", "Try again in a moment.")
        except WorkbenchError as error:
            self._made(self.Made(self._kind, "", str(error)))
            return
        self._write_out(self._kind, profile)

    @work(thread=True, group="queries-out")
    def _write_out(self, kind: QueryFile, profile: Profile | None) -> None:
        worker, context = get_current_worker(), self._bench.context

        def went(done: int, total: int) -> None:
            self.post_message(self.Went(done, total))

        text, problem = "", ""
        try:
            if (write := KINDS[kind].write) is not None:
                text = write(context)
            elif profile is not None:
                text = run(context, self._bench.tuning, profile, progress=went, cancelled=lambda: worker.is_cancelled)
        except WorkStopped:
            return
        except WorkbenchError as error:
            problem = str(error)
        if not worker.is_cancelled:
            masks = self._bench.safety.masked_lines(text)
            self.post_message(self.Made(kind, text, problem, masks))

    @on(Went)
    def _went(self, event: Went) -> None:
        if not self._text and not self._problem:
            bar = gauge(event.done, event.total, "queries", 30)
            self.query_one("#out-state", Static).update(Content("Ranking every query. Esc stops it. ") + bar)

    @on(Made)
    def _made(self, event: Made) -> None:
        if event.kind != self._kind:
            return
        self._text, self._problem = event.text, event.problem
        self._hidden = len(event.masks)
        lines = [event.masks.get(one, one) for one in event.text.split("\n")[:_SHOWN]]
        rows = list(enumerate(lines if lines[-1] else lines[:-1], 1))
        self.query_one(LineView).set_rows(rows, cursor=0)
        self._look()

    # Looking and writing

    @on(Input.Changed, "#out-path")
    def _look(self) -> None:
        """Compare the text with the file."""
        self._preview = None
        if not self._text:
            self._say([(f"✗ {printable(self._problem)}", "$text-error")] if self._problem else [("", "")])
            return
        try:
            self._preview = self._bench.exporter.preview(self._path(), self._text, kind=KINDS[self._kind].export_format)
        except WorkbenchError as error:
            self._say([(f"✗ {printable(str(error))}", "$text-error")])
            return
        self._say([*_state(self._kind, self._preview), *_hidden(self._hidden)])

    def _path(self) -> Path:
        return self.query_one("#out-path", SafeInput).path_to_write()

    @on(Input.Submitted, "#out-path")
    def _entered(self) -> None:
        self.query_one(LineView).focus()

    @asking
    async def action_write(self) -> None:
        """Write what is shown; a file that is there goes only after a yes."""
        preview = self._preview
        if preview is None or not preview.changed:
            self.app.bell()
            return
        question = f"Replace {preview.path}?"
        obstacle = preview.obstacle
        said = "The store wrote it." if obstacle is None else f"{why_said(obstacle)} A copy of it is kept."
        detail = Content(printable(said))
        if preview.present is not None and not await self.app.push_screen_wait(
            Confirm(question, clock=time.monotonic, detail=detail, yes="replace", guard=0.0)
        ):
            return

        def write() -> None:
            with self._bench.exporter.turn():
                written = self._bench.exporter.write(preview, force=True)
            self.dismiss(written)

        change(self, write, lambda error: self._say([(f"✗ {printable(str(error))}", "bold $text-error")]))

    def action_cancel(self) -> None:
        """Close; a ranking under way is stopped."""
        self.workers.cancel_node(self)
        self.dismiss(None)

    def _say(self, parts: list[tuple[str, str]]) -> None:
        self.query_one("#out-state", Static).update(assemble(parts))


def _state(kind: QueryFile, preview: ExportPreview) -> list[tuple[str, str]]:
    count = preview.text.count("\n")
    lines = amount(count, "line")
    about = (f"\n{ABOUT[kind]}", MUTED)
    if preview.present is None:
        folder = printable(str(preview.path.resolve().parent))
        return [("A new file", "bold"), (f" of {lines} in {folder}.", ""), about]
    if not preview.changed:
        return [("Nothing to write:", "bold"), (f" the file holds exactly that already, {lines}.", ""), about]
    old = number(preview.present.count("\n"))
    return [("Replaces a file", "bold $text-warning"), (f" of {old} lines by {lines}; y will be asked for.", ""), about]


def _hidden(count: int) -> list[tuple[str, str]]:
    lines = amount(count, "line holds", "lines hold")
    return [(f"\n! {lines} a secret, masked here only.", "$text-warning")] if count else []


def _draw(row: tuple[int, str], width: int) -> list[Cell]:  # noqa: ARG001 - the signature of drawing
    return [Cell(str(row[0]), 4, MUTED, "right"), Cell(row[1])]
