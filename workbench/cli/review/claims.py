"""`workbench still-true`: what memories and bullets name that is not in the working tree any more."""

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import fail, plain, say, table, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.progress import interruptible
from workbench.cli.safety.flags import Shown
from workbench.cli.session import DONE, FOUND, INTERRUPTED, Session
from workbench.core.claims import why
from workbench.core.record import WorkbenchError
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.services.claims import Stale, TruePlan

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


def add_commands(commands: Commands) -> None:
    """Add `still-true`."""
    parser = add_command(commands, "still-true", check, "find memories that name deleted files and symbols", _DETAILS)
    about = "the working tree (default: the folder of the store's project)"
    parser.add_argument("--tree", metavar="DIR", type=Path, help=about)
    parser.add_argument("--dry-run", action="store_true", help="only say what would be proposed")
    add_json(parser)


def check(session: Session) -> int:
    """Check, and put into Review what was found; ctrl+c stops, and then nothing is proposed."""
    args = session.args
    folder = None if args.tree is None else (session.cwd / args.tree.expanduser()).resolve()
    with session.reading() if args.dry_run else session.changing() as bench, interruptible() as cancelled:
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
        for line in table([(f"  {shown(why(gone))}",) for gone in stale.gone]):
            say(line)
    count = len(plan.found)
    wait = "it waits" if count == 1 else "they wait"
    done = "would be proposed" if dry else f"proposed; {wait} in Review"
    looked = f"{counted(plan.checked, 'text')} with {counted(plan.names, 'name')} checked"
    made = f"{counted(count, 'correction')} {done}" if count else "nothing new to propose"
    say(f"{looked}: {made}.")
    if plan.open:
        say(f"{counted(len(plan.open), 'proposal')} of an earlier run {'waits' if len(plan.open) == 1 else 'wait'}.")
    if plan.withdrawn:
        say(f"{counted(len(plan.withdrawn), 'proposal')} {'would be' if dry else 'was'} withdrawn: no longer so.")
    if plan.decided:
        say(f"{plan.decided:,} you decided on before.")
    if not plan.with_git:
        warn("There is no git repository, or no git: only paths were looked for, and no new names are known.")
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
    return {"id": shown(record.id), "proposal": shown(id), "content": shown(record.content), "gone": shown(gone)}
