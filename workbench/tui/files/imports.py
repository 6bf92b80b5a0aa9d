"""Taking a file into the store: everything it would bring is listed first; nothing is written
before that is seen.
"""

import asyncio
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from textual import on, work
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from workbench.core.files.formats import format_named, known_formats
from workbench.core.record import WorkbenchError, as_object
from workbench.core.runtime import Cancelled, Progress
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.core.stream.times import instant
from workbench.core.text import printable
from workbench.services.files.importing import (
    ImportPlan,
    ImportReport,
    counts_said,
    passed_said,
    replacement_said,
    said,
    skipped,
)
from workbench.services.files.paths import (
    SESSION,
    Listing,
    Offered,
    as_named,
    beginning,
    completed,
    completions,
    is_session,
    likely,
    listing,
)
from workbench.services.open import Workbench
from workbench.tui.actions import IMPORT
from workbench.tui.app.actions import bindings, footer_entries
from workbench.tui.app.host import Host
from workbench.tui.app.waiting import asking, change
from workbench.tui.files.preview import ActionText, FileDialog, Parts, labelled
from workbench.tui.widgets.bars import gauge
from workbench.tui.widgets.content import MUTED, assemble, key_of, keyed
from workbench.tui.widgets.dialog import Choice, Choose, Prompt, SafeInput
from workbench.tui.widgets.figures import NO_BREAK, absolute, amount, number
from workbench.tui.widgets.line_list import Cell, LineView

WARN = "$text-warning"
TITLE, SURE, SIZE = 34, 4, 8
"""Columns of a format's name beside a file, of how sure that is, and of the file's size."""

START = "Type or paste the path of a file; tab completes it."


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file is to be read: as which format, and when its steps were; and what of it is to be
    taken.

    `theirs` takes the file's version of what differs, `as_new` lets memories count towards the next
    reflection. With `more` come the statements of a document as candidates, and the closed issues
    of a tracker. A `folder` is read note by note instead of being listed.
    """

    format: str | None = None
    epoch: datetime | None = None
    step_hours: float = 1.0
    theirs: bool = False
    as_new: bool = False
    more: bool = False
    folder: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A remark about a file: its mark, the text, and what stands at its end."""

    mark: str
    text: str
    note: str = ""
    style: str = MUTED


Row = Line | Offered | object
"""A remark, something to choose, or a record that would be written."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a name stands for: a plan, a folder's files, or how the name may go on; else a problem
    in words.

    `session`: it is a session of an agent, which has no plan: what it teaches is looked at apart.
    """

    path: Path | None = None
    plan: ImportPlan | None = None
    format: str = ""
    listing: Listing | None = None
    offered: tuple[Offered, ...] = ()
    problem: str = ""
    session: bool = False


class ImportDialog(FileDialog[str | None]):
    """Name a file, see what it brings, take it in; the result is a sentence that says what was
    done.
    """

    BINDINGS = bindings(IMPORT)
    DEFAULT_CSS = "ImportDialog .dialog--state { max-height: 5; }"

    def __init__(self, bench: Workbench, folder: Path, start: Path | None = None) -> None:
        """`start` is a file to begin with, or a folder, which is read note by note when it lies
        below `folder`.
        """
        title = "Import a file · a preview, nothing is written yet"
        super().__init__(title, footer_entries(IMPORT), bench)
        self._base = folder
        self._start = start if start != folder else None
        self._path = SafeInput("", placeholder="file or folder", id="import-path")
        self._rows: LineView[Row] = LineView(self._draw, id, empty=Content(START), id="import-rows")
        self.state.id = "import-state"
        self._exact: tuple[str, Path] | None = None
        """What was put into the box, and the path it stands for, where the box cannot show that."""
        self._folder: Path | None = None
        self._way = ImportOptions()
        self._taken: list[Path] = []
        self._marked: set[int] = set()
        self._picked = self._entered = False
        self._opened_last: Path | None = None
        self._writing: ImportPlan | None = None
        self._stop = threading.Event()
        self._begun = 0.0
        self.chosen = Chosen()

    def contents(self) -> Iterable[Widget]:
        """Return the file, its format, what it would bring, and the lines."""
        yield labelled("file", self._path)
        yield labelled("format", ActionText("format", id="import-format"))
        yield labelled("taking", ActionText("theirs", id="import-way"))
        yield self.state
        yield self._rows

    def on_mount(self) -> None:
        """Show what lies in the working folder."""
        self._path.focus()
        if self._start is None:
            self._look()
        else:
            self._put(self._start, self._start.is_dir())

    def on_unmount(self) -> None:
        """Let nothing go on that nobody waits for."""
        self._stop.set()

    @property
    def writing(self) -> bool:
        """Whether a plan is being carried out."""
        return self._writing is not None

    # Finding out what a name stands for

    @on(Input.Changed, "#import-path")
    def _typed(self) -> None:
        # How another file is read says nothing about this one; what to take from files does.
        self._way = ImportOptions(theirs=self._way.theirs, as_new=self._way.as_new)
        if self._start is not None and self._exact == (self._path.value, self._start):
            is_here = self._start.is_dir() and self._start.is_relative_to(self._base)
            self._way = replace(self._way, more=True, folder=is_here)
        self._look()

    def _look(self) -> None:
        self.chosen, self._marked, self._entered = Chosen(), set(), False
        self._say_way()
        self._read()

    @work(exclusive=True, group="import-look")
    async def _read(self) -> None:
        worker, self._begun = get_current_worker(), time.monotonic()

        def tell(done: int, total: int) -> None:
            self.call_later(self._progress, done, total)

        found = partial(
            self._find_out, self._path.value, self._way, tell, lambda: worker.is_cancelled
        )
        chosen = await asyncio.to_thread(found)
        if not self.writing:
            entered = self._entered
            self.chosen = chosen
            self._show_chosen(chosen)
            if entered:
                self._submitted()

    def _find_out(
        self, name: str, way: ImportOptions, tell: Progress, cancelled: Cancelled
    ) -> Chosen:
        """Find out what a name stands for, reading the file it names; made for a thread."""
        path: Path | None = None
        try:
            exact = self._exact[1] if self._exact and self._exact[0] == name else None
            path = exact or (as_named(name, self._base) if name.strip() else self._base)
            if path.is_dir() and not way.folder:
                return Chosen(path, listing=listing(path, cancelled, self.bench.library.folder))
            if not path.exists():
                offered = completions(path)
                return Chosen(
                    path, offered=offered, problem="" if offered else f"There is no file {path}."
                )
            if way.format is None and not way.folder and is_session(path):
                return Chosen(path, format=SESSION, session=True)
            plan = self.bench.importer.plan(
                path, format=way.format, epoch=way.epoch, step_hours=way.step_hours, theirs=way.theirs,
                as_candidates=way.more, issues=way.more, progress=tell, cancelled=cancelled,
            )  # fmt: skip
            return Chosen(path, plan, _format_said(plan, way.format))
        except WorkbenchError as error:
            return Chosen(path, problem=self._experience_in(path) or str(error))
        except (OSError, ValueError):
            return Chosen(problem=f"{name} is not a path.")

    def _experience_in(self, path: Path | None) -> str:
        """Say what a file of episodes or patterns holds, which no format reads, and what takes it
        in.
        """
        from workbench.services.agents.consolidation import experience_in

        try:
            held = (
                experience_in(self.bench.context, self.bench.gate, path)
                if path and path.is_file()
                else ()
            )
        except WorkbenchError as error:
            return str(error)
        except OSError:
            return ""
        if path is None or not held:
            return ""
        new = len(held[0].patterns) if held[0].kind == "patterns" else len(held[0].new)
        return f"{path.name} holds {held[0].kind}, {new:,} of them new. `workbench import {path.name}` takes them in."

    def _show_chosen(self, chosen: Chosen) -> None:
        """Show what the name stands for."""
        told = Content(printable(self.masked(chosen.format)))
        self.query_one("#import-format", ActionText).update(told)
        if chosen.plan is not None:
            self._show_plan(chosen.plan)
        elif chosen.session:
            self._show_session()
        elif chosen.listing is not None:
            self._show_listing(chosen.listing)
        else:
            self._list(START, chosen.offered)
            count = len(chosen.offered)
            names = amount(count, "name begins like this", "names begin like this")
            if chosen.problem:
                self.complain(chosen.problem)
            else:
                self.say(
                    [(f"{names}: enter takes {'it' if count == 1 else 'the marked one'}", MUTED)]
                )

    def _list(self, empty: str, rows: Sequence[Row], cursor: int = 0) -> None:
        self._rows.set_empty(Content(empty))
        self._rows.set_rows(rows, cursor=cursor)

    def _show_listing(self, found: Listing) -> None:
        self._folder, self._picked = found.folder, False
        count, sessions = (
            sum(not one.folder for one in found.offered),
            sum(one.session for one in found.offered),
        )
        files = (
            f"{amount(count, 'file')} here can be imported"
            if count
            else "No single file here can be imported"
        )
        rest = f" · {number(found.others)} of no known format" if found.others else ""
        follows = keyed(
            "\n{import.take} reads the folder note by note · {import.documents} opens it as documents"
        )
        parts = [(files, "bold"), (rest, MUTED), (follows, MUTED)]
        if sessions:
            many = amount(sessions, "session of an agent", "sessions of agents")
            teach = "it teaches" if sessions == 1 else "they teach"
            parts.append(
                (keyed(f"\n{many} among them: {{import.sessions}} lists what {teach}."), "")
            )
        self.say(parts)
        at = next((n for n, one in enumerate(found.offered) if one.path == self._opened_last), 0)
        taken = bool(found.offered) and found.offered[at].path in self._taken  # go on below it then
        empty = keyed("No file in a known format; {import.take} reads the folder's notes.")
        self._list(empty, found.offered, min(at + taken, max(0, len(found.offered) - 1)))

    def _show_plan(self, plan: ImportPlan) -> None:
        more = plan.parsed.offered or plan.parsed.closed
        parts = _plan_said(plan) if plan.records or not more else []
        if plan.records:
            writes = keyed("\nenter on the list, or {import.take}, imports what is listed.")
            parts.append((writes, MUTED))
        offer = _offer_said(plan)
        parts += offer if parts else [(text.lstrip("\n"), style) for text, style in offer]
        if plan.parsed.in_steps:
            first = self._way.epoch
            when = (
                "the last one is now" if first is None else f"the first one was {absolute(first)}"
            )
            steps = f"\nIt counts steps: {when}, {self._way.step_hours:g} h each; {key_of('import.steps')} changes it."
            parts.append((steps, ""))
        self.say(parts)
        lists = keyed(
            "Nothing listed yet: {import.statements} lists its statements or closed issues."
        )
        self._list(
            lists if more else "Everything in this file is already in the store.", _plan_rows(plan)
        )

    def _show_session(self) -> None:
        """Say what a session is; one that was picked from a folder is opened at once."""
        follows = keyed(
            "\nenter, or {import.sessions}, lists the lessons in it, without storing them."
        )
        self.say(
            [
                ("A session transcript: it contains no records.", "bold"),
                (follows, MUTED),
            ]
        )
        self._list("", ())
        if self._picked:
            self.call_later(self.run_action, "sessions")
        elif self._rows.has_focus:
            self._path.focus()  # who pressed enter before it was known what the name stands for is on an empty list

    # Choosing

    def _put(self, path: Path, folder: bool) -> None:
        """Put a path into the box, as it is even where the box cannot show it."""
        text = printable(f"{path}/" if folder else str(path))
        self._exact = (text, path)
        self._path.value = text
        self._path.cursor_position = len(text)
        if folder:
            self._path.focus()

    @on(Input.Submitted, "#import-path")
    def _submitted(self) -> None:
        """Go on to what the name stands for, as soon as that is known: the only name that begins so
        is taken.
        """
        offered = self.chosen.offered
        if self.chosen == Chosen():
            self._entered = True
        elif len(offered) == 1:
            self._put(offered[0].path, offered[0].folder)
        elif self.chosen.session or self._rows.rows:
            self.action_down()
        else:
            self.app.bell()

    def action_down(self) -> None:
        """From the file's name to the lines, or to what a session teaches."""
        if self.chosen.session:
            self.call_later(self.run_action, "sessions")
        elif self._rows.rows:
            self._rows.focus()

    def action_complete(self) -> None:
        """Complete the name as far as it is clear, or come back from the lines to it."""
        chosen, in_folder = self.chosen, self._path.value.endswith("/")
        if self.focused is not self._path:
            self._path.focus()
        elif chosen.path is not None and chosen.listing is not None and self._path.value.strip():
            offered = (
                chosen.listing.offered
            )  # go on in the folder that is named, as far as the names in it agree
            begun = beginning(offered) if in_folder else ""
            if begun:
                self._put(chosen.path / begun, len(offered) == 1 and offered[0].folder)
            elif in_folder:
                self.app.bell()
            else:
                self._put(chosen.path, True)
        elif chosen.path is None or not chosen.offered or chosen.listing is not None:
            self.action_down()
        else:
            alone = len(chosen.offered) == 1 and chosen.offered[0].folder
            self._put(completed(chosen.path, chosen.offered), alone)

    @on(LineView.Opened)
    def _opened(self) -> None:
        row = self._rows.current
        if isinstance(row, Offered):
            self._opened_last = row.path
            self._picked = self.chosen.listing is not None and not row.folder
            self._put(row.path, row.folder)
        else:
            self.action_take()

    @asking
    async def action_format(self) -> None:
        """Read the file as another format."""
        path = self.chosen.path
        if path is None or self.writing or not path.is_file():
            self.app.bell()
            return
        try:
            choices = _choices(path)
        except WorkbenchError as error:
            self.complain(error)
            return
        held = self.chosen.plan.parsed.format if self.chosen.plan else ""
        format = await self.app.push_screen_wait(Choose(f"What is {path.name}?", choices, held))
        if format is not None:
            self._go(format=format)

    @asking
    async def action_steps(self) -> None:
        """Say when the first step was, and how long a step takes."""
        if self.chosen.plan is None or not self.chosen.plan.parsed.in_steps:
            self.app.bell()
            return
        hint = "2026-01-31T09:00; empty: the last step is now"
        asked = Prompt("When was the first step?", placeholder=hint, check=_no_time)
        if (epoch := await self.app.push_screen_wait(asked)) is None:
            return
        asked = Prompt(
            "How many hours does a step take?", f"{self._way.step_hours:g}", check=_no_hours
        )
        if (hours := await self.app.push_screen_wait(asked)) is not None:
            first = instant(epoch, self.bench.context.now()) if epoch else None
            self._go(epoch=first, step_hours=float(hours))

    def action_theirs(self) -> None:
        """Take the file's version of what differs, or leave it as it is stored."""
        self._go(theirs=not self._way.theirs)

    def action_as_new(self) -> None:
        """Let new memories count towards the next reflection, or not."""
        if self.writing:
            self.app.bell()
            return
        self._way = replace(self._way, as_new=not self._way.as_new)
        self._say_way()

    def action_statements(self) -> None:
        """List the statements of a document as candidates, or the closed issues of a tracker; or
        none again.
        """
        parsed = self.chosen.plan.parsed if self.chosen.plan is not None else None
        if parsed is None or not (self._way.more or parsed.offered or parsed.closed):
            self.app.bell()
            return
        self._go(more=not self._way.more)

    def action_mark(self) -> None:
        """Mark a record, so that only marked ones are taken, or take the mark off again."""
        row, plan = self._rows.current, self.chosen.plan
        if (
            plan is None
            or self.writing
            or not _can_choose(plan)
            or not any(one is row for one in plan.records)
        ):
            self.app.bell()
            return
        self._marked ^= {id(row)}
        self._rows.set_rows(self._rows.rows, cursor=self._rows.cursor + 1)

    def _go(self, **way: object) -> None:
        """Read the file again in another way."""
        if self.writing:
            self.app.bell()
            return
        self._way = replace(self._way, **way)  # type: ignore[arg-type]
        self._look()

    def _say_way(self) -> None:
        """Say what is taken of a file, and the keys that change it."""
        differing, counted = (
            (("the file's", "bold") if self._way.theirs else ("as stored", "")),
            (("counted", "bold") if self._way.as_new else ("not counted", "")),
        )
        self.query_one("#import-way", ActionText).update(assemble([
            ("differing: ", MUTED), differing, (keyed(" ({import.theirs}) · "), MUTED),
            ("reflection: ", MUTED), counted, (keyed(" ({import.as-new})"), MUTED),
        ]))  # fmt: skip

    # Writing

    def action_take(self) -> None:
        """Write what is listed, with a progress bar; esc stops it."""
        plan = self.chosen.plan
        if self.writing:
            self.app.bell()
        elif plan is None:
            self._take_without_plan()
        elif not plan.records:
            self.app.bell()
            more = plan.parsed.offered or plan.parsed.closed
            lists = keyed(" {import.statements} lists more of it.") if more else ""
            self.toast(f"Nothing new in it, so nothing was imported.{lists}")
        else:
            if self._marked:
                records = tuple(one for one in plan.records if id(one) in self._marked)
                plan = replace(plan, records=records, agrees=False)
            self._path.disabled = True
            self._rows.focus()
            self._writing, self._begun = plan, time.monotonic()
            self._stop.clear()
            self._progress(0, len(plan.records))
            self._carry_out()

    def _take_without_plan(self) -> None:
        """Read a folder note by note, list what a session teaches, or say what is to be named
        first.
        """
        if self.chosen.listing is not None:
            self._picked = False
            self._go(folder=True)
        elif self.chosen.session:
            self.call_later(self.run_action, "sessions")
        else:
            self.app.bell()
            reading = self.chosen == Chosen()
            self.toast(
                "The file is still being read."
                if reading
                else self.chosen.problem or "Choose a file first."
            )

    @work(group="import-write", description="import")
    async def _carry_out(self) -> None:
        plan, problem, report = self._writing, "", None
        assert plan is not None

        def tell(done: int, total: int) -> None:
            self.call_later(self._progress, done, total)

        carry_out = partial(
            self.bench.importer.carry_out,
            plan,
            as_new=self._way.as_new,
            progress=tell,
            cancelled=self._stop.is_set,
        )
        self._hold_areas(True)
        try:
            report = await asyncio.to_thread(carry_out)
        except WorkbenchError as error:
            problem = str(error)
        finally:
            self._writing = None
            self._hold_areas(False)
        self._path.disabled = False
        if report is None:
            self.complain(problem)
        elif not self._picked or report.cancelled:
            self.dismiss(_done_said(report, "u"))
        else:  # one file out of a folder: the others wait
            self._taken.append(report.plan.path)
            self.toast(_done_said(report, key_of("import.undo")))
            self._to_folder()

    def _hold_areas(self, hold: bool) -> None:
        """Let the areas wait until this is done, instead of following every thousand records."""
        if isinstance(self.app, Host):
            self.app.writes_much = hold

    def _progress(self, done: int, total: int) -> None:
        """Draw how far reading or writing is, how fast it goes, and which key stops it."""
        if self.chosen.path and not self.writing:
            return
        seconds = time.monotonic() - self._begun
        rate = f" · {number(round(done / seconds))}/s" if done and seconds > 0 else ""
        stops = "stopping …" if self._stop.is_set() else keyed("{import.leave} stops")
        bar = gauge(done, max(1, total), "records written" if self.writing else "lines read", 24)
        self.state.update(bar + Content(f"{rate} · {stops}"))

    def _to_folder(self) -> None:
        """Go back to the files of the folder that one was picked from."""
        if self._folder is not None:
            self._put(self._folder, True)
            self._rows.focus()

    def action_undo(self) -> None:
        """Take back what was imported last here."""
        if self.writing or not self._taken:
            self.app.bell()
            return

        def undo() -> None:
            self.toast(f"Undone: {self.bench.history.undo()}")
            self._taken.pop()
            self._look()

        def complain(error: WorkbenchError) -> None:
            self.toast(str(error), "error")
            self._look()

        change(self, undo, complain)

    def action_documents(self) -> None:
        """Follow the folder that is named, as one of documents, and open it."""
        documents, folder = self.bench.documents, self.chosen.path
        if folder is None or self.chosen.listing is None or self.writing:
            self.app.bell()
            return

        def follow() -> None:
            from workbench.tui.agents.documents import DocumentsDialog

            if folder.resolve() not in documents.followed():
                documents.follow(folder)
            self.dismiss(None)
            self.app.push_screen(DocumentsDialog(self.bench, folder))

        change(self, follow, lambda error: self.toast(str(error), "error"))

    @asking
    async def action_sessions(self) -> None:
        """List what the session that is named teaches, or all that lie in the folder."""
        chosen = self.chosen
        if chosen.session and chosen.path is not None:
            files = [chosen.path]
        else:
            files = (
                [one.path for one in chosen.listing.offered if one.session]
                if chosen.listing
                else []
            )
        if not files or self.writing:
            self.app.bell()
            return
        from workbench.tui.agents.browse import LessonsDialog

        told = await self.app.push_screen_wait(LessonsDialog(self.bench, files))
        if told is not None:
            self.dismiss(told)

    def action_leave(self) -> None:
        """Stop what is under way, go back to the folder a file was picked from, or close."""
        if self.writing:
            self._stop.set()
            self.say([("Stopping …", "bold")])
        elif self._way.folder and self.chosen.path != self._start:
            self._go(folder=False)
        elif self._picked:
            self._to_folder()
        else:
            self.workers.cancel_node(self)
            self.dismiss(None)

    # Drawing

    def _draw(self, row: Row, width: int) -> list[Cell]:
        if isinstance(row, Line):
            note = (
                [Cell(row.note, min(len(row.note), width // 3), MUTED, "right")] if row.note else []
            )
            return [Cell(row.mark, 1, "bold"), Cell(self.masked(row.text), 0, row.style), *note]
        if isinstance(row, Offered):
            return self._file_row(row, width)
        text = self.masked(
            _statement(row) if isinstance(row, Memory) and _is_statement(row) else said(row)
        )
        if self._marked and id(row) not in self._marked:
            return [Cell("·", 1, MUTED), Cell(text, 0, MUTED)]
        return [Cell("✓" if self._marked else "+", 1, "bold $text-success"), Cell(text)]

    def _file_row(self, row: Offered, width: int) -> list[Cell]:
        name = self.masked(row.path.name)
        if row.folder:
            return [Cell("/", 1, MUTED), Cell(f"{name}/", 0, MUTED)]
        if not row.title:
            return [Cell("", 1), Cell(name)]
        sign, mark = ("imported", "✓") if row.path in self._taken else (row.title, "")
        size = f"{row.size / 1e6:.1f} MB" if row.size >= 1e6 else f"{row.size / 1e3:.1f} kB"
        return [
            Cell(mark, 1, "bold $text-success"),
            Cell(name),
            Cell(sign, min(TITLE, width // 2 - SIZE), MUTED, "right"),
            Cell(f"{row.confidence:.0%}", SURE, MUTED, "right"),
            Cell(size, SIZE, MUTED, "right"),
        ]


def _is_statement(memory: Memory) -> bool:
    return as_object(memory.metadata.get(FILE_KEY)).get("format") == "instructions"


def _statement(memory: Memory) -> str:
    """Say a statement of a document for somebody who chooses: its line, and its text before what it
    stands under.
    """
    text = " ".join(memory.content.split())
    _, found, rest = (
        text.partition(" ".join(memory.section.split())) if memory.section else ("", "", text)
    )
    warns = "warning: " if memory.category == "warning" else ""
    under = f"  ({memory.section})" if memory.section else ""
    return f"{memory.metadata['line']}: {warns}{rest.lstrip('”:, ') if found else text}{under}"


def _plan_rows(plan: ImportPlan) -> list[Row]:
    """Return what is skipped, changed on the way and kept, then every record that would be written."""
    name, parsed = plan.path.name, plan.parsed
    count = {n: amount(n, "record") for n in {m.count for m in parsed.mappings}}
    known = {id(new) for _, new in plan.replaced}
    taken = {"-": "$text-error", "+": "$text-success"}
    signed = (line for old, new in plan.replaced for line in replacement_said(old, new))
    return [
        *(
            Line("✗" if i.records else "!", f"{name}:{i.line}: {i.reason}", "", WARN)
            for i in parsed.issues
        ),
        *(
            Line("!", f"{m.field}: {m.how}", count[m.count])
            for m in parsed.mappings
            if plan.records
        ),
        *(Line("!", line) for line in passed_said(plan.passed)),
        *(Line("=", f"{key} stays as it is in the store") for key in plan.kept),
        *(Line("=", f"{id} was purged; `workbench import --again` takes it") for id in plan.purged),
        *(Line(line[0], line[2:], "", taken.get(line[0], MUTED)) for line in signed),
        *(record for record in plan.records if id(record) not in known),
    ]


def _plan_said(plan: ImportPlan) -> Parts:
    """Return how much of a file is new, there already, kept and skipped."""
    fresh = _counts(plan)
    counted = [
        (plan.present, "there already", ""),
        (len(plan.known), "skipped, already imported from another file", WARN),
        (len(plan.replaced), "replaced by the file's version", "bold"),
        (len(plan.kept), "kept as they are", ""),
        (len(plan.purged), "purged, skipped", ""),
        (skipped(plan), "skipped", WARN),
    ]
    rest = [(f" · {number(count)} {what}", style) for count, what, style in counted if count]
    return [(f"New: {', '.join(fresh)}" if fresh else "Nothing is new", "bold"), *rest]


def _counts(plan: ImportPlan) -> list[str]:
    return [text.replace(",", NO_BREAK) for text in counts_said(plan)]


def _format_said(plan: ImportPlan, asked: str | None) -> str:
    """Name the format of a file, and why it was taken for that."""
    title, found = format_named(plan.parsed.format).title, plan.parsed.detected
    if asked is not None:
        return f"{title}, as chosen"
    if plan.path.is_dir():
        return "a folder of notes"
    return f"{title}, {found.confidence:.0%} sure: {found.reason}" if found else title


def _offer_said(plan: ImportPlan) -> Parts:
    """Return what a file has beside its records, and the key that takes it; or how some records are
    chosen.
    """
    if plan.parsed.offered:
        make = amount(plan.parsed.offered, "statement makes sense", "statements make sense")
        told = f"A document that agents load whole: {make} without the rest;"
        return [
            (f"\n{told} ", ""),
            (keyed("{import.statements} lists them as candidates."), "bold"),
        ]
    if plan.parsed.closed:
        lists = keyed("{import.statements} lists them as observations.")
        return [(f"\n{number(plan.parsed.closed)} closed issues; {lists}", "")]
    if len(plan.records) > 1 and _can_choose(plan):
        return [(keyed("\n{import.mark} marks one; then only marked ones are imported."), MUTED)]
    return []


def _can_choose(plan: ImportPlan) -> bool:
    """Tell whether some of the records may be taken without the others: all are new memories."""
    return not plan.replaced and all(isinstance(one, Memory) for one in plan.records)


def _done_said(report: ImportReport, undo: str) -> str:
    """Return what an import did, and which key takes it back."""
    plan, name, written = report.plan, printable(report.plan.path.name), number(report.written)
    if report.cancelled:
        if not report.written:
            return f"The import of {name} was stopped. Nothing was written."
        stopped = (
            f"Stopped: {written} of {number(len(plan.records))} records of {name} were written."
        )
        return f"{stopped} {undo} takes them back; importing again adds the rest."
    if report.overtaken:
        theirs = (
            f"{number(len(report.overtaken))} stored by another program meanwhile, left unchanged."
        )
        return f"Imported {name}: {written} records. {theirs} {undo} takes it back."
    replaced = (
        [f"{number(len(plan.replaced))} replaced by the file's version"] if plan.replaced else []
    )
    what = ", ".join([*_counts(plan), *replaced]) or f"{written} records"
    return f"Imported {name}: {what}. {undo} takes it back."


def _choices(path: Path) -> list[Choice]:
    """Return every format, those that the file may have first. Raises `UnreadableFile`."""
    found = {one.format: one for one in likely(path)}
    sure = [
        Choice(name, format_named(name).title, f"{one.confidence:.0%}: {one.reason}")
        for name, one in found.items()
    ]
    return [
        *sure,
        *(Choice(one.name, one.title) for one in known_formats() if one.name not in found),
    ]


def _no_time(text: str) -> str | None:
    """Say what is wrong with the time of the first step; nothing is wrong with none."""
    try:
        instant(text or "now", datetime.now(UTC))
    except WorkbenchError as error:
        return str(error)
    return None


def _no_hours(text: str) -> str | None:
    """Say what is wrong with the length of a step."""
    try:
        hours = float(text)
    except ValueError:
        hours = 0.0
    return None if 0 < hours < 1e6 else "This must be a number of hours above 0."
