"""Making the read index, taking changes into it, and holding it against the files it was made of."""

import contextlib
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.core.files.atomic import draft_beside, unlocked
from workbench.core.record import parse_time
from workbench.core.runtime import in_pieces
from workbench.store.entry import Doc
from workbench.store.index.indexing import FILE, Arrival, Indexing
from workbench.store.index.reading import (
    INDICES,
    TABLES,
    Facts,
    IndexSpoilt,
    Look,
    ReadIndex,
    TableFacts,
    look_at,
    note_facts,
)
from workbench.store.journal.codec import dumps
from workbench.store.journal.segments import Stamp, Tail
from workbench.store.journal.state import State, Tables, Unread
from workbench.store.maintenance import checkpoint_writer
from workbench.store.records import key_of, marks_of

# Making the read index beside a checkpoint, and taking in what was changed since.


_INSERT = "INSERT INTO docs VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)"

MOST_NEWS = 20_000
"""Of so many transactions at most it is kept what they brought; what is older is read from the
journal.
"""


def make(
    indexing: Indexing,
    store: Path,
    tables: Tables,
    stamp: Stamp,
    since: int,
    arrivals: Sequence[Arrival],
    look: Look | None = None,
) -> None:
    """Write the index of the checkpoint that stands there, in place of the one that is there.

    `look` is how that file looked before its `tables` were read, where they were: another one may
    have taken its place, without what was erased meanwhile. `arrivals` are all that came after
    revision `since`. It is a cache: that it cannot be written is no failure, and there is none
    then.
    """
    try:
        look = look or look_at(store)
        indexing.begin()
        with draft_beside(indexing.folder / FILE) as (_, draft):
            with contextlib.closing(
                sqlite3.connect(unlocked(draft), isolation_level=None, uri=True)
            ) as connection:
                _fill(connection, tables)
                _note_news(connection, arrivals)
                found = {
                    name: TableFacts(len(docs), max(map(int, docs), default=0))
                    for name, docs in tables.items()
                }
                news_from = _news_from(since, arrivals)
                note_facts(connection, Facts(stamp, look, stamp.rev, news_from, found))
                connection.execute("COMMIT")
            if look_at(store) != look:
                raise OSError("another checkpoint was written meanwhile")
            draft.replace(indexing.folder / FILE)
    except (OSError, sqlite3.Error, ValueError):
        indexing.forget()


def fold(index: ReadIndex, state: State, stamp: Stamp, arrivals: Sequence[Arrival]) -> bool:
    """Take what a state changed since into its index; return whether that was done.

    It is left out while somebody else reads or writes the index, and where a whole table came or
    went.
    """
    unread, connection, facts = state.unread, index.connection, index.facts
    if set(unread) != set(index.tables) or set(state.names) != set(unread):
        return False
    try:
        tables = {
            name: _fold_table(connection, number, unread[name], facts.tables[name])
            for number, name in enumerate(index.tables)
        }
        _note_news(connection, arrivals)
        oldest = stamp.rev - MOST_NEWS
        connection.execute("DELETE FROM news WHERE rev <= ?", (oldest,))
        stamp = stamp._replace(hash=facts.stamp.hash)
        since = max(facts.news_from, oldest)
        note_facts(connection, facts._replace(stamp=stamp, news_from=since, tables=tables))
        connection.execute("COMMIT")
    except sqlite3.Error:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        return False
    return True


def _fill(connection: sqlite3.Connection, tables: Tables) -> None:
    # A power loss may leave a file that is torn: it is moved to its place only once all of it is on
    # the disk.
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("BEGIN")
    for statement in TABLES.split(";"):
        connection.execute(statement)
    rows = (
        (number, doc_id, *_said(name, doc), 0)
        for number, (name, docs) in enumerate(tables.items())
        for doc_id, doc in docs.items()
    )
    connection.executemany(_INSERT, rows)
    for statement in INDICES.split(";"):
        connection.execute(statement)


def _said(table: str, doc: Doc) -> tuple[object, ...]:
    """Return what a row says of a document."""
    return (key_of(table, doc), dumps(doc), *marks(table, doc))


def _news_from(since: int, arrivals: Sequence[Arrival]) -> int:
    """Return the revision after which all that arrived is kept, of what came after `since`."""
    return arrivals[-MOST_NEWS].rev - 1 if len(arrivals) > MOST_NEWS else since


def _fold_table(
    connection: sqlite3.Connection, number: int, unread: Unread, before: TableFacts
) -> TableFacts:
    """Take the changes of a table in, and return what is known of it then."""
    name, added = unread.name, unread.added
    gone = [(number, id) for id, doc in unread.changed.items() if doc is None or id in added]
    removed = connection.executemany("DELETE FROM docs WHERE tab = ? AND doc = ?", gone).rowcount
    changed = (
        (*_said(name, doc), number, id)
        for id, doc in unread.changed.items()
        if doc and id not in added
    )
    connection.executemany(
        "UPDATE docs SET key = ?, body = ?, waits = ?, made = ?, later = 1 WHERE tab = ? AND doc = ?",
        changed,
    )
    new = (
        (number, id, *_said(name, doc), 1)
        for id in added
        if (doc := unread.changed[id]) is not None
    )
    connection.executemany(_INSERT, new)
    return TableFacts(len(unread), unread.greatest(), before.removed or removed > 0)


def _note_news(connection: sqlite3.Connection, arrivals: Sequence[Arrival]) -> None:
    rows = (
        (one.rev, one.actor, one.kind, dumps(one.added), dumps(one.read))
        for one in arrivals[-MOST_NEWS:]
    )
    connection.executemany("INSERT OR REPLACE INTO news VALUES (?, ?, ?, ?, ?)", rows)


def marks(table: str, doc: Doc) -> tuple[str | None, str | None]:
    """Return what the index says of a document beside its key: the state it waits in, and when it
    was made.
    """
    waits, made = marks_of(table, doc)
    return waits, None if made is None else _sortable(made)


def _sortable(at: str) -> str | None:
    """Return a stored time so that texts of this form are in the order of their times; `None` for
    no time.
    """
    if not at.endswith("Z"):
        try:
            at = parse_time(at).isoformat().replace("+00:00", "")
        except (ValueError, TypeError, OverflowError):
            return None
    return at.removesuffix("Z")


def differing(index: ReadIndex, store: Path) -> int:
    """Return of how many documents an index says something else than the files do, as of the
    index's revision.

    Raises `IndexSpoilt` for an index that cannot be read to its end, and `OSError` where the files
    cannot.
    """
    loaded, stamp = checkpoint_writer.load(store), index.facts.stamp
    if not index.is_sound() or loaded.stamp.hash != stamp.hash:
        raise IndexSpoilt("the index, or the file it is of, is not what was written")
    state = loaded.state
    for entry in Tail(store, loaded.stamp).entries():
        if entry.rev > stamp.rev:
            break
        state.apply(entry)
    return sum(_differing_in(index, name, state.docs(name)) for name in index.tables)


def _differing_in(index: ReadIndex, table: str, docs: Mapping[str, Doc]) -> int:
    """Count the documents of a table that are missing, too many, in another place, or not as they
    should be.
    """
    expected = iter(docs)
    wrong: set[str] = set()
    seen: set[str] = set()
    for doc_id, said in in_pieces(index.rows(table)):
        seen.add(doc_id)
        doc = docs.get(doc_id)
        in_place = next(expected, None) == doc_id
        if not in_place or doc is None or said != (doc, key_of(table, doc), *marks(table, doc)):
            wrong.add(doc_id)
    missing = docs.keys() - seen
    return len(wrong | missing) or int(index.count(table) != len(docs))
