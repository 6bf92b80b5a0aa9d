"""The half of the import dialog that writes: a worker, its progress bar, and esc that stops it."""

import threading
import time

from textual import work
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from workbench.bench.files.imports.importing import ImportPlan, ImportReport
from workbench.bench.open import Workbench
from workbench.core.errors import WorkbenchError
from workbench.tui.app.actions import Action, display_key
from workbench.tui.files.actions import IMPORT
from workbench.tui.widgets.bars.gauge import gauge
from workbench.tui.widgets.dialog import Dialog, held_keys
from workbench.tui.widgets.figures import number

BAR = 24
"""Cells of the progress bar."""

WRITING = "records written"
"""What is counted while a plan is carried out."""


class ImportWriting(Dialog[str | None]):
    """A dialog with a line `#import-state` that can carry out one plan at a time."""

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

    def __init__(self, bench: Workbench, title: str, offered: list[Action]) -> None:
        super().__init__(title, offered)
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

    def start(self, plan: ImportPlan, *, as_new: bool) -> None:
        """Carry out a plan; `Done` tells how that went."""
        self._plan, self._begun = plan, time.monotonic()
        self._stop.clear()
        self.show_progress(WRITING, 0, len(plan.records))
        self._hold_areas(True)
        # The plan is no argument: Textual describes a worker by its arguments, which is long work for a long plan.
        self._write(as_new)

    def finish(self) -> None:
        """Let the areas follow again; call it when `Done` has come."""
        self._plan = None
        self._hold_areas(False)

    def stop(self) -> None:
        """Stop after the records that are being written."""
        self._stop.set()

    @work(thread=True, group="import-write", description="import")
    def _write(self, as_new: bool) -> None:
        report, problem, plan = None, "", self._plan
        assert plan is not None

        def tell(done: int, total: int) -> None:
            self.post_message(self.Went(WRITING, done, total))

        try:
            report = self._bench.importer.carry_out(plan, as_new=as_new, progress=tell, cancelled=self._stop.is_set)
        except WorkbenchError as error:
            problem = str(error)
        self.post_message(self.Done(report, problem))

    def _hold_areas(self, hold: bool) -> None:
        """Let the areas wait until this is closed, instead of following every thousand records."""
        from workbench.tui.app.app import WorkbenchApp

        if isinstance(self.app, WorkbenchApp):
            self.app.writes_much = hold

    def show_progress(self, what: str, done: int, total: int) -> None:
        """Draw how far reading or writing is, how fast it goes, and which key stops it."""
        seconds = time.monotonic() - self._begun
        rate = f" · {number(round(done / seconds))}/s" if done and seconds > 0 else ""
        stops = "stopping …" if self._stop.is_set() else f"{self.key('import.leave')} stops"
        bar = gauge(done, max(1, total), what, BAR)
        self.query_one("#import-state", Static).update(bar + Content(f"{rate} · {stops}"))

    def key(self, id: str) -> str:
        """Return the key that an action of this dialog has now."""
        action = next(a for a in IMPORT if a.id == id)
        return display_key(held_keys(self, (action,))[0][0])
