"""`workbench upkeep` and `workbench dedup`: what would tidy the store up, put into Review and
nothing more.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import fail, plain, say, say_table, table, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, share, wants_json
from workbench.cli.progress import ProgressLine, interruptible
from workbench.cli.safety.flags import Shown
from workbench.cli.session import DONE, FOUND, INTERRUPTED, Session
from workbench.core.claims import why
from workbench.core.record import WorkbenchError
from workbench.core.review.describe import describe
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.core.stream.memory import Memory
    from workbench.services.claims import Stale, TruePlan
    from workbench.services.duplicates.comparing import Group
    from workbench.services.duplicates.plan import DedupPlan
    from workbench.services.health.upkeep import UpkeepPlan


# `workbench still-true`: what memories and bullets name that is not in the working tree any more.


SHOWN = 100
"""Cells of a text."""

HOW = "`workbench show ID --show-secrets` shows them"

_DETAILS = """Takes the paths, symbols, scripts and targets of make, just and npm that bullets, instructions and what is
known or how to do something name, and looks for them in the working tree; what is told as having happened is
left alone. What is not there is looked for in the past, if git knows one: what renamed it or took it away is
the evidence. Nothing of the repository's configuration is read, and no program of it runs.
Each finding waits in Review: yes writes the new names, or forgets what only names what is gone.
Exit code: 0 when all is there, 1 when something is not.

  workbench still-true --tree ~/src/shop --dry-run"""


def _add_still_true(commands: Commands) -> None:
    """Add `still-true`."""
    parser = add_command(
        commands, "still-true", check, "find memories that name deleted files and symbols", _DETAILS
    )
    about = "the working tree (default: the folder of the store's project)"
    parser.add_argument("--tree", metavar="DIR", type=Path, help=about)
    parser.add_argument("--dry-run", action="store_true", help="only say what would be proposed")
    add_json(parser)


def check(session: Session) -> int:
    """Check, and put into Review what was found; ctrl+c stops, and then nothing is proposed."""
    args = session.args
    folder = None if args.tree is None else (session.cwd / args.tree.expanduser()).resolve()
    with (
        session.reading() if args.dry_run else session.changing() as bench,
        interruptible() as cancelled,
    ):
        try:
            plan = bench.still_true.plan(folder, cancelled)
        except WorkbenchError as error:
            if not cancelled():
                raise
            fail(error)
            return INTERRUPTED
        if not args.dry_run:
            bench.still_true.carry_out(plan)
        shown = Shown(bench, how=HOW)
        if wants_json(args):
            write_json(_json(plan, shown, dry=args.dry_run))
        else:
            _print(plan, shown, dry=args.dry_run)
        shown.remark()
    return FOUND if plan.found or plan.open else DONE


def _print(plan: "TruePlan", shown: Shown, *, dry: bool) -> None:
    for stale in plan.found:
        say(f"{shown(stale.record.id)}  {one_line(shown(stale.record.content), SHOWN)}")
        say_table([(f"  {shown(why(gone))}",) for gone in stale.gone])
    count = len(plan.found)
    wait = "it waits" if count == 1 else "they wait"
    done = "would be proposed" if dry else f"proposed; {wait} in Review"
    looked = f"{counted(plan.checked, 'text')} with {counted(plan.names, 'name')} checked"
    made = f"{counted(count, 'correction')} {done}" if count else "nothing new to propose"
    say(f"{looked}: {made}.")
    if plan.open:
        say(
            f"{counted(len(plan.open), 'proposal')} of an earlier run {'waits' if len(plan.open) == 1 else 'wait'}."
        )
    if plan.withdrawn:
        say(
            f"{counted(len(plan.withdrawn), 'proposal')} {'would be' if dry else 'was'} withdrawn: no longer so."
        )
    if plan.decided:
        say(f"{plan.decided:,} you decided on before.")
    if not plan.with_git:
        warn(
            "There is no git repository, or no git: only paths were looked for, and no new names are known."
        )
    if not plan.is_whole:
        warn("The folder holds so many files that not all of them were looked at.")


def _json(plan: "TruePlan", shown: Shown, *, dry: bool) -> dict[str, object]:
    return {
        "dry_run": dry,
        "tree": str(plan.folder),
        "git": plan.with_git,
        "whole": plan.is_whole,
        "checked": plan.checked,
        "names": plan.names,
        "found": [_stale_json(stale, shown) for stale in plan.found],
        "open": [p.id for p in plan.open],
        "withdrawn": [p.id for p in plan.withdrawn],
        "decided": plan.decided,
    }


def _stale_json(stale: "Stale", shown: Shown) -> dict[str, object]:
    gone = [
        {
            "kind": one.name.kind, "name": one.name.written, "now": one.now, "commit": one.commit, "at": plain(one.at),
            "file": one.place,
        }
        for one in stale.gone
    ]  # fmt: skip
    record, id = stale.record, stale.proposal.id
    return {
        "id": shown(record.id),
        "proposal": shown(id),
        "content": shown(record.content),
        "gone": shown(gone),
    }


LONG = 1000
"""Memories above which comparing shows its progress."""

LISTED = 20
"""Proposals of a kind, groups and pairs that are listed at most; --json lists all."""

"""Cells of a text."""


_UPKEEP = """By the rules of the lifecycle: signals nobody touched for 14 days (prune), signals seen or marked helpful
three times (confirm), confirmed memories after 90 days or when a newer one says otherwise (still true?), and
confirmed, resolved ones that others refer to (skill). The limits are in the config under [lifecycle].
Only proposals are made; they wait in Review. A second run adds nothing."""

_DEDUP = """Compares all memories that an agent is served. Those with the same text come first, then those that
resemble each other; whatever differs in a negation, opposite words, a number, an identifier, a content word of each
(mom, dad) or the order of its words is listed apart and never proposed, however similar.
Only proposals are made; they wait in Review."""

_TITLES: Mapping[str, str] = {
    "replaces": "contradicted by a newer memory",
    "prune": "archive as noise", "confirm": "confirm", "reconfirm": "ask “still true?”", "skill": "make a skill",
}  # fmt: skip


def add_commands(commands: Commands) -> None:
    upkeep = add_command(
        commands,
        "upkeep",
        look_after,
        "propose what the lifecycle suggests",
        _UPKEEP,
        example="--dry-run",
    )
    upkeep.add_argument("--dry-run", action="store_true", help="only say what would be proposed")
    add_json(upkeep)
    dedup = add_command(
        commands, "dedup", find_duplicates, "propose to merge memories that say the same", _DEDUP,
        example="--threshold 0.9 --dry-run",
    )  # fmt: skip
    about = "similarity from which two are compared word by word, 0 to 1 (default: the model's review threshold)"
    dedup.add_argument("--threshold", metavar="X", type=share, help=about)
    dedup.add_argument("--dry-run", action="store_true", help="only say what would be proposed")
    add_json(dedup)
    _add_still_true(commands)


def look_after(session: Session) -> int:
    """Propose what the lifecycle suggests, or say what it would."""
    dry = session.args.dry_run
    with session.reading() if dry else session.changing() as bench:
        plan = bench.upkeep.plan() if dry else bench.upkeep.carry_out()
        shown = Shown(bench, how=HOW)
        plan = shown(plan)
    if wants_json(session.args):
        write_json({"dry_run": dry, **_plan_json(plan)})
    else:
        _print_plan(plan, dry)
    shown.remark()
    return 0


def find_duplicates(session: Session) -> int:
    """Compare, and propose what says the same; ctrl+c stops, and then nothing is proposed."""
    dry, line = session.args.dry_run, ProgressLine("memories", LONG)
    with session.reading() if dry else session.changing() as bench, interruptible() as cancelled:
        try:
            plan = bench.deduplication.plan(session.args.threshold, line, cancelled)
        except WorkbenchError as error:
            if not cancelled():
                raise
            line.clear()
            fail(error)
            return INTERRUPTED
        line.clear()
        proposed = 0 if dry else len(bench.deduplication.propose(plan))
        shown = Shown(bench, how=HOW)
    if wants_json(session.args):
        would = len(plan.groups) if dry else 0
        write_json(
            {
                "dry_run": dry,
                "proposed": proposed,
                "would_propose": would,
                **_dedup_json(plan, shown),
            }
        )
    else:
        _print_dedup(plan, dry, proposed, shown)
    shown.remark()
    return 0


def _print_plan(plan: "UpkeepPlan", dry: bool) -> None:
    for kind, count in plan.counts.items():
        if count:
            say(f"{_TITLES[kind]}: {count:,}")
            rows = [
                (f"  {p.evidence[0]}", "; ".join(p.reasons), one_line(p.title, SHOWN))
                for p in plan.of(kind)
            ]
            _list(table(rows[:LISTED]), len(rows))
    count = len(plan.proposals)
    done = (
        "would be proposed"
        if dry
        else f"proposed; {'it waits' if count == 1 else 'they wait'} in Review"
    )
    say(f"{counted(count, 'change')} {done}." if count else "Nothing to propose.")
    if plan.withdrawn:
        say(
            f"{counted(len(plan.withdrawn), 'proposal')} {'would be' if dry else 'was'} withdrawn: no longer true."
        )
    if plan.open:
        say(
            f"{counted(len(plan.open), 'proposal')} of an earlier run {'waits' if len(plan.open) == 1 else 'wait'}."
        )
    if plan.waiting:
        say(f"{counted(len(plan.waiting), 'candidate')} in Review flagged as overdue.")
    if plan.remark:
        warn(plan.remark)


def _print_dedup(plan: "DedupPlan", dry: bool, proposed: int, shown: Shown) -> None:
    from workbench.services.duplicates.plan import flags_of

    for group in plan.groups[:LISTED]:
        is_exact, flags = group.kind == "exact", ", ".join(flags_of(group))
        what = "the same text" if is_exact else f"similarity {group.similarity:.3f}"
        say(what if is_exact or not flags else f"{what} · {flags}")
        _print_members(group, shown)
    _list([], len(plan.groups))
    if plan.apart:
        say("Alike, but not the same:")
        for pair in plan.apart[:LISTED]:
            say(f"similarity {pair.similarity:.3f} · {', '.join(flags_of(pair))}")
            _print_members(pair, shown)
        _list([], len(plan.apart))
    count = len(plan.groups) if dry else proposed
    wait = "it waits" if count == 1 else "they wait"
    done = (
        f"{counted(count, 'group')} {'would be proposed' if dry else f'proposed; {wait} in Review'}"
    )
    say(
        f"{counted(plan.compared, 'memory', 'memories')} compared from similarity {plan.threshold:.2f} on. "
        + (f"{done}." if plan.groups else "No duplicates to propose.")
    )
    if plan.floor > plan.threshold and (plan.groups or plan.waiting):
        say(
            f"So many pairs are alike that only those from {plan.floor:.3f} on were judged; more may show once"
        )
        say("these are decided: run it again then.")
    if plan.waiting or plan.kept:
        say(
            f"{counted(plan.waiting, 'merge')} in Review already; {counted(plan.kept, 'pair')} kept apart by you."
        )


def _print_members(group: "Group[Memory]", shown: Shown) -> None:
    from workbench.services.duplicates.plan import evidence_of

    members = evidence_of(group)
    say_table([(f"  {m.id}", m.status, one_line(shown(m.content), SHOWN)) for m in members])


def _list(lines: list[str], count: int) -> None:
    for text in lines:
        say(text)
    if count > LISTED:
        say(f"  … and {count - LISTED:,} more")


def _plan_json(plan: "UpkeepPlan") -> dict[str, object]:
    return {
        "counts": plan.counts,
        "proposals": [{**_record(p), "asks": describe(p).question} for p in plan.proposals],
        "withdrawn": [p.id for p in plan.withdrawn],
        "open": [p.id for p in plan.open],
        "waiting_long": plan.waiting,
        "contradictions_searched": plan.searched,
        "remark": plan.remark,
    }


def _dedup_json(plan: "DedupPlan", shown: Shown) -> dict[str, object]:
    return {
        "threshold": plan.threshold,
        "floor": plan.floor,
        "compared": plan.compared,
        "groups": [_group_json(g, shown) for g in plan.groups],
        "apart": [_group_json(g, shown) for g in plan.apart],
        "waiting": plan.waiting,
        "kept_apart": plan.kept,
    }


def _group_json(group: "Group[Memory]", shown: Shown) -> dict[str, object]:
    from workbench.services.duplicates.plan import evidence_of, flags_of, kept_pairs

    pairs = [
        {"older": p.left.id, "newer": p.right.id, "similarity": p.similarity, "verdict": p.verdict}
        for p in kept_pairs(group)
    ]
    return {
        "proposal": group.name,
        "exact": group.kind == "exact",
        "similarity": group.similarity,
        "keeps": group.ids[0],
        "members": [_member(m, shown) for m in evidence_of(group)],
        "pairs": plain(shown(pairs)),
        "flags": shown(flags_of(group)),
    }


def _member(memory: "Memory", shown: Shown) -> dict[str, object]:
    content = shown(memory.content)
    return {
        "id": memory.id,
        "status": memory.status,
        "created_at": memory.created_at,
        "content": content,
    }


def _record(proposal: object) -> dict[str, object]:
    doc = plain(proposal)
    assert isinstance(doc, dict)
    return {
        name: doc[name]
        for name in ("id", "kind", "title", "evidence", "flags", "reasons", "importance")
    }
