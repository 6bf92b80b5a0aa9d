"""Reading the index: the documents of a store, each found without the others."""

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from workbench.store.entry import Doc
from workbench.store.files import DOCUMENTS
from workbench.store.index.indexing import FILE, Arrival
from workbench.store.journal.codec import dumps, loads
from workbench.store.journal.segments import Stamp, json_of

# What the read index holds: a file of SQLite with a row for every document, and what is known of
# the store as a whole.
#
# It is a cache: it lies in the user's own cache folder and can be deleted at any time.


SCHEMA = 3
"""Of another schema an index is not read, but made anew."""

TABLES = """
CREATE TABLE docs (
    place INTEGER PRIMARY KEY, tab INTEGER, doc TEXT, key TEXT, body BLOB, waits TEXT, made TEXT, later INTEGER
);
CREATE TABLE news (rev INTEGER PRIMARY KEY, actor TEXT, kind TEXT, added BLOB, read BLOB);
CREATE TABLE facts (value BLOB);
"""
"""`place` orders the documents of a table as it does. `waits` is the state of a record that waits
for something, `made` when it was made, in UTC. `later` is 1 where `memory.json` has another
document or none.
"""

INDICES = """
CREATE INDEX by_place ON docs (tab, place);
CREATE UNIQUE INDEX by_doc ON docs (tab, doc);
CREATE INDEX by_key ON docs (tab, key, place);
CREATE INDEX by_waits ON docs (tab, waits) WHERE waits IS NOT NULL;
CREATE INDEX by_later ON docs (tab, place) WHERE later = 1;
CREATE INDEX by_made ON docs (tab, made, key) WHERE made IS NOT NULL;
"""

Look = tuple[int, int, int, int]
"""What tells one state of a file from another: inode, size, and the times of its last change of
content and of any.
"""


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What is known of one table: how many documents it has, the greatest id that is or was in use,
    and whether some are gone, or stand elsewhere, that `memory.json` has.
    """

    count: int
    greatest: int
    removed: bool = False


class Facts(NamedTuple):
    """What is known of a store.

    `stamp` is as that of a checkpoint, with the hash of the `memory.json` that the index was made
    of and the revision that it is of now; that file, as `look` says, holds revision `saved`. News
    are known of all revisions after `news_from`.
    """

    stamp: Stamp
    look: Look
    saved: int
    news_from: int
    tables: Mapping[str, TableFacts] = MappingProxyType({})
    schema: int = SCHEMA


def open_file(folder: Path) -> sqlite3.Connection:
    """Open the index in a cache folder, which is not made; nothing is waited for. Raises
    `sqlite3.Error`.
    """
    where = f"{(folder / FILE).absolute().as_uri()}?mode=rw"
    return sqlite3.connect(
        where, uri=True, timeout=0, check_same_thread=False, isolation_level=None
    )


def look_at(store: Path) -> Look:
    """Return what the documents of a store look like; raises `OSError`."""
    seen = (store / DOCUMENTS).lstat()
    return seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


def facts_in(connection: sqlite3.Connection) -> Facts:
    """Return the facts of an index.

    Raises `sqlite3.Error`, `ValueError`, `KeyError` or `TypeError` where the index is none that can
    be read.
    """
    ((raw,),) = connection.execute("SELECT value FROM facts").fetchall()
    value: dict[str, Any] = loads(raw)
    if value["schema"] != SCHEMA:
        raise ValueError("the index is of another version")
    tables = {name: TableFacts(**one) for name, one in value.pop("tables").items()}
    stamp = Stamp(**value.pop("stamp"))
    return Facts(**{**value, "stamp": stamp, "look": tuple(value["look"]), "tables": tables})


def note_facts(connection: sqlite3.Connection, facts: Facts) -> None:
    """Write the facts of an index, in place of those it has."""
    tables = {name: asdict(table) for name, table in facts.tables.items()}
    said = {**facts._asdict(), "stamp": json_of(facts.stamp), "tables": tables}
    connection.execute("DELETE FROM facts")
    connection.execute("INSERT INTO facts VALUES (?)", (dumps(said),))


_ROWS = 100
"""Rows that are taken at once."""


class IndexSpoilt(OSError):
    """The index does not hold what was written."""


class ReadIndex:
    """The documents of a store as of one revision, each found without the others.

    One transaction of the index is held open, so that all answers are of one revision whoever goes
    on writing. Any thread may ask.
    """

    def __init__(self, connection: sqlite3.Connection, facts: Facts) -> None:
        self.facts = facts
        self.connection = connection
        self._lock = threading.Lock()
        self._numbers = {name: number for number, name in enumerate(facts.tables)}

    @classmethod
    def open(cls, folder: Path, store: Path) -> "ReadIndex | None":
        """Open the index in the cache `folder` of a `store`; `None` when there is none that is of
        its documents.
        """
        try:
            connection = open_file(folder)
        except (sqlite3.Error, ValueError):
            return None
        try:
            connection.execute("BEGIN")
            facts = facts_in(connection)
            if facts.look == look_at(store):
                return cls(connection, facts)
        except (sqlite3.Error, OSError, ValueError, KeyError, TypeError):
            pass
        connection.close()
        return None

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    @property
    def rev(self) -> int:
        return self.facts.stamp.rev

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of all tables, in their order."""
        return tuple(self.facts.tables)

    def get(self, table: str, doc_id: str) -> Doc | None:
        """Return a document, or `None`."""
        found = self._rows("SELECT body FROM docs WHERE tab = ? AND doc = ?", table, doc_id)
        return next((_parsed(body) for (body,) in found), None)

    def doc_id_of(self, table: str, key: str) -> str | None:
        """Return the document id of the record with that key, or `None`."""
        asked = "SELECT doc FROM docs WHERE tab = ? AND key = ? ORDER BY place DESC LIMIT 1"
        return next((doc for (doc,) in self._rows(asked, table, key)), None)

    def count(self, table: str) -> int:
        return self.facts.tables[table].count

    def greatest(self, table: str) -> int:
        """Return the greatest document id of a table that is or was in use, 0 for none."""
        return self.facts.tables[table].greatest

    def waiting(self, table: str, state: str) -> list[str]:
        """Return the ids of the documents whose record is in a state in which it waits for
        something.
        """
        asked = (
            "SELECT doc FROM docs WHERE tab = ? AND waits = ? AND waits IS NOT NULL ORDER BY place"
        )
        return [doc for (doc,) in self._rows(asked, table, state)]

    def changed(self, table: str) -> tuple[list[str], bool]:
        """Return the ids of the documents that are not as the file has them, and whether some of
        its are gone.
        """
        asked = "SELECT doc FROM docs WHERE tab = ? AND later = 1 ORDER BY place"
        return [doc for (doc,) in self._rows(asked, table)], self.facts.tables[table].removed

    def latest(self, table: str) -> Iterator[tuple[str, Doc]]:
        """Yield documents with their ids, those first that stand last in the table."""
        asked = "SELECT doc, body FROM docs WHERE tab = ? ORDER BY place DESC"
        return ((doc, _parsed(body)) for doc, body in self._rows(asked, table))

    def newest(self, table: str) -> Iterator[str]:
        """Yield the ids of documents, those first whose records were made last."""
        asked = (
            "SELECT doc FROM docs WHERE tab = ? AND made IS NOT NULL ORDER BY made DESC, key DESC"
        )
        return (doc for (doc,) in self._rows(asked, table))

    def read(self, table: str) -> dict[str, Doc]:
        """Return a whole table; other threads get their turn meanwhile."""
        asked = "SELECT doc, body FROM docs WHERE tab = ? ORDER BY place"
        docs = {doc: _parsed(body) for doc, body in self._rows(asked, table)}
        if len(docs) != self.count(table):
            raise IndexSpoilt(f"{table} has {len(docs)} documents, not {self.count(table)}")
        return docs

    def rows(
        self, table: str
    ) -> Iterator[tuple[str, tuple[Doc, str | None, str | None, str | None]]]:
        """Yield each document's id, and all that the index says of it: the document, its key,
        `waits` and `made`.
        """
        asked = "SELECT doc, body, key, waits, made FROM docs WHERE tab = ? ORDER BY place"
        for doc_id, body, *said in self._rows(asked, table):
            yield doc_id, (_parsed(body), *said)

    def is_sound(self) -> bool:
        """Tell whether the index is a file that SQLite finds nothing wrong with."""
        try:
            with self._lock:
                return [*self.connection.execute("PRAGMA quick_check")] == [("ok",)]
        except sqlite3.Error:
            return False

    def arrivals(self, after: int) -> list[Arrival] | None:
        """Return who added and read which documents after a revision; `None` when that is not known
        so far back.
        """
        if after < self.facts.news_from:
            return None
        asked = "SELECT rev, actor, kind, added, read FROM news WHERE rev > ? ORDER BY rev"
        try:
            with self._lock:
                rows = self.connection.execute(asked, (after,)).fetchall()
            return [
                Arrival(rev, actor, kind, tuple(loads(a)), tuple(loads(r)))
                for rev, actor, kind, a, r in rows
            ]
        except (sqlite3.Error, ValueError, TypeError):
            return None

    def _rows(self, asked: str, table: str, *values: str) -> Iterator[tuple[Any, ...]]:
        try:
            with self._lock:
                rows = self.connection.execute(asked, (self._numbers[table], *values))
            while some := self._next(rows):
                yield from some
        except sqlite3.Error as error:
            raise IndexSpoilt(str(error)) from error

    def _next(self, rows: sqlite3.Cursor) -> list[tuple[Any, ...]]:
        with self._lock:
            return rows.fetchmany(_ROWS)


def _parsed(body: bytes) -> Doc:
    try:
        value = loads(body)
    except ValueError as error:
        raise IndexSpoilt(str(error)) from error
    if not isinstance(value, dict):
        raise IndexSpoilt("what stands there is no document")
    return value
