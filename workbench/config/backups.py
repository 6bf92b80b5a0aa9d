"""The last backup of each store that was made on this machine, in `<state>/backups.json`.

It is a fact of this machine, so it is kept beside the stores and not in their journals: there it would be one change
more than the backup holds. A broken file counts as empty, and a folder that cannot be written is no error.
"""

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from workbench.config.state_files import keep, kept
from workbench.core.record import iso, parse_time

FILE_NAME = "backups.json"


@dataclass(frozen=True, slots=True)
class LastBackup:
    """A backup: its file, when it was made, and the revision it holds."""

    file: Path
    at: datetime
    rev: int


def remember(state_dir: Path, store: Path, made: LastBackup) -> None:
    """Note the last backup of a store; never fails."""
    rows = kept(state_dir, FILE_NAME)
    rows[_key(store)] = {"file": str(made.file), "at": iso(made.at), "rev": made.rev}
    keep(state_dir, FILE_NAME, rows)


def last_backup(state_dir: Path, store: Path) -> LastBackup | None:
    """Return the last backup of a store that is remembered, whether its file is still there or not."""
    raw = kept(state_dir, FILE_NAME).get(_key(store))
    try:
        if isinstance(raw, dict):
            return LastBackup(Path(raw["file"]), parse_time(raw["at"]), int(raw["rev"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        pass
    return None


def _key(store: Path) -> str:
    return os.path.realpath(store)
