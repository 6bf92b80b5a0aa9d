"""The checkpoint: `memory.json`, a stock TinyDB file that spares replaying the journal.

The journal is the truth; a checkpoint is a state of it at one revision. `checkpoint.json`
says which: it is written first and names the new file and some before it by hash, so a crash
between the two writes, even several in a row, leaves a pair that still fits. It also names the place in the
journal and the checksum of the line before it, so a journal that was swapped or cut is noticed.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.store import chain
from workbench.store.codec import dumps, fingerprint, loads, loads_foreign
from workbench.store.files import put_in_place, write_atomically, write_temporary
from workbench.store.pause import collection_paused
from workbench.store.segments import Position
from workbench.store.state import KeyOf, State, Tables

DOCUMENTS = "memory.json"
NOTE = "checkpoint.json"
_CHUNK = 500
_STAMPS = 8


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a checkpoint file holds: its hash, the revision, and where the journal goes on from there.

    `mark` is the checksum of the line before that place, `unfinished` the groups that were open.
    """

    hash: str
    rev: int
    offset: int
    line: int
    next_ids: dict[str, int]
    start: int = 0
    mark: str = ""
    unfinished: dict[str, str] = field(default_factory=dict)

    @property
    def position(self) -> Position:
        """Return the place in the journal after the checkpoint's last entry."""
        return Position(self.offset, self.line, self.start)


@dataclass(frozen=True, slots=True)
class Stranger:
    """A `memory.json` that does not belong to the journal beside it.

    `base` is the revision its writer probably started from, `None` when that cannot be told;
    `next_ids` and `ours` speak of a file this store wrote, before its journal was lost or swapped.
    """

    data: bytes
    base: int | None
    next_ids: dict[str, int] = field(default_factory=dict)
    ours: bool = False


@dataclass(frozen=True, slots=True)
class Loaded:
    """A checkpoint that was read: its state, where the journal goes on, and the file that did not fit."""

    state: State
    position: Position
    mark: str = ""
    unfinished: dict[str, str] = field(default_factory=dict)
    stranger: Stranger | None = None


def load(folder: Path, key_of: KeyOf) -> Loaded:
    """Read the checkpoint of a store; without one (or with a strange one) the journal is to be replayed from its start.

    Raises `OSError`.
    """
    empty = State(key_of=key_of)
    found = _read(folder)
    if found is None:
        return Loaded(empty, Position())
    data, stamps, digest = found
    stamp = next((s for s in stamps if s.hash == digest), None)
    if stamp is None:
        return Loaded(empty, Position(), stranger=Stranger(data, stamps[0].rev if stamps else None))
    if not chain.fits(folder, stamp.position, stamp.mark):
        return Loaded(empty, Position(), stranger=Stranger(data, stamp.rev, stamp.next_ids, ours=True))
    with collection_paused():
        state = State(loads(data), stamp.rev, dict(stamp.next_ids), key_of)
    return Loaded(state, stamp.position, stamp.mark, dict(stamp.unfinished))


def save(folder: Path, tables: Tables, stamp: Stamp) -> None:
    """Write `tables` as the checkpoint (`stamp` without its hash), atomically; raises `OSError`."""
    digest = blake2b(digest_size=16)

    def pieces() -> Iterator[bytes]:
        """Take the hash of what goes by."""
        for piece in _json_pieces(tables):
            digest.update(piece)
            yield piece

    temporary = write_temporary(folder / DOCUMENTS, pieces())
    try:
        before = stamps(folder)[: _STAMPS - 1]
        now = {**asdict(stamp), "hash": digest.hexdigest()}
        write_atomically(folder / NOTE, dumps({"schema": 1, "stamps": [now, *map(asdict, before)]}))
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    put_in_place(temporary, folder / DOCUMENTS)


def read_tables(data: bytes) -> Tables | None:
    """Return the tables of a plain TinyDB file, or `None` when the bytes are not one."""
    try:
        raw = loads_foreign(data)
    except ValueError:
        return None
    if not isinstance(raw, dict) or not all(isinstance(t, dict) for t in raw.values()):
        return None
    docs = (item for table in raw.values() for item in table.items())
    return raw if all(_is_doc_id(key) and isinstance(doc, dict) for key, doc in docs) else None


def stamps(folder: Path) -> list[Stamp]:
    """Return what `checkpoint.json` says, newest first; nothing when it cannot be read."""
    try:
        note: Any = loads((folder / NOTE).read_bytes())
        return [Stamp(**s) for s in note["stamps"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _read(folder: Path) -> tuple[bytes, list[Stamp], str] | None:
    """Read file, note and the file's hash as they belong together, though another process may be writing them."""
    file = folder / DOCUMENTS
    try:
        data = file.read_bytes()
        while True:
            known = stamps(folder)
            digest = fingerprint(data)
            if any(s.hash == digest for s in known) or (again := file.read_bytes()) == data:
                return data, known, digest
            data = again
    except FileNotFoundError:
        return None


def _json_pieces(tables: Tables) -> Iterator[bytes]:
    """Write tables as one JSON object, in pieces small enough for other threads to run in between."""
    yield b"{"
    for number, (name, docs) in enumerate(tables.items()):
        yield (b"," if number else b"") + dumps(name) + b":{"
        items, first = iter(docs.items()), True
        while chunk := dict(islice(items, _CHUNK)):
            yield (b"" if first else b",") + dumps(chunk)[1:-1]
            first = False
        yield b"}"
    yield b"}"


def _is_doc_id(key: object) -> bool:
    return isinstance(key, str) and key.isascii() and key.isdigit() and len(key) < 19
