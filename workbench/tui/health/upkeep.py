"""Health: what the rules of the lifecycle suggest, before it is proposed."""

import asyncio
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
from workbench.core.review.upkeep import CONTRADICTED, UPKEEP_KINDS
from workbench.core.runtime import Cancelled, Progress
from workbench.core.text import counted
from workbench.services.health.upkeep import UpkeepPlan
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked, masked_name
from workbench.services.safety.suspicion import suspicions
from workbench.tui.actions import PROPOSED, on_row
from workbench.tui.app.actions import bindings
from workbench.tui.health.sections import BLANK, Row, Section, joined, key_line, more, said_waits, title
from workbench.tui.records.links import Acts, Place
from workbench.tui.widgets.content import MUTED, assemble, body, undo
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import absolute, amount, number, since
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell

# A dialog that lists proposals in full, to be looked through; with a question they can be accepted as a whole.


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
        self, head: str, proposals: Sequence[Proposal], bench: Workbench, hint: str = "", yes: str = ""
    ) -> None:
        offered = PROPOSED if yes else PROPOSED[1:]
        super().__init__(head, (replace(a, label=yes) if a.id == "proposed.yes" else a for a in offered if a.show))
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
        parts = [title(f"{words.question} ") + body("; ".join((*words.pro, *words.contra)), MUTED)]
        for id in proposal.evidence[:4]:
            memory = self._bench.library.memories.find(id)
            if memory is None:
                continue
            at = f"{since(memory.created_at, now)} ({absolute(memory.created_at)})"
            parts += [BLANK, body(f"{masked_name(id, mask)} · {mask(memory.status)} · {at}", MUTED)]
            folded = suspicions(memory, self._bench.safety.sorts)
            parts.append(
                body(f"! {folded[0]} Review shows the text.", "$text-warning") if folded else body(memory.content)
            )
        return joined(*parts)

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


LISTED = 12
"""Proposals that the text beside the list names at most."""

_SAYS = {
    "replaces": "contradicted: which of two memories holds",
    "prune": "to prune: signals that nobody touched",
    "confirm": "to confirm: seen or marked helpful again and again",
    "reconfirm": "still true? confirmed long ago, or contradicted",
    "skill": "to make a skill: confirmed, resolved, referred to",
}


class Upkeep(Section[UpkeepPlan]):
    """What the rules of the lifecycle suggest, before it is proposed."""

    ID, TITLE = "upkeep", "Upkeep"

    def look(self, tell: Progress, cancelled: Cancelled) -> UpkeepPlan:
        """Make the dry run, which Review lists, too; contradictions are looked for as soon as the model is loaded."""
        del tell, cancelled
        plan = self.bench.upkeep.plan(search=self.bench.retriever.ready)
        self.bench.working_out.take("prune", plan.proposals)
        return plan

    def rows(self) -> Sequence[Row]:
        """Return a row for each kind with something to do, and what waits already."""
        plan, found = self.value, list[Row]()
        for kind in UPKEEP_KINDS:
            new, waits = plan.counts[kind], sum(p.kind == kind for p in plan.open)
            if new or waits:
                figure, style = (number(new), "") if new else ("", MUTED)
                waiting = f"{number(waits)} in Review" if waits else ""
                found.append(self.row(kind, figure, _SAYS[kind], item=kind, more=waiting, style=style))
        if gone := len(plan.withdrawn):
            what = "a proposal that no longer holds" if gone == 1 else "proposals that no longer hold"
            found.append(self.row("withdrawn", number(gone), f"to withdraw: {what}", item="withdrawn"))
        if waits := len(plan.waiting):
            what = "candidate in Review is" if waits == 1 else "candidates in Review are"
            found.append(self.row("waiting", number(waits), f"{what} flagged as overdue", item="waiting"))
        found += self.in_review("noise")
        return found or [self.remark("nothing", "Nothing to do: no rule of the lifecycle has anything to say.")]

    def detail(self, row: Row) -> Content:
        """Return what a kind would propose, or what the keys do."""
        plan = self.value
        if row.item in UPKEEP_KINDS:
            return self._kind(str(row.item))
        if row.item == "withdrawn":
            head = title("Proposals that no longer hold; they go when the others are made")
            return joined(head, BLANK, *map(self._line, plan.withdrawn[:LISTED]))
        return joined(
            title("What upkeep would propose"), BLANK,
            Content("Signals nobody touched, memories that have earned to be confirmed, confirmed ones that may be out "
                    "of date, and those worth a skill. The limits are in the config under [lifecycle]."), BLANK,
            key_line("health.apply", "puts all of it into Review; nothing is archived by that."),
            key_line("health.prune", "accepts all prunes below importance 8 at once, after a look."),
            *((BLANK, Content.styled(plan.remark, MUTED)) if plan.remark else ()),
        )  # fmt: skip

    def _kind(self, kind: str) -> Content:
        new, waiting = self.value.of(kind), [p for p in self.value.open if p.kind == kind]
        words = describe((*new, *waiting)[0])
        parts = [title(words.question), *(assemble([(f"{answer}: ", MUTED), (what, "")])
                 for answer, what in (("yes", words.yes), ("no", words.no))), BLANK]  # fmt: skip
        for proposal in new[:LISTED]:
            parts += self._line(proposal), BLANK
        parts += more(len(new), LISTED, "more; enter lists them all")
        if waiting:
            parts.append(Content.styled(f"{number(len(waiting))} of these wait in Review already", MUTED))
        return joined(*parts)

    def _line(self, proposal: Proposal) -> Content:
        shown = masked(proposal, self.masked)
        lines = [body(shown.title), body(f"  {'; '.join(shown.reasons)}", MUTED)]
        other = self.bench.library.memories.find(proposal.evidence[-1]) if CONTRADICTED in proposal.flags else None
        if other is not None:
            lines.append(body(f"  “{self.masked(other.line)}”", MUTED))
        return joined(*lines)

    async def apply(self, row: Row) -> None:
        """Put everything, whatever the row, into Review."""
        del row
        plan = await asyncio.to_thread(lambda: self.bench.upkeep.carry_out(search=self.bench.retriever.ready))
        if plan.is_empty:
            self.app.say("Nothing new: what the rules say is in Review already, or was decided.")
            return
        gone = amount(len(plan.withdrawn), "that no longer held was", "that no longer held were")
        said_waits(self.app, len(plan.proposals), "proposal", f" {gone} withdrawn." if plan.withdrawn else "")

    async def prune(self, row: Row) -> None:
        """Show every prune, then accept them all."""
        del row
        upkeep = self.bench.upkeep
        proposals = upkeep.prunable(await asyncio.to_thread(lambda: upkeep.plan(search=False)))
        if not proposals:
            self.app.say("Nothing to prune at once: no untouched signal is below importance 8.")
            return
        count = len(proposals)
        head = f"Prune {'this memory' if count == 1 else f'these {count:,} memories'}?"
        hint = f"They are archived as pruned and can be brought back with {undo()}. The least important come first."
        if await self.app.push_screen_wait(Proposed(head, proposals, self.bench, hint, yes="prune all")):
            done = await asyncio.to_thread(upkeep.prune, proposals)
            self.app.say(f"Pruned {counted(done, 'memory', 'memories')}. {undo()} brings them back.")

    async def open(self, row: Row) -> bool:
        """List what a kind would propose."""
        if row.item not in UPKEEP_KINDS:
            return False
        kind = str(row.item)
        proposals = (*self.value.of(kind), *(p for p in self.value.open if p.kind == kind))
        head = f"{describe(proposals[0]).question} · {len(proposals):,}"
        await self.app.push_screen_wait(Proposed(head, proposals, self.bench, _SAYS[kind]))
        return True
