"""The store as typed tables of records."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar

from workbench.core.document import to_doc_over
from workbench.core.health import Damage, Gone, MendedIndex
from workbench.core.record import ABSENT, StoreProblem, UnknownRecord, cannot_read, cannot_write
from workbench.store.entry import (
    FARTHEST,
    Doc,
    DocChange,
    Kind,
    Transaction,
    memory_number,
    numbered_id,
)
from workbench.store.files import closed
from workbench.store.folder import Surroundings
from workbench.store.identity import StoreTrust
from workbench.store.index.indexing import Arrival, Indexing, arrival_of
from workbench.store.journal import segments
from workbench.store.journal.engine import Clock, Gate, Journal, Options, See, Tell, utc_now
from workbench.store.journal.state import Keys, Staged
from workbench.store.records import COUNTERS, TABLES, key_of, key_of_record, kind_in, table_of
from workbench.store.table import Table

if TYPE_CHECKING:
    from workbench.core.duplicates.groups import KeptApart, KeptPair
    from workbench.core.file_state import FileState
    from workbench.core.health import PastView
    from workbench.core.playbook.book import Book, Bullet, Section
    from workbench.core.playbook.usage import UsageTally
    from workbench.core.promotion import Placement
    from workbench.core.reflection.llm import LlmRun
    from workbench.core.reflection.trigger import ReflectionState
    from workbench.core.review.proposal import Proposal
    from workbench.core.safety import Override
    from workbench.core.stream.memory import Memory, Vote
    from workbench.core.tuning.judgment import Judgment, SavedQuery
    from workbench.store.blobs import Blobs
    from workbench.store.history import Past
    from workbench.store.journal.database import JournalDB
    from workbench.store.log import SharedLog
    from workbench.store.maintenance.checkpoint_writer import Notice, OutsideEdit

MEMORIES = "memories"
"""The table of the memories, which grows largest, and of which is noted what came."""

STANDARD = Options()
"""How a workbench store is kept."""

R = TypeVar("R")
P = ParamSpec("P")


class Touched(NamedTuple):
    """What one transaction changed: who, what, and the (table, key) pairs of the records."""

    rev: int
    actor: str
    label: str
    kind: Kind
    keys: frozenset[tuple[str, str]]


class SinceSaved(NamedTuple):
    """The ids of the documents that were changed since a state, and whether some are there no more."""

    saved: str
    changed: tuple[str, ...]
    removed: bool


class Tx:
    """An open transaction, in records."""

    def __init__(self, staged: Staged, *, joined: bool = False) -> None:
        self._staged = staged
        self._joined = joined

    def put(self, record: object) -> None:
        """Insert a record, or replace the one with the same key; raises `InvalidRecord`.

        A memory that brings an id of our own form along keeps later ids clear of it.
        """
        from workbench.core.stream.memory import Memory, check_memory

        if isinstance(record, Memory):
            check_memory(record)
        table = table_of(type(record))
        key = key_of_record(table, record)
        doc_id = self._doc_id(table, key) or self._allocate(table, key)
        self._staged.put(table, doc_id, to_doc_over(record, self._staged.get(table, doc_id) or {}))
        number = memory_number(key) if isinstance(record, Memory) else None
        if number is not None and number < FARTHEST:
            self._staged.raise_next_id(table, number + 1)

    def relabel(self, label: str) -> None:
        """Say better what this transaction does, now that it is known; one inside another leaves
        that one's label.
        """
        if not self._joined:
            self._staged.label = label

    def delete(self, record: object) -> None:
        """Remove a record; one that is not there is no change."""
        table = table_of(type(record))
        doc_id = self._doc_id(table, key_of_record(table, record))
        if doc_id is not None:
            self._staged.delete(table, doc_id)

    def new_memory_id(self, at: datetime) -> str:
        """Take a fresh memory id, `mem-YYYYMMDD-nnnnnnn`; no two processes ever get the same one."""
        return self._new_id(MEMORIES, "mem", at)

    def new_id(self, kind: type, prefix: str, at: datetime) -> str:
        """Take a fresh id for a record of a kind, `PREFIX-YYYYMMDD-nnnnnnn`; no two processes ever
        get the same one.
        """
        return self._new_id(table_of(kind), prefix, at)

    def _new_id(self, table: str, prefix: str, at: datetime) -> str:
        while True:
            number = self._staged.allocate(table)
            name = numbered_id(prefix, at, number)
            if self._doc_id(table, name) is None:
                self._staged.keys[table, name] = str(number)
                return name

    def _doc_id(self, table: str, key: str) -> str | None:
        return self._staged.doc_id_of(table, key)

    def _allocate(self, table: str, key: str) -> str:
        doc_id = str(self._staged.allocate(table))
        self._staged.keys[table, key] = doc_id
        return doc_id


class Kept(Generic[R]):
    """The table of one kind of records, with whose class nobody waits who does not ask for it."""

    def __init__(self, table: str) -> None:
        self._table = table

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, library: "Library", owner: type) -> Table[R]:
        table: Table[R] = library.table_named(self._table)
        library.__dict__[self._name] = table  # asked for again, it is found there
        return table


class Library:
    """A store folder, open: typed tables to read from and `transaction` to change them.

    This is all that those outside the store see of it; the journal is the store's own. `heads` is
    the folder in which this machine remembers what it stored (see `heads`), `None` for no memory;
    `gate` sees every transaction before it is written (see `Journal`); `believed` means that a
    person said outside the store that it can be trusted; `records` are the kinds of records,
    `cache` is the folder, in the user's own cache, in which a large store is indexed; `begin_cache`
    makes it. With `at` it is the store as it was right after that revision, to be looked at only.
    Raises `StoreProblem`, and `UnknownRecord` for a revision that there is not.
    """

    memories: "Kept[Memory]" = Kept("memories")
    bullets: "Kept[Bullet]" = Kept("bullets")
    sections: "Kept[Section]" = Kept("sections")
    books: "Kept[Book]" = Kept("books")
    votes: "Kept[Vote]" = Kept("votes")
    queries: "Kept[SavedQuery]" = Kept("queries")
    judgments: "Kept[Judgment]" = Kept("judgments")
    proposals: "Kept[Proposal]" = Kept("proposals")
    reflection: "Kept[ReflectionState]" = Kept("reflection")
    overrides: "Kept[Override]" = Kept("overrides")
    placements: "Kept[Placement]" = Kept("placements")
    runs: "Kept[LlmRun]" = Kept("runs")
    kept_pairs: "Kept[KeptPair]" = Kept("kept_pairs")
    tallies: "Kept[UsageTally]" = Kept("tallies")
    files: "Kept[FileState]" = Kept("files")

    def __init__(
        self,
        folder: Path,
        clock: Clock = utc_now,
        options: Options = STANDARD,
        heads: Path | None = None,
        gate: Gate | None = None,
        *,
        believed: bool = False,
        cache: Path | None = None,
        begin_cache: Callable[[], object] = lambda: None,
        at: int | None = None,
        shared: "SharedLog | None" = None,
    ) -> None:
        indexing = None if cache is None else Indexing(cache, begin_cache, MEMORIES)
        options = options._replace(believed=believed, indexing=options.indexing or indexing)
        self.journal = Journal(folder, clock, COUNTERS, options, heads, shared)
        if at is not None:
            self.journal.go_back(at)
        self.journal.gate = gate
        self.folder = folder
        self.surroundings = Surroundings(folder)
        self.heads = heads
        self._tables: dict[str, Table[Any]] = {}
        self._making = Lock()

    def table(self, kind: type[R]) -> Table[R]:
        """Return the table of a kind of record; raises `KeyError` for one that the store does not
        know.
        """
        return self.table_named(table_of(kind))

    def table_named(self, name: str) -> Table[Any]:
        """Return a table by its name; raises `KeyError` for one that the store does not know."""
        if name not in self._tables:
            if name not in TABLES:
                raise KeyError(name)
            with self._making:
                if name not in self._tables:
                    self._tables[name] = Table(self.journal, name, partial(kind_in, name))
        return self._tables[name]

    def now(self) -> datetime:
        """Return the present moment by the store's clock."""
        return self.journal.clock()

    @contextmanager
    def transaction(
        self,
        actor: str,
        label: str,
        *,
        group: str = "",
        part: int = 1,
        kind: Kind = "edit",
        more: bool = False,
        uid: str = "",
    ) -> Iterator[Tx]:
        """Open a transaction; it is committed when the block ends, or forgotten when it raises.

        `group` ties the chunks of one action; every chunk but the last one says `more`. In a shared
        store what is done by one `uid` is done once.
        """
        joined = self.journal.staged is not None
        if not joined:
            self.journal.require_present()
        with self.journal.transaction(
            actor, label, group=group, part=part, kind=kind, more=more, uid=uid
        ) as staged:
            yield Tx(staged, joined=joined)

    @contextmanager
    def dated(self, at: datetime) -> Iterator[None]:
        """Date the transactions of a block as of a moment; no other thread may write meanwhile."""
        clock = self.journal.clock
        self.journal.clock = lambda: at
        try:
            yield
        finally:
            self.journal.clock = clock

    def kept_apart(self) -> "KeptApart":
        """Return which records somebody keeps apart."""
        from workbench.core.duplicates.groups import KeptApart

        return KeptApart(self.kept_pairs.all())

    def listen(self, listener: Callable[[Touched], None]) -> None:
        """Call `listener` after every transaction, this process's and others'; never on two threads
        at once.
        """

        def hear(entry: Transaction, keys: Keys) -> None:
            listener(Touched(entry.rev, entry.actor, entry.label, entry.kind, keys))

        self.journal.listen(hear)

    @property
    def in_transaction(self) -> bool:
        """Whether this thread has a transaction open."""
        return self.journal.staged is not None

    def turn(self) -> AbstractContextManager[None]:
        """Keep every other writer out for a block, between its transactions, too. Raises as a
        transaction does.
        """
        return self.journal.turn()

    def exclusive(self) -> AbstractContextManager[None]:
        """Keep every other writer out for a block, after taking in what they wrote; for work on
        files beside it.
        """
        return self.journal.exclusive()

    # What others do

    @property
    def revision(self) -> int:
        """The revision of the last transaction that was taken in."""
        return self.journal.rev

    @property
    def id(self) -> str:
        """The store's own id; empty for one that nobody has written to."""
        return self.journal.store

    @property
    def named_state(self) -> tuple[str, int, str]:
        """What names the store as it is now: its id, its revision, and the hash of the last
        change.
        """
        return self.journal.store, self.journal.rev, self.journal.mark

    def refresh(self) -> int:
        """Take in what other processes wrote since the last look; return how many transactions
        came.

        A store that was removed brings nothing: what was read stays. What was not written on this
        machine shows in `standing`. Raises `StoreProblem` when the store cannot be read.
        """
        return self.journal.refresh()

    def follow(self, seconds: float = 0.5) -> None:
        """Look for what others write to a shared store every so many seconds, until it is closed."""
        if self.journal.copy is not None:
            self.journal.copy.follow(seconds)

    @property
    def away(self) -> StoreProblem | None:
        """Why a shared store cannot be reached just now; what was read of it before is there."""
        return None if self.journal.copy is None else self.journal.copy.away

    @property
    def shared(self) -> "SharedLog | None":
        """The log of a store that several machines share."""
        return self.journal.shared

    def actor_named(self, claim: str) -> str:
        """Return under which name the store writes down who acts."""
        return claim if self.shared is None else self.shared.name(claim)

    @property
    def is_missing(self) -> bool:
        """Whether the store that was read cannot be seen any more: removed, renamed, or closed to
        this process.
        """
        return self.journal.is_missing

    # What the store says of itself

    @property
    def standing(self) -> StoreTrust:
        """How far what the store says is trusted."""
        return self.journal.standing

    def require_trust(self) -> None:
        """Raise `NotTrusted` for a store from elsewhere that nobody has looked at, `OnlyLookedAt`
        in the past.

        Whoever writes files beside the store asks this first.
        """
        if not self.journal.is_narrowed:
            self.journal.require_present()
        self.journal.require_trust()

    @property
    def is_closed(self) -> bool:
        """Whether the store's files can only be read: they, or their folder, are closed to this
        process's user.
        """
        return self._closed() is not None

    @property
    def obstacle(self) -> StoreProblem | None:
        """What a change would be refused with, as far as that can be told before: `None` when it
        can be tried.
        """
        try:
            self.require_trust()
        except StoreProblem as problem:
            return problem
        if self.away is not None:
            return self.away
        error = self._closed()
        return None if error is None else cannot_write(self.folder, error)

    def _closed(self) -> OSError | None:
        try:
            return closed(self.folder, segments.NAME)
        except OSError:  # it is gone just now, and says so itself
            return None

    @property
    def standpoint(self) -> "PastView | None":
        """Where one stands who looks at the store as it was; `None` in the present."""
        return self.journal.standpoint

    def narrow(self, see: See, tell: Tell) -> None:
        """Show from now on only what these two leave; nothing can be changed any more (see
        `Journal.narrow`).
        """
        self.journal.narrow(see, tell)

    def require_present(self) -> None:
        """Raise `OnlyLookedAt` in the past."""
        self.journal.require_present()

    @property
    def notices(self) -> "Sequence[Notice]":
        """What a person should be told, each in a sentence or as a fact that gives one."""
        return self.journal.notices

    def note(self, sentence: str) -> None:
        """Add to what a person should be told."""
        self.journal.notices.append(sentence)

    @property
    def damage(self) -> Sequence[Damage]:
        """The places that could not be trusted, of those read so far; a gap that was accepted is
        none.
        """
        return self.journal.damage

    @property
    def unfinished(self) -> Mapping[str, str]:
        """The groups whose last part has not come, with their labels."""
        return self.journal.unfinished

    def keep_index(self) -> None:
        """Make the index of a large store in the user's cache, when there is none; nothing fails
        for it.
        """
        self.journal.keep_index()

    def check_index(self) -> MendedIndex | None:
        """Hold the index of a large store against its files, which reads all of them; one that
        differs is made anew, and said.

        Raises `StoreProblem` when the files cannot be read, or others hold the store.
        """
        return self.journal.check_index()

    @property
    def is_read(self) -> bool:
        """Whether all records are in memory; of a large store, only those that somebody asked for."""
        return not self.journal.state.unread

    def read(self) -> None:
        """Read all records of a large store into memory; meanwhile others find single ones and
        change some.

        Raises `StoreProblem` when a file of the store cannot be read.
        """
        try:
            for name in _TABLES:
                getattr(self, name)
            for table in list(self._tables.values()):
                table.all()
            self.journal.read()
        except OSError as error:
            raise cannot_read(self.folder, error) from error

    @property
    def saved(self) -> str:
        """What tells the state that the index of a large store is of from others; empty where there
        is no index.
        """
        return self.journal.saved

    def since_saved(self, kind: type) -> SinceSaved | None:
        """Return which records of a kind were changed since `saved`; `None` when all of them are in
        memory already.
        """
        changed = self.journal.state.changed(table_of(kind))
        return None if changed is None or not self.saved else SinceSaved(self.saved, *changed)

    def document(self, kind: type, doc_id: str) -> Doc:
        """Return a record as it is stored, by the id of its document; raises `UnknownRecord` when
        it is gone.
        """
        doc = self.journal.state.get(table_of(kind), doc_id)
        if doc is None:
            raise UnknownRecord(f"No {kind.__name__.lower()} with number {doc_id} in this store.")
        return doc

    def waiting(self, kind: type[R], state: str) -> list[R]:
        """Return the records of a kind in a state in which they wait for something
        (`RecordType.waits`).
        """
        table = self.table(kind)
        return table.at(self.journal.state.waiting(table.name, state))

    def stored_waiting(self, table: str, state: str) -> list[Doc]:
        """Return the records that `waiting` does as they are stored, unread."""
        found = self.journal.state.waiting(table, state)
        return [
            doc for doc_id in found if (doc := self.journal.state.get(table, doc_id)) is not None
        ]

    @property
    def revisions_since_checkpoint(self) -> int:
        """How many transactions a start would have to replay."""
        return self.journal.revisions_since_checkpoint

    @property
    def starts_slowly(self) -> bool:
        """Whether closing the store should leave a checkpoint behind, for the next start to be
        fast.
        """
        return self.journal.starts_slowly

    # Documents and changes as they are written

    def stored(self, kind: type) -> list[Doc]:
        """Return the records of a kind as they are stored, unread: for what takes a few fields of
        very many.
        """
        return list(self.journal.state.docs(table_of(kind)).values())

    def every_field(self, *tables: str) -> Iterator[tuple[str, str, Doc]]:
        """Yield table, key and fields of every record of the `tables`, or of all, also of kinds
        that nobody knows.
        """
        return self._fields_in(
            self.journal.state.tables, tables or tuple(self.journal.state.tables)
        )

    def key_of(self, change: DocChange) -> str:
        """Return the key of the record that a change is about: the present one, or else the one the
        change knew.
        """
        doc = self.journal.state.get(change.table, change.doc)
        if doc is None:
            doc = {
                name: before if after is ABSENT else after
                for name, (before, after) in change.fields.items()
            }
        return key_of(change.table, doc) or change.doc

    def key_at(self, table: str, doc_id: str) -> str:
        """Return the key of the record that changes name by `doc_id`; empty when it is gone."""
        doc = self.journal.state.get(table, doc_id)
        return "" if doc is None else key_of(table, doc) or ""

    def every_field_by_now(self) -> Iterator[tuple[str, str, Doc]]:
        """Return what `every_field` yields, for another thread: later changes do not show. Raises
        `StoreProblem`.
        """
        tables = self.journal.cut()[0]
        return self._fields_in(tables, tuple(tables))

    def _fields_in(
        self, tables: Mapping[str, Mapping[str, Doc]], names: Iterable[str]
    ) -> Iterator[tuple[str, str, Doc]]:
        for table in names:
            for doc_id, doc in tables.get(table, {}).items():
                yield table, key_of(table, doc) or doc_id, doc

    def changes_back(self, *needles: bytes | None) -> Iterator[Transaction]:
        """Yield the transactions, newest first, those that contain one of `needles` as written if
        any is given.

        Damaged ones are passed over. Raises `StoreProblem` when one cannot be read.
        """
        return self.journal.entries_back(*needles)

    def arrivals(self, after: int) -> list[Arrival]:
        """Return what added memories after a revision, or read some for an agent, oldest first.

        Raises `StoreProblem` when the journal, which is read where nothing else knows, cannot be.
        """
        known = self.journal.arrivals(after)
        if known is not None:
            return known
        found = []
        for entry in self.journal.entries_back():
            if entry.rev <= after:
                break
            if (arrival := arrival_of(entry, MEMORIES)) is not None:
                found.append(arrival)
        return found[::-1]

    @cached_property
    def blobs(self) -> "Blobs":
        """What lies beside the records."""
        from workbench.store.blobs import Blobs

        return Blobs(self.folder, self.shared)

    @cached_property
    def db(self) -> "JournalDB":
        """The store as a TinyDB, whose changes go through the journal."""
        from workbench.store.journal.database import JournalDB

        return JournalDB(self.journal)

    @cached_property
    def past(self) -> "Past":
        """What was done, any record as it was, and the way back."""
        from workbench.store.history import Past

        return Past(self.journal)

    def begin(self) -> None:
        """Make the files of a new store, if there are none; raises `StoreProblem`."""
        self.journal.begin()

    def maintain(
        self, work: Callable[Concatenate[Journal, P], R], *args: P.args, **options: P.kwargs
    ) -> R:
        """Do what a module of `store.maintenance` does on the store's files."""
        return work(self.journal, *args, **options)

    def foreign_lines(self) -> list[tuple[str, str]]:
        """Return the hash and the actor of every change that is not known on this machine, in
        order.

        Raises `StoreProblem`.
        """
        return self.journal.strange_lines()

    def trust(self, shown: Collection[str] | None = None) -> None:
        """Remember that what stands in the store now was shown to a person (see `Journal.trust`)."""
        self.journal.trust(shown)

    def accept_losses(self) -> tuple[Gone, ...]:
        """Take the store as it is, with what is missing from it; return what was missed. Raises
        `StoreProblem`.
        """
        return self.journal.accept()

    @property
    def outside_edit(self) -> "OutsideEdit | None":
        """What another program changed in `memory.json`, waiting to be accepted or dismissed."""
        return self.journal.outside_edit

    def save_checkpoint(self) -> None:
        """Write the checkpoint when there is anything new; not inside a transaction. Raises
        `StoreProblem`.
        """
        self.journal.save_checkpoint()

    def close(self) -> None:
        """Write a checkpoint if anything was changed here, and let go of the store."""
        self.journal.close()


_TABLES = tuple(name for name, value in vars(Library).items() if isinstance(value, Kept))

__all__ = ["STANDARD", "Library", "Table", "Touched", "Tx", "utc_now"]
