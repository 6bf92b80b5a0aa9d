"""A dialog that lists proposals in full, to be looked through; with a question they can be accepted as a whole."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.review.describe import describe
from workbench.core.review.proposal import Proposal
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked, masked_name
from workbench.services.safety.suspicion import suspicions
from workbench.tui.app.actions import bindings
from workbench.tui.health.actions import PROPOSED
from workbench.tui.records.acts import Acts, Place
from workbench.tui.widgets.actions import on_row
from workbench.tui.widgets.content import MUTED, assemble, body
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import absolute, ago
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell


class Proposed(Dialog[bool]):
    """Proposals by their lines, and the one under the cursor in full; the result is True only for a yes.

    Without `yes` there is nothing to agree to.
    """

    acts: Acts
    BINDINGS: ClassVar[list[BindingType]] = bindings((*PROPOSED, *on_row("y")))
    DEFAULT_CSS = """
    Proposed {
        & > .dialog { width: 94%; max-width: 130; height: 90%; }
        & .dialog--title { margin: 0; }
        & .proposed--hint { height: auto; color: $text-muted; margin-bottom: 1; }
        & LineView { height: 1fr; background: $surface; }
        & ReadingPane { height: 40%; border-top: solid $panel; }
    }
    """

    def __init__(
        self, title: str, proposals: Sequence[Proposal], bench: Workbench, hint: str = "", yes: str = ""
    ) -> None:
        offered = PROPOSED if yes else PROPOSED[1:]
        super().__init__(title, (replace(a, label=yes) if a.id == "proposed.yes" else a for a in offered if a.show))
        self._proposals = proposals
        self._bench = bench
        self._hint = hint
        self._may_agree = bool(yes)
        self.acts = Acts(lambda: self, self._record_here, then=self._show)

    def contents(self) -> Iterable[Widget]:
        """Return the hint, the list and the text."""
        yield Static(Content(self._hint), classes="proposed--hint")
        yield LineView(self._draw, lambda p: p.id, empty=Content("Nothing is proposed."))
        pane = ReadingPane(id="proposed-text")
        pane.can_focus = False
        yield pane

    def on_mount(self) -> None:
        """Show the proposals."""
        rows = self.query_one(LineView)
        rows.set_rows(self._proposals, cursor=0)
        rows.focus()

    def _record_here(self, _what: str) -> Place | None:
        """Return the first memory that the proposal under the cursor rests on."""
        proposal = self.query_one(LineView).current
        return ("memories", proposal.evidence[0]) if proposal is not None and proposal.evidence else None

    def _draw(self, proposal: Proposal, width: int) -> list[Cell]:
        line = Cell(self._bench.safety.masked(proposal.title))
        why = self._bench.safety.masked("; ".join(proposal.reasons))
        cells = [Cell(f"{proposal.importance:.0f}", 2, "", "right"), line]
        return [*cells, Cell(why, min(36, width // 3), MUTED)] if width >= 60 else cells

    @on(LineView.Highlighted)
    def _show(self) -> None:
        proposal = self.query_one(LineView).current
        self.query_one(ReadingPane).show(Content("") if proposal is None else self._text(proposal))

    def _text(self, proposal: Proposal) -> Content:
        mask, now = self._bench.safety.masked, self._bench.context.now()
        words = describe(masked(proposal, mask))
        parts = [assemble([(f"{words.question} ", "bold")]) + body("; ".join((*words.pro, *words.contra)), MUTED)]
        for id in proposal.evidence[:4]:
            memory = self._bench.library.memories.find(id)
            if memory is None:
                continue
            at = f"{ago(memory.created_at, now)} ago ({absolute(memory.created_at)})"
            parts += [Content(""), body(f"{masked_name(id, mask)} · {mask(memory.status)} · {at}", MUTED)]
            folded = suspicions(memory, self._bench.safety.sorts)
            parts.append(
                body(f"! {folded[0]} Review shows the text.", "$text-warning") if folded else body(memory.content)
            )
        return Content("\n").join(parts)

    @on(LineView.Opened)
    def _open(self) -> None:
        """Open the memory over the list."""
        self.acts.open()

    def action_yes(self) -> None:
        """Agree, where there is something to agree to."""
        if self._may_agree:
            self.dismiss(True)

    def action_no(self) -> None:
        """Leave everything as it is."""
        self.dismiss(False)

    def action_read_on(self) -> None:
        """Scroll the text."""
        self.query_one(ReadingPane).read(1)

    def action_read_back(self) -> None:
        """Scroll back."""
        self.query_one(ReadingPane).read(-1)
