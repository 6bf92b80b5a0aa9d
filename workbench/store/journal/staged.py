"""What a transaction has touched so far."""

from collections.abc import Iterable

from workbench.store.entry import Doc, DocChange, Transaction, diff_docs
from workbench.store.journal.state import State
from workbench.store.records import key_of


class Staged:
    """The documents a transaction has touched so far, over the state it started from.

    `label`, when it is set, says what is done better than what was said when it began.
    `keys` maps (table, record key) to the document id that a new record was given here.
    """

    def __init__(self, state: State, counters: frozenset[str]) -> None:
        self._state = state
        self.counters = counters
        self.docs: dict[tuple[str, str], Doc | None] = {}
        self.tables: dict[str, DocChange] = {}
        self.next_ids: dict[str, int] = {}
        self.keys: dict[tuple[str, str], str] = {}
        self.label = ""

    def get(self, table: str, doc_id: str) -> Doc | None:
        """Return a document as this transaction sees it."""
        key = (table, doc_id)
        return self.docs[key] if key in self.docs else self._state.get(table, doc_id)

    def doc_id_of(self, table: str, key: str) -> str | None:
        """Return the document id of the record with that key, one made here included."""
        return self.keys.get((table, key)) or self._state.doc_id_of(table, key)

    def key_of(self, table: str, doc_id: str) -> str:
        """Name the record of a document, as it is here or was before; its document id when it has no key."""
        doc = self.get(table, doc_id) or self._state.get(table, doc_id)
        return (None if doc is None else key_of(table, doc)) or doc_id

    def put(self, table: str, doc_id: str, doc: Doc) -> None:
        """Insert or replace a document."""
        self._keep(table)
        self.docs[table, doc_id] = doc
        self.raise_next_id(table, int(doc_id) + 1)

    def delete(self, table: str, doc_id: str) -> None:
        """Remove a document; one that is not there is no change."""
        self.docs[table, doc_id] = None

    def ensure_table(self, table: str) -> None:
        """Make an empty table."""
        self._keep(table)
        if table not in self._state.names:
            self.tables[table] = DocChange(table, "", "table")

    def drop_table(self, table: str) -> None:
        """Remove a table with all its documents."""
        here = [doc_id for name, doc_id in self.docs if name == table]
        for doc_id in (*self._state.docs(table), *here):
            self.delete(table, doc_id)
        if table in self._state.names:
            self.tables[table] = DocChange(table, "", "drop")
        else:
            self.tables.pop(table, None)

    def allocate(self, table: str) -> int:
        """Take the next free document id; one that exists is never handed out, whatever the counter says."""
        taken = max(self._state.next_id(table), self.next_ids.get(table, 0))
        while self.get(table, str(taken)) is not None:
            taken += 1
        self.next_ids[table] = taken + 1
        return taken

    def raise_next_id(self, table: str, least: int) -> None:
        """Let the next document id be at least `least`."""
        if least > max(self._state.next_id(table), self.next_ids.get(table, 0)):
            self.next_ids[table] = least

    def changes(self) -> tuple[DocChange, ...]:
        """Return what really differs from the state: tables made, documents as first touched, tables dropped."""
        made = [c for c in self.tables.values() if c.op == "table"]
        dropped = [c for c in self.tables.values() if c.op == "drop"]
        diffs = (
            diff_docs(table, doc_id, self._state.get(table, doc_id), doc, self.counters)
            for (table, doc_id), doc in self.docs.items()
        )
        return (*made, *(d for d in diffs if d is not None), *dropped)

    def clashes(self, entries: Iterable[Transaction]) -> bool:
        """Tell whether transactions that came in between touch the same; if not, this one stands on them now."""
        for entry in entries:
            for change in entry.changes:
                if change.op in ("table", "drop") or (change.table, change.doc) in self.docs:
                    return True
        if any(self._state.doc_id_of(*record) is not None for record in self.keys):
            return True
        self.next_ids = {table: max(self._state.next_id(table), number) for table, number in self.next_ids.items()}
        return False

    def _keep(self, table: str) -> None:
        """A table that is used again after it was dropped in the same transaction is not dropped."""
        known = self.tables.get(table)
        if known is not None and known.op == "drop":
            del self.tables[table]
