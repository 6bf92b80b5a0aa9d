"""The store's documents in memory, as of one revision."""

import threading
from collections.abc import Callable

from workbench.store.entry import Doc, DocChange, Entry, apply_change

Tables = dict[str, dict[str, Doc]]
KeyOf = Callable[[str, Doc], str | None]
Keys = frozenset[tuple[str, str]]
"""Records as (table, key) pairs."""


def id_field(_table: str, doc: Doc) -> str | None:
    """Return the `id` field of a document, when it is text: the default key of a record."""
    key = doc.get("id")
    return key if isinstance(key, str) else None


class Changes:
    """The document ids of one table that changed since they were last taken."""

    def __init__(self, guard: "threading.RLock") -> None:
        self._guard = guard
        self._ids: dict[str, bool] = {}

    def add(self, doc_id: str, removed: bool) -> None:
        """Note a change; `removed` sticks, for a document that comes back stands at the table's end."""
        removed = self._ids.pop(doc_id, False) or removed
        self._ids[doc_id] = removed

    def take(self) -> list[tuple[str, bool]]:
        """Return (document id, was removed) in the order of the latest changes, and begin anew."""
        if not self._ids:
            return []
        with self._guard:
            taken, self._ids = self._ids, {}
        return list(taken.items())


class State:
    """Tables of documents keyed by TinyDB document id (as text), with an index on each record's own key.

    Documents are never changed in place: a change puts a new document in the old one's place,
    so a reader that holds one keeps what it saw. One thread changes a state at a time; any may read.
    """

    def __init__(
        self,
        tables: Tables | None = None,
        rev: int = 0,
        next_ids: dict[str, int] | None = None,
        key_of: KeyOf = id_field,
    ) -> None:
        self.tables: Tables = tables or {}
        self.rev = rev
        self.next_ids: dict[str, int] = next_ids or {}
        self.key_of = key_of
        self.clashes = 0
        """How many changes brought a new record where another one lives; none of them was applied."""
        self._index: dict[str, dict[str, str]] = {}
        self._guard = threading.RLock()
        self._watched: dict[str, list[Changes]] = {}

    def get(self, table: str, doc_id: str) -> Doc | None:
        """Return a document, or `None`."""
        return self.tables.get(table, {}).get(doc_id)

    def doc_id_of(self, table: str, key: str) -> str | None:
        """Return the document id of the record with that key, or `None`."""
        return self.index(table).get(key)

    def index(self, table: str) -> dict[str, str]:
        """Return the map from record key to document id, built on first use and kept up to date after."""
        known = self._index.get(table)
        if known is not None:
            return known
        with self._guard:
            docs = self.tables.get(table, {})
            known = {key: n for n, doc in docs.items() if (key := self.key_of(table, doc)) is not None}
            return self._index.setdefault(table, known)

    def next_id(self, table: str) -> int:
        """Return the next free document id of a table."""
        known = self.next_ids.get(table)
        if known is None:
            known = max((int(k) for k in list(self.tables.get(table, {}))), default=0) + 1
            self.next_ids[table] = known
        return known

    def watch(self, table: str) -> Changes:
        """Return a note of what changes in a table from now on."""
        changes = Changes(self._guard)
        self._watched.setdefault(table, []).append(changes)
        return changes

    def snapshot(self) -> Tables:
        """Return the tables as they are now; later changes do not show in it."""
        return {name: dict(docs) for name, docs in list(self.tables.items())}

    def apply(self, entry: Entry) -> Keys:
        """Apply one transaction and return the records it touched."""
        touched: set[tuple[str, str]] = set()
        with self._guard:
            for change in entry.changes:
                touched.update((change.table, key) for key in self._apply(change))
            self.next_ids.update(entry.next_ids)
            self.rev = entry.rev
        return frozenset(touched)

    def _apply(self, change: DocChange) -> tuple[str, ...]:
        name = change.table
        if change.op == "drop":
            self.tables.pop(name, None)
            self._index.pop(name, None)
            self.next_ids.pop(name, None)
            return ()
        table = self.tables.setdefault(name, {})
        if change.op == "table":
            return ()
        old = table.get(change.doc)
        if old is not None and change.op == "insert":
            self.clashes += 1
            return ()
        new = apply_change(old, change)
        index = self.index(name)
        old_key = None if old is None else self.key_of(name, old)
        new_key = None if new is None else self.key_of(name, new)
        if old_key is not None and old_key != new_key and index.get(old_key) == change.doc:
            del index[old_key]
        if new is None:
            table.pop(change.doc, None)
        else:
            table[change.doc] = new
        if new_key is not None:
            index[new_key] = change.doc
        for changes in self._watched.get(name, ()):
            changes.add(change.doc, removed=new is None)
        keys = tuple(dict.fromkeys(key for key in (old_key, new_key) if key is not None))
        return keys if keys or (old is None and new is None) else (change.doc,)
