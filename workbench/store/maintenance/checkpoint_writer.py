"""When and how checkpoints are written, beside the writers and without making them wait."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from workbench.core.files.atomic import draft_beside, fill, put_in_place, write_file
from workbench.core.files.fresh import NotRegular
from workbench.core.files.locks import FileLock, Patience, StoreBusy, waiting
from workbench.core.record import StoreProblem, cannot_write
from workbench.core.runtime import collection_paused
from workbench.store.entry import DocChange
from workbench.store.files import CHECKPOINT_LOCK, DOCUMENTS, Seen, TooLarge, look, read_regular
from workbench.store.journal import segments
from workbench.store.journal.codec import (
    BadLine,
    Seal,
    dumps,
    fingerprint,
    loads,
    loads_foreign,
    read_line,
    seal,
)
from workbench.store.journal.segments import Stamp, json_of
from workbench.store.journal.state import State, Tables, diff_tables

# The checkpoint: `memory.json`, a stock TinyDB file that spares replaying the journal.
#
# The journal is the truth; a checkpoint is a state of it at one revision. `checkpoint.json` says
# which: it is written first and names by hash the new file and the one that it replaces, so a crash
# between the two writes leaves a pair that still fits. It also names the place in the journal and
# the hash of the line before it, so a journal that was swapped or cut is noticed. The machine that
# wrote it signs it.


NOTE = "checkpoint.json"
_CHUNK = 500
_LARGEST_NOTE = 64 << 20


class ForeignCheckpoint(NamedTuple):
    """A `memory.json` that does not belong to the journal beside it.

    `base` is the revision its writer probably started from, `None` when there is no trustworthy
    note of what it holds, so that nobody can be said to have changed it; `stamp` is that of a file
    this store wrote, before its journal was lost or swapped.
    """

    data: bytes
    base: int | None
    stamp: Stamp | None = None


class Loaded(NamedTuple):
    """A checkpoint that was read: its state, its stamp, and the file that did not fit.

    `saved` is the revision that `memory.json` holds; what an index knows is of a later one.
    """

    state: State
    stamp: Stamp = Stamp()
    stranger: ForeignCheckpoint | None = None
    saved: int = 0


def load(folder: Path, key: bytes | None = None) -> Loaded:
    """Read the checkpoint of a store; without one (or with a strange one) the journal is to be
    replayed from its start.

    Only one of the machine with a `key` may stand for the journal, any if it is `None`. Raises
    `OSError`.
    """
    found = _read(folder)
    if found is None:
        return Loaded(State())
    data, said, digest = found
    stamp = None if said is None else said.of(digest)
    if stamp is None:
        base = said.stamps[0].rev if said and said.stamps else None
        return Loaded(State(), stranger=ForeignCheckpoint(data, base))
    if not segments.fits(folder, stamp.position, stamp.mark):
        return Loaded(State(), stranger=ForeignCheckpoint(data, stamp.rev, stamp))
    if said is None or not said.may_stand_for(key):
        return Loaded(State())
    with collection_paused():
        tables: Tables = loads(data)
    return Loaded(State(tables, stamp.rev, dict(stamp.next_ids)), stamp, saved=stamp.rev)


def save(folder: Path, tables: Tables, stamp: Stamp, key: bytes = b"") -> Stamp:
    """Write `tables` as the checkpoint (`stamp` without its hash), atomically, signed with the key
    of this machine, and return its stamp. Raises `OSError`.
    """
    digest = blake2b(digest_size=16)

    def pieces() -> Iterator[bytes]:
        """Take the hash of what goes by."""
        for piece in _json_pieces(tables):
            digest.update(piece)
            yield piece

    with draft_beside(folder / DOCUMENTS) as (file, draft):
        fill(file, pieces())
        said = note(folder)
        before = said.of(hash_at(folder)) if said and said.may_stand_for(key or None) else None
        stamp = stamp._replace(hash=digest.hexdigest())
        _write_note(folder, [stamp, *filter(None, (before,))], key)
        put_in_place(draft, folder / DOCUMENTS)
    return stamp


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


class Note(NamedTuple):
    """What `checkpoint.json` says, newest first, and what seals it."""

    stamps: list[Stamp]
    seal: Seal

    def of(self, digest: str) -> Stamp | None:
        """Return the stamp of the file with that hash."""
        return next((stamp for stamp in self.stamps if stamp.hash == digest), None)

    def may_stand_for(self, key: bytes | None) -> bool:
        """Tell whether the machine with the key wrote it, if that matters."""
        return key is None or bool(self.seal.covers(key))


def stamps_of(folder: Path, key: bytes | None = None) -> list[Stamp]:
    """Return what `checkpoint.json` says, newest first; nothing when it cannot be read or believed."""
    said = note(folder)
    return [] if said is None or not said.may_stand_for(key) else said.stamps


def note(folder: Path) -> Note | None:
    """Return what `checkpoint.json` says; `None` when it cannot be read or is not what was written."""
    try:
        said, sealed = read_line(read_regular(folder / NOTE, _LARGEST_NOTE).rstrip())
        return Note([Stamp(**stamp) for stamp in said["stamps"]], sealed)
    except (OSError, BadLine, KeyError, TypeError):
        return None


def hash_at(folder: Path) -> str:
    """Return the hash of `memory.json`; empty when there is none. Raises `OSError`."""
    try:
        return fingerprint(read_regular(folder / DOCUMENTS))
    except FileNotFoundError:
        return ""


def forget_after(folder: Path, rev: int, key: bytes) -> None:
    """Forget the checkpoints of later revisions than `rev`; raises `OSError`."""
    known = stamps_of(folder, key or None)
    _write_note(folder, [stamp for stamp in known if stamp.rev <= rev], key)


def move_mark(folder: Path, old: str, new: str) -> None:
    """Let a stamp know that the header it stands behind was written anew. Raises `OSError`; without
    such a stamp nothing is written.
    """
    known = stamps_of(folder)
    moved = [one._replace(mark=new) if one.mark == old else one for one in known]
    if moved != known:
        _write_note(folder, moved, b"")


def _write_note(folder: Path, stamps: list[Stamp], key: bytes) -> None:
    value = {"schema": 3, "stamps": list(map(json_of, stamps))}
    write_file(folder / NOTE, seal(value, key=key))


def _read(folder: Path) -> tuple[bytes, Note | None, str] | None:
    """Read file, note and the file's hash as they belong together, though another process may be
    writing them.
    """
    file = folder / DOCUMENTS
    try:
        data = read_regular(file)
        while True:
            known = note(folder)
            digest = fingerprint(data)
            fits = known is not None and known.of(digest) is not None
            if fits or (again := read_regular(file)) == data:
                return data, known, digest
            data = again
    except FileNotFoundError:
        return None


def _json_pieces(tables: Tables) -> Iterator[bytes]:
    """Write tables as one JSON object, in pieces small enough for other threads to run in between."""
    yield b"{"
    for number, (name, docs) in enumerate(tables.items()):
        yield (b"," if number else b"") + dumps(name) + b":{"
        items, comma = iter(docs.items()), b""
        while chunk := dict(islice(items, _CHUNK)):
            yield comma + dumps(chunk)[1:-1]
            comma = b","
        yield b"}"
    yield b"}"


def _is_doc_id(key: object) -> bool:
    return isinstance(key, str) and key.isascii() and key.isdigit() and len(key) < 19


PATIENCE = 1.0
"""Seconds that a checkpoint in the background waits for a writer; the one after the next change
comes soon enough.
"""

Snapshot = Callable[[], tuple[Tables, Stamp]]


class CheckpointWriter:
    """Writes checkpoints of one store; one process at a time, never an older one over a newer one.

    `key` gives the key that they are signed with, `index` is told what is in each.
    """

    def __init__(
        self,
        folder: Path,
        clock: Callable[[], datetime],
        key: Callable[[], bytes] = bytes,
        index: Callable[[Tables, Stamp], None] = lambda _tables, _stamp: None,
    ) -> None:
        self.saved_rev = 0
        self._folder = folder
        self._clock = clock
        self._key = key
        self._index = index
        self._lock = FileLock(folder / CHECKPOINT_LOCK)
        self._known: Seen = None
        self._thread: threading.Thread | None = None
        self._strange: int | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep checkpoints from being written meanwhile; taken before the store's write lock, never
        after it.
        """
        with self._lock.held():
            yield

    def save(self, snapshot: Snapshot) -> str:
        """Write what `snapshot` gives; return the name under which somebody's edit was set aside,
        or nothing.

        Raises `StoreProblem`; the checkpoint before it still stands then.
        """
        with self._lock.held():
            tables, stamp = snapshot()
            self._lock.renew()
            newest = next(iter(stamps_of(self._folder, self._key() or None)), None)
            try:
                kept = self._set_strange_file_aside()
                if newest is None or kept or not self._is_newer(newest, stamp):
                    self._index(tables, save(self._folder, tables, stamp, self._key()))
            except OSError as error:
                raise cannot_write(self._folder, error) from error
            self._known = look(self._folder / DOCUMENTS)
            self.saved_rev = stamp.rev
            return kept

    def save_in_background(self, save: Callable[[], None], failed: Callable[[str], None]) -> None:
        """Run `save` on a thread of its own, unless one is running; a problem is told, not raised.

        While somebody else holds the store it is left out, as the journal has everything.
        """
        if self._thread is not None and self._thread.is_alive():
            return

        def work() -> None:
            """Save, and tell what went wrong."""
            try:
                with waiting(Patience(PATIENCE)):
                    save()
            except StoreBusy:
                pass
            except StoreProblem as problem:
                failed(str(problem))

        self._thread = threading.Thread(target=work, name="workbench-checkpoint")
        self._thread.start()

    def wait(self) -> None:
        """Wait for a background checkpoint to end."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def expect_strange_file(self, base: int | None) -> None:
        """Remember that `memory.json` is not the journal's (its writer started from revision
        `base`).
        """
        self._known = None
        self._strange = base

    def accept_file(self) -> None:
        """Take `memory.json` as it stands for known: the next checkpoint replaces it."""
        self._known = look(self._folder / DOCUMENTS)
        self._strange = None

    def _is_newer(self, newest: Stamp, stamp: Stamp) -> bool:
        return newest.rev > stamp.rev and newest.hash == hash_at(self._folder)

    def _set_strange_file_aside(self) -> str:
        """Keep a `memory.json` that no checkpoint wrote under another name; raises `OSError`."""
        file = self._folder / DOCUMENTS
        if look(file) in (self._known, None):
            return ""
        data = read_regular(file)
        stamps, digest = stamps_of(self._folder), fingerprint(data)
        if self._strange is None and any(stamp.hash == digest for stamp in stamps):
            return ""
        base = (
            self._strange if self._strange is not None else stamps[0].rev if stamps else "unknown"
        )
        self._strange = None
        name = f"memory.edited-{base}-{self._clock():%Y%m%dT%H%M%S%f}.json"
        write_file(self._folder / name, data)
        return name


# Edits made to `memory.json` by another program, offered as changes instead of being overwritten.


EDITED = "memory.edited-*.json"


@dataclass(frozen=True, slots=True)
class OutsideEdit:
    """What another program changed in `file`, against revision `base` of the journal."""

    file: Path
    base: int
    changes: tuple[DocChange, ...]


@dataclass(frozen=True, slots=True)
class ForeignFile:
    """Tells that `memory.json` is not what the journal says: seen only, or replaced and `kept`
    under that name.

    One that is `unplaced` is of a revision that nothing tells; any other was changed by another
    program.
    """

    kept: str = ""
    unplaced: bool = False

    def __str__(self) -> str:
        what = f"of an unknown revision ({NOTE} says nothing of it)"
        said = f"{DOCUMENTS} was {what if self.unplaced else 'changed by another program'}; "
        if not self.kept:
            return f"{said}the journal's state stands and the other content is kept."
        return f"{said}its content was kept as {self.kept} and the journal's state stands."


Notice = str | ForeignFile
"""What a person should be told: a sentence, or the fact where something is decided by it."""


def find(
    folder: Path, rev: int, at: Callable[[int], Tables], stranger: ForeignCheckpoint | None
) -> OutsideEdit | None:
    """Return the oldest outside edit that waits for a decision: a file set aside earlier, or
    `memory.json` itself.

    `rev` is the store's latest revision, `at` gives its documents as of any other, and `stranger`
    is a `memory.json` that the journal did not write.
    """

    def edit(file: Path, data: bytes, base: int) -> OutsideEdit | None:
        tables, base = read_tables(data), min(base, rev)
        changes = () if tables is None else tuple(diff_tables(at(base), tables))
        return OutsideEdit(file, base, changes) if any(change.doc for change in changes) else None

    for file in sorted(folder.glob(EDITED)):
        base = file.name.split("-")[1]
        with suppress(NotRegular, TooLarge):  # nothing of ours is a link or larger than a store
            if base.isdigit() and (found := edit(file, read_regular(file), int(base))) is not None:
                return found
    if stranger is None or stranger.base is None:
        return None
    return edit(folder / DOCUMENTS, stranger.data, stranger.base)
