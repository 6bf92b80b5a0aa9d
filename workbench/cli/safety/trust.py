"""`workbench trust`: what came into a store from elsewhere, and a person's word on it."""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import say, warn, write_json
from workbench.cli.parsing import Commands, Parser, add_command, add_json, wants_json
from workbench.cli.session import FOUND, Session
from workbench.core.agents.actors import agent_in
from workbench.core.record import WorkbenchError
from workbench.core.text import counted

if TYPE_CHECKING:
    from workbench.core.files.format import Parsed
    from workbench.services.open import Workbench
    from workbench.services.safety.trust import Arrived


# Flagged text at the door of the command line: what is held back, what goes out with a warning.


FLAGGED_SHOWN = 20
"""Flagged records that are listed at most."""

NOTHING = "Nothing was written."


def add_allowing(parser: Parser) -> None:
    """Add `--allow-flagged`, `--reason` and `--skip-flagged`."""
    about = "let this flagged record out as it is, from now on (with --reason); may be given several times"
    parser.add_argument("--allow-flagged", metavar="ID", action="append", default=[], help=about)
    parser.add_argument(
        "--reason",
        metavar="TEXT",
        default="",
        help="with --allow-flagged: why, kept in the history",
    )
    parser.add_argument(
        "--skip-flagged",
        action="store_true",
        help="leave out what is flagged, imported texts too, and say which",
    )


def allow(bench: "Workbench", ids: Sequence[str], reason: str) -> None:
    """Let the flagged records pass that a person named. Raises `WorkbenchError` without a reason,
    or for an id.
    """
    if reason and not ids:
        raise WorkbenchError("--reason goes with --allow-flagged ID.", NOTHING)
    if ids and not reason.strip():
        raise WorkbenchError(
            "--allow-flagged needs --reason TEXT: why the text may go out.", NOTHING
        )
    for id in dict.fromkeys(ids):
        bench.safety.allow(id, reason)


def held_back(
    bench: "Workbench", parsed: "Parsed", *, imported: bool = True
) -> frozenset[tuple[str, str]]:
    """Return the places of flagged records that no person let pass, and say on stderr which they
    are.

    Those that came in with an import, which go out with a warning otherwise, count only as long as
    `imported`. A flagged name of a playbook or section cannot be left out: it is refused with the
    rest by `require_clean`.
    """
    from workbench.core.playbook.book import Bullet
    from workbench.core.stream.memory import Memory
    from workbench.services.files.exporting import parts_of
    from workbench.services.safety.texts import place_of

    safety, parts = bench.safety, parts_of(parsed)
    flagged = safety.unallowed(parts) if imported else safety.check_outgoing(parts).refused
    held = [h for h in flagged if isinstance(h.record, Memory | Bullet)]
    for line in _cut([f"left out: {h.line}" for h in held]):
        warn(line)
    return frozenset(place_of(h.record) for h in held)


def require_clean(bench: "Workbench", parsed: "Parsed") -> tuple[str, ...]:
    """Return remarks about flagged records of a file that may go out.

    Lists those that may not on stderr, and raises `FlaggedText`.
    """
    from workbench.services.files.exporting import parts_of
    from workbench.services.safety.safety import FlaggedText

    try:
        return _cut(
            [f"flagged: {line}" for line in bench.safety.require_outgoing(parts_of(parsed))]
        )
    except FlaggedText as error:
        for line in _cut([held.line for held in error.held]):
            warn(line)
        raise FlaggedText(
            error.held, "--allow-flagged ID --reason TEXT; or leave it out: --skip-flagged"
        ) from error


def _cut(lines: list[str]) -> tuple[str, ...]:
    more = len(lines) - FLAGGED_SHOWN
    return (
        tuple(lines)
        if more <= 0
        else (*lines[:FLAGGED_SHOWN], f"… and {more:,} more; `workbench scan` lists all.")
    )


LINES_SHOWN = 20
"""Actors and flagged records that are listed."""

_TRUST = """A store that came with a clone, a pull or a copy may say anything. Until you have seen what came, nothing of
it is served to agents, exported to where they read, or promoted, and nothing but `append` writes to it. This shows how
many changes came, who wrote them and what is flagged, and asks; `workbench list` and `history` show all of it.
Inside an agent it is refused. In CI, WORKBENCH_TRUST=PATH names stores that are trusted."""


def add_commands(commands: Commands) -> None:
    """Add `trust`."""
    parser = add_command(
        commands,
        "trust",
        trust,
        "review data from elsewhere, and trust it",
        _TRUST,
        example="--show",
    )
    asked = parser.add_mutually_exclusive_group()
    asked.add_argument(
        "--yes", action="store_true", help="take it over without a question (not under an agent)"
    )
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
    for actor, count in sorted(arrived.actors.items(), key=lambda one: -one[1])[:LINES_SHOWN]:
        say(f"  {actor or '(nobody named)'}  {count:,}")
    records = f"{counted(arrived.memories, 'memory', 'memories')} and {counted(arrived.bullets, 'bullet')}"
    say(f"The store holds {records}; {counted(len(arrived.flagged), 'record')} flagged.")
    for held in arrived.flagged[:LINES_SHOWN]:
        say(f"  {held.line}")
    if len(arrived.flagged) > LINES_SHOWN:
        say(f"  … {len(arrived.flagged) - LINES_SHOWN:,} more; `workbench scan` lists them all")


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
        raise WorkbenchError(
            "No terminal to ask in.", "Nothing was changed; --yes takes it over unasked."
        )
    sys.stdout.write("Take it over? Type yes: ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() == "yes"
