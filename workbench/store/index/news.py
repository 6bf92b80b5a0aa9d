"""What came into a store with each transaction: facts from which follows what is new since any revision."""

from typing import NamedTuple

from workbench.store.entry import Transaction


class Arrival(NamedTuple):
    """One transaction that added documents to the stream, or read some of them for an agent: their ids."""

    rev: int
    actor: str
    kind: str
    added: tuple[str, ...]
    read: tuple[str, ...]


def arrival_of(entry: Transaction, table: str) -> Arrival | None:
    """Return what a transaction added to a table, and read of it; `None` for nothing of either."""
    changes = [change for change in entry.changes if change.table == table]
    added = tuple(change.doc for change in changes if change.op == "insert")
    read = tuple(change.doc for change in changes) if entry.kind == "access" else ()
    return Arrival(entry.rev, entry.actor, entry.kind, added, read) if added or read else None
