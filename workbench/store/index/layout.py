"""What the read index holds: a file of SQLite with a row for every document, and what is known of the store as a whole.

It is a cache: it lies in the user's own cache folder and can be deleted at any time.
"""

import os
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from workbench.store.index.indexing import FILE
from workbench.store.journal.codec import dumps, loads
from workbench.store.journal.segments import Position

SCHEMA = 1
"""Of another schema an index is not read, but made anew."""

TABLES = """
CREATE TABLE docs (
    place INTEGER PRIMARY KEY, tab INTEGER, doc TEXT, key TEXT, start INTEGER, size INTEGER, body BLOB,
    waits TEXT, made TEXT
);
CREATE TABLE dead (tab INTEGER, doc TEXT, PRIMARY KEY (tab, doc)) WITHOUT ROWID;
CREATE TABLE news (rev INTEGER PRIMARY KEY, actor TEXT, kind TEXT, added BLOB, read BLOB);
CREATE TABLE facts (value BLOB);
"""
"""`place` orders the documents of a table as it does; `start` and `size` are bytes in `memory.json`, or `body` is the
document itself. `waits` is the state of a record that waits for something, `made` when it was made, in UTC. `dead` are
documents that still stand in `memory.json`, but not at their old place in the table, or not at all."""

INDICES = """
CREATE UNIQUE INDEX by_doc ON docs (tab, doc);
CREATE INDEX by_key ON docs (tab, key, place);
CREATE INDEX by_waits ON docs (tab, waits) WHERE waits IS NOT NULL;
CREATE INDEX by_body ON docs (tab, place) WHERE body IS NOT NULL;
CREATE INDEX by_made ON docs (tab, made, key) WHERE made IS NOT NULL;
"""

Look = tuple[int, int, int, int]
"""What tells one state of a file from another: inode, size, and the times of its last change of content and of any."""


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What is known of one table: how many documents it has, the greatest id that is or was in use, the versions of
    its records (-1 for one that says none), and where in `memory.json` its documents stand, piece by piece."""

    count: int
    greatest: int
    versions: tuple[int, ...]
    pieces: tuple[tuple[int, int], ...] = ()


class Facts(NamedTuple):
    """What is known of a store as of revision `rev`.

    `digest` and `look` are of the `memory.json` that places are in, which holds revision `saved`; `offset`, `line`,
    `start` and `mark` say where the journal goes on after `rev`, `next_ids` and `unfinished` are as in a checkpoint's
    stamp. News are known of all revisions after `news_from`.
    """

    digest: str
    look: Look
    saved: int
    rev: int
    offset: int
    line: int
    start: int
    mark: str
    next_ids: Mapping[str, int]
    unfinished: Mapping[str, str]
    news_from: int
    tables: Mapping[str, TableFacts] = MappingProxyType({})
    schema: int = SCHEMA

    @property
    def position(self) -> Position:
        """The place in the journal after the last entry that is in the index."""
        return Position(self.offset, self.line, self.start)


def open_file(folder: Path) -> sqlite3.Connection:
    """Open the index in a cache folder, which is not made; nothing is waited for. Raises `sqlite3.Error`."""
    where = f"{(folder / FILE).absolute().as_uri()}?mode=rw"
    return sqlite3.connect(where, uri=True, timeout=0, check_same_thread=False, isolation_level=None)


def look_of(seen: os.stat_result) -> Look:
    """Return the look of a file."""
    return seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


def facts_in(connection: sqlite3.Connection) -> Facts:
    """Return the facts of an index.

    Raises `sqlite3.Error`, `ValueError`, `KeyError` or `TypeError` where the index is none that can be read.
    """
    ((raw,),) = connection.execute("SELECT value FROM facts").fetchall()
    value: dict[str, Any] = loads(raw)
    if value["schema"] != SCHEMA:
        raise ValueError("the index is of another version")
    tables = {name: TableFacts(**one) for name, one in value.pop("tables").items()}
    return Facts(**{**value, "look": tuple(value["look"]), "tables": tables})


def note_facts(connection: sqlite3.Connection, facts: Facts) -> None:
    """Write the facts of an index, in place of those it has."""
    connection.execute("DELETE FROM facts")
    connection.execute("INSERT INTO facts VALUES (?)", (dumps(_json_of(facts)),))


def _json_of(facts: Facts) -> dict[str, object]:
    known = {name: asdict(table) for name, table in facts.tables.items()}
    return {**facts._asdict(), "next_ids": dict(facts.next_ids), "unfinished": dict(facts.unfinished), "tables": known}
