"""What this machine remembers beside the stores, in the state folder.

Those are the stores a person opened, how far each had come when they last looked, and where they
were in Review; the last theme; and the last backup of each store, which in the store's own journal
would be one change more than it holds. All of it is a convenience: a broken file counts as empty, a
folder that cannot be written is no error, and of two programs writing at the same moment the later
one wins.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from workbench.core.document import Record, from_doc, to_doc
from workbench.core.files.atomic import write_file
from workbench.core.record import InvalidRecord, as_list, iso, parse_time

FILE_NAME = "stores.json"
BACKUPS_FILE = "backups.json"
THEME_FILE = "theme"
PANES_FILE = "panes.json"
SHOWN = 12
"""How many stores the switcher offers."""

KEPT = 100
"""How many stores are remembered; more than shown, since a folder may be on a disk that comes back."""


class Look(Record, frozen=True):
    """The person's last look at a store: the revision it had, when that was (UTC), and the id that
    Review showed last.
    """

    path: str
    rev: int
    at: datetime
    review: str = ""


def remember(
    state_dir: Path, store: Path, rev: int, now: datetime, item: str | None = None
) -> None:
    """Note that the person looked at `store`, at revision `rev`, at `now` (timezone-aware); never
    fails.

    `item` is the id that Review showed last (`None`: what was noted before stays).
    """
    path = _key(store)
    rows = _read(state_dir)
    if item is None:
        item = next((row.review for row in rows if row.path == path), "")
    new = [Look(path, rev, now, item), *(row for row in rows if row.path != path)][:KEPT]
    keep(state_dir, FILE_NAME, {"version": 1, "stores": list(map(to_doc, new))})


def last_look(state_dir: Path, store: Path) -> Look | None:
    """Return the person's last look at `store`, or `None` when it is not remembered."""
    path = _key(store)
    return next((row for row in _read(state_dir) if row.path == path), None)


def last_item(state_dir: Path, store: Path) -> str:
    """Return the id that Review showed last in `store`, or an empty text."""
    look = last_look(state_dir, store)
    return look.review if look else ""


def recent(state_dir: Path) -> list[Path]:
    """Return the remembered stores whose folders exist, last looked at first, at most twelve."""
    existing = (folder for row in _read(state_dir) if _exists(folder := Path(row.path)))
    return [folder for folder, _ in zip(existing, range(SHOWN), strict=False)]


def _key(store: Path) -> str:
    try:
        return str(store.resolve())
    except (OSError, RuntimeError):
        return str(store.absolute())


def _exists(folder: Path) -> bool:
    try:
        return folder.is_dir()
    except (OSError, ValueError):
        return False


def _read(state_dir: Path) -> list[Look]:
    """Return the rows that can be read, last looked at first, each store once."""
    stores = as_list(_kept(state_dir, FILE_NAME).get("stores"))
    rows = [row for raw in stores if (row := _row(raw))]
    rows.sort(key=lambda row: row.at, reverse=True)
    return list({row.path: row for row in reversed(rows)}.values())[::-1]


def _row(raw: object) -> Look | None:
    if isinstance(raw, dict) and not isinstance(raw.get("review", ""), str):
        raw = {**raw, "review": ""}
    try:
        row = from_doc(Look, raw)  # type: ignore[arg-type]
    except InvalidRecord:
        return None
    return row if Path(row.path).is_absolute() else None


def remember_theme(state_dir: Path, name: str) -> None:
    """Note the theme that was chosen last; a folder that cannot be written loses nothing else."""
    try:
        state_dir.mkdir(parents=True, exist_ok=True)
        (state_dir / THEME_FILE).write_text(name, "utf-8")
    except OSError:
        return


def last_theme(state_dir: Path) -> str:
    """Return the theme that was chosen last, or an empty text."""
    try:
        return (state_dir / THEME_FILE).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def remember_panes(state_dir: Path, shares: Mapping[str, int]) -> None:
    """Note how wide the list of each area is, in percent of what it shares with the text."""
    keep(state_dir, PANES_FILE, shares)


def last_panes(state_dir: Path) -> dict[str, int]:
    """Return how wide the list of each area was made; those left as they are are missing."""
    kept = _kept(state_dir, PANES_FILE)
    return {area: share for area, share in kept.items() if type(share) is int and 0 < share < 100}


def _kept(state_dir: Path, name: str) -> dict[str, Any]:
    return read_object(state_dir / name)


def read_object(path: Path) -> dict[str, Any]:
    """Return the object that a file holds; one that is missing or broken counts as empty."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def keep(state_dir: Path, name: str, data: Mapping[str, object]) -> None:
    """Write a file in one step; a folder that cannot be written loses nothing else."""
    with contextlib.suppress(OSError):
        state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_file(state_dir / name, json.dumps(data, indent=1).encode("ascii"))


class LastBackup(NamedTuple):
    """A backup: its file, when it was made, and the revision it holds."""

    file: Path
    at: datetime
    rev: int


def remember_backup(state_dir: Path, store: Path, made: LastBackup) -> None:
    """Note the last backup of a store; never fails."""
    rows = _kept(state_dir, BACKUPS_FILE)
    rows[os.path.realpath(store)] = {"file": str(made.file), "at": iso(made.at), "rev": made.rev}
    keep(state_dir, BACKUPS_FILE, rows)


def last_backup(state_dir: Path, store: Path) -> LastBackup | None:
    """Return the last backup of a store that is remembered, whether its file is still there or not."""
    raw = _kept(state_dir, BACKUPS_FILE).get(os.path.realpath(store))
    try:
        if isinstance(raw, dict):
            return LastBackup(Path(raw["file"]), parse_time(raw["at"]), int(raw["rev"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        pass
    return None
