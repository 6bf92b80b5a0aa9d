"""Judge mode: one memory after the other, in full, graded for one query; no scores, no order to lean on."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.record import WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.core.text import printable
from workbench.tui.app.actions import bindings
from workbench.tui.app.waiting import change
from workbench.tui.records.links import Acts, Place
from workbench.tui.tuning.actions import JUDGE
from workbench.tui.widgets.actions import on_row
from workbench.tui.widgets.content import MUTED, assemble, body, line
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import since
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell

GRADES = ("no", "weak", "good", "essential")
UNSURE = "?"


@dataclass(frozen=True, slots=True)
class Judge:
    """How a grade gets into the store.

    `grades` reads those that are there, by memory; `give` stores one and returns the revision (`None`: it was
    there already); `take_back` undoes a revision.
    """

    grades: Callable[[], Mapping[str, int]]
    give: Callable[[str, int], int | None]
    take_back: Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Step:
    """What a key did: where, and the revision it wrote, if any."""

    memory: str
    rev: int | None = None


class JudgeDialog(Dialog[None]):
    """The pool of a query beside the memory that is judged; every grade is stored at once.

    `mask` takes the secrets out of what is shown.
    """

    acts: Acts
    BINDINGS: ClassVar[list[BindingType]] = bindings((*JUDGE, *on_row()))
    DEFAULT_CSS = """
    JudgeDialog {
        & > .dialog { width: 94%; max-width: 150; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & #judge-query { height: 1; text-style: bold; }
        & #judge-state { height: 1; margin-bottom: 1; }
        & #judge-panes { layout: horizontal; height: 1fr; }
        & LineView { width: 44; background: $surface; }
        & #judge-text { width: 1fr; height: 1fr; border-left: solid $panel; }
        &.-narrow #judge-panes { layout: vertical; }
        &.-narrow LineView { width: 1fr; height: 6; }
        &.-narrow #judge-text { border-left: none; border-top: solid $panel; padding: 0 2; }
        &.-narrow .dialog--keys { margin-top: 0; }
    }
    """

    def __init__(
        self, query: str, pool: Sequence[Memory], judge: Judge, now: datetime, mask: Callable[[str], str]
    ) -> None:
        super().__init__("Judge mode · how well does each memory answer the query?", [a for a in JUDGE if a.show])
        self._query = mask(query)
        self._mask = mask
        self._pool = tuple(pool)
        self._judge = judge
        self._now = now
        self._grades: dict[str, int] = {}
        self._unsure: set[str] = set()
        self._steps: list[Step] = []
        self._problem = ""
        self.acts = Acts(lambda: self, self._record_here)

    def contents(self) -> Iterable[Widget]:
        """Return the query, what is left, the pool and the memory."""
        yield Static(line(self._query, 400).rstrip(), id="judge-query")
        yield Static(Content(""), id="judge-state")
        rows: LineView[Memory] = LineView(self._draw, lambda m: m.id, empty=Content("Nothing to judge."), id="pool")
        yield Container(rows, ReadingPane(id="judge-text"), id="judge-panes")

    def on_mount(self) -> None:
        """Begin with the first memory that is not judged yet."""
        self._grades = dict(self._judge.grades())
        self.rows.can_focus = True
        self.query_one(ReadingPane).can_focus = False
        self.rows.set_rows(self._pool, cursor=self._next(-1) or 0)
        self.rows.focus()
        self._show_state()

    @property
    def rows(self) -> LineView[Memory]:
        return self.query_one("#pool", LineView)

    @property
    def unjudged(self) -> int:
        """How many of the pool have no grade."""
        return sum(m.id not in self._grades for m in self._pool)

    @on(LineView.Opened)
    def _open(self) -> None:
        """Open the memory over the list."""
        self.acts.open()

    def _record_here(self, _what: str) -> Place | None:
        return None if self.rows.current is None else ("memories", self.rows.current.id)

    def _draw(self, memory: Memory, width: int) -> list[Cell]:  # noqa: ARG002 - the signature of drawing
        grade = self._grades.get(memory.id)
        shown, style = ("·", MUTED) if grade is None else (str(grade), "bold $text-accent" if grade else "bold")
        if grade is None and memory.id in self._unsure:
            shown = UNSURE
        return [Cell(shown, 1, style), Cell(self._mask(memory.line), 0, MUTED if grade is not None else "")]

    def _show_state(self) -> None:
        left, count = self.unjudged, len(self._pool)
        parts = [
            (f"{left} of {count} unjudged", "bold") if left else (f"All {count} are judged.", "bold $text-success")
        ]
        unsure = sum(m.id in self._unsure and m.id not in self._grades for m in self._pool)
        if unsure:
            parts.append((f" · {unsure} can't tell", MUTED))
        if not left:
            parts.append((" esc closes.", MUTED))
        if self._problem:
            parts = [(f"✗ {printable(self._problem)}", "bold $text-error")]
        self.query_one("#judge-state", Static).update(assemble(parts), layout=False)

    @on(LineView.Highlighted)
    def _show(self) -> None:
        memory = self.rows.current
        if memory is None:
            return
        grade = self._grades.get(memory.id)
        state = "not judged yet" if grade is None else f"graded {grade}, {GRADES[grade]}"
        head = assemble(
            [
                (state, MUTED if grade is None else "bold $text-accent"),
                (
                    f" · {printable(self._mask(memory.observation_type))} · {since(memory.created_at, self._now)}\n",
                    MUTED,
                ),
            ]
        )
        self.query_one(ReadingPane).show(Content("\n").join([head, body(self._mask(memory.content))]))

    # Judging

    def action_grade(self, grade: int) -> None:
        """Grade the memory, and go to the next that is not judged."""
        memory = self.rows.current
        if memory is None:
            return

        def give() -> None:
            self._steps.append(Step(memory.id, self._judge.give(memory.id, grade)))
            self._problem = ""
            self._refresh_grades()
            if self.rows.current is memory:
                self._advance()

        change(self, give, self._complain)

    def _complain(self, error: WorkbenchError) -> None:
        self._problem = str(error)
        self._refresh_grades()

    def action_unsure(self) -> None:
        """Leave it unjudged."""
        memory = self.rows.current
        if memory is not None:
            self._unsure.add(memory.id)
            self._steps.append(Step(memory.id))
            self._problem = ""
            self._refresh_grades()
            self._advance()

    def action_undo(self) -> None:
        """Take back what the last key here did, and go to that memory."""
        if not self._steps:
            self._problem = "Nothing graded here yet."
            self._refresh_grades()
            return
        step = self._steps[-1]

        def take_back() -> None:
            if step.rev is not None:
                self._judge.take_back(step.rev)
            self._go_back(step)

        def stays(error: WorkbenchError) -> None:
            self._go_back(step, str(error))

        change(self, take_back, stays)

    def _go_back(self, step: Step, problem: str = "") -> None:
        """Forget a step, and go to its memory."""
        self._steps = [other for other in self._steps if other is not step]
        self._unsure.discard(step.memory)
        self._problem = problem
        self.rows.cursor = self.rows.index_of(step.memory) or 0
        self._refresh_grades()

    def _refresh_grades(self) -> None:
        self._grades = dict(self._judge.grades())
        for index in range(len(self._pool)):
            self.rows.refresh_row(index)
        self._show_state()
        self._show()

    def _advance(self) -> None:
        target = self._next(self.rows.cursor)
        if target is not None:
            self.rows.cursor = target

    def _next(self, at: int) -> int | None:
        """Return the next place, around the end too, of a memory that nobody decided on; else one put off."""
        count = len(self._pool)
        order = [(at + step) % count for step in range(1, count + 1)] if count else []
        fresh = (i for i in order if self._pool[i].id not in self._grades and self._pool[i].id not in self._unsure)
        return next(fresh, None)
