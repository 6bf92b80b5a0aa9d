"""The checkpoint: `memory.json`, a stock TinyDB file that spares replaying the journal.

The journal is the truth; a checkpoint is a state of it at one revision. `checkpoint.json`
says which: it is written first and names the new file and some before it by hash, so a crash
between the two writes, even several in a row, leaves a pair that still fits. It also names the place in the
journal and the checksum of the line before it, so a journal that was swapped or cut is noticed.
Each stamp has a checksum beside it; one that fails it is not believed.
"""

from collections.abc import Collection, Iterator, Mapping
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from workbench.core.files.atomic import draft_beside, fill, put_in_place, write_file
from workbench.core.runtime import collection_paused
from workbench.store.files import read_regular
from workbench.store.journal import chain
from workbench.store.journal.codec import dumps, fingerprint, loads, loads_foreign
from workbench.store.journal.segments import Position
from workbench.store.journal.state import State, Tables

DOCUMENTS = "memory.json"
NOTE = "checkpoint.json"
_CHUNK = 500
_STAMPS = 8
_LARGEST_NOTE = 64 << 20


class Stamp(NamedTuple):
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
    unfinished: Mapping[str, str] = MappingProxyType({})

    @property
    def position(self) -> Position:
        """Return the place in the journal after the checkpoint's last entry."""
        return Position(self.offset, self.line, self.start)


class ForeignCheckpoint(NamedTuple):
    """A `memory.json` that does not belong to the journal beside it.

    `base` is the revision its writer probably started from, `None` when that cannot be told;
    `next_ids`, `mark` and `ours` speak of a file this store wrote, before its journal was lost or swapped.
    `unplaced`: there is no trustworthy note of what it holds, so nobody can be said to have changed it.
    """

    data: bytes
    base: int | None
    next_ids: Mapping[str, int] = MappingProxyType({})
    ours: bool = False
    mark: str = ""
    unplaced: bool = False


class Note(NamedTuple):
    """What `checkpoint.json` says: the stamps that can be believed, newest first, and whether those are all."""

    stamps: list[Stamp]
    whole: bool


class Loaded(NamedTuple):
    """A checkpoint that was read: its state, where the journal goes on, and the file that did not fit.

    `saved` is the revision that `memory.json` holds; what an index knows is of a later one.
    """

    state: State
    position: Position
    mark: str = ""
    unfinished: Mapping[str, str] = MappingProxyType({})
    stranger: ForeignCheckpoint | None = None
    saved: int = 0


class Places:
    """Where documents stand in a checkpoint as it is written, in bytes.

    `docs` has start and length of every document of a table in its order, `pieces` start and end of runs of them as
    JSON writes the inside of an object, and `size` is how much was written so far.
    """

    def __init__(self) -> None:
        self.size = 0
        self.docs: dict[str, list[tuple[int, int]]] = {}
        self.pieces: dict[str, tuple[tuple[int, int], ...]] = {}

    def begin(self, table: str) -> list[tuple[int, int]]:
        """Begin a table; return where the places of its documents are to be noted."""
        self.pieces[table] = ()
        return self.docs.setdefault(table, [])

    def passed(self, written: bytes, table: str = "") -> bytes:
        """Count what is written, and note it as a piece of a table if it is one; return it."""
        start, self.size = self.size, self.size + len(written)
        if table:
            self.pieces[table] += ((start, self.size),)
        return written


def load(folder: Path, believed: Collection[str] | None = None) -> Loaded:
    """Read the checkpoint of a store; without one (or with a strange one) the journal is to be replayed from its start.

    `believed` are the hashes of those that may stand for the journal, `None` for all. Raises `OSError`.
    """
    empty = State()
    found = _read(folder)
    if found is None:
        return Loaded(empty, Position())
    data, said, digest = found
    stamp = next((s for s in said.stamps if s.hash == digest), None)
    if stamp is None:
        base = said.stamps[0].rev if said.stamps and said.whole else None
        return Loaded(empty, Position(), stranger=ForeignCheckpoint(data, base, unplaced=not said.whole))
    if not chain.fits(folder, stamp.position, stamp.mark):
        stranger = ForeignCheckpoint(data, stamp.rev, stamp.next_ids, ours=True, mark=stamp.mark)
        return Loaded(empty, Position(), stranger=stranger)
    if believed is not None and digest not in believed:
        return Loaded(empty, Position())
    with collection_paused():
        tables: Tables = loads(data)
        state = State(tables, stamp.rev, dict(stamp.next_ids))
    return Loaded(state, stamp.position, stamp.mark, dict(stamp.unfinished), saved=stamp.rev)


def is_of(folder: Path, rev: int) -> bool:
    """Tell whether the checkpoint that stands there was written here, and is of a revision. Raises `OSError`."""
    newest = next(iter(stamps(folder)), None)
    return newest is not None and newest.rev == rev and fingerprint(read_regular(folder / DOCUMENTS)) == newest.hash


def places_of(folder: Path, tables: Tables) -> tuple[Stamp | None, Places]:
    """Return the stamp of a checkpoint that holds `tables`, and where its documents stand.

    There is no stamp when another program wrote the file.
    """
    digest, places = blake2b(digest_size=16), Places()
    for piece in _json_pieces(tables, places):
        digest.update(piece)
    return next((stamp for stamp in stamps(folder) if stamp.hash == digest.hexdigest()), None), places


def save(folder: Path, tables: Tables, stamp: Stamp) -> tuple[Stamp, Places]:
    """Write `tables` as the checkpoint (`stamp` without its hash), atomically.

    Returns the stamp, and where the documents stand. Raises `OSError`.
    """
    digest, places = blake2b(digest_size=16), Places()

    def pieces() -> Iterator[bytes]:
        """Take the hash of what goes by."""
        for piece in _json_pieces(tables, places):
            digest.update(piece)
            yield piece

    with draft_beside(folder / DOCUMENTS) as (file, draft):
        fill(file, pieces())
        before = stamps(folder)[: _STAMPS - 1]
        stamp = stamp._replace(hash=digest.hexdigest())
        _write_note(folder, [stamp, *before])
        put_in_place(draft, folder / DOCUMENTS)
    return stamp, places


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
    """Return what `checkpoint.json` says, newest first; nothing when it cannot be read or believed."""
    return note(folder).stamps


def note(folder: Path) -> Note:
    """Read `checkpoint.json`; a stamp whose checksum does not fit is left out."""
    try:
        read: Any = loads(read_regular(folder / NOTE, _LARGEST_NOTE))
        raw = list(read["stamps"])
        pairs = zip(raw, read["sums"], strict=True)
        good = [Stamp(**s) for s, expected in pairs if fingerprint(dumps(s)) == expected]
        return Note(good, whole=len(good) == len(raw))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Note([], whole=False)


def forget_after(folder: Path, rev: int) -> None:
    """Forget the checkpoints of later revisions than `rev`; raises `OSError`."""
    _write_note(folder, [stamp for stamp in stamps(folder) if stamp.rev <= rev])


def move_stamps(folder: Path, start: int, by: int, marks: dict[str, str]) -> None:
    """Let stamps know that the header of the segment that starts after `start` was written anew, `by` bytes longer.

    `marks` says which checksum became which. Raises `OSError`; without stamps nothing is written.
    """
    known = stamps(folder)
    moved = [
        one._replace(offset=one.offset + by, mark=marks.get(one.mark, one.mark))
        if one.start == start and one.offset
        else one
        for one in known
    ]
    if moved != known:
        _write_note(folder, moved)


def _write_note(folder: Path, stamps: list[Stamp]) -> None:
    raw = [{**stamp._asdict(), "unfinished": dict(stamp.unfinished)} for stamp in stamps]
    sums = [fingerprint(dumps(stamp)) for stamp in raw]
    write_file(folder / NOTE, dumps({"schema": 1, "stamps": raw, "sums": sums}))


def _read(folder: Path) -> tuple[bytes, Note, str] | None:
    """Read file, note and the file's hash as they belong together, though another process may be writing them."""
    file = folder / DOCUMENTS
    try:
        data = read_regular(file)
        while True:
            known = note(folder)
            digest = fingerprint(data)
            if any(s.hash == digest for s in known.stamps) or (again := read_regular(file)) == data:
                return data, known, digest
            data = again
    except FileNotFoundError:
        return None


def _json_pieces(tables: Tables, places: Places) -> Iterator[bytes]:
    """Write tables as one JSON object, in pieces small enough for other threads to run in between."""
    yield places.passed(b"{")
    for number, (name, docs) in enumerate(tables.items()):
        yield places.passed((b"," if number else b"") + dumps(name) + b":{")
        items, comma = iter(docs.items()), b""
        known = places.begin(name)
        while chunk := [(dumps(doc_id) + b":", dumps(doc)) for doc_id, doc in islice(items, _CHUNK)]:
            yield places.passed(comma)
            at = places.size
            for begin, written in chunk:
                known.append((at + len(begin), len(written)))
                at += len(begin) + len(written) + 1
            yield places.passed(b",".join([begin + written for begin, written in chunk]), name)
            comma = b","
        yield places.passed(b"}")
    yield places.passed(b"}")


def _is_doc_id(key: object) -> bool:
    return isinstance(key, str) and key.isascii() and key.isdigit() and len(key) < 19
