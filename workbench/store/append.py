"""Adding memories for hooks, which live for a tenth of a second: also in a store that nobody has
trusted yet.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from workbench.core.document import from_doc, to_doc_over
from workbench.core.files.atomic import write_file
from workbench.core.record import InvalidRecord, StoreProblem
from workbench.core.reflection.trigger import ReflectionState, record_observation
from workbench.core.stream.memory import Memory, check_memory
from workbench.store.entry import Doc, memory_id, memory_number
from workbench.store.identity import Identity, beside_mark, can_keep, key_in, mark_of
from workbench.store.index.indexing import Indexing
from workbench.store.journal import segments
from workbench.store.journal.codec import hash_of
from workbench.store.journal.engine import Clock, Gate, Journal, Options, utc_now
from workbench.store.journal.segments import NAME, Position, mark_fits
from workbench.store.journal.state import Staged
from workbench.store.records import COUNTERS, table_of

if TYPE_CHECKING:
    from workbench.store.log import SharedLog

_TABLE, _GAUGE = table_of(Memory), table_of(ReflectionState)
_RECENT = 10


class Appending:
    """Memories about to be added as one transaction. `recent` holds up to ten latest ones, newest
    last.

    `rev` is the number of the change that this becomes, `notices` say what a person should be told
    about the store. `label` says what is done better than what was said when it began, when it is
    set.
    """

    def __init__(self, journal: Journal, staged: Staged) -> None:
        self.recent = tuple(_readable(doc for _, doc in journal.state.latest(_TABLE, _RECENT)))
        self.rev = journal.rev + 1
        self.notices = tuple(dict.fromkeys(map(str, (*journal.notices, *journal.damage))))
        self.label = ""
        self._staged = staged

    def new_memory_id(self, at: datetime) -> str:
        """Take a fresh memory id; no two processes ever get the same one."""
        while True:
            name = memory_id(at, self._staged.allocate(_TABLE))
            if self._staged.doc_id_of(_TABLE, name) is None:
                return name

    def add(self, memory: Memory) -> None:
        """Add a memory with an id from `new_memory_id`; raises `InvalidRecord`."""
        check_memory(memory)
        number = memory_number(memory.id)
        if number is None or number >= self._staged.next_ids.get(_TABLE, 0):
            raise InvalidRecord(f"{memory.id} was not created here.", "Nothing was written.")
        self._staged.put(_TABLE, str(number), to_doc_over(memory, {}))

    def count(self, importance: float, at: datetime) -> None:
        """Let the reflection gauge count one observation."""
        name = ReflectionState().id
        place = self._staged.doc_id_of(_GAUGE, name)
        if place is None:
            place = self._staged.keys[_GAUGE, name] = str(self._staged.allocate(_GAUGE))
        old = self._staged.get(_GAUGE, place) or {}
        gauge = from_doc(ReflectionState, old) if old else ReflectionState()
        self._staged.put(_GAUGE, place, to_doc_over(record_observation(gauge, importance, at), old))


@contextmanager
def appending(
    folder: Path,
    actor: str,
    label: str,
    clock: Clock,
    heads: Path | None = None,
    gate: Gate | None = None,
    indexing: Indexing | None = None,
    shared: "SharedLog | None" = None,
) -> Iterator[Appending]:
    """Open a transaction that can only add memories; it is committed when the block ends without an
    error.

    `heads` is where this machine remembers what it stored, `indexing` says how a large store is
    indexed, `shared` is the log of a store of a team. The transaction passes the `gate` first.
    Raises `StoreProblem`.
    """
    options = Options(checkpoint_every=0, adds=True, indexing=indexing)
    journal = Journal(folder, clock, COUNTERS, options, heads, shared)
    journal.gate = gate
    with journal.transaction(actor, label) as staged:
        block = Appending(journal, staged)
        yield block
        staged.label = block.label


def _readable(docs: Iterator[Doc]) -> Iterator[Memory]:
    for doc in docs:
        try:
            yield from_doc(Memory, doc)
        except InvalidRecord:
            continue


# Which texts are archived or purged in a store, for a hook that does not load it.
#
# This machine keeps the marks of those texts beside the head of the store, with a place in the
# journal. Where a later line archives or purges something, or the journal does not go on from
# there, the store is read and they are kept anew.


_FAR = 1 << 16
"""Bytes of the journal that are looked through again and again at most."""

_TELLING = (b'"archived"', b'"purge"')
"""What stands in every line that archives or purges something."""


def may_hold(folder: Path, heads: Path | None, text: str) -> bool:
    """Tell whether a text is that of an archived or purged record of a store, or was until lately.

    `heads` is where this machine remembers what it stored. A store that cannot be read holds none,
    nor does one of which nothing can be kept there: it would be read whole each time. Nor does one
    that is not trusted: a stranger is not to say what is stored.
    """
    try:
        active = segments.open_active(folder)
        if active is None:
            return False
        with active[0] as journal:
            key = key_in(heads)
            path = (
                None if heads is None else beside_mark(heads, active[1].store, folder, "archived")
            )
            known = b"" if path is None else _known(folder, path, journal, active[1].start)
            if not known and heads is not None and not can_keep(heads):
                return False
            if mark_of(text, key).encode() not in (known or _read_anew(folder, heads, key, path)):
                return False
            about = Identity(heads, folder)
            about.look_through()
            return about.trust.trusted
    except (OSError, StoreProblem):
        return False


def _known(folder: Path, path: Path, journal: BinaryIO, start: int) -> bytes:
    """Return the marks that were kept, nothing where they may not be all."""
    try:
        data = path.read_bytes()
        first, place, mark = data.partition(b"\n")[0].decode().split()
        offset, follows = int(place), int(first) == start
    except (OSError, ValueError):
        return b""
    if not follows or not mark_fits(folder / NAME, Position(offset), mark):
        return b""
    journal.seek(offset)
    later = journal.read()
    if any(telling in later for telling in _TELLING):
        return b""
    if len(later) > _FAR and later.endswith(b"\n"):
        _keep(
            path,
            f"{start} {offset + len(later)} {hash_of(later[:-1])}",
            data.partition(b"\n")[2],
        )
    return data


def _read_anew(folder: Path, heads: Path | None, key: bytes, path: Path | None) -> bytes:
    """Read the store for the marks, and keep them if they can be kept."""
    options = Options(checkpoint_every=0, adds=True)
    tables, stamp = Journal(folder, utc_now, options=options, heads=heads).cut()
    texts = (
        str(doc.get("content"))
        for doc in tables.get("memories", {}).values()
        if doc.get("status") == "archived"
    )
    purged = (mark for doc in tables.get("purged", {}).values() for mark in doc.get("marks", ()))
    data = "\n".join((*(mark_of(text, key) for text in texts), *purged, "")).encode()
    if path is not None:
        _keep(path, f"{stamp.start} {stamp.offset} {stamp.mark}", data)
    return data


def _keep(path: Path, place: str, marks: bytes) -> None:
    """Keep the marks up to a place; where that fails, they are read again."""
    with suppress(OSError):
        write_file(path, f"{place}\n".encode() + marks)
