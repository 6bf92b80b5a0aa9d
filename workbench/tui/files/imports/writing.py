"""The line of the import dialog that says what a file brings, and then writes it, with a progress bar."""

import threading
import time

from textual import work
from textual.content import Content
from textual.dom import DOMNode
from textual.message import Message
from textual.widgets import Static

from workbench.core.errors import WorkbenchError
from workbench.services.files.imports.importing import ImportPlan, ImportReport
from workbench.services.open import Workbench
from workbench.tui.app.actions import display_key
from workbench.tui.app.host import Host
from workbench.tui.app.surviving import survives
from workbench.tui.files.actions import IMPORT
from workbench.tui.files.imports.rows import Parts
from workbench.tui.widgets.bars.gauge import gauge
from workbench.tui.widgets.content import assemble
from workbench.tui.widgets.dialog import held_keys
from workbench.tui.widgets.figures import number

BAR = 24
"""Cells of the progress bar."""

WRITING = "records written"
"""What is counted while a plan is carried out."""


@survives
class WritingLine(Static):
    """Says how things stand, and carries out one plan at a time; `Done` tells how that went."""

    class Went(Message):
        """Writing is so far."""

        def __init__(self, done: int, total: int) -> None:
            super().__init__()
            self.done = done
            self.total = total

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
        """Carry out a plan."""
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
