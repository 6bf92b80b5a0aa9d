"""Health: memories that say the same, and those that only look as if they did."""

import asyncio
from collections.abc import Sequence
from typing import cast

from textual.content import Content

from workbench.core.stream.memory import Memory
from workbench.services.duplicates.plan import UNCONFIRMED_TEXT, DedupPlan, Group
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked
from workbench.services.safety.suspicion import suspicions
from workbench.tui.health.reflection import (
    FIGURE,
    Facts,
    Hands,
    InReview,
    Row,
    Section,
    Watch,
    goes_there,
    in_review,
    key_line,
    remark,
    told,
)
from workbench.tui.review.impact import diff_legend, fold, folded, heading, name
from workbench.tui.widgets.bars import gauge
from workbench.tui.widgets.content import MUTED, assemble, body, keyed, undo, word_diff
from workbench.tui.widgets.figures import amount, number, since
from workbench.tui.widgets.lists.row import Cell

ID = "duplicates"
LISTED = 300
"""Groups, and pairs that only look alike, that are listed at most."""

MEMBERS = 12
"""Members of a group whose texts are shown at most."""

WITH_REASON = 54
"""From this width on, a pair that stays apart says why in its row."""

WARN = "$text-warning"

NOT_COMPARED = "Nothing was compared yet. {health.compare} does it."


def gather(bench: Workbench, watch: Watch) -> DedupPlan:
    """Compare every memory with every other; Review lists what comes of it, too."""
    plan = bench.deduplication.plan(None, watch.tell, watch.cancelled)
    if not watch.cancelled():
        now = bench.context.now()
        bench.working_out.take("merge", [group.proposal(now) for group in bench.deduplication.standing(plan).groups])
    return plan


def rows(facts: Facts) -> Sequence[Row]:
    """Return how far the comparison is, or its groups that still hold, then what only looks alike."""
    compare, back = facts.keys["health.compare"], facts.keys["app.back"]
    if ID in facts.running:
        done, total = facts.running[ID]
        bar = gauge(done, max(1, total), f"memories · {back} stops it", 20)
        return [Row(ID, "running", lambda _: [Cell("", FIGURE), Cell(bar)])]
    if ID not in facts.found:
        return [remark(ID, "unknown", f"Not compared yet. {compare} compares every memory with every other.")]
    plan = facts.bench.deduplication.standing(cast(DedupPlan, facts.found[ID].value))
    found = [remark(ID, "summary", _summary(plan), item=plan)]
    found += [_group(facts, group, "=" if group.exact else "~") for group in plan.groups[:LISTED]]
    found += in_review(facts, ID, "same")
    if plan.apart:
        count = len(plan.apart)
        looks = "1 pair looks alike, but says" if count == 1 else f"{number(count)} pairs look alike, but say"
        text = f"{looks} something else:"
        found.append(remark(ID, "apart", text, item=plan, style=WARN))
    return [*found, *(_group(facts, pair, "≠") for pair in plan.apart[:LISTED])]


def detail(row: Row, facts: Facts) -> Content:
    """Return a group with its texts and what speaks for and against it, or what was compared."""
    if isinstance(row.item, Group):
        return _folded(row, row.item, facts) or _texts(row, row.item, facts)
    if isinstance(row.item, InReview):
        return told(row.item, facts)
    keys, found = facts.keys, facts.found.get(ID)
    plan = None if found is None else found.value
    parts = [Content.styled("Duplicate memories", "bold"), Content("")]
    if isinstance(plan, DedupPlan):
        parts += [*(Content(line) for line in _numbers(plan)), Content("")]
    parts += [
        Content("=   one and the same text"),
        Content("~   other words, and nothing speaks against it"),
        Content("≠   stays apart: a negation, opposite words, numbers,"),
        Content("    identifiers, symbols or the order of words differ"),
        Content(""),
        key_line(keys["health.compare"], "compares all memories that agents are served"),
        key_line(keys["health.merge"], f"merges a group; {undo()} separates it"),
        key_line(keys["health.refuse"], "keeps both until a text changes"),
        key_line(keys["health.apply"], "puts all groups into Review"),
    ]  # fmt: skip
    return Content("\n").join(parts)


async def compare(health: Hands, row: Row) -> None:
    """Start the comparison, and go to where it is shown."""
    del row
    health.go_to(ID)
    health.gather(ID)


async def apply(health: Hands, row: Row) -> None:
    """Put every group that still holds into Review."""
    del row
    plan = _plan(health)
    if plan is None:
        return
    made = await asyncio.to_thread(health.bench.deduplication.propose, plan)
    count = len(made)
    wait, back = ("merge waits", "it") if count == 1 else ("merges wait", "them")
    told = f"{count} {wait} in Review now (key 2); {undo()} takes {back} back."
    health.workbench_app.say(told if count else "There is no group to propose.")


async def go_on(health: Hands, row: Row) -> None:
    """Go to what waits in Review, or let the text be read."""
    if not await goes_there(health, row):
        health.open_detail()


async def merge_group(health: Hands, row: Row) -> None:
    """Merge a group at once; of a pair that only looks alike, ask first."""
    group = row.item
    if not isinstance(group, Group):
        health.workbench_app.say(_no_group(health, keyed("Go to a group first; {health.merge} merges it.")))
        return
    if any(pair.kind == "apart" for pair in group.pairs) and not await _sure(health, group):
        return

    def merge() -> None:
        kept = health.bench.deduplication.merge(group)
        health.workbench_app.say(f"Merged {len(group.members)} into {kept.id}. {undo()} separates them.")

    health.workbench_app.change(merge)


async def keep(health: Hands, row: Row) -> None:
    """Remember that all of a group stay."""
    group = row.item
    if not isinstance(group, Group):
        health.workbench_app.say(
            _no_group(health, keyed("Go to a group first; {health.refuse} keeps its memories apart."))
        )
        return

    def keep_apart() -> None:
        health.bench.deduplication.keep_both(group)
        health.workbench_app.say("Kept apart. They are asked about again when a text changes.")

    health.workbench_app.change(keep_apart)


def _no_group(health: Hands, otherwise: str) -> str:
    """Say why there is no group under the cursor: nothing was compared, none was found, or it is `otherwise`."""
    if ID in health.facts.running:
        return keyed("The memories are being compared; {app.back} stops it.")
    found = health.facts.found.get(ID)
    if found is None or not isinstance(found.value, DedupPlan):
        return keyed(NOT_COMPARED)
    plan = health.bench.deduplication.standing(found.value)
    return otherwise if plan.groups or plan.apart else f"{_summary(plan)} There is nothing to go to."


async def _sure(health: Hands, group: Group) -> bool:
    from workbench.tui.widgets.dialog import Confirm

    against = "; ".join(group.pairs[0].verdict.reasons_against)
    detail = body(f"They are alike, but {against}. The newest text wins. {undo()} separates them.")
    return (
        await health.workbench_app.push_screen_wait(
            Confirm(
                "Merge two memories that differ in meaning?",
                clock=health.seconds,
                detail=detail,
                yes="merge",
                guard=0.0,
            )
        )
        or False
    )


def record(row: Row) -> tuple[str, str] | None:
    """Return the memory that a group would leave, which is the one its row shows."""
    return ("memories", row.item.members[-1].id) if isinstance(row.item, Group) else None


def _plan(health: Hands) -> DedupPlan | None:
    found = health.facts.found.get(ID)
    if found is None or not isinstance(found.value, DedupPlan):
        health.workbench_app.say(keyed(NOT_COMPARED))
        return None
    return found.value


def _group(facts: Facts, group: Group, sign: str) -> Row:
    def draw(width: int) -> Sequence[Cell]:
        kept = group.members[-1]
        flagged = bool(suspicions(kept, facts.bench.safety.sorts))
        text = Cell(keyed("! folded: {health.unfold} opens it") if flagged else kept.line, 0, WARN if flagged else "")
        many = f"{len(group.members)}×" if len(group.members) > 2 else ""
        cells = [Cell(sign, FIGURE, WARN if sign == "≠" else "bold", "right"), text]
        if width >= WITH_REASON and sign == "≠":
            cells.append(Cell(group.flags[0], 19, WARN))
        return [*cells, Cell(many, 4, "", "right"), Cell(f"{group.similarity:.3f}", 5, MUTED)]

    return Row(ID, f"{sign}{group.name}", draw, group)


def _texts(row: Row, group: Group, facts: Facts) -> Content:
    """Return what speaks for and against a group, the word diffs, what the keys do, and every text."""
    if row.key not in facts.unfolded:
        group = masked(group, facts.bench.safety.masked)
    keys, kept = facts.keys, group.members[-1]
    newest = max(group.members, key=lambda m: (m.created_at, m.id))
    parts = [*_judged(group), *_diffs(group, newest), Content("")]
    if kept is not newest and not group.exact:
        told = (
            f"merges: {name(kept.id)} stays, with the text of {name(newest.id)} and all votes; {undo()} separates them"
        )
    else:
        told = f"merges: {name(kept.id)} stays, with all votes; {undo()} separates them"
    parts += [key_line(keys["health.merge"], told), key_line(keys["health.refuse"], "keeps both until a text changes")]
    for memory in group.members[:MEMBERS]:
        about = (memory.status, memory.observation_type, since(memory.created_at, facts.now))
        parts += [Content(""), heading(name(memory.id), Content.styled(" · ".join(map(name, about)), MUTED))]
        if not group.exact or memory is group.members[0]:
            parts.append(body(memory.content))
    if len(group.members) > MEMBERS:
        parts += [Content(""), Content.styled(f"… and {len(group.members) - MEMBERS} more with this text", MUTED)]
    return Content("\n").join(parts)


def _judged(group: Group) -> list[Content]:
    count, pair = len(group.members), group.pairs[0]
    if pair.kind == "apart":
        parts = [Content.styled("≠ Alike, but not the same", f"bold {WARN}")]
    elif group.exact:
        return [Content.styled(f"= The same text {'twice' if count == 2 else f'{count} times'}", "bold")]
    else:
        parts = [Content.styled(f"~ Are these {count} duplicates?", "bold")]
    parts.append(Content.styled(f"similarity {group.similarity:.3f}", MUTED))
    if count > 2:
        return [
            *parts,
            *(body(f"+ {reason}") for reason in group.reasons),
            *(body(f"! {f}", WARN) for f in group.flags),
        ]
    parts += [assemble([("+ ", "bold $text-success")]) + body(reason) for reason in pair.verdict.reasons_for]
    against = (*dict.fromkeys(pair.verdict.reasons_against), *([UNCONFIRMED_TEXT] if group.is_unconfirmed else []))
    return [*parts, *(body(f"! {reason}", WARN) for reason in against)]


def _diffs(group: Group, newest: Memory) -> list[Content]:
    if group.exact:
        return []
    parts = []
    for older in (m for m in group.members if m is not newest):
        title = "From the older to the newer" if len(group.members) == 2 else f"From {name(older.id)} to the newest"
        parts += [Content(""), heading(title, diff_legend()), folded(word_diff(older.content, newest.content))]
    return parts


def _folded(row: Row, group: Group, facts: Facts) -> Content | None:
    reasons = [reason for memory in group.members for reason in suspicions(memory, facts.bench.safety.sorts)]
    if not reasons or row.key in facts.unfolded:
        return None
    return fold(dict.fromkeys(reasons), facts.keys["health.unfold"])


def _summary(plan: DedupPlan) -> str:
    if not plan.groups:
        return f"No duplicates among {number(plan.compared)} memories."
    count = len(plan.groups)
    groups = f"{amount(count, 'group')} in {number(plan.compared)} memories"
    return f"{groups}, {number(plan.exact)} with the same text"


def _numbers(plan: DedupPlan) -> list[str]:
    lines = [
        f"{number(plan.compared)} memories were compared from similarity {plan.threshold:.2f} on.",
    ]
    if plan.surplus:
        lines.append(f"Merging every group would leave {number(plan.surplus)} fewer.")
    if plan.floor > plan.threshold and (plan.groups or plan.waiting):
        lines.append(f"So many pairs are alike that only those from {plan.floor:.3f} on were judged.")
    if plan.waiting:
        lines.append(f"{amount(plan.waiting, 'merge waits', 'merges wait')} in Review.")
    if plan.kept:
        lines.append(f"{amount(plan.kept, 'pair was', 'pairs were')} kept apart by you.")
    return lines


SECTION = Section(
    ID, "Duplicates", gather, rows, detail, "asked",
    {"compare": compare, "apply": apply, "merge": merge_group, "refuse": keep, "open": go_on}, record,
)  # fmt: skip
