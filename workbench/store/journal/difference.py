"""How two sets of tables differ, and a set as it was before the latest transactions."""

from collections.abc import Iterable, Iterator

from workbench.store.entry import DocChange, Transaction, apply_change, diff_docs, reverse
from workbench.store.journal.state import Keys, Tables
from workbench.store.records import key_of


def diff_tables(old: Tables, new: Tables) -> Iterator[DocChange]:
    """Yield the changes that lead from one set of tables to another; a table that is gone has lost its documents."""
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
    changes = (DocChange(c.table, c.doc, "delete") if c.redacted else reverse(c) for c in reversed(entry.changes))
    return entry._replace(changes=tuple(changes), next_ids={})


def _take_back(tables: Tables, change: DocChange) -> None:
    if change.op == "table":
        tables.pop(change.table, None)
        return
    docs = tables.setdefault(change.table, {})
    if change.doc:
        doc = apply_change(docs.get(change.doc), reverse(change))
        if doc is None:
            docs.pop(change.doc, None)
        else:
            docs[change.doc] = doc
