"""Flagged text at the door of the command line: what is held back, what goes out with a warning."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import warn
from workbench.cli.parsing import Parser
from workbench.core.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.core.files.format import Parsed
    from workbench.services.open import Workbench

SHOWN = 20
"""Flagged records that are listed at most."""

NOTHING = "Nothing was written."


def add_allowing(parser: Parser) -> None:
    """Add `--allow-flagged`, `--reason` and `--skip-flagged`."""
    about = "let this flagged record out as it is, from now on (with --reason); may be given several times"
    parser.add_argument("--allow-flagged", metavar="ID", action="append", default=[], help=about)
    parser.add_argument("--reason", metavar="TEXT", default="", help="with --allow-flagged: why, kept in the history")
    parser.add_argument(
        "--skip-flagged", action="store_true", help="leave out what is flagged, imported texts too, and say which"
    )


def allow(bench: "Workbench", ids: Sequence[str], reason: str) -> None:
    """Let the flagged records pass that a person named. Raises `WorkbenchError` without a reason, or for an id."""
    if reason and not ids:
        raise WorkbenchError("--reason goes with --allow-flagged ID.", NOTHING)
    if ids and not reason.strip():
        raise WorkbenchError("--allow-flagged needs --reason TEXT: why the text may go out.", NOTHING)
    for id in dict.fromkeys(ids):
        bench.safety.allow(id, reason)


def held_back(bench: "Workbench", parsed: "Parsed", *, imported: bool = True) -> frozenset[tuple[str, str]]:
    """Return the places of flagged records that no person let pass, and say on stderr which they are.

    Those that came in with an import, which go out with a warning otherwise, count only as long as `imported`.
    A flagged name of a playbook or section cannot be left out: it is refused with the rest by `require_clean`.
    """
    from workbench.core.playbook.book import Bullet
    from workbench.core.stream.memory import Memory
    from workbench.services.files.exports.unsaved import parts_of
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
    from workbench.services.files.exports.unsaved import parts_of
    from workbench.services.safety.safety import FlaggedText

    try:
        return _cut([f"flagged: {line}" for line in bench.safety.require_outgoing(parts_of(parsed))])
    except FlaggedText as error:
        for line in _cut([held.line for held in error.held]):
            warn(line)
        raise FlaggedText(error.held, "--allow-flagged ID --reason TEXT; or leave it out: --skip-flagged") from error


def _cut(lines: list[str]) -> tuple[str, ...]:
    more = len(lines) - SHOWN
    return tuple(lines) if more <= 0 else (*lines[:SHOWN], f"… and {more:,} more; `workbench scan` lists all.")
