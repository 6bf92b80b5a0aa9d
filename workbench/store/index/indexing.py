"""How a store is indexed."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from workbench.store.entry import Transaction

FILE = "index.sqlite"
"""Name of the index, in the cache folder of a store."""


class Indexing(NamedTuple):
    """How a store is indexed: in which cache `folder`, of which table the `news` are kept.

    `begin` makes the folder before anything is written, and raises `OSError` when that cannot be
    done.

    Below `least` bytes of documents there is no index: reading all of them is as fast. What so many
    changes after the index brought, `fold_after`, the next who reads them takes into it.
    """

    folder: Path
    begin: Callable[[], object]
    news: str
    least: int = 1 << 20
    fold_after: int = 200

    def forget(self) -> None:
        """Remove the index, if there is one that can be removed."""
        with suppress(OSError):
            (self.folder / FILE).unlink(missing_ok=True)


# What came into a store with each transaction: facts from which follows what is new since any
# revision.


class Arrival(NamedTuple):
    """One transaction that added documents to the stream, or read some of them for an agent: their
    ids.
    """

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
