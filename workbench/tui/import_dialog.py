"""Taking a file into the store: everything it would bring is listed first; nothing is written before that is seen."""

import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from textual import events, on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.bench.import_paths import Offered, completed
from workbench.bench.import_said import counts_steps
from workbench.bench.importing import ImportPlan, ImportReport
from workbench.bench.workbench import Workbench
from workbench.core.errors import WorkbenchError
from workbench.core.record import parse_time
from workbench.core.text import printable
from workbench.tui.actions import bindings, display_key
from workbench.tui.asking import asking
from workbench.tui.content import MUTED, assemble
from workbench.tui.figures import number
from workbench.tui.files_actions import IMPORT
from workbench.tui.import_chosen import Chosen, Way, chosen_by, no_hours, no_time
from workbench.tui.import_rows import (
    Parts,
    Row,
    choices,
    done_said,
    draw,
    listing_said,
    plan_rows,
    plan_said,
)
from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.dialog import Dialog, held_keys
from workbench.tui.widgets.gauge import gauge
from workbench.tui.widgets.line_view import LineView
from workbench.tui.widgets.prompt import Prompt
from workbench.tui.widgets.row import Cell
from workbench.tui.widgets.safe_input import SafeInput

BAR = 24
"""Cells of the progress bar."""


class ImportDialog(Dialog[str | None]):
    """Name a file, see what it brings, take it in; the result is a sentence that says what was done."""

    class Found(Message):
        """What a name stands for was found out."""

        def __init__(self, number: int, chosen: Chosen) -> None:
            super().__init__()
            self.number = number
            self.chosen = chosen

    class Went(Message):
        """Reading or writing is so far."""

        def __init__(self, what: str, done: int, total: int) -> None:
            super().__init__()
            self.what = what
            self.done = done
            self.total = total

    class Done(Message):
        """An import is over."""

        def __init__(self, report: ImportReport | None, problem: str) -> None:
            super().__init__()
            self.report = report
            self.problem = problem

    BINDINGS: ClassVar[list[BindingType]] = bindings(IMPORT)
    DEFAULT_CSS = """
    ImportDialog {
        & > .dialog { width: 94%; max-width: 150; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title { margin-bottom: 0; }
        & .dialog--keys { margin-top: 0; }
        & .import--line { height: 1; }
        & .import--label { width: 9; color: $text-muted; }
        & SafeInput { width: 1fr; background: $background; }
        & #import-format { width: 1fr; height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & #import-state { height: auto; max-height: 5; margin: 1 0; }
        & LineView { background: $background; }
    }
    """

    def __init__(self, bench: Workbench, folder: Path) -> None:
        super().__init__("Import a file · nothing is written before it is listed here", [a for a in IMPORT if a.show])
        self._bench = bench
        self._base = folder
        self._folder: Path | None = None
        self._exact: tuple[str, Path] | None = None
        self._number = 0
        self._way = Way()
        self._stop = threading.Event()
        self._writing = False
        self._begun = 0.0
        self._taken: list[Path] = []
        self._picked = False
        self.chosen = Chosen()

    def contents(self) -> Iterable[Widget]:
        """Return the file, its format, what it would bring, and the lines."""
        path = SafeInput("", placeholder="file or folder", id="import-path")
        yield Horizontal(Static("file", classes="import--label"), path, classes="import--line")
        format = Static(Content(""), id="import-format")
        yield Horizontal(Static("format", classes="import--label"), format, classes="import--line")
        yield Static(Content(""), id="import-state")
        empty = Content("Type or paste the path of a file; tab completes it.")
        yield LineView(self._draw, id, empty=empty, id="import-rows")

    def on_mount(self) -> None:
        """Show what lies in the working folder."""
        self._path.focus()
        self._look()

    def on_unmount(self) -> None:
        """Let nothing go on that nobody waits for."""
        self._stop.set()

    @property
    def _path(self) -> SafeInput:
        return self.query_one("#import-path", SafeInput)

    @property
    def _rows(self) -> LineView[Row]:
        return self.query_one("#import-rows", LineView)

    def _draw(self, row: Row, width: int) -> list[Cell]:
        return draw(row, width, self._taken)

    # Finding out what a name stands for

    @on(Input.Changed, "#import-path")
    def _typed(self) -> None:
        self._way = Way()
        self._look()

    def _look(self) -> None:
        self._number += 1
        self.chosen = Chosen()
        self._begun = time.monotonic()
        name = self._path.value
        exact = self._exact[1] if self._exact and self._exact[0] == name else None
        self._find_out(self._number, name, exact, self._way)

    @work(thread=True, group="import-look", exclusive=True)
    def _find_out(self, number: int, name: str, exact: Path | None, way: Way) -> None:
        worker = get_current_worker()

        def tell(done: int, total: int) -> None:
            self.post_message(self.Went("lines read", done, total))

        chosen = chosen_by(self._bench, name, self._base, exact, way, tell, lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.post_message(self.Found(number, chosen))

    @on(Found)
    def _found(self, event: Found) -> None:
        if event.number != self._number or self._writing:
            return
        chosen = self.chosen = event.chosen
        self._say_format(chosen.format)
        if chosen.plan is not None:
            self._show_plan(chosen.plan)
            return
        if chosen.listing is not None:
            self._folder, self._picked = chosen.path, False
            self._say(listing_said(chosen.listing))
            self._rows.set_empty(Content("Nothing in this folder is of a known format. Type the path of another one."))
            self._rows.set_rows(chosen.listing.offered, cursor=0)
            return
        self._rows.set_empty(Content("Type or paste the path of a file; tab completes it."))
        self._rows.set_rows(chosen.offered, cursor=0)
        if chosen.problem:
            self._say([(f"✗ {printable(chosen.problem)}", "$text-error")])
        else:
            self._say([(f"{number(len(chosen.offered))} names begin like this", MUTED)])

    def _show_plan(self, plan: ImportPlan) -> None:
        parts = plan_said(plan)
        if plan.records:
            key = self._key("import.take")
            parts.append((f"\nenter on the list, or {key}, writes what is listed; nothing else is written.", MUTED))
        if counts_steps(plan):
            first, key = self._way.epoch, self._key("import.steps")
            when = "the last one is now" if first is None else f"the first one was {first:%Y-%m-%d %H:%M}"
            parts.append((f"\nIt counts steps: {when}, {self._way.step_hours:g} h each; {key} changes it.", ""))
        self._say(parts)
        self._rows.set_empty(Content("Everything in this file is in the store already."))
        self._rows.set_rows(plan_rows(plan), cursor=0)

    # Choosing

    @on(Input.Submitted, "#import-path")
    def action_down(self) -> None:
        """From the file's name to the lines."""
        if self._rows.rows:
            self._rows.focus()

    def action_complete(self) -> None:
        """Complete the name as far as it is clear, or come back from the lines to it."""
        if self.focused is not self._path:
            self._path.focus()
            return
        chosen = self.chosen
        offered = chosen.listing.offered if chosen.listing else chosen.offered
        if chosen.path is None or not offered or chosen.listing:
            self.action_down()
            return
        self._choose(completed(chosen.path, offered), offered[0].folder if len(offered) == 1 else False)

    @on(LineView.Opened)
    def _opened(self) -> None:
        row = self._rows.current
        if isinstance(row, Offered):
            self._picked = self.chosen.listing is not None and not row.folder
            self._choose(row.path, row.folder)
        else:
            self.action_take()

    def _choose(self, path: Path, folder: bool) -> None:
        """Put a path into the line for it, as it is even where the line cannot show it."""
        text = printable(f"{path}/" if folder else str(path))
        self._exact = (text, path)
        self._path.value = text
        self._path.cursor_position = len(text)
        if folder:
            self._path.focus()

    @asking
    async def action_format(self) -> None:
        """Read the file as another format."""
        path = self.chosen.path
        if path is None or self._writing or not path.is_file():
            self.app.bell()
            return
        try:
            offered = [Choice(*choice) for choice in choices(path)]
        except WorkbenchError as error:
            self._say([(f"✗ {printable(str(error))}", "$text-error")])
            return
        held = self.chosen.plan.parsed.format if self.chosen.plan else ""
        format = await self.app.push_screen_wait(Choose(f"What is {path.name}?", offered, held))
        if format is not None:
            self._way = Way(format, self._way.epoch, self._way.step_hours)
            self._look()

    @asking
    async def action_steps(self) -> None:
        """Say when the first step was, and how long a step takes."""
        if self.chosen.plan is None or not counts_steps(self.chosen.plan):
            self.app.bell()
            return
        epoch = await self.app.push_screen_wait(
            Prompt(
                "When was the first step?", placeholder="2026-01-31T09:00; empty: the last step is now", check=no_time
            )
        )
        if epoch is None:
            return
        hours = await self.app.push_screen_wait(
            Prompt("How many hours does a step take?", f"{self._way.step_hours:g}", check=no_hours)
        )
        if hours is not None:
            self._way = Way(self._way.format, parse_time(epoch) if epoch else None, float(hours))
            self._look()

    # Writing

    def action_take(self) -> None:
        """Write what is listed, with a progress bar; esc stops it."""
        plan = self.chosen.plan
        if plan is None or not plan.records or self._writing:
            self.app.bell()
            return
        self._writing, self._begun = True, time.monotonic()
        self._stop.clear()
        self._path.disabled = True
        self._rows.focus()
        self._show_progress("records written", 0, len(plan.records))
        self._hold_areas(True)
        # Not as an argument: Textual describes a worker by its arguments, which is long work for a long plan.
        self._write()

    @work(thread=True, group="import-write")
    def _write(self) -> None:
        report, problem, plan = None, "", self.chosen.plan
        assert plan is not None

        def tell(done: int, total: int) -> None:
            self.post_message(self.Went("records written", done, total))

        try:
            report = self._bench.importer.carry_out(plan, progress=tell, cancelled=self._stop.is_set)
        except WorkbenchError as error:
            problem = str(error)
        self.post_message(self.Done(report, problem))

    def _hold_areas(self, hold: bool) -> None:
        """Let the areas wait until this is closed, instead of following every thousand records."""
        from workbench.tui.app import WorkbenchApp

        if isinstance(self.app, WorkbenchApp):
            self.app.writes_much = hold

    @on(Went)
    def _went(self, event: Went) -> None:
        if self._writing != (event.what == "records written") or (not self._writing and self.chosen.path):
            return
        self._show_progress(event.what, event.done, event.total)

    def _show_progress(self, what: str, done: int, total: int) -> None:
        seconds = time.monotonic() - self._begun
        rate = f" · {number(round(done / seconds))}/s" if done and seconds > 0 else ""
        stops = "stopping …" if self._stop.is_set() else f"{self._key('import.leave')} stops"
        bar = gauge(done, max(1, total), what, BAR)
        self.query_one("#import-state", Static).update(bar + Content(f"{rate} · {stops}"))

    @on(Done)
    def _done(self, event: Done) -> None:
        self._writing = False
        self._hold_areas(False)
        self._path.disabled = False
        if event.report is None:
            self._say([(f"✗ {printable(event.problem)}", "bold $text-error")])
            return
        if not self._picked or event.report.cancelled:
            self.dismiss(done_said(event.report, "u"))
            return
        # One file out of a folder: the others wait.
        self._taken.append(event.report.plan.path)
        self.app.notify(done_said(event.report, self._key("import.undo")), markup=False)
        self._to_folder()

    def _to_folder(self) -> None:
        """Go back to the files of the folder that one was picked from."""
        if self._folder is not None:
            self._choose(self._folder, True)
            self._rows.focus()

    def action_undo(self) -> None:
        """Take back what was imported last here."""
        if self._writing or not self._taken:
            self.app.bell()
            return
        try:
            self.app.notify(printable(f"Undone: {self._bench.history.undo()}"), markup=False)
            self._taken.pop()
        except WorkbenchError as error:
            self.app.notify(printable(str(error)), severity="error", markup=False)
        self._look()

    def action_leave(self) -> None:
        """Stop what is under way, go back to the folder a file was picked from, or close."""
        if self._writing:
            self._stop.set()
            self._say([("Stopping …", "bold")])
            return
        if self._picked:
            self._to_folder()
            return
        self.workers.cancel_node(self)
        self.dismiss(None)

    # Saying things

    def on_click(self, event: events.Click) -> None:
        """A click on the format asks for another one."""
        if event.widget is not None and event.widget.id == "import-format":
            self.call_later(self.run_action, "format")

    def _say_format(self, text: str) -> None:
        self.query_one("#import-format", Static).update(Content(printable(text)))

    def _say(self, parts: Parts) -> None:
        self.query_one("#import-state", Static).update(assemble(parts))

    def _key(self, id: str) -> str:
        action = next(a for a in IMPORT if a.id == id)
        return display_key(held_keys(self, (action,))[0][0])
