"""The store as typed tables of records."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Generic, TypeVar

from workbench.core.errors import UnknownRecord
from workbench.core.judgment import Judgment, SavedQuery
from workbench.core.memory import Memory, check_memory
from workbench.core.playbook import Book, Bullet, Section
from workbench.core.proposal import Proposal
from workbench.core.record import from_doc, to_doc
from workbench.core.trigger import ReflectionState
from workbench.core.vote import Vote
from workbench.store.engine import Clock, Staged
from workbench.store.entry import Doc, Entry, Kind
from workbench.store.journal import open_db, utc_now

R = TypeVar("R")

TABLES: dict[type, str] = {
    Memory: "memories",
    Bullet: "bullets",
    Section: "sections",
    Book: "books",
    Vote: "votes",
    SavedQuery: "queries",
    Judgment: "judgments",
    Proposal: "proposals",
    ReflectionState: "reflection",
}
"""Which table a record type lives in."""

COUNTERS = frozenset(
    {
        "helpful_imported", "helpful_created", "helpful_absorbed", "helpful_votes",
        "harmful_imported", "harmful_votes", "neutral_count", "access_count", "observations_since_last",
    }
)  # fmt: skip
"""Fields that change by increments, so that two actors who count at once do not clash."""


@dataclass(frozen=True, slots=True)
class Touched:
    """What one transaction changed: who, what, and the (table, key) pairs of the records."""

    rev: int
    actor: str
    label: str
    kind: Kind
    keys: frozenset[tuple[str, str]]


def key_of(table: str, doc: Doc) -> str | None:
    """Return the key of a record: its id, and for parts of a playbook the book's id before it."""
    name = doc.get("id")
    if not isinstance(name, str):
        return None
    return f"{doc.get('book', 'main')}/{name}" if table in ("bullets", "sections") else name


class Table(Generic[R]):
    """The records of one type. Values are built from documents when first asked for and kept until they change."""

    def __init__(self, library: "Library", kind: type[R]) -> None:
        self._library = library
        self._kind = kind
        self.name = TABLES[kind]
        self._built: dict[str, tuple[Doc, R]] = {}

    def find(self, key: str) -> R | None:
        """Return the record with that key, or `None`."""
        state = self._library.journal.state
        doc_id = state.doc_id_of(self.name, key)
        doc = None if doc_id is None else state.get(self.name, doc_id)
        return None if doc_id is None or doc is None else self._build(doc_id, doc)

    def get(self, key: str) -> R:
        """Return the record with that key; raises `UnknownRecord`."""
        record = self.find(key)
        if record is None:
            raise UnknownRecord(f"There is no {self._kind.__name__.lower()} {key} in this store.")
        return record

    def all(self) -> list[R]:
        """Return every record, in the order they were first stored."""
        docs = list(self._library.journal.state.tables.get(self.name, {}).items())
        return [self._build(doc_id, doc) for doc_id, doc in docs]

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._library.journal.state.doc_id_of(self.name, key) is not None

    def __len__(self) -> int:
        return len(self._library.journal.state.tables.get(self.name, {}))

    def _build(self, doc_id: str, doc: Doc) -> R:
        known = self._built.get(doc_id)
        if known is not None and known[0] is doc:
            return known[1]
        record = from_doc(self._kind, doc)
        self._built[doc_id] = (doc, record)
        return record


class Tx:
    """An open transaction, in records."""

    def __init__(self, staged: Staged, library: "Library") -> None:
        self._staged = staged
        self._library = library

    def put(self, record: object) -> None:
        """Insert a record, or replace the one with the same key; raises `InvalidRecord`."""
        if isinstance(record, Memory):
            check_memory(record)
        table, doc = TABLES[type(record)], to_doc(record)
        key = key_of(table, doc) or ""
        self._staged.put(table, self._doc_id(table, key) or self._allocate(table, key), doc)

    def delete(self, record: object) -> None:
        """Remove a record."""
        table = TABLES[type(record)]
        doc_id = self._doc_id(table, key_of(table, to_doc(record)) or "")
        if doc_id is not None:
            self._staged.delete(table, doc_id)

    def new_memory_id(self, at: datetime) -> str:
        """Take a fresh memory id, `mem-YYYYMMDD-nnnnnnn`; no two processes ever get the same one."""
        while True:
            number = self._staged.allocate("memories")
            name = f"mem-{at:%Y%m%d}-{number:07d}"
            if self._doc_id("memories", name) is None:
                self._staged.keys["memories", name] = str(number)
                return name

    def _doc_id(self, table: str, key: str) -> str | None:
        return self._staged.keys.get((table, key)) or self._library.journal.state.doc_id_of(table, key)

    def _allocate(self, table: str, key: str) -> str:
        doc_id = str(self._staged.allocate(table))
        self._staged.keys[table, key] = doc_id
        return doc_id


class Library:
    """A store folder, open: typed tables to read from and `transaction` to change them."""

    def __init__(self, folder: Path, clock: Clock = utc_now) -> None:
        self.db = open_db(folder, clock, COUNTERS, key_of)
        self.journal = self.db.journal
        self.folder = folder
        self.memories = Table(self, Memory)
        self.bullets = Table(self, Bullet)
        self.sections = Table(self, Section)
        self.books = Table(self, Book)
        self.votes = Table(self, Vote)
        self.queries = Table(self, SavedQuery)
        self.judgments = Table(self, Judgment)
        self.proposals = Table(self, Proposal)
        self.reflection = Table(self, ReflectionState)

    @contextmanager
    def transaction(
        self, actor: str, label: str, *, group: str = "", part: int = 1, kind: Kind = "edit"
    ) -> Iterator[Tx]:
        """Open a transaction; it is committed when the block ends, or forgotten when it raises."""
        with self.journal.transaction(actor, label, group=group, part=part, kind=kind) as staged:
            yield Tx(staged, self)

    def listen(self, listener: Callable[[Touched], None]) -> None:
        """Call `listener` after every transaction, this process's and others'; on the thread that applied it."""
        self.journal.listen(lambda entry: listener(self._touched(entry)))

    def close(self) -> None:
        """Write a checkpoint and let go of the store."""
        self.db.close()

    def _touched(self, entry: Entry) -> Touched:
        keys = frozenset((c.table, self._key(c.table, c.doc, dict(c.fields))) for c in entry.changes if c.doc)
        return Touched(entry.rev, entry.actor, entry.label, entry.kind, keys)

    def _key(self, table: str, doc_id: str, fields: dict[str, tuple[object, object]]) -> str:
        doc = self.journal.state.get(table, doc_id)
        if doc is None:
            doc = {name: before for name, (before, _) in fields.items()}
        return key_of(table, doc) or doc_id
