"""Health: what the rules of the lifecycle suggest, before it is proposed."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, cast

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.review.describe import describe
from workbench.core.review.proposal import Proposal
from workbench.core.review.upkeep import CONTRADICTED, UPKEEP_KINDS
from workbench.core.text import counted
from workbench.services.health.upkeep import UpkeepPlan
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked, masked_name
from workbench.services.safety.suspicion import suspicions
from workbench.tui.app.actions import bindings
from workbench.tui.health.actions import PROPOSED
from workbench.tui.health.reflection import (
    Facts,
    Hands,
    InReview,
    Row,
    Section,
    Watch,
    figures,
    goes_there,
    in_review,
    remark,
    told,
)
from workbench.tui.records.links import Acts, Place
from workbench.tui.widgets.actions import on_row
from workbench.tui.widgets.content import MUTED, assemble, body, undo
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import absolute, ago, number
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


ID = "upkeep"
LISTED = 12
"""Proposals that the text beside the list names at most."""

_SAYS: Mapping[str, str] = {
    "replaces": "contradicted: which of two memories holds",
    "prune": "to prune: signals that nobody touched",
    "confirm": "to confirm: seen or marked helpful again and again",
    "reconfirm": "still true? confirmed long ago, or contradicted",
    "skill": "to make a skill: confirmed, resolved, referred to",
}


def gather(bench: Workbench, _watch: Watch) -> UpkeepPlan:
    """Make the dry run, which Review lists, too; contradictions are looked for as soon as the model is loaded."""
    plan = bench.upkeep.plan(search=bench.retriever.ready)
    bench.working_out.take("prune", plan.proposals)
    return plan


def rows(facts: Facts) -> Sequence[Row]:
    """Return a row for each kind with something to do, and what waits already."""
    plan = cast(UpkeepPlan, facts.found[ID].value)
    found = []
    for kind in UPKEEP_KINDS:
        new, waits = plan.counts[kind], sum(p.kind == kind for p in plan.open)
        if new or waits:
            more = f"{number(waits)} in Review" if waits else ""
            style = "" if new else MUTED
            found.append(figures(ID, kind, number(new) if new else "", _SAYS[kind], item=kind, more=more, style=style))
    if plan.withdrawn:
        text = "to withdraw: " + (
            "a proposal that no longer holds" if len(plan.withdrawn) == 1 else "proposals that no longer hold"
        )
        found.append(figures(ID, "withdrawn", number(len(plan.withdrawn)), text, item="withdrawn"))
    if plan.waiting:
        text = "candidate in Review is" if len(plan.waiting) == 1 else "candidates in Review are"
        text += " flagged as overdue"
        found.append(figures(ID, "waiting", number(len(plan.waiting)), text, item="waiting"))
    found += in_review(facts, ID, "noise")
    return found or [remark(ID, "nothing", "Nothing to do: no rule of the lifecycle has anything to say.")]


def detail(row: Row, facts: Facts) -> Content:
    """Return what a kind would propose, or what the keys do."""
    plan = cast(UpkeepPlan, facts.found[ID].value)
    if isinstance(row.item, InReview):
        return told(row.item, facts)
    if row.item in UPKEEP_KINDS:
        return _kind(str(row.item), plan, facts)
    if row.item == "withdrawn":
        head = Content.styled("Proposals that no longer hold; they go when the others are made", "bold")
        return Content("\n").join([head, Content(""), *(_line(facts, p) for p in plan.withdrawn[:LISTED])])
    parts = [Content.styled("What upkeep would propose", "bold"), Content("")]
    apply, prune = facts.keys["health.apply"], facts.keys["health.prune"]
    parts += [
        Content("Signals nobody touched, memories that have earned to be confirmed, confirmed ones that may be out of "
                "date, and those worth a skill. The limits are in the config under [lifecycle]."),
        Content(""),
        assemble([(apply, "bold $text-accent"), (" puts all of it into Review; nothing is archived by that.", "")]),
        assemble([(prune, "bold $text-accent"), (" accepts all prunes below importance 8 at once, after a look.", "")]),
    ]  # fmt: skip
    if plan.remark:
        parts += [Content(""), Content.styled(plan.remark, MUTED)]
    return Content("\n").join(parts)


async def apply(health: Hands, row: Row) -> None:
    """Put everything, whatever the row, into Review."""
    del row
    bench = health.bench
    plan = await asyncio.to_thread(lambda: bench.upkeep.carry_out(search=bench.retriever.ready))
    made, gone = len(plan.proposals), len(plan.withdrawn)
    if plan.is_empty:
        health.workbench_app.say("Nothing new: what the rules say is in Review already, or was decided.")
        return
    taken = f" {gone} that no longer held {'was' if gone == 1 else 'were'} withdrawn." if gone else ""
    wait = "proposal waits" if made == 1 else "proposals wait"
    back = "it" if made == 1 else "them"
    health.workbench_app.say(f"{made} {wait} in Review now (key 2); {undo()} takes {back} back.{taken}")


async def prune(health: Hands, row: Row) -> None:
    """Show every prune, then accept them all."""
    del row

    upkeep = health.bench.upkeep
    proposals = upkeep.prunable(await asyncio.to_thread(lambda: upkeep.plan(search=False)))
    if not proposals:
        health.workbench_app.say("Nothing to prune at once: no untouched signal is below importance 8.")
        return
    count = len(proposals)
    title = f"Prune {'this memory' if count == 1 else f'these {count:,} memories'}?"
    hint = f"They are archived as pruned and can be brought back with {undo()}. The least important come first."
    if await health.workbench_app.push_screen_wait(Proposed(title, proposals, health.bench, hint, yes="prune all")):
        done = await asyncio.to_thread(upkeep.prune, proposals)
        health.workbench_app.say(f"Pruned {counted(done, 'memory', 'memories')}. {undo()} brings them back.")


async def show(health: Hands, row: Row) -> None:
    """List what a kind would propose, or go to what waits."""
    if await goes_there(health, row):
        return

    found = health.facts.found[ID].value
    if row.item not in UPKEEP_KINDS or not isinstance(found, UpkeepPlan):
        health.open_detail()
        return
    kind = str(row.item)
    proposals = (*found.of(kind), *(p for p in found.open if p.kind == kind))
    title = f"{describe(proposals[0]).question} · {len(proposals):,}"
    await health.workbench_app.push_screen_wait(Proposed(title, proposals, health.bench, _SAYS[kind]))


def _kind(kind: str, plan: UpkeepPlan, facts: Facts) -> Content:
    new = plan.of(kind)
    waiting = [p for p in plan.open if p.kind == kind]
    words = describe((*new, *waiting)[0])
    parts = [Content.styled(words.question, "bold")]
    parts += [assemble([("yes: ", MUTED), (words.yes, "")]), assemble([("no: ", MUTED), (words.no, "")]), Content("")]
    for proposal in new[:LISTED]:
        parts += _line(facts, proposal), Content("")
    if len(new) > LISTED:
        parts.append(Content.styled(f"… and {number(len(new) - LISTED)} more; enter lists them all", MUTED))
    if waiting:
        parts.append(Content.styled(f"{number(len(waiting))} of these wait in Review already", MUTED))
    return Content("\n").join(parts)


def _line(facts: Facts, proposal: Proposal) -> Content:
    mask = facts.bench.safety.masked
    lines = [body(mask(proposal.title)[:400]), body(f"  {mask('; '.join(proposal.reasons))}"[:400], MUTED)]
    other = None if CONTRADICTED not in proposal.flags else facts.bench.library.memories.find(proposal.evidence[-1])
    if other is not None:
        lines.append(body(f"  “{mask(other.line)[:300]}”", MUTED))
    return Content("\n").join(lines)


SECTION = Section(ID, "Upkeep", gather, rows, detail, "always", {"apply": apply, "prune": prune, "open": show})
