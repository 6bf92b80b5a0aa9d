"""Health: what the rules of the lifecycle suggest, before it is proposed."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.agents.consolidation import STAGES, ConsolidationRun, StageKind, due_at
from workbench.core.review.describe import describe
from workbench.core.review.lifecycle import CONTRADICTED, UPKEEP_KINDS
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.core.text import counted
from workbench.services.agents.consolidation import Consolidated, Stage, fact_lines
from workbench.services.duplicates.comparing import Group
from workbench.services.duplicates.plan import (
    UNCONFIRMED_TEXT,
    DedupPlan,
    flags_of,
    is_unconfirmed,
    merge_proposal,
)
from workbench.services.health.upkeep import UpkeepPlan
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked, masked_name
from workbench.services.safety.suspicion import suspicions
from workbench.tui.actions import PROPOSED, on_row
from workbench.tui.app.actions import bindings
from workbench.tui.duplicates import memories_text, newest_of
from workbench.tui.health.sections import (
    FIGURE,
    WARN,
    Row,
    Section,
    more,
    said_waits,
    title,
)
from workbench.tui.records.actions import Acts, Place
from workbench.tui.review.inbox import fold, name
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    assemble,
    body,
    joined,
    key_line,
    key_of,
    keyed,
    muted,
    undo,
)
from workbench.tui.widgets.dialog import Dialog, sure
from workbench.tui.widgets.figures import absolute, amount, number, since
from workbench.tui.widgets.line_list import Cell, LineView
from workbench.tui.widgets.reading_pane import ReadingPane

# A dialog that lists proposals in full, to be looked through; with a question they can be accepted
# as a whole.


class Proposed(Dialog[bool]):
    """Proposals by their lines, and the one under the cursor in full; the result is True only for a
    yes.

    Without `yes` there is nothing to agree to.
    """

    acts: Acts
    BINDINGS = bindings((*PROPOSED, *on_row("y")))
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
        self,
        head: str,
        proposals: Sequence[Proposal],
        bench: Workbench,
        hint: str = "",
        yes: str = "",
    ) -> None:
        offered = PROPOSED if yes else PROPOSED[1:]
        super().__init__(
            head,
            (replace(a, label=yes) if a.id == "proposed.yes" else a for a in offered if a.show),
        )
        self._proposals = proposals
        self._bench = bench
        self._hint = hint
        self._may_agree = bool(yes)
        self.acts = Acts(self, self._record_here, then=self._show)

    def contents(self) -> Iterable[Widget]:
        """Return the hint, the list and the text."""
        yield Static(Content(self._hint), classes="proposed--hint")
        yield LineView(
            self._draw, lambda p: p.id, empty=Content("No proposals."), title="Proposals"
        )
        pane = ReadingPane(id="proposed-text")
        pane.can_focus = False
        yield pane

    def on_mount(self) -> None:
        """Show the proposals."""
        rows = self.query_one(LineView)
        rows.set_rows(self._proposals, cursor=0)
        rows.focus()

    def _record_here(self) -> Place | None:
        """Return the first memory that the proposal under the cursor rests on."""
        proposal = self.query_one(LineView).current
        return (
            ("memories", proposal.evidence[0])
            if proposal is not None and proposal.evidence
            else None
        )

    def _draw(self, proposal: Proposal, width: int) -> list[Cell]:
        line = Cell(self._bench.safety.masked(proposal.title), name="memory")
        why = self._bench.safety.masked("; ".join(proposal.reasons))
        cells = [Cell(f"{proposal.importance:.0f}", 3, "", "right", "imp"), line]
        reason = Cell(why, min(36, width // 3), MUTED, name="why")
        return [*cells, reason] if width >= 60 else cells

    @on(LineView.Highlighted)
    def _show(self) -> None:
        proposal = self.query_one(LineView).current
        self.query_one(ReadingPane).show(BLANK if proposal is None else self._text(proposal))

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
                body(f"! {folded[0]} Review shows the text.", "$text-warning")
                if folded
                else body(memory.content)
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
    "replaces": "contradictions: which of two memories is right",
    "prune": "to prune: unused signals",
    "confirm": "to confirm: seen or marked helpful repeatedly",
    "reconfirm": "still true? confirmed long ago, or contradicted",
    "skill": "to make a skill: confirmed, resolved, cited",
}


class Upkeep(Section[UpkeepPlan]):
    """What the rules of the lifecycle suggest, before it is proposed."""

    ID, TITLE = "upkeep", "Upkeep"

    def look(self) -> UpkeepPlan:
        """Make the dry run, which Review lists, too; contradictions are looked for as soon as the
        model is loaded.
        """
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
                found.append(
                    self.row(kind, figure, _SAYS[kind], item=kind, more=waiting, style=style)
                )
        if gone := len(plan.withdrawn):
            what = (
                "a proposal that no longer holds" if gone == 1 else "proposals that no longer hold"
            )
            found.append(
                self.row("withdrawn", number(gone), f"to withdraw: {what}", item="withdrawn")
            )
        if waits := len(plan.waiting):
            what = "candidate in Review is" if waits == 1 else "candidates in Review are"
            found.append(
                self.row("waiting", number(waits), f"{what} flagged as overdue", item="waiting")
            )
        found += self.in_review("noise")
        return found or [self.remark("nothing", "Nothing to do: no lifecycle rule applies.")]

    def detail(self, row: Row) -> Content:
        """Return what a kind would propose, or what the keys do."""
        plan = self.value
        if row.item in UPKEEP_KINDS:
            return self._kind(str(row.item))
        if row.item == "withdrawn":
            head = title("Obsolete proposals; withdrawn with the next run")
            return joined(head, BLANK, *map(self._line, plan.withdrawn[:LISTED]))
        return joined(
            title("What upkeep would propose"), BLANK,
            Content("Unused signals, memories ready to be confirmed, confirmed ones that may be "
                    "outdated, and those worth a skill. The limits are in the config under "
                    "[lifecycle]."), BLANK,
            key_line("health.apply", "sends all of it to Review; nothing is archived yet."),
            key_line("health.prune", "accepts all prunes below importance 8, after a preview."),
            *((BLANK, muted(plan.remark)) if plan.remark else ()),
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
            parts.append(muted(f"{number(len(waiting))} of these wait in Review already"))
        return joined(*parts)

    def _line(self, proposal: Proposal) -> Content:
        shown = masked(proposal, self.masked)
        lines = [body(shown.title), body(f"  {'; '.join(shown.reasons)}", MUTED)]
        other = (
            self.bench.library.memories.find(proposal.evidence[-1])
            if CONTRADICTED in proposal.flags
            else None
        )
        if other is not None:
            lines.append(body(f"  “{self.masked(other.line)}”", MUTED))
        return joined(*lines)

    async def apply(self, row: Row) -> None:
        """Put everything, whatever the row, into Review."""
        del row
        plan = await asyncio.to_thread(
            lambda: self.bench.upkeep.carry_out(search=self.bench.retriever.ready)
        )
        if plan.is_empty:
            self.app.say("Nothing new: all proposals wait in Review or were decided.")
            return
        gone = amount(len(plan.withdrawn), "that no longer held was", "that no longer held were")
        said_waits(
            self.app,
            len(plan.proposals),
            "proposal",
            f" {gone} withdrawn." if plan.withdrawn else "",
        )

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
        if await self.app.push_screen_wait(
            Proposed(head, proposals, self.bench, hint, yes="prune all")
        ):
            done = await asyncio.to_thread(upkeep.prune, proposals)
            self.app.say(
                f"Pruned {counted(done, 'memory', 'memories')}. {undo()} brings them back."
            )

    async def open(self, row: Row) -> bool:
        """List what a kind would propose."""
        if row.item not in UPKEEP_KINDS:
            return False
        kind = str(row.item)
        proposals = (*self.value.of(kind), *(p for p in self.value.open if p.kind == kind))
        head = f"{describe(proposals[0]).question} · {len(proposals):,}"
        await self.app.push_screen_wait(Proposed(head, proposals, self.bench, _SAYS[kind]))
        return True


# Health: memories that say the same, and those that only look as if they did.


DUPLICATES_LISTED = 300
"""Groups, and pairs that only look alike, that are listed at most."""

WITH_REASON = 54
"""From this width on, a pair that stays apart says why in its row."""


class Duplicates(Section[DedupPlan]):
    """Groups of memories that say the same, and pairs that stay apart."""

    ID, TITLE, WHEN = "duplicates", "Duplicates", "asked"

    def look(self) -> DedupPlan:
        """Compare every memory with every other; Review lists what comes of it, too."""
        plan = self.bench.deduplication.plan(None, self.tell, self.cancelled)
        if not self.cancelled():
            now, groups = self.bench.context.now(), self.bench.deduplication.standing(plan).groups
            self.bench.working_out.take("merge", [merge_proposal(group, now) for group in groups])
        return plan

    def rows(self) -> Sequence[Row]:
        """Return how far the comparison is, or its groups that still hold, then what only looks
        alike.
        """
        if self.progress is not None:
            return [self.bar("memories")]
        if not self.known:
            told = keyed(
                "Not compared yet. {health.compare} compares every memory with every other."
            )
            return [self.remark("unknown", told)]
        plan = self.bench.deduplication.standing(self.value)
        found = [self.remark("summary", _summary(plan), item=plan)]
        found += [
            self._row(group, "=" if group.kind == "exact" else "~")
            for group in plan.groups[:DUPLICATES_LISTED]
        ]
        found += self.in_review("same")
        if plan.apart:
            looks = amount(len(plan.apart), "similar pair says", "similar pairs say")
            found.append(self.remark("apart", f"{looks} something else:", item=plan, style=WARN))
        return [*found, *(self._row(pair, "≠") for pair in plan.apart[:DUPLICATES_LISTED])]

    def _row(self, group: Group[Memory], sign: str) -> Row:
        def draw(width: int) -> Sequence[Cell]:
            kept = group.members[0]
            text, style = kept.line, ""
            if suspicions(kept, self.bench.safety.sorts):
                text, style = keyed("! folded: {health.unfold} opens it"), WARN
            many = f"{len(group.members)}×" if len(group.members) > 2 else ""
            cells = [
                Cell(sign, FIGURE, WARN if sign == "≠" else "bold", "right"),
                Cell(text, 0, style, name="first of them"),
            ]
            if width >= WITH_REASON and sign == "≠":
                cells.append(Cell(flags_of(group)[0], 19, WARN))
            size = Cell(many, 4, "", "right", "size")
            return [*cells, size, Cell(f"{group.similarity:.3f}", 5, MUTED, name="alike")]

        return Row(self.ID, f"{sign}{group.name}", draw, group)

    def detail(self, row: Row) -> Content:
        """Return a group with its texts and what speaks for and against it, or what was compared."""
        if isinstance(row.item, Group):
            reasons = [
                r
                for memory in row.item.members
                for r in suspicions(memory, self.bench.safety.sorts)
            ]
            if row.name in self.unfolded:
                return joined(*self._texts(row.item))
            if reasons:
                return fold(dict.fromkeys(reasons), key_of("health.unfold"))
            return joined(*self._texts(self.bench.safety.shown(row.item)))
        return joined(
            title("Duplicate memories"), BLANK,
            *([*map(Content, _numbers(self.value)), BLANK] if self.known else []),
            Content("=   the same text"),
            Content("~   different wording, same meaning"),
            Content("≠   different: a negation, opposite words, numbers,"),
            Content("    identifiers, symbols or word order"), BLANK,
            key_line("health.compare", "compares all memories that agents are served"),
            key_line("health.merge", f"merges a group; {undo()} separates it"),
            key_line("health.refuse", "keeps both until a text changes"),
            key_line("health.apply", "sends all groups to Review"),
        )  # fmt: skip

    def _texts(self, group: Group[Memory]) -> Iterator[Content]:
        """Yield a group in full, and what the keys do."""
        yield memories_text(group, self.bench.context.now())
        yield BLANK
        if is_unconfirmed(group):
            yield body(f"! {UNCONFIRMED_TEXT}", WARN)
        yield key_line(
            "health.merge",
            f"merges: {name(group.ids[0])} stays, with {_text_of(group)} and all votes; {undo()} separates them",
        )
        yield key_line("health.refuse", "keeps both until a text changes")

    def record(self, row: Row) -> Place | None:
        """Return the memory that a group would leave, which is the one its row shows."""
        return ("memories", row.item.members[0].id) if isinstance(row.item, Group) else None

    # What the keys do

    async def compare(self, row: Row) -> None:
        """Start the comparison, and go to where it is shown."""
        del row
        self.go()
        self.gather()

    async def apply(self, row: Row) -> None:
        """Put every group that still holds into Review."""
        del row
        if not self.known:
            self.app.hint("Not compared yet. {health.compare} starts it.")
            return
        made = await asyncio.to_thread(self.bench.deduplication.propose, self.value)
        if made:
            said_waits(self.app, len(made), "merge")
        else:
            self.app.say("No group to propose.")

    async def merge(self, row: Row) -> None:
        """Merge a group at once; of a pair that only looks alike, ask first."""
        group = row.item
        if not isinstance(group, Group):
            self._say_no_group("Go to a group first; {health.merge} merges it.")
            return
        against = "; ".join(group.pairs[0].verdict.reasons_against)
        stays = f"{group.ids[0]} stays, with {_text_of(group)}"
        detail = f"They are similar, but {against}. {stays}. {undo()} separates them."
        if not group.ordinary and not await sure(
            self.app, "Merge two memories that differ in meaning?", detail, "merge", guard=0.0
        ):
            return

        def merge() -> None:
            kept = self.bench.deduplication.merge(group)
            merged = f"Merged {len(group.members)} into {kept.id}, with {_text_of(group)}"
            self.app.say(f"{merged}. {undo()} separates them.")

        self.app.change(merge)

    async def refuse(self, row: Row) -> None:
        """Remember that all of a group stay."""
        group = row.item
        if not isinstance(group, Group):
            self._say_no_group("Go to a group first; {health.refuse} keeps its memories separate.")
            return

        def keep_apart() -> None:
            self.bench.deduplication.keep_both(group)
            self.app.say("Kept separate; asked again when a text changes.")

        self.app.change(keep_apart)

    def _say_no_group(self, otherwise: str) -> None:
        """Say why there is no group under the cursor: nothing was compared, none was found, or it
        is `otherwise`.
        """
        told = otherwise
        if self.progress is not None:
            told = "The memories are being compared; {app.back} stops it."
        elif not self.known:
            told = "Not compared yet. {health.compare} starts it."
        elif not (plan := self.bench.deduplication.standing(self.value)).groups and not plan.apart:
            told = f"{_summary(plan)} No groups."
        self.app.hint(told)


def _text_of(group: Group[Memory]) -> str:
    """Say which text a merge leaves."""
    newest, kept = newest_of(group), group.members[0]
    same = newest.content == kept.content
    return "its own text" if same else f"the text of {name(newest.id)}, the newest"


def _summary(plan: DedupPlan) -> str:
    if not plan.groups:
        return f"No duplicates among {number(plan.compared)} memories."
    groups = f"{amount(len(plan.groups), 'group')} in {number(plan.compared)} memories"
    return f"{groups}, {number(plan.exact)} with the same text"


def _numbers(plan: DedupPlan) -> Iterator[str]:
    yield f"{number(plan.compared)} memories were compared, from similarity {plan.threshold:.2f} up."
    if plan.surplus:
        yield f"Merging every group would leave {number(plan.surplus)} fewer."
    if plan.floor > plan.threshold and (plan.groups or plan.waiting):
        yield f"So many pairs are similar that only those from {plan.floor:.3f} up were compared."
    if plan.waiting:
        yield f"{amount(plan.waiting, 'merge waits', 'merges wait')} in Review."
    if plan.kept:
        yield f"{amount(plan.kept, 'pair was', 'pairs were')} kept separate by you."


# Health: tidying up what agents did and learned: when it was last done, what it would do now, and
# its report.


CHANGES_LISTED = 30
"""Changes of a stage that the text beside the list names at most."""

_PART = 100


@dataclass(frozen=True, slots=True)
class Seen:
    """What a run would do, or (`is_done`) did."""

    what: Consolidated
    is_done: bool = False


class Consolidation(Section[Seen]):
    """What agents did and learned, tidied up."""

    ID, TITLE, WHEN = "consolidation", "Consolidation", "asked"
    STOPPED = "Stopped. Finished stages are kept ({app.undo} takes one back); a run within a day does the rest."
    wanted = False
    """Whether it is to be done, and not only checked: once, whatever becomes of it."""

    def look(self) -> Seen:
        """Look at what a run would change, or carry it out where a person asked for that."""

        def told(kind: StageKind, done: int, total: int) -> None:
            place = next(n for n, one in enumerate(STAGES) if one.id == kind.id)
            self.tell(place * _PART + (done * _PART // total if total else 0), len(STAGES) * _PART)

        wanted, self.wanted = self.wanted, False
        run = self.bench.consolidating.carry_out if wanted else self.bench.consolidating.look
        return Seen(run((), told, self.cancelled), wanted)

    def rows(self) -> Sequence[Row]:
        """Return how far it is, or when it was last done and what it would change, stage by stage."""
        if self.progress is not None:
            return [self.bar("of all stages")]
        head = self.remark("last", _last(self.bench.consolidating.last()), item="last")
        if not self.known:
            told = keyed("{health.apply} previews the changes.")
            return [head, self.remark("unknown", told)]
        seen = self.value
        left = ", ".join(kind.id for kind in seen.what.left)
        does = keyed("{health.apply} runs it; {app.undo} takes each stage back.")
        return [
            head,
            *(
                self._stage(one, "measured" if seen.is_done else "to measure")
                for one in seen.what.stages
            ),
            *([self.remark("left", f"Stopped. Left: {left}.", style=WARN)] if left else []),
            *([] if seen.is_done else [self.remark("apply", does)]),
        ]

    def _stage(self, stage: Stage, measured: str) -> Row:
        many = len(stage.changes)
        said = f"{number(stage.measured)} {measured}" if stage.measured else ""
        figure, style = (number(many), "") if many else ("", MUTED)
        return self.row(stage.kind.id, figure, stage.kind.title, item=stage, more=said, style=style)

    def detail(self, row: Row) -> Content:
        """Return what a stage changes, or the report of the last run."""
        if isinstance(row.item, Stage):
            return joined(*self._changes(row.item))
        return joined(
            title("Consolidation of episodes and patterns"), BLANK,
            Content("Archives similar episodes under one of them, validates patterns, retires "
                    "weak ones and updates the search indexes. Nothing is lost: each stage is "
                    "one action, and it can be stopped between two."), BLANK,
            key_line("health.apply", "previews the changes, then runs it."),
            muted("`workbench consolidate` runs it from cron or a timer; see its help."),
            *_report(self.bench.consolidating.last()),
        )  # fmt: skip

    def _changes(self, stage: Stage) -> Iterator[Content]:
        yield title(stage.kind.title)
        yield Content(f"{number(stage.looked)} checked")
        yield from (body(line, MUTED) for line in fact_lines(stage.facts))
        yield BLANK
        for change in stage.changes[:CHANGES_LISTED]:
            by = (
                f" {'as' if change.becomes == 'proposed' else 'under'} “{change.by}”"
                if change.by
                else ""
            )
            yield body(self.masked(f"{change.id}  {change.becomes.replace('_', ' ')}{by}"))
        yield from more(len(stage.changes), CHANGES_LISTED)

    async def apply(self, row: Row) -> None:
        """Show what it would change; shown that, do it."""
        del row
        if self.progress is not None:
            return
        self.go("last")
        self.wanted = self.known and not self.value.is_done
        self.known = False
        self.gather()


def _last(run: ConsolidationRun | None) -> str:
    due = due_at(run)
    if run is None or due is None:
        return "Never run; due now"
    ended = (
        f"Last run {absolute(run.ended_at)}"
        if run.ended_at is not None
        else f"Remaining: {', '.join(run.left)}"
    )
    return f"{ended} · next due {absolute(due)}"


def _report(run: ConsolidationRun | None) -> Iterator[Content]:
    if run is None:
        return
    titles = {kind.id: kind.title for kind in STAGES}
    yield BLANK
    yield title(_last(run))
    for one in run.done:
        yield BLANK
        yield body(titles.get(one.stage, one.stage))
        yield muted(f"- checked: {number(one.looked)}")
        yield muted(f"- changed: {number(one.changed)}")
        yield from (body(line, MUTED) for line in fact_lines(one.facts))
