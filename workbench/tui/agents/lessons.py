"""What sessions of agents teach: listed first, the text of each beside it, and stored when a person says so."""

from collections.abc import Iterable, Sequence
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

from workbench.core.agents.transcript.summaries import PASSED, Lesson
from workbench.core.record import WorkbenchError
from workbench.core.runtime import Stopped
from workbench.core.text import one_line, printable
from workbench.services.agents.capture.transcripts import Captured, Harvest
from workbench.services.open import Workbench
from workbench.tui.agents.actions import LESSONS
from workbench.tui.app.actions import bindings
from workbench.tui.app.waiting import change
from workbench.tui.widgets.bars import gauge
from workbench.tui.widgets.content import MUTED, assemble, body, key_of, undo
from workbench.tui.widgets.dialog import Dialog, Progressed
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell

BAR = 24
"""Cells of the progress bar."""

STEP = 1 << 20
"""Bytes after which it is drawn anew."""

_KIND, _TIMES, _LINE = 10, 13, 200
_WORDS_FROM = 70
"""Cells from which a row has room to say in how many sessions it was learned."""


class LessonsDialog(Dialog[str | None]):
    """What session files teach; the result is a sentence that says what was stored, `None` when nothing was."""

    class Went(Progressed):
        """So many bytes are read."""

    class Read(Message):
        """All is read, or it could not be."""

        def __init__(self, harvest: Harvest | None, problem: str) -> None:
            super().__init__()
            self.harvest = harvest
            self.problem = problem

    BINDINGS: ClassVar[list[BindingType]] = bindings(LESSONS)
    DEFAULT_CSS = """
    LessonsDialog {
        & > .dialog { width: 94%; max-width: 150; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title { margin-bottom: 0; }
        & #lessons-state { height: auto; max-height: 14; margin: 1 0; }
        &.-narrow #lessons-state { margin: 0; }
        & #lessons-body { height: 1fr; }
        & #lessons-list { width: 1fr; background: $background; }
        & #lessons-text { width: 1fr; border-left: solid $panel; }
        &.-narrow #lessons-body { layout: vertical; }
        &.-narrow #lessons-list { height: 1fr; }
        &.-narrow #lessons-text { height: 1fr; border-left: none; border-top: solid $panel; }
    }
    """

    def __init__(self, bench: Workbench, files: Sequence[Path]) -> None:
        title = "What sessions teach · nothing is stored before it is listed here"
        super().__init__(title, [one for one in LESSONS if one.show])
        self._bench = bench
        self._files = tuple(files)
        self._again = False
        self.harvest: Harvest | None = None
        self.rows: LineView[Lesson] = LineView(
            self._draw, lambda lesson: lesson.ids, empty=Content("Reading …"), id="lessons-list"
        )

    def contents(self) -> Iterable[Widget]:
        """Return how things stand, the lessons, and the text of one."""
        yield Static(Content(""), id="lessons-state")
        yield Horizontal(self.rows, ReadingPane(id="lessons-text"), id="lessons-body")

    def on_mount(self) -> None:
        """Begin to read."""
        self.rows.focus()
        self._begin()

    def _begin(self) -> None:
        self.harvest = None
        self.rows.set_rows([])
        self._say([("Reading …", MUTED)])
        self._read(again=self._again)

    @work(thread=True, exclusive=True, group="lessons", description="read sessions")
    def _read(self, *, again: bool) -> None:
        worker = get_current_worker()
        total, done, shown = sum(map(_size, self._files)), 0, 0

        def tick(more: int) -> bool:
            nonlocal done, shown
            done += more
            if done - shown >= STEP:
                shown = done
                self.post_message(self.Went(min(done, total), total))
            return worker.is_cancelled

        harvest, problem = None, ""
        try:
            harvest = self._bench.transcripts.read(self._files, again=again, tick=tick)
            self._look(harvest)
        except Stopped:
            return
        except WorkbenchError as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.post_message(self.Read(harvest, problem))

    def _look(self, harvest: Harvest) -> None:
        """Look for secrets in what will be shown, on this thread: the app's own would only say that it is not known."""
        for lesson in harvest.lessons:
            self._bench.safety.masked(lesson.text)

    @on(Went)
    def _went(self, event: Went) -> None:
        if self.harvest is None:
            bar = gauge(event.done, max(1, event.total), "bytes of sessions read", BAR)
            self.query_one("#lessons-state", Static).update(bar + Content(f" · {key_of('lessons.close')} stops"))

    @on(Read)
    def _done(self, event: Read) -> None:
        if event.harvest is None:
            self.rows.set_empty(Content("Nothing was read."))
            self._say([(f"✗ {printable(event.problem)}", "$text-error")])
            return
        self.harvest = event.harvest
        self.rows.set_empty(Content("Nothing is new here."))
        self.rows.set_rows(event.harvest.lessons, cursor=0)
        self._say(harvest_said(event.harvest, len(self._files), again=self._again))
        self._show()

    def _draw(self, lesson: Lesson, width: int) -> list[Cell]:
        text = self._bench.safety.masked(lesson.text)
        sign = Cell("?", 1, "bold $text-warning") if lesson.waits else Cell("·", 1, MUTED)
        cells = [sign, Cell(lesson.kind, _KIND, MUTED), Cell(one_line(text, _LINE))]
        if lesson.sessions > 1 and width >= _WORDS_FROM:
            cells.append(Cell(f"in {number(lesson.sessions)} sessions", _TIMES, MUTED, "right"))
        return cells

    @on(LineView.Highlighted, "#lessons-list")
    def _show(self) -> None:
        lesson, pane = self.rows.current, self.query_one(ReadingPane)
        if lesson is None:
            pane.show(Content(""))
            return
        masked = self._bench.safety.masked
        waits = "waits for your decision in Review" if lesson.waits else "is noted as a signal"
        facts = f"{lesson.kind} · {waits} · turn {number(lesson.turn)}\n{masked(lesson.file)}"
        pane.show(Content("\n\n").join([body(facts, MUTED), body(masked(lesson.text))]))

    @on(LineView.Opened, "#lessons-list")
    def action_pane(self) -> None:
        """To the text, and back."""
        pane = self.query_one(ReadingPane)
        (self.rows if pane.has_focus else pane).focus()

    def action_again(self) -> None:
        """Read the sessions from their beginning; what the store has is not stored again."""
        self._again = True
        self._begin()

    def action_take(self) -> None:
        """Store what is listed, as one change."""
        harvest = self.harvest
        if harvest is None or harvest.is_empty:
            self.app.bell()
            return

        def step() -> None:
            self.dismiss(captured_said(self._bench.transcripts.keep(harvest)))

        change(self, step, lambda error: self._say([(f"✗ {printable(str(error))}", "bold $text-error")]))

    def action_close(self) -> None:
        """Stop reading, or close; nothing was stored."""
        self.workers.cancel_node(self)
        self.dismiss(None)

    def _say(self, parts: Sequence[tuple[str, str]]) -> None:
        masked = self._bench.safety.masked
        self.query_one("#lessons-state", Static).update(assemble([(masked(text), style) for text, style in parts]))


def harvest_said(harvest: Harvest, files: int, *, again: bool) -> list[tuple[str, str]]:
    """Say what sessions teach, what was passed over, and which keys go on from there."""
    count, waits = len(harvest.lessons), sum(one.waits for one in harvest.lessons)
    parts = [
        (f"{amount(files, 'session')}: {amount(count, 'new lesson')}", "bold"),
        (f" · {number(waits)} of them would wait for your decision in Review" if count else "", ""),
        (f" · {amount(len(harvest.tasks), 'episode')}" if harvest.tasks else "", ""),
        (f" · {number(len(harvest.again))} the store has from other sessions" if harvest.again else "", ""),
        (f" · {amount(harvest.waiting, 'failure')} nobody resolved yet" if harvest.waiting else "", MUTED),
    ]
    if not harvest.is_empty:
        parts.append((f"\n{key_of('lessons.take')} stores what is listed and nothing else.", MUTED))
    elif not again:
        parts.append((f"\nWhat was read before is not read again; {key_of('lessons.again')} does.", MUTED))
    if harvest.passed:
        told = ", ".join(f"{PASSED[reason]} ({number(many)})" for reason, many in harvest.reasons.items())
        parts.append((f"\nPassed over: {told}.", MUTED))
    return parts


def captured_said(captured: Captured) -> str:
    """Say what was stored, and which key takes it back."""
    waits = sum(memory.status == "candidate" for memory in captured.created)
    counted = f", {number(len(captured.counted))} counted once more" if captured.counted else ""
    kept = f" and {amount(len(captured.episodes), 'episode')}" if captured.episodes else ""
    waiting = f" {amount(waits, 'waits', 'wait')} in Review." if waits else ""
    return f"Stored {amount(len(captured.created), 'lesson')}{counted}{kept}.{waiting} {undo()} takes it back."


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0  # reading it says what is wrong
