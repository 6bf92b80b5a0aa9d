"""`workbench trust`: what came into a store from elsewhere, and a person's word on it."""

import os
import sys
from typing import TYPE_CHECKING

from workbench.cli.exit_codes import FOUND
from workbench.cli.output import say, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.session import Session
from workbench.core.agents.actors import agent_in
from workbench.core.errors import WorkbenchError
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.services.safety.trust import Arrived

SHOWN = 20
"""Actors and flagged records that are listed."""

_TRUST = """A store that came with a clone, a pull or a copy may say anything. Until you have seen what came, nothing of
it is served to agents, exported to where they read, or promoted, and nothing but `append` writes to it. This shows how
many changes came, who wrote them and what is flagged, and asks; `workbench list` and `history` show all of it.
Inside an agent it is refused. In CI, WORKBENCH_TRUST=PATH names stores that are trusted."""


def add_commands(commands: Commands) -> None:
    """Add `trust`."""
    parser = add_command(
        commands, "trust", trust, "look at what came from elsewhere, and take it over", _TRUST, example="--show"
    )
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument("--yes", action="store_true", help="take it over without a question (not under an agent)")
    asked.add_argument("--show", action="store_true", help="only show what came")
    add_json(parser)


def trust(session: Session) -> int:
    """Show what came, and take it over after a yes."""
    args = session.args
    with session.reading(remarks=False, whole=True) as bench:
        if bench.trust.standing.trusted:
            return _nothing(session)
        arrived = bench.trust.arrived()
        folder = bench.library.folder
        if wants_json(args):
            write_json({"trusted": False, "store": folder, **_json(arrived)})
        else:
            _print(arrived)
        if args.show:
            return 0
        bench.trust.require_own()
        if not agreed(yes=args.yes):
            say("It stays as it is: not trusted.")
            return FOUND
        bench.trust.accept(arrived)
    say(f"Trusted: {folder}")
    return 0


def _nothing(session: Session) -> int:
    if wants_json(session.args):
        write_json({"trusted": True, "store": session.choice().folder})
    else:
        say("This store is trusted: nothing in it came from elsewhere.")
    return 0


def _print(arrived: "Arrived") -> None:
    say(f"{counted(arrived.changes, 'change')} came from elsewhere, written by:")
    for actor, count in sorted(arrived.actors.items(), key=lambda one: -one[1])[:SHOWN]:
        say(f"  {actor or '(nobody named)'}  {count:,}")
    records = f"{counted(arrived.memories, 'memory', 'memories')} and {counted(arrived.bullets, 'bullet')}"
    say(f"The store holds {records}; {counted(len(arrived.flagged), 'record')} flagged.")
    for held in arrived.flagged[:SHOWN]:
        say(f"  {held.line}")
    if len(arrived.flagged) > SHOWN:
        say(f"  … {len(arrived.flagged) - SHOWN:,} more; `workbench scan` lists them all")


def _json(arrived: "Arrived") -> dict[str, object]:
    flagged = [held.name for held in arrived.flagged]
    return {"changes": arrived.changes, "actors": arrived.actors, "memories": arrived.memories,
            "bullets": arrived.bullets, "flagged": flagged}  # fmt: skip


def agreed(*, yes: bool, what: str = "a store") -> bool:
    """Ask; where nobody can answer only `yes` does, and nothing under an agent."""
    if agent := agent_in(os.environ):
        hint = "Nothing was changed; run this command in a terminal of your own."
        raise WorkbenchError(f"An agent cannot trust {what} ({agent} runs this command).", hint)
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WorkbenchError("Nobody is there to be asked.", "Nothing was changed; --yes takes it over unasked.")
    sys.stdout.write("Take it over? Type yes: ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() == "yes"
