"""A table of documents that lie in a file, with what was changed since on top, read only as far as
it is asked for.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Protocol

from workbench.store.entry import Doc


class Base(Protocol):
    """The documents of a store as of one revision, each found without reading the others.

    A method raises `OSError` when what it reads cannot be what was written. Any thread may call
    any.
    """

    @property
    def rev(self) -> int: ...

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables, in their order."""
        ...

    def get(self, table: str, doc_id: str) -> Doc | None:
        """Return a document, or `None`."""
        ...

    def doc_id_of(self, table: str, key: str) -> str | None:
        """Return the document id of the record with that key, or `None`."""
        ...

    def count(self, table: str) -> int: ...

    def greatest(self, table: str) -> int:
        """Return the greatest document id of a table that is or was in use, 0 for none."""
        ...

    def versions(self, table: str) -> frozenset[int]:
        """Return the versions of the records in a table."""
        ...

    def waiting(self, table: str, state: str) -> list[str]:
        """Return the ids of the documents whose record is in a state in which it waits for
        something.
        """
        ...

    def changed(self, table: str) -> tuple[list[str], bool]:
        """Return the ids of the documents that are new in the base or differ from the file it is
        of, in their order, and whether some of the file's are gone.
        """
        ...

    def latest(self, table: str) -> Iterator[tuple[str, Doc]]:
        """Yield documents with their ids, those first that stand last in the table."""
        ...

    def newest(self, table: str) -> Iterator[str]:
        """Yield the ids of documents, those first whose records were made last."""
        ...

    def read(self, table: str) -> dict[str, Doc]: ...


class Unread:
    """One table of a `Base` and its later changes; the caller keeps threads apart."""

    def __init__(self, base: Base, name: str) -> None:
        self.base = base
        self.name = name
        self.changed: dict[str, Doc | None] = {}
        """The documents that differ from the base, `None` where one is gone; new ones in the order
        they came.
        """
        self.keys: dict[str, str | None] = {}
        """What later changes say of record keys: the document id, or `None` where the record is
        gone.
        """
        self._added: dict[str, None] = {}
        self._count = base.count(name)

    def __len__(self) -> int:
        return self._count

    @property
    def added(self) -> Mapping[str, None]:
        """The ids of the documents at the table's end, in their order: those that are new, and
        those that came back.
        """
        return self._added

    def get(self, doc_id: str) -> Doc | None:
        """Return a document, or `None`."""
        return self.changed[doc_id] if doc_id in self.changed else self.base.get(self.name, doc_id)

    def doc_id_of(self, key: str) -> str | None:
        """Return the document id of the record with that key, or `None`."""
        return self.keys[key] if key in self.keys else self.base.doc_id_of(self.name, key)

    def put(self, doc_id: str, old: Doc | None, new: Doc | None) -> None:
        """Put a document in the place of the `old` one; one that was not there stands at the
        table's end.
        """
        self._count += (new is not None) - (old is not None)
        if old is None or new is None:
            self._added.pop(doc_id, None)
        if old is None and new is not None:
            self._added[doc_id] = None
        self.changed[doc_id] = new

    def greatest(self) -> int:
        """Return the greatest document id that is or was in use, 0 for none."""
        return max((self.base.greatest(self.name), *map(int, self.changed)))

    def latest(self) -> Iterator[tuple[str, Doc]]:
        """Yield documents with their ids, those first that stand last in the table."""
        for doc_id in reversed(self._added):
            doc = self.changed[doc_id]
            if doc is not None:
                yield doc_id, doc
        yield from (
            one
            for one in self._as_changed(self.base.latest(self.name))
            if one[0] not in self._added
        )

    def newest(self, count: int) -> list[str]:
        """Return the ids of documents in no order, among them those `count` whose records were made
        last.
        """
        there = (
            doc_id
            for doc_id in self.base.newest(self.name)
            if self.changed.get(doc_id, {}) is not None
        )
        found = dict.fromkeys(islice(there, count))
        return list(
            found | {doc_id: None for doc_id, doc in self.changed.items() if doc is not None}
        )

    def onto(self, docs: dict[str, Doc]) -> dict[str, Doc]:
        """Return the whole table, from its documents as the base has them, which are changed for
        it.
        """
        for doc_id, doc in self.changed.items():
            if doc is None or doc_id in self._added:
                docs.pop(doc_id, None)
            else:
                docs[doc_id] = doc
        for doc_id in self._added:
            doc = self.changed[doc_id]
            if doc is not None:
                docs[doc_id] = doc
        return docs

    def _as_changed(self, docs: Iterator[tuple[str, Doc]]) -> Iterator[tuple[str, Doc]]:
        for doc_id, doc in docs:
            now = self.changed.get(doc_id, doc)
            if now is not None:
                yield doc_id, now
