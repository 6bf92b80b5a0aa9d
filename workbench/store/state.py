"""The store's documents in memory, as of one revision."""

from collections.abc import Callable, Iterable

from workbench.store.entry import Doc, DocChange, Entry, apply_change

Tables = dict[str, dict[str, Doc]]
KeyOf = Callable[[str, Doc], str | None]


def id_field(_table: str, doc: Doc) -> str | None:
    """Return the `id` field of a document, when it is text: the default key of a record."""
    key = doc.get("id")
    return key if isinstance(key, str) else None


class State:
    """Tables of documents keyed by TinyDB document id (as text), with an index on each record's own key.

    Documents are never changed in place: a change puts a new document in the old one's place,
    so a reader that holds one keeps what it saw.
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
        self._key_of = key_of
        self._index: dict[str, dict[str, str]] = {}

    def get(self, table: str, doc_id: str) -> Doc | None:
        """Return a document, or `None`."""
        return self.tables.get(table, {}).get(doc_id)

    def doc_id_of(self, table: str, key: str) -> str | None:
        """Return the document id of the record with that key, or `None`."""
        return self.index(table).get(key)

    def index(self, table: str) -> dict[str, str]:
        """Return the map from record key to document id, built on first use and kept up to date after."""
        known = self._index.get(table)
        if known is None:
            docs = self.tables.get(table, {})
            known = {key: n for n, doc in docs.items() if (key := self._key_of(table, doc)) is not None}
            self._index[table] = known
        return known

    def next_id(self, table: str) -> int:
        """Return the next free document id of a table."""
        known = self.next_ids.get(table)
        if known is None:
            known = max((int(k) for k in self.tables.get(table, {})), default=0) + 1
            self.next_ids[table] = known
        return known

    def apply(self, entry: Entry) -> None:
        """Apply one transaction."""
        for change in entry.changes:
            self._apply(change)
        self.next_ids.update(entry.next_ids)
        self.rev = entry.rev

    def apply_all(self, entries: Iterable[Entry]) -> None:
        """Apply transactions in order."""
        for entry in entries:
            self.apply(entry)

    def _apply(self, change: DocChange) -> None:
        if change.op == "drop":
            self.tables.pop(change.table, None)
            self._index.pop(change.table, None)
            self.next_ids.pop(change.table, None)
            return
        table = self.tables.setdefault(change.table, {})
        if change.op == "table":
            return
        old = table.get(change.doc)
        new = apply_change(old, change)
        index = self.index(change.table)
        old_key = None if old is None else self._key_of(change.table, old)
        if old_key is not None and index.get(old_key) == change.doc:
            del index[old_key]
        if new is None:
            table.pop(change.doc, None)
            return
        table[change.doc] = new
        new_key = self._key_of(change.table, new)
        if new_key is not None:
            index[new_key] = change.doc
