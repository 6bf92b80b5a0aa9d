"""Flagged text at the door of the command line: what is held back, what goes out with a warning."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import warn
from workbench.cli.parsing import Parser

if TYPE_CHECKING:
    from workbench.bench.workbench import Workbench
    from workbench.formats.model import Parsed

SHOWN = 20
"""Flagged records that are listed at most."""

REASON = "allowed at the export"


def add_allowing(parser: Parser) -> None:
    """Add `--allow-flagged`."""
    about = "let this flagged record out as it is, from now on; may be given several times"
    parser.add_argument("--allow-flagged", metavar="ID", action="append", default=[], help=about)


def require_clean(bench: "Workbench", parsed: "Parsed", allowed: Sequence[str] = ()) -> tuple[str, ...]:
    """Return remarks about flagged records of a file that may go out, after allowing those that a person named.

    Lists those that may not on stderr, and raises `FlaggedText`.
    """
    from workbench.bench.leaving import parts_of
    from workbench.bench.safety import ALLOW, FlaggedText

    for id in dict.fromkeys(allowed):
        bench.safety.allow(id, REASON)
    try:
        return _cut([f"flagged: {line}" for line in bench.safety.require_outgoing(parts_of(parsed))])
    except FlaggedText as error:
        for line in _cut([held.line for held in error.held]):
            warn(line)
        raise FlaggedText(error.held, f"--allow-flagged ID, or {ALLOW}") from error


def _cut(lines: list[str]) -> tuple[str, ...]:
    more = len(lines) - SHOWN
    return tuple(lines) if more <= 0 else (*lines[:SHOWN], f"… and {more:,} more; `workbench scan` lists all.")
