"""TinyDB over the journal: the storage and table classes, and `open_db`, the way in."""

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from tinydb import TinyDB
from tinydb.queries import QueryLike
from tinydb.storages import Storage
from tinydb.table import Document, Table

from workbench.store.entry import Doc
from workbench.store.journal.codec import plain
from workbench.store.journal.engine import STANDARD, Clock, Journal, Options, utc_now
from workbench.store.journal.state import Staged

ACTOR = "tinydb"
"""The actor of changes made through the plain TinyDB interface."""


def open_db(
    path: Path | str,
    clock: Clock = utc_now,
    counters: frozenset[str] = frozenset(),
    options: Options = STANDARD,
    heads: Path | None = None,
) -> "JournalDB":
    """Open (or create) the store folder `path` as a TinyDB whose tables commit through the journal.

    See `Journal` for what the others are. Raises `StoreProblem` as that does.
    """
    return JournalDB(Journal(Path(path), clock, counters, options, heads))


class JournalStorage(Storage):
    """A TinyDB storage whose truth is a journal; whole-file writes become transactions of what
    differs.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    def read(self) -> dict[str, dict[str, Any]] | None:
        """Return all tables (a new outer mapping; the documents are not to be changed)."""
        return dict(self.journal.state.tables)

    def write(self, data: dict[str, dict[str, Any]]) -> None:
        """Make the tables be `data`, as one transaction."""
        with self.journal.transaction(ACTOR, "write tables") as staged:
            for name in self.journal.state.names:
                if name not in data:
                    staged.drop_table(name)
            for name, docs in data.items():
                _replace_table(staged, name, self.journal.state.docs(name), docs)

    def close(self) -> None:
        """Write a checkpoint if anything was changed here."""
        self.journal.close()


class JournalTable(Table):
    """A TinyDB table whose updates look only at the documents they touch.

    As with TinyDB's own file storage, a document that is handed out is the caller's: changing it
    changes nothing that is stored.
    """

    _storage: JournalStorage
    _next_id: int | None  # type: ignore[assignment]
    _cached_rev = 0

    def _update_table(self, updater: Callable[[Any], None]) -> None:
        with self._storage.journal.transaction(ACTOR, f"update {self.name}") as staged:
            staged.ensure_table(self.name)
            view = _TableView(self.name, staged, self._raw)
            updater(view)
            view.flush()
        self.clear_cache()

    def insert(self, document: Mapping[str, Any]) -> int:
        """Insert a document; its id is taken under the write lock."""
        with self._storage.journal.transaction(ACTOR, f"insert into {self.name}"):
            return super().insert(document)

    def insert_multiple(self, documents: Iterable[Mapping[str, Any]]) -> list[int]:
        with self._storage.journal.transaction(ACTOR, f"insert into {self.name}"):
            return super().insert_multiple(documents)

    def update(
        self,
        fields: Mapping[Any, Any] | Callable[[MutableMapping[Any, Any]], None],
        cond: QueryLike | None = None,
        doc_ids: Iterable[int] | None = None,
    ) -> list[int]:
        """Update matching documents; a condition is tried on the stored documents before any is
        copied.
        """
        with self._storage.journal.transaction(ACTOR, f"update {self.name}"):
            return super().update(fields, None, self._matching(cond, doc_ids))

    def remove(
        self, cond: QueryLike | None = None, doc_ids: Iterable[int] | None = None
    ) -> list[int]:
        """Remove matching documents."""
        with self._storage.journal.transaction(ACTOR, f"remove from {self.name}"):
            return super().remove(None, self._matching(cond, doc_ids))

    def truncate(self) -> None:
        """Remove all documents; numbering starts again at 1."""
        super().truncate()
        self._storage.journal.state.next_ids.pop(self.name, None)

    def search(self, cond: QueryLike) -> list[Any]:
        """Search after taking in what other processes wrote."""
        self._storage.journal.refresh()
        if self._cached_rev != self._storage.journal.rev:
            self._cached_rev = self._storage.journal.rev
            self.clear_cache()
        return [_own(doc) for doc in super().search(cond)]

    def get(self, *args: Any, **kwargs: Any) -> Any:
        """Return a document or, for `doc_ids`, a list of them (see TinyDB's `Table.get`)."""
        found = super().get(*args, **kwargs)
        if isinstance(found, list):
            return [_own(doc) for doc in found]
        return None if found is None else _own(found)

    def __iter__(self) -> Iterator[Any]:
        return (_own(doc) for doc in super().__iter__())

    def _read_table(self) -> dict[str, Mapping[str, Any]]:
        """Take in what other processes wrote and return the documents as they are now."""
        self._storage.journal.refresh()
        return _Snapshot(self._raw)

    def _matching(
        self, cond: QueryLike | None, doc_ids: Iterable[int] | None
    ) -> Iterable[int] | None:
        if doc_ids is not None or cond is None:
            return doc_ids
        return [int(key) for key, doc in self._raw.items() if cond(doc)]

    @property
    def _raw(self) -> dict[str, Doc]:
        return self._storage.journal.state.docs(self.name)

    def _get_next_id(self) -> int:
        journal = self._storage.journal
        if self._next_id is None:
            self._next_id = journal.state.next_id(self.name)
        taken = max(self._next_id, journal.state.next_id(self.name))
        self._next_id = taken + 1
        return taken


class _Snapshot(dict[str, Mapping[str, Any]]):
    """A table's documents to read from; walking through them is safe while other threads commit."""

    def __init__(self, docs: dict[str, Doc]) -> None:
        super().__init__()
        self._docs = docs

    def get(self, key: str, default: Any = None) -> Any:
        """Return one document as it is stored."""
        return self._docs.get(key, default)

    def items(self) -> Any:
        """Return all documents as of this moment."""
        return dict(self._docs).items()

    def __len__(self) -> int:
        return len(self._docs)


class JournalDB(TinyDB):
    """A TinyDB that is built on an open journal."""

    table_class = JournalTable

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        super().__init__(journal, storage=JournalStorage)


class _TableView(MutableMapping[int, Doc]):
    """What a TinyDB updater sees: documents are copied when they are first read, and only those are
    compared.
    """

    def __init__(self, name: str, staged: Staged, raw: dict[str, Doc]) -> None:
        self._name = name
        self._staged = staged
        self._raw = raw
        self._touched: dict[int, Doc | None] = {}

    def __getitem__(self, doc_id: int) -> Doc:
        if doc_id not in self._touched:
            doc = self._staged.get(self._name, str(doc_id))
            if doc is None:
                raise KeyError(doc_id)
            self._touched[doc_id] = deepcopy(doc)
        found = self._touched[doc_id]
        if found is None:
            raise KeyError(doc_id)
        return found

    def __setitem__(self, doc_id: int, doc: Doc) -> None:
        self._touched[doc_id] = doc

    def __delitem__(self, doc_id: int) -> None:
        if doc_id not in self:
            raise KeyError(doc_id)
        self._touched[doc_id] = None

    def __contains__(self, doc_id: object) -> bool:
        if doc_id in self._touched:
            return self._touched[doc_id] is not None
        return self._staged.get(self._name, str(doc_id)) is not None

    def __iter__(self) -> Iterator[int]:
        keys = [int(k) for k in self._raw]
        new = [k for k in self._touched if str(k) not in self._raw]
        return (k for k in (*keys, *new) if k in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def clear(self) -> None:
        """Remove every document."""
        for doc_id in list(self):
            del self[doc_id]

    def flush(self) -> None:
        """Hand the touched documents to the transaction."""
        for doc_id, doc in self._touched.items():
            if doc is None:
                self._staged.delete(self._name, str(doc_id))
            else:
                self._staged.put(self._name, str(doc_id), plain(doc))


def _own(doc: Document) -> Document:
    """Return a document that shares nothing with the store."""
    return Document(deepcopy(dict(doc)), doc.doc_id)


def _replace_table(
    staged: Staged, name: str, old: Mapping[str, Doc], new: Mapping[str, Doc]
) -> None:
    if old is new:
        return
    staged.ensure_table(name)
    for doc_id in old:
        if str(doc_id) not in new:
            staged.delete(name, doc_id)
    for doc_id, doc in new.items():
        staged.put(name, str(doc_id), plain(doc))
