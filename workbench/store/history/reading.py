"""The past of a store: who changed what, and any record as it was.

Nothing is kept for this beside the journal: the past is the present with the later changes taken back.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from workbench.core.record import ABSENT
from workbench.store.entry import Doc, DocChange, Kind, Transaction, apply_change, reverse
from workbench.store.journal.codec import dumps
from workbench.store.journal.difference import take_back
from workbench.store.journal.engine import Journal
from workbench.store.journal.state import Tables
from workbench.store.records import key_of

_MANY = 1_000
"""Records whose changes are looked for by name."""


@dataclass(frozen=True, slots=True)
class FieldEvent:
    """One field of one record before and after; `None` stands for absent, `step` is set for counted fields."""

    table: str
    key: str
    field: str
    before: Any
    after: Any
    step: float | None = None
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """One transaction as it is listed; `at` is ISO 8601 UTC."""

    rev: int
    at: str
    actor: str
    label: str
    kind: Kind
    group: str
    target: int
    fields: tuple[FieldEvent, ...]


def events(journal: Journal, record: tuple[str, str] | None = None, *, accesses: bool = False) -> Iterator[Event]:
    """Yield the transactions, newest first: all, or those that touched the record (table, key).

    Reads by agents are left out unless `accesses` is true.
    """
    docs = None if record is None else doc_ids(journal, *record)
    needle = f'"id":"{docs[0]}"'.encode() if docs is not None and len(docs) == 1 else None
    names: dict[tuple[str, str], str] = {}
    for entry in journal.entries_back(needle):
        if entry.kind == "access" and not accesses:
            continue
        touched = [c for c in entry.changes if docs is None or (record and c.table == record[0] and c.doc in docs)]
        if touched or docs is None:
            fields = tuple(f for change in touched for f in _fields(journal, change, names))
            yield Event(
                entry.rev, entry.at, entry.actor, entry.label, entry.kind, entry.group, entry.target, fields
            )  # fmt: skip


def doc_ids(journal: Journal, table: str, key: str) -> list[str]:
    """Return the document ids under which a record stands or stood, the present one first; none when it never did."""
    present = journal.state.doc_id_of(table, key)
    found: dict[str, None] = {} if present is None else {present: None}
    for entry in journal.entries_back(needle_of(key)):
        for change in entry.changes:
            if change.table == table and change.op in ("insert", "delete") and _side_key(change) == key:
                found[change.doc] = None
    return list(found)


def changes_of(journal: Journal, table: str, keys: Iterable[str]) -> Iterator[tuple[Transaction, str, DocChange]]:
    """Yield the changes of the records that stand under `keys`, newest first, with their transaction and the key.

    Reads by agents are left out. One pass over the journal, whatever the number of keys.
    """
    docs = {doc: key for key in keys if (doc := journal.state.doc_id_of(table, key)) is not None}
    if not docs:
        return
    # Of very many records nearly every line holds one: looking for their names would take longer than reading it.
    needles = () if len(docs) > _MANY else [f'"id":"{doc}"'.encode() for doc in docs]
    for entry in journal.entries_back(*needles, docs=docs):
        if entry.kind != "access":
            yield from (
                (entry, docs[change.doc], change)
                for change in reversed(entry.changes)
                if change.table == table and change.doc in docs
            )


def moves(
    journal: Journal, table: str, field: str, value: str, others: Iterable[str], after: int = 0
) -> Iterator[tuple[Transaction, DocChange]]:
    """Yield the changes that took a field of a record from `value` to something else, or back to it from one of
    `others`, newest first: those after a revision. The making of a record is none of them.
    """
    name, held = dumps(field), dumps(value)
    needles = [name + b":[" + held + b",", *(dumps(other) + b"," + held + b"]" for other in others)]
    # What is new is at the end: a needle would look for what is not there up to the beginning.
    for entry in journal.entries_back(*needles) if not after else journal.entries_back():
        if entry.rev <= after:
            return
        for change in reversed(entry.changes):
            sides = change.fields.get(field, ())
            if change.table == table and change.op == "update" and value in sides:
                yield entry, change


def find_place(journal: Journal, name: str) -> tuple[str, str] | None:
    """Return (table, key) of the record called `name`, a key or the last part of one, that is or was in the store.

    Of several that were there under a part of their key, the one that was touched last.
    """
    for table in journal.state.names:
        if journal.state.doc_id_of(table, name) is not None:
            return table, name
    for entry in journal.entries_back(needle_of(name)):
        for change in entry.changes:
            key = _side_key(change) if change.op in ("insert", "delete") else None
            if key is not None and name in (key, key.rpartition("/")[2]):
                return change.table, key
    return None


def at_revision(journal: Journal, table: str, key: str, rev: int) -> Doc | None:
    """Return a record's document as it was right after revision `rev`, or `None` when there was none.

    What was purged is gone at every revision. Raises `ValueError` for a revision that is not there yet.
    """
    if not 0 <= rev <= journal.rev:
        raise ValueError(f"there is no revision {rev}; the latest is {journal.rev}")
    for doc_id in doc_ids(journal, table, key):
        doc = journal.state.get(table, doc_id)
        for entry in journal.entries_back(f'"id":"{doc_id}"'.encode()):
            if entry.rev <= rev:
                break
            for change in reversed(entry.changes):
                if change.table == table and change.doc == doc_id:
                    doc = None if change.redacted else apply_change(doc, reverse(change))
        if doc is not None:
            return doc
    return None


def tables_at(journal: Journal, rev: int) -> Tables:
    """Return all documents as they were right after revision `rev`."""
    return take_back(journal.state.snapshot(), journal.entries_back(), rev)


def needle_of(key: str) -> bytes:
    """Return what a line that makes or removes the record holds: the end of its id, as JSON writes it."""
    return dumps(key.rpartition("/")[2])[1:]


def _fields(journal: Journal, change: DocChange, names: dict[tuple[str, str], str]) -> Iterator[FieldEvent]:
    if not change.doc:
        return
    key = _key(journal, change, names)
    for name, (before, after) in change.fields.items():
        yield FieldEvent(change.table, key, name, _plain(before), _plain(after), redacted=change.redacted)
    for name, step in change.inc.items():
        yield FieldEvent(change.table, key, name, None, None, step, change.redacted)


def _key(journal: Journal, change: DocChange, names: dict[tuple[str, str], str]) -> str:
    """Name the record of a change; `names` remembers records that are gone, from their later deletion."""
    place = (change.table, change.doc)
    doc = journal.state.get(*place)
    if doc is not None:
        return key_of(change.table, doc) or change.doc
    if change.op in ("insert", "delete"):
        names[place] = _side_key(change) or change.doc
    return names.get(place, change.doc)


def _side_key(change: DocChange) -> str | None:
    side = {n: before if change.op == "delete" else after for n, (before, after) in change.fields.items()}
    return key_of(change.table, side)


def _plain(value: Any) -> Any:
    return None if value is ABSENT else value
