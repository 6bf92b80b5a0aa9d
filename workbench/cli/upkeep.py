"""`workbench upkeep`, `dedup` and `still-true`: what would tidy the store up, put into Review and
nothing more.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import fail, picked, table
from workbench.cli.parsing import share
from workbench.cli.progress import ProgressLine, progressing
from workbench.cli.session import DONE, FOUND, INTERRUPTED
from workbench.cli.verbs import Answer, Call, Option, Verb, flag, unless_dry, value
from workbench.core.claims import why
from workbench.core.record import WorkbenchError
from workbench.core.review.describe import describe
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.core.stream.memory import Memory
    from workbench.services.claims import TruePlan
    from workbench.services.duplicates.comparing import Group
    from workbench.services.duplicates.plan import DedupPlan
    from workbench.services.health.upkeep import UpkeepPlan

SHOWN = 100
"""Cells of a text."""

LISTED = 20
"""Proposals of a kind, groups and pairs that are listed at most; --json lists all."""

_UPKEEP = """Applies the rules of the lifecycle: signals not touched for 14 days (prune), signals seen or
marked helpful three times (confirm), confirmed memories after 90 days or when a newer one
contradicts them (still true?), and confirmed, resolved ones that others refer to (skill).
[lifecycle] in the config file holds the limits. It only makes proposals, which wait in Review. A
second run adds nothing."""

_DEDUP = """Compares all memories that agents are served. Equal texts come first, then similar ones. Texts
that differ in a negation, an opposite word, a number, an identifier, a content word (mom, dad) or
word order are listed separately and never proposed. It only makes proposals, which wait in
Review."""

_STILL_TRUE = """Looks for the paths, symbols, scripts, and make, just and npm targets that bullets, instructions,
semantic and procedural memories mention, in the working tree. Memories of past events are left
alone. For a missing name the git history is searched: the commit that renamed or removed it is
the evidence. No repository configuration is read and no program of it runs. Each finding waits in
Review: approving it writes the new name, or archives a memory that mentions only what is gone.
Exit code: 0 when everything was found, 1 when something was not.

  workbench still-true --tree ~/src/shop --dry-run"""

_TITLES: Mapping[str, str] = {
    "replaces": "contradicted by a newer memory",
    "prune": "archive as noise", "confirm": "confirm", "reconfirm": "ask “still true?”", "skill": "make a skill",
}  # fmt: skip


def look_after(call: Call) -> Answer:
    """Propose what the lifecycle suggests, or say what it would."""
    upkeep, dry = call.bench.upkeep, call.args.dry_run
    plan = call.shown(upkeep.plan() if dry else upkeep.carry_out())
    names = ("id", "kind", "title", "evidence", "flags", "reasons", "importance")
    json = {
        "dry_run": dry,
        "counts": plan.counts,
        "proposals": [{**picked(p, *names), "asks": describe(p).question} for p in plan.proposals],
        "withdrawn": [p.id for p in plan.withdrawn],
        "open": [p.id for p in plan.open],
        "waiting_long": plan.waiting,
        "contradictions_searched": plan.searched,
        "remark": plan.remark,
    }
    return Answer(json, _upkeep_lines(call, plan), filter(None, [plan.remark]))


def _upkeep_lines(call: Call, plan: "UpkeepPlan") -> Iterator[str]:
    for kind, count in plan.counts.items():
        if count:
            yield f"{_TITLES[kind]}: {count:,}"
            rows = [
                (f"  {p.evidence[0]}", "; ".join(p.reasons), one_line(p.title, SHOWN))
                for p in plan.of(kind)
            ]
            yield from (*table(rows[:LISTED]), *_more(len(rows)))
    count = len(plan.proposals)
    done = f"{counted(count, 'change')} {_proposed(call, count)}" if count else "Nothing to propose"
    yield f"{done}."
    yield from _earlier(call, plan, "true")
    if plan.waiting:
        yield f"{counted(len(plan.waiting), 'candidate')} in Review flagged as overdue."


def _more(count: int) -> list[str]:
    return [f"  … and {count - LISTED:,} more"] if count > LISTED else []


def _proposed(call: Call, count: int) -> str:
    wait = "it waits" if count == 1 else "they wait"
    return "would be proposed" if call.args.dry_run else f"proposed; {wait} in Review"


def _earlier(call: Call, plan: "UpkeepPlan | TruePlan", so: str) -> Iterator[str]:
    """Say what of earlier runs waits, and what does no longer."""
    withdrawn, waiting = (
        counted(len(proposals), "proposal") for proposals in (plan.withdrawn, plan.open)
    )
    if plan.withdrawn:
        yield f"{withdrawn} {'would be' if call.args.dry_run else 'was'} withdrawn: no longer {so}."
    if plan.open:
        yield f"{waiting} from an earlier run still {'waits' if len(plan.open) == 1 else 'wait'}."


def find_duplicates(call: Call) -> Answer:
    """Compare, and propose what says the same; ctrl+c stops, and then nothing is proposed."""
    args, work = call.args, call.bench.deduplication
    line = ProgressLine("memories", 1_000)
    with progressing(line) as cancelled:
        try:
            plan = work.plan(args.threshold, line, cancelled)
        except WorkbenchError as error:
            if not cancelled():
                raise
            fail(error)
            return Answer(code=INTERRUPTED)
    count = len(plan.groups) if args.dry_run else len(work.propose(plan))

    def json() -> dict[str, object]:
        return {
            "dry_run": args.dry_run,
            "proposed": 0 if args.dry_run else count,
            "would_propose": count if args.dry_run else 0,
            **picked(plan, "threshold", "floor", "compared"),
            "groups": [_group_json(group) for group in plan.groups],
            "apart": [_group_json(group) for group in plan.apart],
            **picked(plan, "waiting", "kept_apart:kept"),
        }

    return Answer(json, _dedup_lines(call, plan, count))


def _group_json(group: "Group[Memory]") -> dict[str, object]:
    from workbench.services.duplicates.plan import evidence_of, flags_of, kept_pairs

    names = ("id", "status", "created_at", "content")
    return {
        "proposal": group.name,
        "exact": group.kind == "exact",
        "similarity": group.similarity,
        "keeps": group.ids[0],
        "members": [picked(memory, *names) for memory in evidence_of(group)],
        "pairs": [
            {"older": p.left.id, "newer": p.right.id, **picked(p, "similarity", "verdict")}
            for p in kept_pairs(group)
        ],
        "flags": flags_of(group),
    }


def _dedup_lines(call: Call, plan: "DedupPlan", count: int) -> Iterator[str]:
    for group in plan.groups[:LISTED]:
        yield from _group_lines(call, group)
    yield from _more(len(plan.groups))
    if plan.apart:
        yield "Similar, but different:"
        for pair in plan.apart[:LISTED]:
            yield from _group_lines(call, pair)
        yield from _more(len(plan.apart))
    compared = counted(plan.compared, "memory", "memories")
    done = f"{counted(count, 'group')} {_proposed(call, count)}"
    said = done if plan.groups else "No duplicates to propose"
    yield f"{compared} compared from similarity {plan.threshold:.2f} on. {said}."
    if plan.floor > plan.threshold and (plan.groups or plan.waiting):
        yield f"So many pairs are similar that only those from {plan.floor:.3f} up were compared; run it again"
        yield "after deciding these."
    if plan.waiting or plan.kept:
        kept = f"{counted(plan.kept, 'pair')} kept separate by you"
        yield f"{counted(plan.waiting, 'merge')} in Review already; {kept}."


def _group_lines(call: Call, group: "Group[Memory]") -> Iterator[str]:
    from workbench.services.duplicates.plan import evidence_of, flags_of

    if group.kind == "exact":
        yield "the same text"
    else:
        alike = f"similarity {group.similarity:.3f}"
        yield " · ".join(filter(None, (alike, ", ".join(flags_of(group)))))
    yield from table(
        [
            (f"  {m.id}", m.status, one_line(call.shown(m.content), SHOWN))
            for m in evidence_of(group)
        ]
    )


def check_claims(call: Call) -> Answer:
    """Check what memories and bullets name that is not in the working tree any more, and put into
    Review what was found; ctrl+c stops, and then nothing is proposed.
    """
    args, work = call.args, call.bench.still_true
    folder = None if args.tree is None else call.path(args.tree).resolve()
    with progressing() as cancelled:
        try:
            plan = work.plan(folder, cancelled)
        except WorkbenchError as error:
            if not cancelled():
                raise
            fail(error)
            return Answer(code=INTERRUPTED)
    if not args.dry_run:
        work.carry_out(plan)
    remarks = []
    if not plan.with_git:
        remarks.append(
            "No git repository found: only paths were checked, and new names are unknown."
        )
    if not plan.is_whole:
        remarks.append("The folder has too many files; not all were checked.")
    code = FOUND if plan.found or plan.open else DONE
    return Answer(lambda: _claims_json(call, plan), _claims_lines(call, plan), remarks, code)


def _claims_lines(call: Call, plan: "TruePlan") -> Iterator[str]:
    for stale in plan.found:
        record = call.shown(stale.record)
        yield f"{record.id}  {one_line(record.content, SHOWN)}"
        yield from table([(f"  {call.shown(why(gone))}",) for gone in stale.gone])
    count = len(plan.found)
    looked = f"{counted(plan.checked, 'text')} with {counted(plan.names, 'name')} checked"
    made = f"{counted(count, 'correction')} {_proposed(call, count)}"
    yield f"{looked}: {made if count else 'nothing new to propose'}."
    yield from _earlier(call, plan, "so")
    if plan.decided:
        yield f"{plan.decided:,} you decided before."


def _claims_json(call: Call, plan: "TruePlan") -> dict[str, object]:
    found = [
        {
            "id": stale.record.id,
            "proposal": stale.proposal.id,
            "content": stale.record.content,
            "gone": [
                {**picked(one.name, "kind", "name:written"), **picked(one, "now", "commit", "at", "file:place")}
                for one in stale.gone
            ],
        }
        for stale in plan.found
    ]  # fmt: skip
    return {
        "dry_run": call.args.dry_run,
        **picked(plan, "tree:folder", "git:with_git", "whole:is_whole", "checked", "names"),
        "found": found,
        "open": [p.id for p in plan.open],
        "withdrawn": [p.id for p in plan.withdrawn],
        "decided": plan.decided,
    }


OPTIONS: Mapping[str, Option] = {
    "--dry-run": flag("show what would be proposed, without proposing it"),
    "--threshold": value(
        "X",
        "minimum similarity for a word-by-word comparison, 0 to 1 (default: the model's review threshold)",
        type=share,
    ),
    "--tree": value(
        "DIR", "the working tree (default: the folder of the store's project)", type=Path
    ),
}

VERBS = (
    Verb("upkeep", look_after, "propose what the lifecycle rules suggest", "--dry-run --json", _UPKEEP, "--dry-run",
         unless_dry),
    Verb("dedup", find_duplicates, "propose merging duplicate memories", "--threshold --dry-run --json",
         _DEDUP, "--threshold 0.9 --dry-run", unless_dry),
    Verb("still-true", check_claims, "find memories that mention deleted files and symbols", "--tree --dry-run --json",
         _STILL_TRUE, None, unless_dry),
)  # fmt: skip
