"""`workbench purge`: erasing records for good."""

import sys
from typing import TYPE_CHECKING

from workbench.cli.output import say, warn
from workbench.cli.parsing import Commands, add_command
from workbench.cli.session import FOUND, Session
from workbench.config import drafts, paths
from workbench.core.record import WorkbenchError
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.services.health.purge import PurgePlan, PurgeResult
    from workbench.services.open import Workbench

_PURGE = """Removes the records, their votes, judgments and proposals, and every text they ever held, from
memory.json, the whole journal, backups and caches of this store, and from the copies of replaced
files. There is no undo; `workbench undo` and the app's "forget" can be taken back. Each id has to be
typed once more, or given as --yes-erase ID by a script. What it was promoted to is taken out of those
files; one that you edited there is only named, with its line, and the exit code is 1 then. Files you
exported, and stores you copied, are not touched."""


def add_commands(commands: Commands) -> None:
    """Add `purge`."""
    parser = add_command(
        commands, "purge", purge, "erase memories or bullets for good, from every file", _PURGE,
        example="mem-20261121-0000001",
    )  # fmt: skip
    parser.add_argument(
        "ids", metavar="ID", nargs="+", help="a memory's id or a bullet's (BOOK/ID)"
    )
    parser.add_argument(
        "--yes-erase", metavar="ID", action="append", default=[], help="agree to erase this id"
    )


def purge(session: Session) -> int:
    """Erase what was asked for and agreed to, and report what was removed where."""
    with session.changing() as bench:
        plan = bench.eraser.plan(session.args.ids)
        require_agreement(session.args.ids, session.args.yes_erase, plan)
        return erase(bench, plan)


def erase(bench: "Workbench", plan: "PurgePlan") -> int:
    """Erase what a plan names, with what was typed about it; say what was removed where, and return
    the exit code.
    """
    drafts.drop_about(
        drafts.folder_of(paths.state_dir(), bench.library.folder),
        [f"{table}/{key}" for table, key in plan.asked],
    )
    erased = bench.eraser.carry_out(plan)
    _report(erased)
    return FOUND if erased.edited else 0


def require_agreement(ids: list[str], agreed: list[str], plan: "PurgePlan") -> None:
    """Ask for every id that was not agreed to; raises `WorkbenchError` when it is not given."""
    missing = [name for name in dict.fromkeys(ids) if name not in agreed]
    if not missing:
        return
    if not sys.stdin.isatty():
        hint = "Nothing was erased. Agree with --yes-erase " + " --yes-erase ".join(missing)
        raise WorkbenchError("Erasing asks first, and there is no terminal to ask in.", hint)
    warn(f"This erases {_told(plan)} for good. There is no undo.")
    for name in missing:
        sys.stderr.write(f"Type {ascii(name)[1:-1]} to erase it: ")
        sys.stderr.flush()
        if sys.stdin.readline().strip() != name:
            raise WorkbenchError(f"That is not {name}.", "Nothing was erased.")


def _told(plan: "PurgePlan") -> str:
    parts = [", ".join(key for _, key in plan.asked)]
    parts += [
        counted(len(places), kind.word)
        for kind, places in plan.about.items()
        if places and kind.word
    ]
    return ", ".join(parts)


def _report(erased: "PurgeResult") -> None:
    done = erased.done
    if not done.rewritten:
        say(
            f"{', '.join(key for _, key in erased.plan.asked)}: erased before, nothing of it is left in the store."
        )
        _report_elsewhere(erased)
        return
    say(f"Erased {_told(erased.plan)}.")
    say(f"rewritten: {', '.join(done.rewritten)} ({counted(done.lines, 'journal line')} changed)")
    if done.removed:
        say(f"removed: {', '.join(done.removed)}")
    if done.damaged:
        say(
            f"{counted(done.damaged, 'damaged journal line')} held the text and had to go as a whole."
        )
    if erased.files:
        say(f"taken out of: {', '.join(erased.files)}")
    if erased.copies:
        say(
            f"removed, as they held it: {counted(len(erased.copies), 'copy', 'copies')} of files that were replaced"
        )
    _report_elsewhere(erased)


def _report_elsewhere(erased: "PurgeResult") -> None:
    """Say what may still hold the text."""
    for place in erased.elsewhere:
        warn(f"{place} is a copy of this store and was not touched.")
    for left in erased.edited:
        warn(
            f"The text may still be in {left}: it was edited by hand. Take it out there, and purge again to check."
        )
