"""The last backup of each store that was made on this machine, in `<state>/backups.json`.

It is a fact of this machine, so it is kept beside the stores and not in their journals: there it would be one change
more than the backup holds. A broken file counts as empty, and a folder that cannot be written is no error.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.core.files.atomic import write_file
from workbench.core.record import iso, parse_time

# JSON files of the state folder: conveniences, so that no damage to one is an error.


def kept(state_dir: Path, name: str) -> dict[str, Any]:
    """Return the object that a file holds; one that is missing or broken counts as empty."""
    try:
        data = json.loads((state_dir / name).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def kept_list(state_dir: Path, name: str, key: str) -> list[Any]:
    """Return a list that a file's object holds under a key, an empty one where there is none."""
    found = kept(state_dir, name).get(key)
    return found if isinstance(found, list) else []


def keep(state_dir: Path, name: str, data: Mapping[str, object]) -> None:
    """Write a file in one step; a folder that cannot be written loses nothing else."""
    with contextlib.suppress(OSError):
        state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_file(state_dir / name, json.dumps(data, indent=1).encode("ascii"))


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
