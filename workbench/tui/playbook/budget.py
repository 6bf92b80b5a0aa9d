"""The token budget of a playbook: what it keeps, and what is out and why; nothing happens unseen."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.errors import WorkbenchError
from workbench.core.playbook.book import Bullet
from workbench.core.playbook.budget import ORDER, Fitting, fit, ranked, standing
from workbench.core.text import printable
from workbench.services.open import Workbench
from workbench.services.playbook.playbook import BookView
from workbench.tui.app.actions import bindings
from workbench.tui.app.asking import asking
from workbench.tui.app.waiting import change
from workbench.tui.playbook.actions import BUDGET
from workbench.tui.playbook.rows import PINNED, bullets_in
from workbench.tui.records.acts import ActsBesideSliders, Place
from workbench.tui.widgets.actions import on_row
from workbench.tui.widgets.bars.scale import Scale
from workbench.tui.widgets.bars.slider import Slider
from workbench.tui.widgets.confirm import Confirm
from workbench.tui.widgets.content import MUTED, assemble, body
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.keys import keyed, undo
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.row import Cell


@dataclass(frozen=True, slots=True)
class Line:
    """A bullet that is out, or in, with its estimated tokens."""

    bullet: Bullet
    tokens: int
    inside: bool


class BudgetDialog(Dialog[str | None]):
    """A budget to move, and which bullets then are in and out; the result is a sentence about what was done."""

    BINDINGS: ClassVar[list[BindingType]] = bindings((*BUDGET, *on_row()))
    DEFAULT_CSS = """
    BudgetDialog {
        & > .dialog { width: 94%; max-width: 140; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & #budget-state { height: auto; max-height: 5; margin: 1 0; }
        &.-narrow #budget-state { margin: 0; }
        & LineView { height: 1fr; background: $surface; }
    }
    """

    def __init__(self, bench: Workbench, book: str) -> None:
        self._bench = bench
        self._book = book
        self._view: BookView = bench.playbooks.view(book)
        name = bench.safety.masked(self._view.playbook.book.name)
        super().__init__(f"Token budget of {name}", [a for a in BUDGET if a.show])
        self.acts = ActsBesideSliders(lambda: self, self._record_here, then=self._reckon)

    @property
    def _budget(self) -> int:
        return int(self.query_one(Slider).value or 0)

    @property
    def fitting(self) -> Fitting:
        """What fits the budget that the slider shows."""
        return fit(self._view.playbook, self._budget)

    def contents(self) -> Iterable[Widget]:
        """Return the slider, what fits, and the bullets, those that are out first."""
        total = max(1, self._view.tokens)
        start = self._view.playbook.book.budget or total
        scale = Scale(0, max(total, start) + 1000, 500, 50)
        yield Slider("budget", start, scale, show=lambda v: number(int(v)), ticks=(total,), value_width=9)
        yield Static(Content(""), id="budget-state")
        empty = Content("Everything fits. ← lowers the budget, digits type one.")
        rows: LineView[Line] = LineView(self._draw, lambda line: line.bullet.id, empty=empty)
        yield rows

    def on_mount(self) -> None:
        """Show what fits now."""
        self.query_one(Slider).focus()
        self._show()

    def _record_here(self, _what: str) -> Place | None:
        line: Line | None = self.query_one(LineView).current
        return None if line is None else ("bullets", f"{self._book}/{line.bullet.id}")

    def _reckon(self) -> None:
        """Show what fits after a bullet was changed; the cursor stays on it."""
        self._view = self._bench.playbooks.view(self._book)
        self._show(cursor=None)

    @on(Slider.Changed)
    def _moved(self) -> None:
        self._show()

    @on(LineView.Opened)
    def _type(self) -> None:
        self.action_type()

    def _show(self, *, cursor: int | None = 0) -> None:
        fitting, costs = self.fitting, self._view.costs.bullets
        out = [Line(b, costs[b.id], False) for b in ranked(fitting.left_out)]
        shown = (*out, *(Line(b, costs[b.id], True) for b in ranked(fitting.kept)))
        self.query_one(LineView).set_rows(shown if out else (), cursor=cursor)
        self._say(self._state(fitting))

    def _state(self, fitting: Fitting) -> Content:
        total = self._view.tokens
        parts = [
            (f"The budget keeps {fitting.share}: ≈ {number(fitting.tokens)} tokens, estimated", "bold"),
            (f" · all have ≈ {number(total)} (┼)\n", MUTED),
            (f"Out: {fitting.went}\n" if fitting.outside else "", "bold $text-warning"),
            (f"Order: {ORDER}\n", ""),
            (
                keyed("{budget.save} only marks what is out · {budget.apply} deprecates it · {budget.drop} no budget"),
                MUTED,
            ),
        ]
        return assemble(parts)

    def _say(self, content: Content) -> None:
        self.query_one("#budget-state", Static).update(content)

    def _draw(self, line: Line, width: int) -> list[Cell]:
        bullet, style = line.bullet, "" if line.inside else MUTED
        mark = Cell("✓" if line.inside else "✂", 1, "$text-success" if line.inside else "bold $text-warning")
        text = printable(" ".join(self._bench.safety.masked(bullet.content)[: 8 * width + 64].split()))
        cells = [mark, Cell(printable(bullet.id[:18]), 10, MUTED), Cell(PINNED if bullet.pinned else " ", 1, "bold"),
                 Cell(text, 0, style)]  # fmt: skip
        if width >= 70:
            cells.append(Cell(f"+{bullet.helpful_count} −{bullet.harmful_count}", 8, MUTED, "right"))
            cells.append(Cell(standing(bullet), 11, style))
        return [*cells, Cell(number(line.tokens), 5, style, "right")]

    # Changing

    def action_type(self) -> None:
        """Type a number of tokens."""
        self.query_one(Slider).action_type()

    def action_less(self) -> None:
        """Lower the budget."""
        self.query_one(Slider).action_less()

    def action_more(self) -> None:
        """Raise the budget."""
        self.query_one(Slider).action_more()

    def action_fine_less(self) -> None:
        """Lower the budget a little."""
        self.query_one(Slider).action_fine_less()

    def action_fine_more(self) -> None:
        """Raise the budget a little."""
        self.query_one(Slider).action_fine_more()

    def action_save(self) -> None:
        """Set the budget that the slider shows."""
        self._set(self._budget)

    def action_drop(self) -> None:
        """Take the budget away."""
        self._set(0)

    def _set(self, tokens: int) -> None:
        said = f"The budget is {number(tokens)} tokens." if tokens else "There is no budget any more."

        def put() -> None:
            self._bench.playbooks.set_budget(self._book, tokens)
            self.dismiss(f"{said} {undo()} takes that back.")

        change(self, put, self._complain)

    def _complain(self, error: WorkbenchError) -> None:
        self._say(body(str(error), "$text-warning"))

    @asking
    async def action_apply(self) -> None:
        """Deprecate what does not fit, after a yes."""
        fitting = self.fitting
        if not fitting.outside:
            self.app.bell()
            return
        question = f"Deprecate {bullets_in(len(fitting.outside))} that do not fit {number(fitting.budget)} tokens?"
        names = ", ".join(fitting.outside[:40]) + (" …" if len(fitting.outside) > 40 else "")
        told = f"They stay here, struck through, and are in no export. {undo()} brings all of them back.\n\n"
        detail = Content.styled(told, MUTED) + body(names)
        ask = Confirm(question, clock=time.monotonic, detail=detail, yes="deprecate", no="keep")
        if await self.app.push_screen_wait(ask):

            def fit() -> None:
                self._bench.rules.fit(self._book, fitting.outside, fitting.budget)
                self.dismiss(f"Deprecated {bullets_in(len(fitting.outside))}. {undo()} brings them back.")

            change(self, fit, self._complain)
