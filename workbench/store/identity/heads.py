"""The head: what this machine last wrote to a store, kept outside it, so that a loss inside it is noticed.

There is one small file for each store and each place it lies at. A writer notes it under the store's write lock
after the journal's fsync, and makes no fsync of its own: after a power loss the head is a lower bound. It is one
sealed line, written over in place in one call: a torn one fails its checksum and counts as none.
"""

import json
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from workbench.core.damage import Gone
from workbench.core.files.atomic import write_file
from workbench.core.record import InvalidRecord
from workbench.store.journal import chain
from workbench.store.journal.codec import BadLine, seal, unseal
from workbench.store.journal.segments import NAME, Position

FOLDER = "heads"
"""Name of the folder of all heads, in the person's state folder."""

Range = tuple[int, int]
"""The first and the last revision of some that follow each other."""

_CHECKPOINTS = 8
_KNOWN = 16
_ROOM = 512
"""The size of a file is a multiple of this: one sector, which is written whole or not at all."""


class Head(NamedTuple):
    """The last line that this machine wrote to, or accepted of, the store with id `store` at `path`.

    `rev` and `mark` are that line's revision and checksum, `start` and `offset` its end in the journal, `edition`
    the journal's edition. `look` is what the active segment looked like then, `closed` the others; `sound` says
    that every line up to there had been checked. `gone` holds revisions that are missing and that nobody has
    accepted, `accepted` those that somebody has; `unsure` is a revision that may be stored or not, or 0. `trusted`
    says that every line up to there was written here or shown to a person (see `trust`).
    """

    path: str
    store: str
    rev: int
    mark: str
    start: int = 0
    offset: int = 0
    edition: int = 0
    look: str = ""
    closed: str = ""
    sound: bool = False
    gone: tuple[Gone, ...] = ()
    accepted: tuple[Range, ...] = ()
    unsure: int = 0
    trusted: bool = False

    @property
    def position(self) -> Position:
        """Return the place after the line."""
        return Position(self.offset, 0, self.start)


_FIELDS = Head._fields


def read(folder: Path | None, store: str, where: Path) -> Head | None:
    """Return the head of the store with id `store` at `where`; `None` when none is kept or can be read.

    Without an id (the journal is gone, or its header) the head that was noted last for this place counts.
    The head of a store that was moved here is found by its id; a living copy elsewhere keeps its own.
    """
    if folder is None:
        return None
    place = os.path.realpath(where)
    try:
        if not store:
            return _of_place(folder, place)
        return _load(_file_of(folder, store, place)) or _moved_here(folder, store, place)
    except OSError:
        return None


def fingerprint_of(line: bytes) -> bytes:
    """Return what a sealed line, with or without its line end, is known by."""
    return blake2b(line.rstrip(b"\n"), digest_size=_KNOWN).digest()


def note_lines(folder: Path | None, store: str, lines: Iterable[bytes], *, anew: bool = False) -> None:
    """Remember fingerprints of lines of the store with id `store` that are written here, or were shown to a person.

    A line is noted before it is written: one too many is no harm, one too few would make the store somebody else's
    if this process ended in between. `anew` forgets those known before, in one step. What cannot be kept makes the
    lines unknown, and no change fail.
    """
    if folder is None or not store:
        return
    place = _lines_of(folder, store)
    try:
        if anew:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_file(place, lines, durable=False)
            return
        handle = _open(place, os.O_APPEND)
        with os.fdopen(handle, "wb") as file:
            file.writelines(lines)
    except OSError:
        return


def known_lines(folder: Path, store: str) -> frozenset[bytes]:
    """Return the fingerprints of all lines of a store that are known here."""
    try:
        data = _lines_of(folder, store).read_bytes() if store else b""
    except OSError:
        return frozenset()
    return frozenset(data[at : at + _KNOWN] for at in range(0, len(data), _KNOWN))


def note_checkpoint(folder: Path | None, where: Path, digest: str) -> None:
    """Remember that this machine wrote the `memory.json` with this hash, under the lock that guards it."""
    if folder is None:
        return
    kept = [digest, *(known for known in checkpoints(folder, where) if known != digest)][:_CHECKPOINTS]
    try:
        _write_over(folder / _checkpoints_of(where), seal({"checkpoints": kept}))
    except OSError:
        return


def checkpoints(folder: Path, where: Path) -> list[str]:
    """Return the hashes of the latest `memory.json` that this machine wrote to the store at `where`."""
    try:
        value = unseal((folder / _checkpoints_of(where)).read_bytes().rstrip())
        return [str(digest) for digest in value["checkpoints"]]
    except (OSError, BadLine, KeyError, TypeError):
        return []


def _checkpoints_of(where: Path) -> str:
    return _suffix(os.path.realpath(where))[1:].replace(".json", ".checkpoints")


def note(folder: Path | None, head: Head) -> bytes:
    """Keep a head, under the write lock of its store; return what was written, nothing when that could not be done.

    A head that cannot be kept is no reason to fail a change.
    """
    if folder is None:
        return b""
    try:
        gone = [(one.first, one.last, one.replaced) for one in head.gone]
        line = seal({"schema": 1, **head._asdict(), "gone": gone})
        size = -(-len(line) // _ROOM) * _ROOM
        data = line[:-1].ljust(size - 1) + b"\n"
        _write_over(_file_of(folder, head.store, head.path), data)
    except (OSError, InvalidRecord):  # the folder is not to be written to, or the path is no text
        return b""
    return data


def still_says(folder: Path, head: Head, data: bytes) -> bool:
    """Tell whether `data`, which was written for a head, stands there still: nobody else noted one since."""
    try:
        handle = os.open(_file_of(folder, head.store, head.path), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.read(handle, len(data) + 1) == data
    except OSError:
        return False
    finally:
        os.close(handle)


def beside_head(folder: Path, store: str, where: Path, what: str) -> Path:
    """Return the file in which something else is kept of the store with id `store` at `where`."""
    return _file_of(folder, store, os.path.realpath(where)).with_suffix(f".{what}")


def can_keep(folder: Path) -> bool:
    """Tell whether heads can be kept in a folder, which may have to be made."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    return os.access(place, os.W_OK | os.X_OK)


def accept(folder: Path | None, head: Head, accepted: tuple[Range, ...]) -> bool:
    """Keep a head after a person said that what is missing may be: nothing of it is spoken of any more."""
    now = head._replace(gone=(), accepted=tuple(sorted({*head.accepted, *accepted})), unsure=0)
    return bool(note(folder, now))


def forget_others(folder: Path | None, head: Head) -> None:
    """Remove the heads of this store at places where it does not lie any more, after `head` was noted."""
    if folder is None:
        return
    try:
        for path in list(_named(folder, f"{head.store}-", ".json")):
            other = _load(path)
            if other is not None and other.path != head.path and not _lives(other):
                path.unlink(missing_ok=True)
    except OSError:
        return


def look_of(seen: os.stat_result | None) -> str:
    """Return what tells one state of the active segment from another; nothing when it could not be looked at."""
    return "" if seen is None else f"{seen.st_ino}:{seen.st_size}:{seen.st_mtime_ns}"


def look_at(folder: Path) -> str:
    """Return the look of the active segment of a store; nothing when there is none."""
    try:
        return look_of((folder / NAME).stat())
    except OSError:
        return ""


def look_at_closed(folder: Path) -> str:
    """Return what tells one state of all closed segments from another."""
    try:
        seen = [(segment.path.name, segment.path.stat()) for segment in chain.closed(folder)]
    except OSError:
        return "?"
    return _told_of([(name, stat.st_size, stat.st_mtime_ns) for name, stat in seen])


def _told_of(closed: list[tuple[str, int, int]]) -> str:
    return blake2b(json.dumps(closed).encode(), digest_size=8).hexdigest()


NONE_CLOSED = _told_of([])
"""What `look_at_closed` returns where there are no closed segments."""


def _of_place(folder: Path, place: str) -> Head | None:
    found = [head for path in _named(folder, "", _suffix(place)) if (head := _load(path)) is not None]
    return max(found, key=lambda head: head.rev, default=None)


def _moved_here(folder: Path, store: str, place: str) -> Head | None:
    found = [head for path in _named(folder, f"{store}-", ".json") if (head := _load(path)) is not None]
    moved = [head for head in found if head.path != place and not _lives(head)]
    best = max(moved, key=lambda head: head.rev, default=None)
    # Moving may have been copying, so what the files looked like says nothing.
    return None if best is None else best._replace(path=place, look="", closed="")


def _lives(head: Head) -> bool:
    """Tell whether a store with the head's id still lies at its place."""
    try:
        return chain.store_id(Path(head.path)) == head.store
    except OSError:
        return False


def _named(folder: Path, begin: str, end: str) -> Iterator[Path]:
    try:
        paths = list(folder.iterdir())
    except FileNotFoundError:
        return
    yield from (path for path in paths if path.name.startswith(begin) and path.name.endswith(end))


def _load(path: Path) -> Head | None:
    try:
        value: dict[str, Any] = unseal(path.read_bytes().rstrip())
        known = {name: value[name] for name in _FIELDS if name in value}
        gone = tuple(Gone(*one) for one in known.get("gone", ()))
        accepted = tuple((first, last) for first, last in known.get("accepted", ()))
        return Head(**{**known, "gone": gone, "accepted": accepted})
    except (FileNotFoundError, BadLine, TypeError, ValueError):
        return None


def _open(path: Path, how: int = 0) -> int:
    """Open a file of the folder for writing; the folder is made when it is not there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | how
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, flags, 0o600)


def _write_over(path: Path, data: bytes) -> None:
    handle = _open(path)
    try:
        if os.fstat(handle).st_size > len(data):
            os.ftruncate(handle, len(data))
        os.write(handle, data)
    finally:
        os.close(handle)


def _suffix(place: str) -> str:
    return f"-{blake2b(os.fsencode(place), digest_size=8).hexdigest()}.json"


@lru_cache(maxsize=64)
def _file_of(folder: Path, store: str, place: str) -> Path:
    return folder / f"{store}{_suffix(place)}"


@lru_cache(maxsize=64)
def _lines_of(folder: Path, store: str) -> Path:
    return folder / f"{store}.lines"
