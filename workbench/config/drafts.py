"""What was being typed in an editor when the app was stopped: a safety net beside the record, never
a part of it.

Drafts lie in `<state>/drafts/<store>/`, a small file for each text. That is the person's state
folder rather than the store: a store may be shared, under version control or read-only, and half a
sentence is nobody else's business. The folder is its owner's (0700), and so are the files (0600),
since what is typed may be a secret. Of the text that is edited only a digest is kept. A draft that
cannot be written hinders no editor, and a broken one counts as none.

A draft belongs to the window that wrote it for as long as that runs: no other one offers it, writes
over it or lets go of it.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec

from workbench.config.recent import read_object
from workbench.core.document import Record, from_doc, to_doc
from workbench.core.files.atomic import write_file
from workbench.core.record import InvalidRecord, StoreProblem
from workbench.core.runtime import is_running, process

# The files that drafts lie in: small JSON objects in one folder, each readable by its owner only.


KEPT = 50
"""Drafts of a store that are kept at most: those written last."""

KEPT_FOR = timedelta(days=30)
"""After which a draft that nobody came back to goes."""

_UNFINISHED = "."
"""How the names of files begin whose writing was broken off."""


def write(path: Path, data: Mapping[str, object], at: datetime) -> None:
    """Write a file, dated `at`, in one step; raises `OSError`.

    Nothing waits for the disk: only a power failure would tell the difference, every second of
    typing would feel it.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        _make_room(path.parent, at)
    write_file(path, json.dumps(data).encode("ascii"), f"{_UNFINISHED}draft-", durable=False)
    os.utime(path, (at.timestamp(), at.timestamp()))


def files(folder: Path) -> list[tuple[float, Path]]:
    """Return the files of a folder with the times they were written at (POSIX), the latest first."""
    found: list[tuple[float, Path]] = []
    with contextlib.suppress(OSError):
        found.extend((entry.stat().st_mtime, Path(entry.path)) for entry in os.scandir(folder))
    return sorted(found, reverse=True)


def is_unfinished(path: Path) -> bool:
    """Tell whether the writing of a file was broken off."""
    return path.name.startswith(_UNFINISHED)


def _make_room(folder: Path, now: datetime) -> None:
    """Let go of what is too old, and of the oldest when there are too many."""
    since = (now - KEPT_FOR).timestamp()
    for place, (written, path) in enumerate(files(folder)):
        if place >= KEPT - 1 or written < since:
            path.unlink(missing_ok=True)


FOLDER = "drafts"

_END = ".json"


class Item(NamedTuple):
    """What a draft is of: a record by `table/key`, and which of its texts ("text", "split",
    "round", …).
    """

    record: str
    use: str = "text"

    @property
    def name(self) -> str:
        return f"{self.use} {self.record}"


class Draft(Record, frozen=True):
    """What was typed, when (UTC), and the digest of the text that it was to replace.

    `fields` holds what was typed into other fields of the same form, each with the digest of what
    it was to replace.
    """

    text: str
    base: str
    at: datetime
    fields: Mapping[str, tuple[str, str]] = msgspec.field(default_factory=dict)

    def is_of(self, stored: str) -> bool:
        """Tell whether the stored text still is the one that this was begun from."""
        return self.base == digest(stored)


def folder_of(state_dir: Path, store: Path) -> Path:
    """Return the folder of a store's drafts; it may not exist."""
    return state_dir / FOLDER / digest(os.path.realpath(store))[:16]


def find(folder: Path, item: Item) -> Draft | None:
    """Return the draft of an item that was written last, or `None`; what another window types now
    is none.
    """
    found = (draft for path in _paths(folder, item) if (draft := _draft(path, item)) is not None)
    return max(found, key=lambda draft: draft.at, default=None)


def keep(folder: Path, item: Item, draft: Draft) -> str:
    """Keep the draft of an item; return why that was not possible, or an empty text."""
    data = {"version": 1, "item": item.name, **to_doc(draft)}
    try:
        write(folder / f"{_name(item)}-{process(os.getpid())}{_END}", data, draft.at)
    except OSError as error:
        return error.strerror or type(error).__name__
    return ""


def drop(folder: Path, item: Item) -> None:
    """Let go of the draft of an item, if there is one; what another window types now stays."""
    for path in _paths(folder, item):
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def since(folder: Path, at: datetime | None) -> tuple[str, ...]:
    """Return the records (`table/key`) with a draft written after `at` (`None`: whenever), the
    latest first.

    What another window types now is left out.
    """
    late = (path for when, path in files(folder) if at is None or when > at.timestamp())
    late = (path for path in late if not _is_of_another(path))
    return tuple(dict.fromkeys(record for path in late if (record := _record(path))))


def drop_about(folder: Path, records: Iterable[str]) -> int:
    """Let go of every draft about one of these records (`table/key`); return how many those were.

    Raises `StoreProblem` when one cannot be removed.
    """
    wanted, gone = set(records), 0
    for _, path in files(folder):
        if is_unfinished(path) or _record(path) in wanted:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                message = f"The draft cannot be removed from {path}: {error.strerror}."
                raise StoreProblem(message, "Delete that file, and try again.") from error
            gone += 1
    return gone


def digest(text: str) -> str:
    """Return a text's SHA-256 in hexadecimal digits; lone surrogates are no obstacle."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _draft(path: Path, item: Item) -> Draft | None:
    """Return the draft in a file, or `None` where there is none of the item."""
    data = read_object(path)
    try:
        return from_doc(Draft, data) if data.get("item") == item.name else None
    except InvalidRecord:
        return None


def _name(item: Item) -> str:
    return digest(item.name)[:24]


def _paths(folder: Path, item: Item) -> list[Path]:
    """Return the files with drafts of an item that no other window is about to write, the latest
    first.
    """
    named = (path for _, path in files(folder) if path.name.startswith(_name(item)))
    return [path for path in named if not _is_of_another(path)]


def _is_of_another(path: Path) -> bool:
    """Tell whether a draft belongs to another process that runs."""
    owner = path.name.removesuffix(_END).partition("-")[2]
    return owner != process(os.getpid()) and is_running(owner)


def _record(path: Path) -> str:
    return "" if is_unfinished(path) else str(read_object(path).get("item", "")).partition(" ")[2]
