"""A list beside the text of the row under the cursor, as the dialogs of Agents have it, and what
sessions teach.
"""

import asyncio
import threading
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from inspect import isawaitable
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from textual import on, work
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget

from workbench.core.agents.transcript.summaries import PASSED, Lesson
from workbench.core.record import WorkbenchError
from workbench.core.runtime import Stopped
from workbench.core.text import printable
from workbench.services.agents.capture.transcripts import Captured, Harvest
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked_name
from workbench.tui.actions import LESSONS
from workbench.tui.app.actions import Action, bindings, footer_entries
from workbench.tui.app.host import Host
from workbench.tui.app.waiting import asking, change, started
from workbench.tui.records.actions import linked_pane
from workbench.tui.widgets.bars import gauge
from workbench.tui.widgets.content import BLANK, MUTED, body, key_of, keyed, undo
from workbench.tui.widgets.dialog import Dialog, Prompt
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.line_list import Cell, LineView

Result = TypeVar("Result")
Row = TypeVar("Row")
Found = TypeVar("Found")
Parts = Iterable[tuple[str, str]]
"""Texts with their styles, in which secrets may still be."""

Cancelled = Callable[[], bool]


def on_row(action: Callable[..., object]) -> Callable[..., Awaitable[None]]:
    """Run an action of a dialog with the row under the cursor, as `asking` does; without one, ring
    the bell.
    """

    @wraps(action)
    async def asked(dialog: "Browse[Any, Any]", *given: object) -> None:
        if (row := dialog.current) is None:
            dialog.app.bell()
        elif isawaitable(came := action(dialog, row, *given)):
            await started(dialog, cast(Coroutine[Any, Any, None], came))

    return asked


class Browse(Dialog[Result], Generic[Result, Row]):
    """Rows that are found on a thread, the text of the one under the cursor, and a line for what
    was done.

    What `draw` and `text_of` return is masked here.
    """

    EMPTY = ""
    STACKED = False
    """Whether the text stands below the list on a narrow screen."""

    DEFAULT_CSS = """
    Browse {
        & > .dialog { width: 94%; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & #browse-body { height: 1fr; }
        & #browse-list { width: 1fr; }
        & #browse-text { width: 1fr; }
        &.-narrow.-stacked #browse-body { layout: vertical; }
        &.-narrow.-stacked #browse-list { height: 8; }
        &.-narrow.-stacked #browse-text { height: 1fr; }
        & .dialog--state { height: auto; max-height: 3; color: $text-warning; }
    }
    """

    def __init__(self, title: str, bench: Workbench, actions: Iterable[Action]) -> None:
        super().__init__(title, footer_entries(actions))
        self.bench, self.since = bench, bench.library.revision
        self.set_class(self.STACKED, "-stacked")
        self.closed, self._reading = threading.Event(), 0
        self.cancelled: Cancelled = self.closed.is_set
        """Tells a thread that finds rows whether that is still wanted."""
        self.rows: LineView[Row] = LineView(
            self._drawn,
            self.key_of,
            is_heading=self.is_heading,
            empty=Content("Looking …"),
            title=title,
            id="browse-list",
        )

    @abstractmethod
    def gather(self) -> Callable[[], object]:
        """Find the rows, on a thread; what is returned shows them, and is called on the app's."""

    @abstractmethod
    def key_of(self, row: Row) -> Hashable:
        """Name a row, so that the cursor stays on it."""

    @abstractmethod
    def draw(self, row: Row, width: int) -> Sequence[Cell]:
        """Return the cells of a row."""

    @abstractmethod
    def text_of(self, row: Row) -> Content | Parts:
        """Return the text of a row. Raises `WorkbenchError`."""

    def named(self, row: Row) -> str:
        return str(self.key_of(row))

    def is_heading(self, row: Row) -> bool:
        del row
        return False

    def contents(self) -> Iterable[Widget]:
        yield Horizontal(
            self.left, linked_pane("browse-text", self.bench, self._path), id="browse-body"
        )
        yield self.state

    @property
    def left(self) -> Widget:
        return self.rows

    @property
    def current(self) -> Row | None:
        return self.rows.current

    @property
    def host(self) -> Host:
        return cast(Host, self.app)

    def _path(self) -> tuple[str, ...]:
        """Return where a link is opened from, as the title of what it opens says."""
        name = "" if self.current is None else self.named(self.current)
        return (
            self._heading.partition(":")[0],
            *([masked_name(name, self.bench.safety.masked)] if name else []),
        )

    def on_mount(self) -> None:
        self.left.focus()
        self.read()

    def on_unmount(self) -> None:
        """Look for nothing that nobody waits for."""
        self.closed.set()

    def read(self) -> None:
        """Find the rows anew; what is still being found is dropped."""
        self._find()

    @work(exclusive=True, group="read", description="look up rows")
    async def _find(self) -> None:
        self._reading += 1
        turn = self._reading
        self.cancelled = lambda: turn != self._reading or self.closed.is_set()
        then = await self.away(self.gather)
        if then is None:
            self.rows.set_empty(BLANK)
        else:
            then()

    async def away(self, look: Callable[[], Found]) -> Found | None:
        """Look for something on a thread; `None`, and a sentence, for what goes wrong."""
        try:
            return await asyncio.to_thread(look)
        except Stopped:
            return None
        except WorkbenchError as error:
            self.complain(error)
            return None

    def listed(
        self, rows: Sequence[Row], said: str = "", *, empty: str = "", cursor: int | None = None
    ) -> None:
        """Show rows that were found, and say something of them."""
        self.rows.set_empty(Content(keyed(empty or self.EMPTY)))
        self.rows.set_rows(rows, cursor=cursor)
        if said:
            self.say(said)
        self.show()

    @on(LineView.Highlighted)
    def show(self) -> None:
        """Show the text of the row under the cursor."""
        row = self.current
        try:
            text = BLANK if row is None else self.text_of(row)
        except WorkbenchError as error:
            text = [(str(error), MUTED)]
        if not isinstance(text, Content):
            mask = self.bench.safety.masked
            text = BLANK.join(body(mask(said), style) for said, style in text)
        if text.plain != self.pane.plain:
            self.pane.show(text)

    def _drawn(self, row: Row, width: int) -> Sequence[Cell]:
        mask = self.bench.safety.masked
        return [
            replace(c, text=mask(c.text)) if isinstance(c.text, str) else c
            for c in self.draw(row, width)
        ]

    @on(LineView.Opened)
    def action_pane(self) -> None:
        """To the text, and back."""
        (self.left if self.pane.has_focus else self.pane).focus()

    def change(self, do: Callable[[], object], said: str = "") -> None:
        """Change the store, and say that it was done (or else what comes of it), or what went
        wrong.
        """

        def step() -> None:
            came = do()
            self.done(said or str(came))

        change(self, step, self.complain)

    async def ask(
        self, prompt: Prompt, said: str, empty: Callable[[], object] | None = None
    ) -> None:
        """Ask for a line that the prompt takes, and say that it was done; for an empty one, do
        `empty`.
        """
        line = await self.app.push_screen_wait(prompt)
        if line:
            self.done(said)
        elif line is not None and empty is not None:
            self.change(empty, said)

    def done(self, said: str) -> None:
        self.say(said)
        self.read()

    def say(self, said: str) -> None:
        self.tell(body(self.bench.safety.masked(said)))

    def complain(self, problem: object) -> None:
        self.say(f"✗ {printable(str(problem))}")

    @asking
    async def action_undo(self) -> None:
        """Take back the latest change."""
        await self.host.take_back(self.done, self.since)


# What sessions of agents teach: listed first, and stored when a person says so.


_KIND, _TIMES, _WORDS_FROM = 10, 13, 70
_STEP = 1 << 20
"""Bytes after which the progress bar is drawn anew."""


class LessonsDialog(Browse[str | None, Lesson]):
    """What session files teach; the result is a sentence that says what was stored, `None` when
    nothing was.
    """

    BINDINGS = bindings(LESSONS)
    EMPTY = "Nothing new here."
    STACKED = True
    DEFAULT_CSS = """
    LessonsDialog {
        & > .dialog { max-width: 150; }
        & .dialog--title { margin-bottom: 0; }
        & .dialog--state { max-height: 14; color: $foreground; }
        &.-narrow.-stacked #browse-list { height: 1fr; }
    }
    """

    def __init__(self, bench: Workbench, files: Sequence[Path]) -> None:
        super().__init__("Lessons from sessions · a preview, nothing is stored yet", bench, LESSONS)
        self._files = tuple(files)
        self._again = False
        self.harvest: Harvest | None = None

    def key_of(self, row: Lesson) -> Hashable:
        return row.ids

    def gather(self) -> Callable[[], object]:
        total, done, shown = sum(map(_size, self._files)), 0, 0
        cancelled = self.cancelled

        def tick(more: int) -> bool:
            nonlocal done, shown
            done += more
            if done - shown >= _STEP and not cancelled():
                shown = done
                self.call_later(self._went, min(done, total), total)
            return cancelled()

        harvest = self.bench.transcripts.read(self._files, again=self._again, tick=tick)
        return lambda: self._found(harvest)

    def _went(self, done: int, total: int) -> None:
        if self.harvest is None:
            bar = gauge(done, max(1, total), "bytes of sessions read", 24)
            self.tell(bar + Content(f" · {key_of('lessons.close')} stops"))

    def _found(self, harvest: Harvest) -> None:
        self.harvest = harvest
        self.listed(
            harvest.lessons, harvest_said(harvest, len(self._files), again=self._again), cursor=0
        )

    def draw(self, row: Lesson, width: int) -> Sequence[Cell]:
        sign = Cell("?", 1, "bold $text-warning") if row.waits else Cell("·", 1, MUTED)
        cells = [sign, Cell(row.kind, _KIND, MUTED, name="kind"), Cell(row.text, name="lesson")]
        if row.sessions > 1 and width >= _WORDS_FROM:
            cells.append(Cell(f"in {number(row.sessions)} sessions", _TIMES, MUTED, "right"))
        return cells

    def text_of(self, row: Lesson) -> Parts:
        waits = "waits for your decision in Review" if row.waits else "is noted as a signal"
        yield f"{row.kind} · {waits} · turn {number(row.turn)}\n{row.file}", MUTED
        yield f"\n\n{row.text}", ""

    def action_again(self) -> None:
        """Read the sessions from their beginning; what the store has is not stored again."""
        self._again, self.harvest = True, None
        self.read()

    def action_take(self) -> None:
        """Store what is listed, as one change."""
        harvest = self.harvest
        if harvest is None or harvest.is_empty:
            self.app.bell()
            return
        change(self, lambda: self._store(harvest), self.complain)

    def _store(self, harvest: Harvest) -> None:
        self.dismiss(captured_said(self.bench.transcripts.keep(harvest)))

    def action_close(self) -> None:
        """Stop reading, or close; nothing was stored."""
        self.dismiss(None)


def harvest_said(harvest: Harvest, files: int, *, again: bool) -> str:
    """Say what sessions teach, what was passed over, and which keys go on from there."""
    count, waits = len(harvest.lessons), sum(one.waits for one in harvest.lessons)
    parts = [f"{amount(files, 'session')}: {amount(count, 'new lesson')}"]
    parts += [f"{number(waits)} of them would wait in Review"] if count else []
    parts += [amount(len(harvest.tasks), "episode")] if harvest.tasks else []
    parts += [f"{number(len(harvest.again))} known from other sessions"] if harvest.again else []
    parts += [f"{amount(harvest.waiting, 'failure')} not resolved yet"] if harvest.waiting else []
    lines = [" · ".join(parts)]
    if not harvest.is_empty:
        lines.append(f"{key_of('lessons.take')} stores what is listed.")
    elif not again:
        lines.append(
            f"Sessions read before are skipped; {key_of('lessons.again')} reads them again."
        )
    if harvest.passed:
        told = ", ".join(
            f"{PASSED[reason]} ({number(many)})" for reason, many in harvest.reasons.items()
        )
        lines.append(f"Passed over: {told}.")
    return "\n".join(lines)


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
