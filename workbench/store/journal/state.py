"""The store's documents in memory, as of one revision."""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from workbench.store.entry import Doc, DocChange, Transaction, apply_change, diff_docs, reverse
from workbench.store.records import key_of, state_in

if TYPE_CHECKING:
    from workbench.store.index.reading import ReadIndex

R = TypeVar("R")
Tables = dict[str, dict[str, Doc]]
Keys = frozenset[tuple[str, str]]
"""Records as (table, key) pairs."""


class Changes:
    """The document ids of one table that changed since they were last taken."""

    def __init__(self, guard: "threading.RLock") -> None:
        self._guard = guard
        self._ids: dict[str, bool] = {}

    def add(self, doc_id: str, removed: bool) -> None:
        """Note a change; `removed` sticks, for a document that comes back stands at the table's
        end.
        """
        removed = self._ids.pop(doc_id, False) or removed
        self._ids[doc_id] = removed

    def take(self) -> list[tuple[str, bool]]:
        """Return (document id, was removed) in the order of the latest changes, and begin anew."""
        if not self._ids:
            return []
        with self._guard:
            taken, self._ids = self._ids, {}
        return list(taken.items())


class Unread:
    """One table of a read index with its later changes on top, read only as far as it is asked for.

    The caller keeps threads apart."""

    def __init__(self, base: "ReadIndex", name: str) -> None:
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


class State:
    """Tables of documents keyed by TinyDB document id (as text), with an index on each record's own
    key.

    Documents are never changed in place: a change puts a new document in the old one's place, so a
    reader that holds one keeps what it saw. One thread changes a state at a time; any may read.

    With a `base`, tables are read from it when somebody asks for all of one; what is asked for
    singly, singly. Should the base turn out not to be what was written, `whole` gives all tables as
    of its revision.
    """

    def __init__(
        self,
        tables: Tables | None = None,
        rev: int = 0,
        next_ids: dict[str, int] | None = None,
        *,
        base: "ReadIndex | None" = None,
        whole: Callable[[int], Tables] | None = None,
    ) -> None:
        self._tables: Tables = tables or {}
        self._unread = {} if base is None else {name: Unread(base, name) for name in base.tables}
        self._order = list(self._unread)
        self._whole = whole
        self.rev = rev
        self.next_ids: dict[str, int] = next_ids or {}
        self.base_failed = False
        """Whether the base turned out not to be what was written."""
        self.clashes = 0
        """How many changes brought a new record where another one lives; none of them was applied."""
        self._index: dict[str, dict[str, str]] = {}
        self._guard = threading.RLock()
        self._watched: dict[str, list[Changes]] = {}

    @property
    def tables(self) -> Tables:
        """All tables; those that were not read yet are read for it."""
        for name in list(self._unread):
            self._read(name)
        if self._order:
            with self._guard:
                if self._order:
                    rest = [name for name in self._tables if name not in self._order]
                    ordered = (*(name for name in self._order if name in self._tables), *rest)
                    self._tables = {name: self._tables[name] for name in ordered}
                    self._order = []
        return self._tables

    @property
    def names(self) -> tuple[str, ...]:
        return (*self._tables, *self._unread) if self._unread else tuple(self._tables)

    @property
    def unread(self) -> Mapping[str, Unread]:
        """The tables that nobody asked for as a whole, as far as there are any."""
        return self._unread

    def docs(self, table: str) -> dict[str, Doc]:
        """Return the documents of one table, which is read for it."""
        self._read(table)
        return self._tables.get(table, {})

    def count(self, table: str) -> int:
        if self._unread:
            with self._guard:
                if (unread := self._unread.get(table)) is not None:
                    return len(unread)
        return len(self._tables.get(table, {}))

    def latest(self, table: str, count: int) -> list[tuple[str, Doc]]:
        """Return the documents that stand last in a table, with their ids, in the table's order."""
        if self._unread:
            found = self._asked(table, lambda unread: list(islice(unread.latest(), count)))
            if found is not None:
                return found[::-1]
        last = list(islice(reversed(self._tables.get(table, {}).items()), count))
        return last[::-1]

    def newest(self, table: str, count: int) -> list[str]:
        """Return the ids of documents in no order, among them those `count` whose records were made
        last.

        Of a table that was read already, all.
        """
        found = self._asked(table, lambda unread: unread.newest(count)) if self._unread else None
        return list(self._tables.get(table, {})) if found is None else found

    def get(self, table: str, doc_id: str) -> Doc | None:
        """Return a document, or `None`."""
        if self._unread:
            found = self._asked(table, lambda unread: (unread.get(doc_id),))
            if found is not None:
                return found[0]
        return self._tables.get(table, {}).get(doc_id)

    def doc_id_of(self, table: str, key: str) -> str | None:
        """Return the document id of the record with that key, or `None`."""
        if self._unread:
            found = self._asked(table, lambda unread: (unread.doc_id_of(key),))
            if found is not None:
                return found[0]
        return self.index(table).get(key)

    def changed(self, table: str) -> tuple[tuple[str, ...], bool] | None:
        """Return which documents of a table differ from those in the file of its base, and whether
        some are gone.

        `None` for a table that was read.
        """
        if not self._unread:
            return None

        def since(unread: Unread) -> tuple[tuple[str, ...], bool]:
            """Ask the base first, for what it has taken in since the file was written."""
            ids, gone = unread.base.changed(table)
            there = {**dict.fromkeys(ids), **dict.fromkeys(unread.changed)}
            now = tuple(id for id in there if unread.changed.get(id, {}) is not None)
            lost = (id for id in there if unread.changed.get(id, {}) is None)
            return now, gone or any(unread.base.get(table, id) is not None for id in lost)

        return self._asked(table, since)

    def waiting(self, table: str, state: str) -> list[str]:
        """Return the ids of the documents whose record waits in a state."""

        def among(unread: Unread) -> list[str]:
            """Look at what changed, and at what the base says of the rest."""
            known = (id for id in unread.base.waiting(table, state) if id not in unread.changed)
            return [
                *known,
                *(
                    id
                    for id, doc in unread.changed.items()
                    if doc and state_in(table, doc) == state
                ),
            ]

        found = self._asked(table, among) if self._unread else None
        if found is not None:
            return found
        return [
            id
            for id, doc in list(self._tables.get(table, {}).items())
            if state_in(table, doc) == state
        ]

    def index(self, table: str) -> dict[str, str]:
        """Return the map from record key to document id, built on first use and kept up to date
        after.
        """
        known = self._index.get(table)
        if known is not None:
            return known
        with self._guard:
            docs = self.docs(table)
            known = {key: n for n, doc in docs.items() if (key := key_of(table, doc)) is not None}
            return self._index.setdefault(table, known)

    def next_id(self, table: str) -> int:
        """Return the next free document id of a table."""
        known = self.next_ids.get(table)
        if known is None:
            found = self._asked(table, Unread.greatest) if self._unread else None
            known = (
                max(map(int, list(self._tables.get(table, {}))), default=0)
                if found is None
                else found
            ) + 1
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

    def view(self) -> Mapping[str, Mapping[str, Doc]]:
        """Return the tables for looking single documents up, which reads nothing else."""
        return _View(self)

    def apply(self, entry: Transaction) -> Keys:
        """Apply one transaction and return the records it touched."""
        touched: set[tuple[str, str]] = set()
        with self._guard:
            for change in entry.changes:
                touched.update((change.table, key) for key in self._apply(change))
            for table, number in entry.next_ids.items():
                self.next_ids[table] = max(number, self.next_ids.get(table, 0))
            self.rev = entry.rev
        return frozenset(touched)

    def _apply(self, change: DocChange) -> tuple[str, ...]:
        name = change.table
        if change.op == "drop":
            self._tables.pop(name, None)
            self._unread.pop(name, None)
            self._index.pop(name, None)
            self.next_ids.pop(name, None)
            return ()
        if name not in self._unread:
            self._tables.setdefault(name, {})
        if change.op == "table":
            return ()
        old = self.get(name, change.doc)
        if old is not None and change.op == "insert":
            self.clashes += 1
            return ()
        new = apply_change(old, change)
        old_key = None if old is None else key_of(name, old)
        new_key = None if new is None else key_of(name, new)
        self._put(name, change.doc, old, new)
        self._rename(name, change.doc, old_key, new_key)
        for changes in self._watched.get(name, ()):
            changes.add(change.doc, removed=new is None)
        keys = tuple(dict.fromkeys(key for key in (old_key, new_key) if key is not None))
        return keys if keys or (old is None and new is None) else (change.doc,)

    def _put(self, table: str, doc_id: str, old: Doc | None, new: Doc | None) -> None:
        unread = self._unread.get(table)
        if unread is not None:
            if old is not None or new is not None:
                unread.put(doc_id, old, new)
        elif new is None:
            self._tables[table].pop(doc_id, None)
        else:
            self._tables[table][doc_id] = new

    def _rename(self, table: str, doc_id: str, old: str | None, new: str | None) -> None:
        """Let the index know under which key a document's record was found, and under which it is
        now.
        """
        unread = self._unread.get(table)
        if old is not None and old != new and self.doc_id_of(table, old) == doc_id:
            if unread is not None:
                unread.keys[old] = None
            else:
                self.index(table).pop(old, None)
        if new is not None:
            (self.index(table) if unread is None else unread.keys)[new] = doc_id

    def _asked(self, table: str, ask: Callable[[Unread], R]) -> R | None:
        """Ask a table that was not read; `None` when it was, or has to be now."""
        with self._guard:
            unread = self._unread.get(table)
            if unread is None:
                return None
            try:
                return ask(unread)
            except OSError:
                self._read_otherwise()
                return None

    def _read(self, table: str) -> None:
        """Read a table from the base, if it was not; others may look single documents up and change
        some meanwhile.
        """
        unread = self._unread.get(table)
        if unread is None:
            return
        try:
            docs = unread.base.read(table)
        except OSError:
            with self._guard:
                self._read_otherwise()
            return
        with self._guard:
            if self._unread.get(table) is unread:
                self._tables[table] = unread.onto(docs)
                del self._unread[table]

    def _read_otherwise(self) -> None:
        """Under the guard: read all tables from what the base was made of; raises `OSError` when
        that fails, too.
        """
        if not self._unread:
            return
        assert self._whole is not None
        self.base_failed = True
        rev = next(iter(self._unread.values())).base.rev
        tables = self._whole(rev)
        for name, unread in self._unread.items():
            self._tables[name] = unread.onto(dict(tables.get(name, {})))
        self._unread.clear()


class _View(Mapping[str, Mapping[str, Doc]]):
    """The tables of a state, none of which is read before somebody walks through it."""

    def __init__(self, state: State) -> None:
        self._state = state

    def __getitem__(self, table: str) -> Mapping[str, Doc]:
        if table not in self._state.names:
            raise KeyError(table)
        return _TableView(self._state, table)

    def __iter__(self) -> Iterator[str]:
        return iter(self._state.names)

    def __len__(self) -> int:
        return len(self._state.names)


class _TableView(Mapping[str, Doc]):
    def __init__(self, state: State, table: str) -> None:
        self._state = state
        self._table = table

    def __getitem__(self, doc_id: str) -> Doc:
        doc = self._state.get(self._table, doc_id)
        if doc is None:
            raise KeyError(doc_id)
        return doc

    def __iter__(self) -> Iterator[str]:
        return iter(self._state.docs(self._table))

    def __len__(self) -> int:
        return self._state.count(self._table)


# How two sets of tables differ, and a set as it was before the latest transactions.


def diff_tables(old: Tables, new: Tables) -> Iterator[DocChange]:
    """Yield the changes that lead from one set of tables to another; a table that is gone has lost
    its documents.
    """
    for name in [*old, *(n for n in new if n not in old)]:
        if name not in old:
            yield DocChange(name, "", "table")
        before, after = old.get(name, {}), new.get(name, {})
        for doc_id in [*before, *(n for n in after if n not in before)]:
            change = diff_docs(name, doc_id, before.get(doc_id), after.get(doc_id), frozenset())
            if change is not None:
                yield change


def changed_keys(old: Tables, new: Tables) -> Keys:
    """Return the records, as (table, key), that differ between two sets of tables."""
    return frozenset(
        (change.table, key_of(change.table, doc) or change.doc)
        for change in diff_tables(old, new)
        for doc in (tables.get(change.table, {}).get(change.doc) for tables in (old, new))
        if doc is not None
    )


def take_back(tables: Tables, entries: Iterable[Transaction], rev: int) -> Tables:
    """Take transactions, given newest first, out of `tables` down to revision `rev`, and return it."""
    for entry in entries:
        if entry.rev <= rev:
            break
        for change in reversed(entry.changes):
            _take_back(tables, change)
    return tables


def taken_back(entry: Transaction) -> Transaction:
    """Return what takes a transaction back; what was purged since is gone at every revision."""
    changes = (
        DocChange(c.table, c.doc, "delete") if c.redacted else reverse(c)
        for c in reversed(entry.changes)
    )
    return entry._replace(changes=tuple(changes), next_ids={})


def _take_back(tables: Tables, change: DocChange) -> None:
    if change.op == "table":
        tables.pop(change.table, None)
        return
    docs = tables.setdefault(change.table, {})
    if change.doc:
        before = None if change.redacted else apply_change(docs.get(change.doc), reverse(change))
        if before is None:
            docs.pop(change.doc, None)
        else:
            docs[change.doc] = before


# What a transaction has touched so far.


class Staged:
    """The documents a transaction has touched so far, over the state it started from.

    `label`, when it is set, says what is done better than what was said when it began; `takes` are
    the actions that are taken back here.
    `keys` maps (table, record key) to the document id that a new record was given here. `reserve`
    returns a number for a new document of a table, given what would be the next one here.
    """

    def __init__(
        self,
        state: State,
        counters: frozenset[str],
        reserve: Callable[[str, int], int] | None = None,
    ) -> None:
        self._state = state
        self._reserve = reserve
        self.counters = counters
        self.docs: dict[tuple[str, str], Doc | None] = {}
        self.tables: dict[str, DocChange] = {}
        self.next_ids: dict[str, int] = {}
        self.keys: dict[tuple[str, str], str] = {}
        self.label = ""
        self.takes: tuple[str, ...] = ()

    def get(self, table: str, doc_id: str) -> Doc | None:
        """Return a document as this transaction sees it."""
        key = (table, doc_id)
        return self.docs[key] if key in self.docs else self._state.get(table, doc_id)

    def doc_id_of(self, table: str, key: str) -> str | None:
        """Return the document id of the record with that key, one made here included."""
        return self.keys.get((table, key)) or self._state.doc_id_of(table, key)

    def key_of(self, table: str, doc_id: str) -> str:
        """Name the record of a document, as it is here or was before; its document id when it has
        no key.
        """
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
        """Take the next free document id; one that exists is never handed out, whatever the counter
        says.
        """
        taken = max(self._state.next_id(table), self.next_ids.get(table, 0))
        if self._reserve is not None:
            taken = self._reserve(table, taken)
        while self.get(table, str(taken)) is not None:
            taken = taken + 1 if self._reserve is None else self._reserve(table, taken)
        self.next_ids[table] = taken + 1
        return taken

    def raise_next_id(self, table: str, least: int) -> None:
        """Let the next document id be at least `least`."""
        if least > max(self._state.next_id(table), self.next_ids.get(table, 0)):
            self.next_ids[table] = least

    def changes(self) -> tuple[DocChange, ...]:
        """Return what really differs from the state: tables made, documents as first touched,
        tables dropped.
        """
        made = [c for c in self.tables.values() if c.op == "table"]
        dropped = [c for c in self.tables.values() if c.op == "drop"]
        diffs = (
            diff_docs(table, doc_id, self._state.get(table, doc_id), doc, self.counters)
            for (table, doc_id), doc in self.docs.items()
        )
        return (*made, *(d for d in diffs if d is not None), *dropped)

    def clashes(self, entries: Iterable[Transaction]) -> bool:
        """Tell whether transactions that came in between touch the same; if not, this one stands on
        them now.
        """
        for entry in entries:
            for change in entry.changes:
                if change.op in ("table", "drop") or (change.table, change.doc) in self.docs:
                    return True
        if any(self._state.doc_id_of(*record) is not None for record in self.keys):
            return True
        self.next_ids = {
            table: max(self._state.next_id(table), number)
            for table, number in self.next_ids.items()
        }
        return False

    def _keep(self, table: str) -> None:
        """A table that is used again after it was dropped in the same transaction is not dropped."""
        known = self.tables.get(table)
        if known is not None and known.op == "drop":
            del self.tables[table]


# Telling listeners what was committed, in order and without holding any lock.


Listener = Callable[[Transaction, Keys], None]


class Announcer:
    """A queue of applied transactions and those who want to hear of them."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._pending: deque[tuple[Transaction, Keys]] = deque()
        self._delivering = threading.Lock()

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def add(self, entry: Transaction, keys: Keys) -> None:
        """Queue a transaction; nobody is called yet."""
        if self._listeners:
            self._pending.append((entry, keys))

    def deliver(self) -> None:
        """Call the listeners with what is queued; while another thread does so, it takes these
        along.
        """
        while self._pending and self._delivering.acquire(blocking=False):
            try:
                while self._pending:
                    entry, keys = self._pending.popleft()
                    for listener in self._listeners:
                        listener(entry, keys)
            finally:
                self._delivering.release()


_KNOWN = 256


class Groups:
    """What is known of the latest groups. `unfinished` maps a group to its label."""

    def __init__(self, unfinished: Mapping[str, str]) -> None:
        self.unfinished = dict(unfinished)
        self._parts: OrderedDict[str, int] = OrderedDict()

    def part(self, entry: Transaction) -> int:
        """Return the number of a new part: the one it has, or the next one when that is taken."""
        known = self._parts.get(entry.group, 0) if entry.group and entry.kind == "edit" else 0
        return max(entry.part, known + 1)

    def apply(self, entry: Transaction) -> None:
        """Take a committed transaction into account."""
        if not entry.group:
            return
        if entry.kind == "edit":
            self._parts[entry.group] = max(entry.part, self._parts.pop(entry.group, 0))
            while len(self._parts) > _KNOWN:
                self._parts.popitem(last=False)
        if entry.kind == "edit" and entry.more:
            self.unfinished[entry.group] = entry.label
        else:
            self.unfinished.pop(entry.group, None)
