"""The copies of a correction: shown before it is saved, and updated with it on a y."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.record import Conflict, WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line
from workbench.services.agents.served_lately import Given, Shift
from workbench.services.files.threeway import DiffLine
from workbench.services.forms import Values
from workbench.services.open import Workbench
from workbench.services.promotion.copies import Copy, CopyPlan, Correction, Obstacle
from workbench.tui.actions import COPIES
from workbench.tui.app.actions import bindings
from workbench.tui.app.host import Host
from workbench.tui.files.preview import Pane
from workbench.tui.widgets.content import body
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import amount

WHY: dict[Obstacle, str] = {
    "rewritten": "has different wording by now and stays",
    "changed": "was changed by hand since and stays",
    "held": "stays: the new text is held back from files",
    "cites": "cites it and stays: check it",
    "whole": "stays until it is exported again",
}

NAMED = 3
"""Copies that stay, and agents, that are named at most."""

QUERY = 48
"""Cells of an agent's question that are shown."""


class CopiesDialog(Dialog[bool | None]):
    """What else says what is being corrected: True updates it too, False saves the correction alone, None goes back."""

    class Ranked(Message):
        """A thread has ranked the last questions of agents again."""

        def __init__(self, shifts: dict[str, Shift]) -> None:
            super().__init__()
            self.shifts = shifts

    BINDINGS: ClassVar[list[BindingType]] = bindings(COPIES)
    DEFAULT_CSS = """
    CopiesDialog {
        & > .dialog { width: 94%; max-width: 120; height: auto; max-height: 94%; }
        &.-narrow > .dialog { width: 100%; }
        & .dialog--title { margin-bottom: 0; }
        & .dialog--keys { margin-top: 0; }
        & .copies--said { height: auto; max-height: 8; margin-bottom: 1; }
        & Pane { height: auto; max-height: 60vh; background: $background; }
    }
    """

    def __init__(self, bench: Workbench, plan: CopyPlan) -> None:
        self._bench, self._plan = bench, bench.safety.shown(plan)
        has = amount(len(plan.updated), "copy of {} has", "copies of {} have").format(_named(self._plan))
        super().__init__(f"{has} the old words", COPIES)
        self._after = next((after for _, after in plan.corrected if isinstance(after, Memory)), None)
        self._given = () if self._after is None else bench.given_lately.of(self._after.id)
        self._shifts: dict[str, Shift] = {}

    def contents(self) -> Iterable[Widget]:
        """Return who was given it, what stays, and what would change."""
        yield Static(classes="copies--said")
        yield Pane("copies-lines")

    def on_mount(self) -> None:
        """Show the changes, and have the questions of agents ranked where the model is there already."""
        pane = self.query_one(Pane)
        pane.show(list(changed_lines(self._plan.updated)))
        pane.focus()
        self._show_said()
        if self._given and self._bench.impact.ready:
            self._rank()

    @work(thread=True, exclusive=True, group="copies-rank", description="where it would rank")
    def _rank(self) -> None:
        worker, found = get_current_worker(), dict[str, Shift]()
        for given in self._given[:NAMED]:
            try:
                shift = None if self._after is None else self._bench.given_lately.shift(given, self._after)
            except WorkbenchError:
                return  # nothing is said of what cannot be ranked
            if worker.is_cancelled:
                return
            if shift is not None:
                found[given.agent] = shift
        self.post_message(self.Ranked(found))

    @on(Ranked)
    def _ranked(self, event: Ranked) -> None:
        self._shifts = event.shifts
        self._show_said()

    def _show_said(self) -> None:
        said, used = self.query_one(".copies--said", Static), str(self._bench.tuning.used)
        parts = [body(line) for line in given_lines(self._bench.safety.shown(self._given), self._shifts, used)]
        parts += [body(f"! {line}", "$text-warning") for line in left_lines(self._plan.left)]
        said.display = bool(parts)
        said.update(Content("\n").join(parts))

    def action_answer(self, update: bool) -> None:
        self.dismiss(update)


class CopyAsking:
    """Asks for one edited record whether its copies go along, and saves them with it.

    `corrected` returns what saving values of its form would change, as it would be stored.
    """

    def __init__(self, app: Host, corrected: Callable[[Values], Sequence[Correction]]) -> None:
        self._app, self._bench = app, app.bench
        self._corrected = corrected
        self._plan = CopyPlan(())
        self._answer: tuple[Values, bool] | None = None

    def asks(self, values: Values) -> bool:
        """Ask about the copies of a correction, and tell whether there is an answer to wait for.

        With the answer the dialog that saves is told to save again.
        """
        if self._answer is not None and self._answer[0] == values:
            return False
        self._plan = self._bench.copies.of(self._corrected(values))
        if not self._plan.updated:
            return False
        saver = self._app.screen

        def answered(update: bool | None) -> None:
            if update is not None:
                self._answer = (values, update)
                self._app.call_later(saver.run_action, "save")

        self._app.push_screen(CopiesDialog(self._bench, self._plan), answered)
        return True

    async def settled(self, values: Values) -> bool:
        """Ask about the copies of a correction where no dialog saves it, and tell whether there was an answer."""
        self._plan = self._bench.copies.of(self._corrected(values))
        if not self._plan.updated:
            return True
        update = await self._app.push_screen_wait(CopiesDialog(self._bench, self._plan))
        self._answer = None if update is None else (values, update)
        return update is not None

    def save(self, values: Values, write: Callable[[], object]) -> None:
        """Save a correction, with its copies where the answer was yes; raises as `Copies.carry_out` does."""
        if self._answer != (values, True):
            write()
            return
        copies = amount(len(self._plan.updated), "copy", "copies")
        try:
            self._bench.copies.carry_out(self._plan, write, f"edit {_named(self._plan)} and {copies}")
        except Conflict:
            self._answer = None  # it is shown anew
            raise

    @property
    def told(self) -> str:
        """What is to be said after saving: how many copies went along, which stay, and who had it."""
        plan, count = self._bench.safety.shown(self._plan), len(self._plan.updated)
        said = f" {amount(count, 'copy keeps', 'copies keep')} the old words." if count else ""
        if self._answer is not None and self._answer[1]:
            said = f" {amount(count, 'copy', 'copies')} updated with it."
        lines = [*left_lines(plan.left)]
        if not plan.updated and plan.corrected:
            given = self._bench.given_lately.of(self._plan.corrected[0][0].id)[:1]
            lines += given_lines(self._bench.safety.shown(given), {}, "")
        return said + "".join(f" {line[:1].upper()}{line[1:]}." for line in lines)


def _named(plan: CopyPlan) -> str:
    return plan.corrected[0][0].id if len(plan.corrected) == 1 else f"{len(plan.corrected)} records"


def changed_lines(copies: Iterable[Copy]) -> Iterator[DiffLine]:
    """Yield what changes in each copy, below its name."""
    for copy in copies:
        yield DiffLine("place", f"{copy.name}{' · outside the project' if copy.outside else ''}")
        yield from (part for part in copy.lines if part.kind != "place")


def left_lines(copies: Sequence[Copy]) -> Iterator[str]:
    """Yield why copies stay as they are, those for one reason together."""
    for why in dict.fromkeys(copy.obstacle for copy in copies):
        names = [copy.name for copy in copies if copy.obstacle == why]
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield f"{', '.join(names[:NAMED])}{more} {WHY[why]}"


def given_lines(given: Sequence[Given], shifts: dict[str, Shift], used: str) -> Iterator[str]:
    """Yield which agents were given it this week, and where it stood and would stand for their last question."""
    for one in given[:NAMED]:
        said = f"served to {one.agent} in {amount(one.sessions, 'session')} this week"
        if one.query:
            shift = shifts.get(one.agent)
            before = one.place if shift is None or shift.before is None else shift.before
            after = "" if shift is None else " → out" if shift.after is None else f" → #{shift.after}"
            said += f"; for its last query “{one_line(one.query, QUERY)}” #{before}{after}"
            said += f" under {used}" if shift is not None else ""
        yield said
