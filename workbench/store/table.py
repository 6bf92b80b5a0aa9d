"""The records of one type, built from documents when first asked for and kept until they change."""

import threading
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Generic, TypeVar

from workbench.core.document import from_doc
from workbench.core.record import InvalidRecord, UnknownRecord
from workbench.core.runtime import in_pieces
from workbench.store.entry import Doc
from workbench.store.journal.engine import Journal
from workbench.store.journal.state import State

R = TypeVar("R")


class Table(Generic[R]):
    """The records of one type. Any thread may read; values are frozen.

    After a change only the records it touched are built again. `kind` gives the class of the
    records, which is asked for with the first of them.
    """

    def __init__(self, journal: Journal, name: str, kind: Callable[[], type[R]]) -> None:
        self._journal = journal
        self._kind_of = kind
        self.name = name
        self._lock = threading.RLock()
        self._known: dict[str, R] = {}
        self._complete = False
        self._state = journal.state
        self._changes = self._state.watch(self.name)

    @cached_property
    def _kind(self) -> type[R]:
        return self._kind_of()

    def find(self, key: str) -> R | None:
        """Return the record with that key, or `None`; within a transaction, as the transaction has
        it.

        Raises `InvalidRecord` when it cannot be read.
        """
        staged = self._journal.staged
        if staged is not None:
            doc_id = staged.doc_id_of(self.name, key)
            if doc_id is not None and (self.name, doc_id) in staged.docs:
                doc = staged.docs[self.name, doc_id]
                return None if doc is None else from_doc(self._kind, doc)
        with self._lock:
            self._sync()
            doc_id = self._state.doc_id_of(self.name, key)
            doc = None if doc_id is None else self._state.get(self.name, doc_id)
            return None if doc_id is None or doc is None else self._build(doc_id, doc)

    def among(self, keys: Iterable[str]) -> list[R]:
        """Return the records that have one of these keys, as `find` does for each, in one look."""
        if self._journal.staged is not None:
            return [record for key in keys if (record := self.find(key)) is not None]
        with self._lock:
            self._sync()
            state, name = self._state, self.name
            ids = (doc_id for key in keys if (doc_id := state.doc_id_of(name, key)) is not None)
            found = ((doc_id, state.get(name, doc_id)) for doc_id in ids)
            return [self._build(doc_id, doc) for doc_id, doc in found if doc is not None]

    def at(self, doc_ids: Iterable[str]) -> list[R]:
        """Return the committed records of documents, by their ids; those that cannot be read are
        left out.
        """
        with self._lock:
            self._sync()
            docs = ((doc_id, self._state.get(self.name, doc_id)) for doc_id in doc_ids)
            found = (self._try(doc_id, doc) for doc_id, doc in docs if doc is not None)
            return [record for record in found if record is not None]

    def newest(self, count: int) -> list[R]:
        """Return committed records in no order, among them those `count` that were made last."""
        with self._lock:
            self._sync()
            ids = self._state.newest(self.name, count)
        return self.at(ids)

    def get(self, key: str) -> R:
        """Return the record with that key; raises `UnknownRecord`, or `InvalidRecord` when it
        cannot be read.
        """
        record = self.find(key)
        if record is None:
            raise UnknownRecord(f"There is no {self._kind.__name__.lower()} {key} in this store.")
        return record

    def all(self) -> list[R]:
        """Return every committed record that can be read, in the order they were first stored.

        One that cannot be read is named in the journal's notices and left out. While the records of
        a large table are built for the first time, others find single ones and change some, and
        whoever asked may stop (`Stopped`).
        """
        made: dict[str, tuple[Doc, R | None]] = {}
        if not self._complete:
            for doc_id, doc in in_pieces(list(self._docs().items())):
                made[doc_id] = doc, self._try(doc_id, doc, again=True)
        with self._lock:
            self._sync()
            if not self._complete:
                self._known = {
                    n: record
                    for n, doc in self._docs().items()
                    if (record := self._made(made, n, doc))
                }
                self._complete = True
            return list(self._known.values())

    def latest(self, count: int) -> list[R]:
        """Return the committed records that were stored last, oldest first, without building any
        other.
        """
        with self._lock:
            self._sync()
            found = (self._try(doc_id, doc) for doc_id, doc in self._state.latest(self.name, count))
            return [record for record in found if record is not None]

    def staged(self) -> list[R]:
        """Return every record as the transaction that this thread has open has it; raises
        `InvalidRecord`.
        """
        docs: dict[str, Doc | None] = dict(self._docs())
        staged = self._journal.staged
        for (table, doc_id), doc in (staged.docs if staged is not None else {}).items():
            if table == self.name:
                docs[doc_id] = doc
        return [from_doc(self._kind, doc) for doc in docs.values() if doc is not None]

    def doc_id_of(self, key: str) -> str | None:
        """Return the document id under which changes name the record with that key, or `None`."""
        return self._journal.state.doc_id_of(self.name, key)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        staged = self._journal.staged
        source = self._journal.state if staged is None else staged
        doc_id = source.doc_id_of(self.name, key)
        return doc_id is not None and source.get(self.name, doc_id) is not None

    def __len__(self) -> int:
        return self._journal.state.count(self.name)

    def _docs(self) -> dict[str, Doc]:
        return self._journal.state.docs(self.name)

    def _follow(self, state: State) -> None:
        self._state = state
        self._changes = state.watch(self.name)
        self._known = {}
        self._complete = False

    def _sync(self) -> None:
        """Forget, or build again, what was changed since the last look."""
        if self._journal.state is not self._state:
            self._follow(self._journal.state)
        for doc_id, removed in self._changes.take():
            if removed or not self._complete:
                self._known.pop(doc_id, None)
            doc = self._state.get(self.name, doc_id)
            if doc is not None and self._complete:
                record = self._try(doc_id, doc, again=True)
                if record is None:
                    self._known.pop(doc_id, None)
                else:
                    self._known[doc_id] = record

    def _made(self, made: dict[str, tuple[Doc, R | None]], doc_id: str, doc: Doc) -> R | None:
        """Return the record of a document: the one that was made of it, unless it was changed
        since.
        """
        of, record = made.get(doc_id, (None, None))
        return (
            record if of is doc else self._known.get(doc_id) or self._try(doc_id, doc, again=True)
        )

    def _build(self, doc_id: str, doc: Doc) -> R:
        known = self._known.get(doc_id)
        if known is None:
            known = from_doc(self._kind, doc)
            if not self._complete:
                self._known[doc_id] = known
        return known

    def _try(self, doc_id: str, doc: Doc, again: bool = False) -> R | None:
        try:
            return from_doc(self._kind, doc) if again else self._build(doc_id, doc)
        except InvalidRecord as error:
            notice = f"{error} It is kept in the store."
            if notice not in self._journal.notices:
                self._journal.notices.append(notice)
            return None
