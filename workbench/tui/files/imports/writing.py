"""The line of the import dialog that says what a file brings, and then writes it, with a progress bar."""

import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from textual import work
from textual.content import Content
from textual.dom import DOMNode
from textual.message import Message
from textual.widgets import Static

from workbench.core.files.formats import format_named, known_formats
from workbench.core.record import WorkbenchError
from workbench.core.runtime import Cancelled, Progress
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.core.stream.times import instant
from workbench.core.text import printable
from workbench.services.files.imports.importing import (
    ImportPlan,
    ImportReport,
    counts_said,
    filling_said,
    passed_said,
    replacement_said,
    said,
    skipped,
)
from workbench.services.files.imports.paths import (
    SESSION,
    Listing,
    Offered,
    as_named,
    completions,
    is_session,
    likely,
    listing,
)
from workbench.services.open import Workbench
from workbench.tui.app.actions import display_key
from workbench.tui.app.host import Host
from workbench.tui.app.surviving import survives
from workbench.tui.files.actions import IMPORT
from workbench.tui.widgets.bars import gauge
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.dialog import Progressed, held_keys
from workbench.tui.widgets.figures import NO_BREAK, amount, number
from workbench.tui.widgets.lists.row import Cell

# How a person wants a file to be imported.


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file is to be read: as which format, and when its steps were; and what of it is to be taken.

    `theirs` takes the file's version of what differs, `as_new` lets memories count towards the next reflection. With
    `more` come the statements of a document as candidates, and the closed issues of a tracker. A `folder` is read note
    by note instead of being listed.
    """

    format: str | None = None
    epoch: datetime | None = None
    step_hours: float = 1.0
    theirs: bool = False
    as_new: bool = False
    more: bool = False
    folder: bool = False


# The lines of the import dialog: files to choose from, remarks on a file, what would be written.


WARN = "$text-warning"
TITLE, SURE, SIZE = 34, 4, 8
"""Columns of a format's name beside a file, of how sure that is, and of the file's size."""

Parts = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Line:
    """A remark about a file: its mark, the text, and what stands at its end."""

    mark: str
    text: str
    note: str = ""
    style: str = ""


Row = Line | Offered | object
"""A remark, something to choose, or a record that would be written."""


def plan_rows(plan: ImportPlan) -> list[Row]:
    """Return what is skipped, changed on the way and kept, then every record that would be written."""
    name = plan.path.name
    issues = [Line("✗" if i.records else "!", f"{name}:{i.line}: {i.reason}", "", WARN) for i in plan.parsed.issues]
    count = {n: amount(n, "record") for n in {m.count for m in plan.parsed.mappings}}
    notes = [Line("!", f"{m.field}: {m.how}", count[m.count], MUTED) for m in plan.parsed.mappings if plan.records]
    kept = [Line("=", f"{key} stays as it is in the store, where it differs", "", MUTED) for key in plan.kept]
    kept += [Line("=", f"{id} was purged; `workbench import --again` takes it", "", MUTED) for id in plan.purged]
    taken = [_taken(line) for old, new in plan.replaced for line in replacement_said(old, new)]
    filled = [Line("~", filling_said(memory), "", MUTED) for _, memory in plan.filled]
    known = {id(new) for _, new in (*plan.replaced, *plan.filled)}
    passed = [Line("!", line, "", MUTED) for line in passed_said(plan.passed)]
    return [
        *issues,
        *notes,
        *passed,
        *kept,
        *taken,
        *filled,
        *(record for record in plan.records if id(record) not in known),
    ]


def _taken(line: str) -> Line:
    """Return a line that begins with its sign as a row: what is stored, what it becomes, or that its place changes."""
    style = {"-": "$text-error", "+": "$text-success"}.get(line[0], MUTED)
    return Line(line[0], line[2:], "", style)


def draw(
    row: Row, width: int, mask: Callable[[str], str], taken: Collection[Path] = (), marked: Collection[int] = ()
) -> list[Cell]:
    """Return a row as cells, with `mask` over what the file says; files that were `taken` in are marked.

    `marked` are the places in memory of the records that alone are taken; without one, all are.
    """
    if isinstance(row, Line):
        note = [Cell(row.note, min(len(row.note), width // 3), MUTED, "right")] if row.note else []
        return [Cell(row.mark, 1, "bold"), Cell(mask(row.text), 0, row.style), *note]
    if isinstance(row, Offered):
        return _offered(row, mask(row.path.name), width, row.path in taken)
    text = _statement(row) if isinstance(row, Memory) and _is_statement(row) else said(row)
    if marked and id(row) not in marked:
        return [Cell("·", 1, MUTED), Cell(mask(text), 0, MUTED)]
    return [Cell("✓" if marked else "+", 1, "bold $text-success"), Cell(mask(text))]


def _is_statement(memory: Memory) -> bool:
    part = memory.metadata.get(FILE_KEY)
    return isinstance(part, dict) and part.get("format") == "instructions"


def _statement(memory: Memory) -> str:
    """Say a statement of a document for somebody who chooses: its line, and its text before what it stands under."""
    said = " ".join(memory.content.split())
    _, found, rest = said.partition(" ".join(memory.section.split())) if memory.section else ("", "", said)
    warns = "warning: " if memory.category == "warning" else ""
    under = f"  ({memory.section})" if memory.section else ""
    return f"{memory.metadata['line']}: {warns}{rest.lstrip('”:, ') if found else said}{under}"


def _offered(row: Offered, name: str, width: int, taken: bool) -> list[Cell]:
    if row.folder:
        return [Cell("/", 1, MUTED), Cell(f"{name}/", 0, MUTED)]
    if not row.title:
        return [Cell("", 1), Cell(name)]
    sign, mark = ("imported", "✓") if taken else (row.title, "")
    return [
        Cell(mark, 1, "bold $text-success"),
        Cell(name),
        Cell(sign, min(TITLE, width // 2 - SIZE), MUTED, "right"),
        Cell(f"{row.confidence:.0%}", SURE, MUTED, "right"),
        Cell(_size(row.size), SIZE, MUTED, "right"),
    ]


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"


def plan_said(plan: ImportPlan) -> Parts:
    """Return how much of a file is new, there already, kept and skipped."""
    fresh = _counts(plan)
    parts: Parts = [(f"New: {', '.join(fresh)}" if fresh else "Nothing is new", "bold")]
    if plan.present:
        parts.append((f" · {number(plan.present)} there already", ""))
    if plan.known:
        parts.append((f" · {number(len(plan.known))} skipped, known from another file", WARN))
    if plan.replaced:
        parts.append((f" · {number(len(plan.replaced))} become as in the file", "bold"))
    if plan.filled:
        parts.append((f" · {number(len(plan.filled))} filled in with who said it", "bold"))
    if plan.kept:
        parts.append((f" · {number(len(plan.kept))} kept as in the store", ""))
    if plan.purged:
        parts.append((f" · {number(len(plan.purged))} purged, left out", ""))
    if left_out := skipped(plan):
        parts.append((f" · {number(left_out)} skipped", WARN))
    return parts


def _counts(plan: ImportPlan) -> list[str]:
    return [text.replace(",", NO_BREAK) for text in counts_said(plan)]


def format_said(plan: ImportPlan, asked: str | None) -> str:
    """Name the format of a file, and why it was taken for that."""
    title, found = format_named(plan.parsed.format).title, plan.parsed.detected
    if asked is not None:
        return f"{title}, as you say"
    if plan.path.is_dir():
        return "a folder, note by note"
    return f"{title}, {found.confidence:.0%} sure: {found.reason}" if found else title


def offer_said(plan: ImportPlan, key: str, mark: str) -> Parts:
    """Return what a file has beside its records, and the key that takes it; or how some records are chosen."""
    if plan.parsed.offered:
        count = number(plan.parsed.offered)
        many = "1 statement" if plan.parsed.offered == 1 else f"{count} statements"
        said = f"A document that agents load whole: {many} can be understood alone;"
        return [(f"\n{said} ", ""), (f"{key} lists them as candidates.", "bold")]
    if plan.parsed.closed:
        return [(f"\n{number(plan.parsed.closed)} closed issues; {key} lists them as observations.", "")]
    if len(plan.records) > 1 and can_choose(plan):
        return [(f"\n{mark} marks one; once any is marked, the others stay out.", MUTED)]
    return []


def can_choose(plan: ImportPlan) -> bool:
    """Tell whether some of the records may be taken without the others: all are new memories."""
    return not (plan.replaced or plan.filled) and all(isinstance(one, Memory) for one in plan.records)


def way_said(way: ImportOptions, theirs: str, as_new: str) -> Parts:
    """Return what is taken of a file, and the keys that change it."""
    differing = "the file's" if way.theirs else "as stored"
    counted = "counted" if way.as_new else "not counted"
    return [
        ("differing: ", MUTED), (differing, "bold" if way.theirs else ""), (f" ({theirs}) · ", MUTED),
        ("reflection: ", MUTED), (counted, "bold" if way.as_new else ""), (f" ({as_new})", MUTED),
    ]  # fmt: skip


def listing_said(found: Listing) -> Parts:
    """Return how many files of a folder can be imported."""
    count = sum(not one.folder for one in found.offered)
    files = f"{amount(count, 'file')} here can be imported"
    rest = f" · {number(found.others)} of no known format" if found.others else ""
    return [(files if count else "No single file here can be imported", "bold"), (rest, MUTED)]


def sessions_said(found: Listing, key: str) -> Parts:
    """Return how many sessions of agents lie in a folder, and the key that lists what they teach."""
    count = sum(one.session for one in found.offered)
    many = amount(count, "session of an agent", "sessions of agents")
    return (
        [(f"\n{many} among them: {key} lists what {'it teaches' if count == 1 else 'they teach'}.", "")]
        if count
        else []
    )


def done_said(report: ImportReport, undo: str) -> str:
    """Return what an import did, and which key takes it back."""
    plan, name = report.plan, printable(report.plan.path.name)
    if report.cancelled:
        total = number(len(plan.records))
        if not report.written:
            return f"The import of {name} was stopped. Nothing was written."
        stopped = f"Stopped: {number(report.written)} of {total} records of {name} were written."
        return f"{stopped} {undo} takes them back; importing again adds the rest."
    theirs = len(report.overtaken)
    other = f" {number(theirs)} stored by another program meanwhile stay as they are." if theirs else ""
    replaced = [f"{number(len(plan.replaced))} as in the file"] if plan.replaced else []
    filled = [f"{number(len(plan.filled))} filled in with who said it"] if plan.filled else []
    what = ", ".join([*_counts(plan), *replaced, *filled]) or f"{number(report.written)} records"
    if theirs:
        what = f"{number(report.written)} records"
    return f"Imported {name}: {what}.{other} {undo} takes it back."


def choices(path: Path) -> Sequence[tuple[str, str, str]]:
    """Return every format as (name, title, remark), those that the file may have first."""
    found = likely(path)
    sure = [(d.format, format_named(d.format).title, f"{d.confidence:.0%}: {d.reason}") for d in found]
    rest = [(f.name, f.title, "") for f in known_formats() if f.name not in {d.format for d in found}]
    return [*sure, *rest]


# What the name in the import dialog stands for: a file with its plan, a folder's files, or how the name may go on.


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a name stands for: a plan, a folder's files, or how the name may go on; else a problem in words.

    `session`: it is a session of an agent, which has no plan: what it teaches is looked at apart.
    """

    path: Path | None = None
    plan: ImportPlan | None = None
    format: str = ""
    listing: Listing | None = None
    offered: tuple[Offered, ...] = ()
    problem: str = ""
    session: bool = False


def chosen_by(
    bench: Workbench,
    name: str,
    base: Path,
    exact: Path | None,
    way: ImportOptions,
    tell: Progress,
    cancelled: Cancelled,
) -> Chosen:
    """Find out what a name stands for, reading the file it names; made for a thread.

    `exact` is the path of a name that was picked; the empty name is the folder `base`.
    """
    try:
        path = exact or (as_named(name, base) if name.strip() else base)
        if path.is_dir() and not way.folder:
            found = listing(path, cancelled, bench.library.folder)
            return Chosen(path, listing=found)
        if not path.exists():
            offered = completions(path)
            return Chosen(path, offered=offered, problem="" if offered else f"There is no file {path}.")
        if way.format is None and not way.folder and is_session(path):
            return Chosen(path, format=SESSION, session=True)
        plan = bench.importer.plan(
            path,
            format=way.format,
            epoch=way.epoch,
            step_hours=way.step_hours,
            theirs=way.theirs,
            as_candidates=way.more,
            issues=way.more,
            progress=tell,
            cancelled=cancelled,
        )
        return Chosen(path, plan, format_said(plan, way.format))
    except WorkbenchError as error:
        tried = _path(exact, name, base)
        return Chosen(tried, problem=_held(bench, tried) or str(error))
    except (OSError, ValueError):
        return Chosen(problem=f"{name} is no path.")


def _path(exact: Path | None, name: str, base: Path) -> Path | None:
    """Return the file that could not be read, so that it can be tried as another format."""
    try:
        return exact or as_named(name, base)
    except WorkbenchError:
        return None


def _held(bench: Workbench, path: Path | None) -> str:
    """Say what a file of episodes or patterns holds, which no format reads, and what takes it in; "" for another."""
    from workbench.services.agents.experience.import_files import experience_in

    try:
        held = experience_in(bench.context, bench.gate, path) if path is not None and path.is_file() else ()
    except (WorkbenchError, OSError) as error:
        return str(error) if isinstance(error, WorkbenchError) else ""
    if path is None or not held:
        return ""
    new = len(held[0].patterns) if held[0].kind == "patterns" else len(held[0].new)
    return f"{path.name} holds {held[0].kind}, {new:,} of them new. `workbench import {path.name}` takes them in."


def no_time(text: str) -> str | None:
    """Say what is wrong with the time of the first step; nothing is wrong with none."""
    try:
        instant(text or "now", datetime.now(UTC))
    except WorkbenchError as error:
        return str(error)
    return None


def no_hours(text: str) -> str | None:
    """Say what is wrong with the length of a step."""
    try:
        hours = float(text)
    except ValueError:
        hours = 0.0
    return None if 0 < hours < 1e6 else "This is no number of hours above 0."


BAR = 24
"""Cells of the progress bar."""

WRITING = "records written"
"""What is counted while a plan is carried out."""


@survives
class WritingLine(Static):
    """Says how things stand, and carries out one plan at a time; `Done` tells how that went."""

    class Went(Progressed):
        pass

    class Done(Message):
        """An import is over."""

        def __init__(self, report: ImportReport | None, problem: str) -> None:
            super().__init__()
            self.report = report
            self.problem = problem

    def __init__(self, bench: Workbench, *, id: str) -> None:
        super().__init__(Content(""), id=id)
        self._bench = bench
        self._stop = threading.Event()
        self._plan: ImportPlan | None = None
        self._begun = 0.0

    @property
    def writing(self) -> bool:
        """Whether a plan is being carried out."""
        return self._plan is not None

    def on_unmount(self) -> None:
        """Let nothing go on that nobody waits for."""
        self._stop.set()

    def say(self, parts: Parts) -> None:
        """Say how things stand."""
        mask = self._bench.safety.masked
        self.update(assemble([(mask(text), style) for text, style in parts]))

    def begin(self) -> None:
        """Note that something begins whose progress is shown."""
        self._begun = time.monotonic()

    def write(self, plan: ImportPlan, *, as_new: bool) -> None:
        self._plan = plan
        self.begin()
        self._stop.clear()
        self.show_progress(WRITING, 0, len(plan.records))
        self._hold_areas(True)
        # The plan is no argument: Textual describes a worker by its arguments, which is long work for a long plan.
        self._carry_out(as_new)

    def stop(self) -> None:
        """Stop after the records that are being written."""
        self._stop.set()
        self.say([("Stopping …", "bold")])

    def on_writing_line_went(self, event: Went) -> None:
        """Show how far writing is."""
        if self.writing:
            self.show_progress(WRITING, event.done, event.total)

    def on_writing_line_done(self) -> None:
        """Let the areas follow again; whoever waits hears of it next."""
        self._plan = None
        self._hold_areas(False)

    @work(thread=True, group="import-write", description="import")
    def _carry_out(self, as_new: bool) -> None:
        report, problem, plan = None, "", self._plan
        assert plan is not None

        def tell(done: int, total: int) -> None:
            self.post_message(self.Went(done, total))

        try:
            report = self._bench.importer.carry_out(plan, as_new=as_new, progress=tell, cancelled=self._stop.is_set)
        except WorkbenchError as error:
            problem = str(error)
        self.post_message(self.Done(report, problem))

    def _hold_areas(self, hold: bool) -> None:
        """Let the areas wait until this is closed, instead of following every thousand records."""
        if isinstance(self.app, Host):
            self.app.writes_much = hold

    def show_progress(self, what: str, done: int, total: int) -> None:
        """Draw how far reading or writing is, how fast it goes, and which key stops it."""
        seconds = time.monotonic() - self._begun
        rate = f" · {number(round(done / seconds))}/s" if done and seconds > 0 else ""
        stops = "stopping …" if self._stop.is_set() else f"{key_of(self, 'import.leave')} stops"
        bar = gauge(done, max(1, total), what, BAR)
        self.update(bar + Content(f"{rate} · {stops}"))


def key_of(node: DOMNode, id: str) -> str:
    """Return the key that an action of the import dialog has now."""
    action = next(a for a in IMPORT if a.id == id)
    return display_key(held_keys(node, (action,))[0][0])
