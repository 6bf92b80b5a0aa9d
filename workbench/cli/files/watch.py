"""`workbench watch`: which files changed on disk since they were read or written here."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import say, table, warn, write_json
from workbench.cli.parsing import Commands, add_command, add_json, wants_json
from workbench.cli.progress import interruptible
from workbench.cli.safety.flags import Shown
from workbench.cli.session import DONE, FOUND, Session
from workbench.core.record import InvalidQuery

if TYPE_CHECKING:
    from workbench.services.files.overwriting import FileChange
    from workbench.services.open import Workbench

_DETAILS = """Holds the files that the store was read from or written to against what they were then:
changed, gone, or new in a folder that is named. It reads only; `import PLACE --theirs --dry-run` shows
what differs, and without --dry-run takes it over, `export` the other way round. With --follow it goes
on until ctrl+c and says what changes.
Exit code: 0 when all is as it was, 1 when something changed.

  workbench watch memory-bank --follow"""

_EVERY = 2.0
"""Seconds between two looks of one that follows."""

_STEP = 0.1


def add_commands(commands: Commands) -> None:
    """Add `watch`."""
    parser = add_command(
        commands, "watch", watch, "say which files changed on disk since they were read", _DETAILS
    )
    parser.add_argument(
        "places", metavar="PLACE", nargs="*", type=Path, help="only these files, or what is below"
    )
    parser.add_argument("--follow", action="store_true", help="go on looking, and say what changes")
    add_json(parser)


def watch(session: Session) -> int:
    """Say what changed; once, or until somebody stops it."""
    if session.args.follow and wants_json(session.args):
        raise InvalidQuery(
            "--follow prints lines as things change; it does not go with --json.",
            "Nothing was read.",
        )
    with session.reading() as bench:
        found = _changes(session, bench)
        if wants_json(session.args):
            write_json(
                [{"path": str(one.path), "what": one.what, "format": one.format} for one in found]
            )
        else:
            _tell(session, bench, found)
            if not found:
                warn("Every file is as it was read or written last.")
        if session.args.follow:
            return _follow(session, bench, found)
    return FOUND if found else DONE


def _changes(session: Session, bench: "Workbench") -> "tuple[FileChange, ...]":
    from workbench.services.files.overwriting import changes

    return changes(
        bench.context, [session.cwd / place.expanduser() for place in session.args.places]
    )


def _tell(session: Session, bench: "Workbench", found: "tuple[FileChange, ...]") -> None:
    shown = Shown(bench)
    rows = [(one.what, shown(_named(session, one.path)), one.format) for one in found]
    for line in table(rows) if rows else ():
        say(line)
    sys.stdout.flush()


def _named(session: Session, path: Path) -> str:
    """Return how a file is called from the working directory, as it really is."""
    here = session.cwd.resolve()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _follow(session: Session, bench: "Workbench", found: "tuple[FileChange, ...]") -> int:
    """Say what changes from now on, each change once, until ctrl+c."""
    known = set(found)
    with interruptible() as stopped:
        while not stopped():
            end = time.monotonic() + _EVERY
            while time.monotonic() < end and not stopped():
                time.sleep(_STEP)
            bench.library.refresh()
            now = _changes(session, bench)
            _tell(session, bench, tuple(one for one in now if one not in known))
            known = set(now)
    return DONE
