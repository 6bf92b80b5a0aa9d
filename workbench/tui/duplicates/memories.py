"""Health: memories that say the same, and those that only look as if they did."""

import asyncio
from collections.abc import Iterator, Sequence

from textual.content import Content

from workbench.core.runtime import Cancelled, Progress
from workbench.core.stream.memory import Memory
from workbench.services.duplicates.plan import UNCONFIRMED_TEXT, DedupPlan, Group
from workbench.services.safety.suspicion import suspicions
from workbench.tui.health.sections import (
    BLANK,
    FIGURE,
    WARN,
    Row,
    Section,
    joined,
    key_line,
    more,
    said_waits,
    title,
)
from workbench.tui.records.links import Place
from workbench.tui.review.texts import diff_legend, fold, folded, heading, name
from workbench.tui.widgets.content import MUTED, assemble, body, key_of, keyed, undo, word_diff
from workbench.tui.widgets.figures import amount, number, since
from workbench.tui.widgets.lists.row import Cell

LISTED = 300
"""Groups, and pairs that only look alike, that are listed at most."""

MEMBERS = 12
"""Members of a group whose texts are shown at most."""

WITH_REASON = 54
"""From this width on, a pair that stays apart says why in its row."""


class Duplicates(Section[DedupPlan]):
    """Groups of memories that say the same, and pairs that stay apart."""

    ID, TITLE, WHEN = "duplicates", "Duplicates", "asked"

    def look(self, tell: Progress, cancelled: Cancelled) -> DedupPlan:
        """Compare every memory with every other; Review lists what comes of it, too."""
        plan = self.bench.deduplication.plan(None, tell, cancelled)
        if not cancelled():
            now, groups = self.bench.context.now(), self.bench.deduplication.standing(plan).groups
            self.bench.working_out.take("merge", [group.proposal(now) for group in groups])
        return plan

    def rows(self) -> Sequence[Row]:
        """Return how far the comparison is, or its groups that still hold, then what only looks alike."""
        if self.progress is not None:
            return [self.bar("memories")]
        if not self.known:
            told = keyed("Not compared yet. {health.compare} compares every memory with every other.")
            return [self.remark("unknown", told)]
        plan = self.bench.deduplication.standing(self.value)
        found = [self.remark("summary", _summary(plan), item=plan)]
        found += [self._row(group, "=" if group.exact else "~") for group in plan.groups[:LISTED]]
        found += self.in_review("same")
        if plan.apart:
            looks = amount(len(plan.apart), "pair looks alike, but says", "pairs look alike, but say")
            found.append(self.remark("apart", f"{looks} something else:", item=plan, style=WARN))
        return [*found, *(self._row(pair, "≠") for pair in plan.apart[:LISTED])]

    def _row(self, group: Group, sign: str) -> Row:
        def draw(width: int) -> Sequence[Cell]:
            kept = group.members[-1]
            text, style = kept.line, ""
            if suspicions(kept, self.bench.safety.sorts):
                text, style = keyed("! folded: {health.unfold} opens it"), WARN
            many = f"{len(group.members)}×" if len(group.members) > 2 else ""
            cells = [Cell(sign, FIGURE, WARN if sign == "≠" else "bold", "right"), Cell(text, 0, style)]
            if width >= WITH_REASON and sign == "≠":
                cells.append(Cell(group.flags[0], 19, WARN))
            return [*cells, Cell(many, 4, "", "right"), Cell(f"{group.similarity:.3f}", 5, MUTED)]

        return Row(self.ID, f"{sign}{group.name}", draw, group)

    def detail(self, row: Row) -> Content:
        """Return a group with its texts and what speaks for and against it, or what was compared."""
        if isinstance(row.item, Group):
            reasons = [r for memory in row.item.members for r in suspicions(memory, self.bench.safety.sorts)]
            if row.name in self.unfolded:
                return joined(*self._texts(row.item))
            if reasons:
                return fold(dict.fromkeys(reasons), key_of("health.unfold"))
            return joined(*self._texts(self.bench.safety.shown(row.item)))
        return joined(
            title("Duplicate memories"), BLANK,
            *([*map(Content, _numbers(self.value)), BLANK] if self.known else []),
            Content("=   one and the same text"),
            Content("~   other words, and nothing speaks against it"),
            Content("≠   stays apart: a negation, opposite words, numbers,"),
            Content("    identifiers, symbols or the order of words differ"), BLANK,
            key_line("health.compare", "compares all memories that agents are served"),
            key_line("health.merge", f"merges a group; {undo()} separates it"),
            key_line("health.refuse", "keeps both until a text changes"),
            key_line("health.apply", "puts all groups into Review"),
        )  # fmt: skip

    def _texts(self, group: Group) -> Iterator[Content]:
        """Yield what speaks for and against a group, the word diffs, what the keys do, and every text."""
        kept, newest = group.members[-1], max(group.members, key=lambda m: (m.created_at, m.id))
        yield from _judged(group)
        yield from _diffs(group, newest)
        yield BLANK
        text = "" if kept is newest or group.exact else f"the text of {name(newest.id)} and "
        yield key_line("health.merge", f"merges: {name(kept.id)} stays, with {text}all votes; {undo()} separates them")
        yield key_line("health.refuse", "keeps both until a text changes")
        for memory in group.members[:MEMBERS]:
            about = (memory.status, memory.observation_type, since(memory.created_at, self.bench.context.now()))
            yield BLANK
            yield heading(name(memory.id), Content.styled(" · ".join(map(name, about)), MUTED))
            if not group.exact or memory is group.members[0]:
                yield body(memory.content)
        yield from more(len(group.members), MEMBERS, "more with this text")

    def record(self, row: Row) -> Place | None:
        """Return the memory that a group would leave, which is the one its row shows."""
        return ("memories", row.item.members[-1].id) if isinstance(row.item, Group) else None

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
            self.app.say(keyed("Nothing was compared yet. {health.compare} does it."))
            return
        made = await asyncio.to_thread(self.bench.deduplication.propose, self.value)
        if made:
            said_waits(self.app, len(made), "merge")
        else:
            self.app.say("There is no group to propose.")

    async def merge(self, row: Row) -> None:
        """Merge a group at once; of a pair that only looks alike, ask first."""
        group = row.item
        if not isinstance(group, Group):
            self._say_no_group("Go to a group first; {health.merge} merges it.")
            return
        against = "; ".join(group.pairs[0].verdict.reasons_against)
        detail = body(f"They are alike, but {against}. The newest text wins. {undo()} separates them.")
        if any(pair.kind == "apart" for pair in group.pairs) and not await self.asked(
            "Merge two memories that differ in meaning?", detail, "merge", guard=0.0
        ):
            return

        def merge() -> None:
            kept = self.bench.deduplication.merge(group)
            self.app.say(f"Merged {len(group.members)} into {kept.id}. {undo()} separates them.")

        self.app.change(merge)

    async def refuse(self, row: Row) -> None:
        """Remember that all of a group stay."""
        group = row.item
        if not isinstance(group, Group):
            self._say_no_group("Go to a group first; {health.refuse} keeps its memories apart.")
            return

        def keep_apart() -> None:
            self.bench.deduplication.keep_both(group)
            self.app.say("Kept apart. They are asked about again when a text changes.")

        self.app.change(keep_apart)

    def _say_no_group(self, otherwise: str) -> None:
        """Say why there is no group under the cursor: nothing was compared, none was found, or it is `otherwise`."""
        told = otherwise
        if self.progress is not None:
            told = "The memories are being compared; {app.back} stops it."
        elif not self.known:
            told = "Nothing was compared yet. {health.compare} does it."
        elif not (plan := self.bench.deduplication.standing(self.value)).groups and not plan.apart:
            told = f"{_summary(plan)} There is nothing to go to."
        self.app.say(keyed(told))


def _judged(group: Group) -> Iterator[Content]:
    count, pair = len(group.members), group.pairs[0]
    if group.exact and pair.kind != "apart":
        yield title(f"= The same text {'twice' if count == 2 else f'{count} times'}")
        return
    apart = Content.styled("≠ Alike, but not the same", f"bold {WARN}")
    yield apart if pair.kind == "apart" else title(f"~ Are these {count} duplicates?")
    yield Content.styled(f"similarity {group.similarity:.3f}", MUTED)
    reasons, against = group.reasons, group.flags
    if count == 2:
        reasons = pair.verdict.reasons_for
        unconfirmed = (UNCONFIRMED_TEXT,) if group.is_unconfirmed else ()
        against = (*dict.fromkeys(pair.verdict.reasons_against), *unconfirmed)
    yield from (assemble([("+ ", "bold $text-success")]) + body(reason) for reason in reasons)
    yield from (body(f"! {reason}", WARN) for reason in against)


def _diffs(group: Group, newest: Memory) -> Iterator[Content]:
    for older in () if group.exact else (m for m in group.members if m is not newest):
        head = "From the older to the newer" if len(group.members) == 2 else f"From {name(older.id)} to the newest"
        yield BLANK
        yield heading(head, diff_legend())
        yield folded(word_diff(older.content, newest.content))


def _summary(plan: DedupPlan) -> str:
    if not plan.groups:
        return f"No duplicates among {number(plan.compared)} memories."
    groups = f"{amount(len(plan.groups), 'group')} in {number(plan.compared)} memories"
    return f"{groups}, {number(plan.exact)} with the same text"


def _numbers(plan: DedupPlan) -> Iterator[str]:
    yield f"{number(plan.compared)} memories were compared from similarity {plan.threshold:.2f} on."
    if plan.surplus:
        yield f"Merging every group would leave {number(plan.surplus)} fewer."
    if plan.floor > plan.threshold and (plan.groups or plan.waiting):
        yield f"So many pairs are alike that only those from {plan.floor:.3f} on were judged."
    if plan.waiting:
        yield f"{amount(plan.waiting, 'merge waits', 'merges wait')} in Review."
    if plan.kept:
        yield f"{amount(plan.kept, 'pair was', 'pairs were')} kept apart by you."
