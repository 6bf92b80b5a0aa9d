"""Where texts of a large store come from, kept between two processes in the user's own cache.

What is kept was found out at one moment: a revision, and the checksum of its line. It counts only where the journal
still has that line, and of no record that was changed since; what cannot be told is found out again.
"""

import contextlib
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, get_args

from workbench.core.agents.provenance import Provenance, ProvenanceKind
from workbench.store.index.indexing import FILE as INDEX
from workbench.store.library import Library

FILE = "origins.sqlite"
FARTHEST = 500
"""Revisions after that moment that are looked through; after more of them, all is found out again."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS moment (store TEXT, edition INTEGER, rev INTEGER, mark TEXT)",
    "CREATE TABLE IF NOT EXISTS known (tab TEXT, key TEXT, kind TEXT, name TEXT, approved INTEGER, "
    "PRIMARY KEY (tab, key)) WITHOUT ROWID",
)
_KINDS: frozenset[str] = frozenset(get_args(ProvenanceKind))

Place = tuple[str, str]
"""Table and key of a record."""


class Moment(NamedTuple):
    """The state of a store at which something was found out."""

    store: str
    edition: int
    rev: int
    mark: str


class KeptOrigins:
    """What is kept of one store in its cache `folder`; of one that is not trusted or not indexed, nothing."""

    def __init__(self, library: Library, folder: Path) -> None:
        self._library = library
        self._path = folder / FILE

    def read(self, table: str, keys: Collection[str]) -> dict[str, Provenance]:
        """Return what is kept of some records and still holds."""
        if not self._counts or not self._path.exists():
            return {}
        try:
            with self._open() as connection:
                moment = _moment(connection)
                changed = None if moment is None else self._changed(moment)
                if changed is None:
                    return {}
                return {
                    key: one for key in keys if (table, key) not in changed and (one := _found(connection, table, key))
                }
        except (sqlite3.Error, OSError, ValueError):
            return {}

    def write(self, known: Mapping[Place, Provenance], now: Moment) -> None:
        """Keep what is known of records as the store is `now`; nothing fails for it."""
        if not self._counts or not known:
            return
        with contextlib.suppress(sqlite3.Error, OSError, ValueError), self._open() as connection:
            before = _moment(connection)
            changed = None if before is None else self._changed(before)
            gone: Iterable[Place] = () if changed is None else changed
            if changed is None:
                connection.execute("DELETE FROM known")
            connection.executemany("DELETE FROM known WHERE tab = ? AND key = ?", gone)
            rows = ((*place, one.kind, one.name, one.approved) for place, one in known.items())
            connection.executemany("INSERT OR REPLACE INTO known VALUES (?, ?, ?, ?, ?)", rows)
            connection.execute("DELETE FROM moment")
            connection.execute("INSERT INTO moment VALUES (?, ?, ?, ?)", now)
            connection.execute("COMMIT")

    @property
    def _counts(self) -> bool:
        return self._library.standing.trusted and (self._path.parent / INDEX).exists()

    def now(self) -> Moment:
        """Return the state of the store as it was taken in."""
        store, rev, mark = self._library.named_state
        return Moment(store, self._library.edition, rev, mark)

    def _changed(self, then: Moment) -> set[Place] | None:
        """Return what was changed since a moment, readings left out; `None` where the journal no longer knows it."""
        now, library = self.now(), self._library
        if (then.store, then.edition) != (now.store, now.edition) or not 0 <= now.rev - then.rev <= FARTHEST:
            return None
        if then.rev == now.rev:
            return set() if then.mark == now.mark else None
        if not library.has_line(then.mark):
            return None
        changed: set[Place] = set()
        for entry in library.changes_back():
            if entry.rev <= then.rev:
                return changed
            if entry.kind == "purge":
                return None
            if entry.kind != "access":
                changed |= {(change.table, library.key_of(change)) for change in entry.changes if change.doc}
        return None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        os.close(handle)
        with contextlib.closing(sqlite3.connect(self._path, isolation_level=None, timeout=0.2)) as connection:
            for statement in _TABLES:
                connection.execute(statement)
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def _moment(connection: sqlite3.Connection) -> Moment | None:
    found = connection.execute("SELECT store, edition, rev, mark FROM moment").fetchall()
    return Moment(*found[0]) if len(found) == 1 and [*map(type, found[0])] == [str, int, int, str] else None


def _found(connection: sqlite3.Connection, table: str, key: str) -> Provenance | None:
    asked = "SELECT kind, name, approved FROM known WHERE tab = ? AND key = ?"
    row = connection.execute(asked, (table, key)).fetchone()
    if row is None or row[0] not in _KINDS or type(row[1]) is not str:
        return None
    return Provenance(row[0], row[1], bool(row[2]))
