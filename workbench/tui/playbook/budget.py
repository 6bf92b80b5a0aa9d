"""The token budget of a playbook: what it keeps, and what is out and why; nothing happens unseen."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from textual import on
from textual.content import Content
from textual.widget import Widget

from workbench.core.playbook.book import Bullet
from workbench.core.playbook.budget import ORDER, Fitting, fit, ranked, standing
from workbench.core.record import WorkbenchError
from workbench.core.text import printable
from workbench.core.tokens import tokens_of
from workbench.services.files.exporting import Choice, parts_of
from workbench.services.open import Workbench
from workbench.services.playbook.playbook import BookView
from workbench.services.safety.texts import place_of
from workbench.tui.actions import AGENT_VIEW, BUDGET, on_row
from workbench.tui.app.actions import bindings, footer_entries
from workbench.tui.app.waiting import asking, change
from workbench.tui.files.preview import Pane, whole_file
from workbench.tui.playbook.pane import PINNED, WARN, bullets_in
from workbench.tui.records.actions import ActsBesideSliders, Place
from workbench.tui.safety import FLAGGED
from workbench.tui.widgets.bars import Scale, Slider
from workbench.tui.widgets.content import MUTED, assemble, body, key_of, keyed, muted, undo
from workbench.tui.widgets.dialog import Dialog, sure
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.line_list import Cell, LineView

# What an agent would actually see of a playbook: its prompt text, exactly, to look at and to copy.


class AgentDialog(Dialog[None]):
    """The prompt text, with or without counts, whole or what the budget keeps."""

    BINDINGS = bindings(AGENT_VIEW)
    DEFAULT_CSS = """
    AgentDialog {
        & > .dialog { width: 94%; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & .dialog--state { height: auto; max-height: 5; margin-bottom: 1; }
        & LineView { height: 1fr; background: $surface; }
    }
    """

    def __init__(self, bench: Workbench, book: str, copy: Callable[[str], None]) -> None:
        self._view = bench.playbooks.view(book)
        name = bench.safety.masked(self._view.playbook.book.name)
        super().__init__(f"What an agent sees of {name}", footer_entries(AGENT_VIEW))
        self._bench = bench
        self._copy = copy
        self._counts, self._cut = False, self._view.cut is not None
        self.text = ""

    def contents(self) -> Iterable[Widget]:
        """Return what is shown, and the text."""
        return (self.state, Pane("agent-text"))

    def on_mount(self) -> None:
        """Show the text."""
        self.query_one(Pane).focus()
        self._show()

    def _show(self) -> None:
        """Show what an export with the same options gives without what is held back, and what is
        not in it.
        """
        bench, view, said = self._bench, self._view, self.state
        name = "prompt-counts" if self._counts else "prompt"
        choice = Choice(view.playbook.book.id, within_budget=self._cut)
        try:
            rendered = bench.exporter.render(name, choice)
            held = bench.safety.refusals(parts_of(rendered.parsed))
            if held:
                without = frozenset(place_of(one.record) for one in held)
                rendered = bench.exporter.render(name, replace(choice, without=without))
        except WorkbenchError as error:
            said.update(body(str(error), "$text-warning"))
            return
        self.text = text = rendered.text
        bullets = sum(
            b.state != "deprecated" for book in rendered.parsed.playbooks for b in book.bullets
        )
        flagged = sum(isinstance(one.record, Bullet) for one in held)
        gone = len(view.playbook.bullets) - bullets - flagged
        parts = [
            (f"{bullets_in(bullets)} · {number(len(text))} characters", "bold"),
            (f" · ≈ {number(tokens_of(text))} tokens", ""),
            (f" · {'with' if self._counts else 'without'} counts", MUTED),
        ]
        if view.cut is not None:
            kept = f"the budget keeps {view.cut.share}"
            parts.append((f" · {kept if self._cut else 'whole, beyond the budget'}", MUTED))
        said.update(assemble([*parts, *_left_out(gone, flagged, len(held))]))
        self.query_one(Pane).show(whole_file(text))

    def action_counts(self) -> None:
        self._counts = not self._counts
        self._show()

    def action_cut(self) -> None:
        """The whole playbook, or what the budget keeps."""
        if self._view.cut is None:
            self.app.bell()
            return
        self._cut = not self._cut
        self._show()

    def action_copy(self) -> None:
        self._copy(self.text)


def _left_out(gone: int, flagged: int, held: int) -> list[tuple[str, str]]:
    """Say how many bullets are not in the text, and why: over budget, flagged, or (of all held) a
    heading is.
    """
    export, parts = key_of("playbook.export"), list[tuple[str, str]]()
    if gone:
        parts.append(
            (f"\n{bullets_in(gone)} left out: deprecated, or over the budget.", "$text-warning")
        )
    if flagged:
        told = f"\n{FLAGGED} {bullets_in(flagged)} held back as flagged; {export} allows them."
        parts.append((told, "$text-error"))
    if held > flagged:
        told = f"\n{FLAGGED} A heading is flagged: nothing is exported before {export} allows it."
        parts.append((told, "$text-error"))
    return parts


@dataclass(frozen=True, slots=True)
class Line:
    """A bullet that is out, or in, with its estimated tokens."""

    bullet: Bullet
    tokens: int
    inside: bool


class BudgetDialog(Dialog[str | None]):
    """A budget to move, and which bullets then are in and out; the result is a sentence about what
    was done.
    """

    BINDINGS = bindings((*BUDGET, *on_row()))
    DEFAULT_CSS = """
    BudgetDialog {
        & > .dialog { width: 94%; max-width: 140; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title, & .dialog--keys { margin: 0; }
        & .dialog--state { height: auto; max-height: 5; margin: 1 0; }
        &.-narrow .dialog--state { margin: 0; }
        & LineView { height: 1fr; background: $surface; }
    }
    """

    def __init__(self, bench: Workbench, book: str) -> None:
        self._bench = bench
        self._book = book
        self._view: BookView = bench.playbooks.view(book)
        name = bench.safety.masked(self._view.playbook.book.name)
        super().__init__(f"Token budget of {name}", footer_entries(BUDGET))
        self.acts = ActsBesideSliders(self, self._record_here, then=self._reckon)
        total = max(1, self._view.tokens)
        start = self._view.playbook.book.budget or total
        scale = Scale(0, max(total, start) + 1000, 500, 50)
        self.slider = Slider(
            "budget", start, scale, show=lambda v: number(int(v)), ticks=(total,), value_width=9
        )
        empty = Content("Everything fits. ← lowers the budget, digits type one.")
        self.rows: LineView[Line] = LineView(self._draw, lambda line: line.bullet.id, empty=empty)

    @property
    def fitting(self) -> Fitting:
        """What fits the budget that the slider shows."""
        return fit(self._view.playbook, int(self.slider.value or 0))

    def contents(self) -> Iterable[Widget]:
        """Return the slider, what fits, and the bullets, those that are out first."""
        return (self.slider, self.state, self.rows)

    def on_mount(self) -> None:
        """Show what fits now."""
        self.slider.focus()
        self._show()

    def _record_here(self) -> Place | None:
        line = self.rows.current
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
        self.slider.action_type()

    def _show(self, *, cursor: int | None = 0) -> None:
        fitting, costs = self.fitting, self._view.costs.bullets
        out = [Line(b, costs[b.id], False) for b in ranked(fitting.left_out)]
        shown = (*out, *(Line(b, costs[b.id], True) for b in ranked(fitting.kept)))
        self.rows.set_rows(shown if out else (), cursor=cursor)
        keys = "{budget.save} only marks what is out · {budget.apply} deprecates it · {budget.drop} no budget"
        parts = [
            (
                f"The budget keeps {fitting.share}: ≈ {number(fitting.tokens)} tokens, estimated",
                "bold",
            ),
            (f" · all have ≈ {number(self._view.tokens)} (┼)\n", MUTED),
            (f"Out: {fitting.went}\n" if fitting.outside else "", WARN),
            (f"Order: {ORDER}\n", ""),
            (keyed(keys), MUTED),
        ]
        self.tell(assemble(parts))

    def _draw(self, line: Line, width: int) -> list[Cell]:
        bullet, style = self._bench.safety.shown(line.bullet), "" if line.inside else MUTED
        mark = Cell("✓", 1, "$text-success") if line.inside else Cell("✂", 1, WARN)
        text = printable(" ".join(bullet.content[: 8 * width + 64].split()))
        pin = Cell(PINNED if bullet.pinned else " ", 1, "bold")
        cells = [mark, Cell(printable(bullet.id[:18]), 10, MUTED), pin, Cell(text, 0, style)]
        if width >= 70:
            cells.append(
                Cell(f"+{bullet.helpful_count} −{bullet.harmful_count}", 8, MUTED, "right")
            )
            cells.append(Cell(standing(bullet), 11, style))
        return [*cells, Cell(number(line.tokens), 5, style, "right")]

    # Changing

    def action_save(self) -> None:
        """Set the budget that the slider shows."""
        self._set(int(self.slider.value or 0))

    def action_drop(self) -> None:
        """Take the budget away."""
        self._set(0)

    def _set(self, tokens: int) -> None:
        said = f"The budget is {number(tokens)} tokens." if tokens else "The budget was removed."

        def put() -> None:
            self._bench.playbooks.set_budget(self._book, tokens)
            self.dismiss(f"{said} {undo()} takes that back.")

        change(self, put, self.complain)

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
        detail = muted(told) + body(names)
        if await sure(self, question, detail, "deprecate", "keep"):

            def fit() -> None:
                self._bench.playbooks.fit(self._book, fitting.outside, fitting.budget)
                self.dismiss(
                    f"Deprecated {bullets_in(len(fitting.outside))}. {undo()} brings them back."
                )

            change(self, fit, self.complain)
