"""Holding the read index against the files it was made of, and what is remembered of one that was made anew."""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path

from workbench.core.files.atomic import write_file
from workbench.core.health.damage import MendedIndex
from workbench.core.record import iso, parse_time
from workbench.core.runtime import in_pieces
from workbench.store.entry import Doc
from workbench.store.files import read_regular
from workbench.store.index.indexing import Indexing
from workbench.store.index.making import marks
from workbench.store.index.reading import IndexSpoilt, ReadIndex
from workbench.store.journal.state import State, Tables
from workbench.store.journal.tail import Tail
from workbench.store.maintenance.checkpoint import Stamp
from workbench.store.records import key_of

MENDED = "index.mended"
"""Name of the note, in the cache folder of a store."""

_LARGEST = 1 << 10


def differing(index: ReadIndex, store: Path, stamp: Stamp) -> int:
    """Return of how many documents an index says something else than the files do, as of the index's revision.

    `stamp` is that of the documents it was made of. They are read a piece at a time, so that other threads get their
    turn. Raises `IndexSpoilt` for an index that cannot be read to its end, and `OSError` where the files cannot.
    """
    if not index.is_sound() or index.digest() != stamp.hash:
        raise IndexSpoilt("the index, or the file it is of, is not what was written")
    state = _as_filed(index, store, stamp)
    return sum(_differing_in(index, name, state.docs(name)) for name in index.tables)


def note_mended(indexing: Indexing, mended: MendedIndex) -> None:
    """Remember that an index was made anew; a note that cannot be written is none."""
    with contextlib.suppress(OSError):
        indexing.begin()
        write_file(indexing.folder / MENDED, json.dumps([iso(mended.at), mended.documents]).encode(), durable=False)


def last_mended(folder: Path) -> MendedIndex | None:
    """Return when the index in a cache folder was made anew last since it differed; `None` if it never was."""
    try:
        at, documents = json.loads(read_regular(folder / MENDED, _LARGEST))
        return MendedIndex(parse_time(at), int(documents))
    except (OSError, ValueError, TypeError, OverflowError):
        return None


def _as_filed(index: ReadIndex, store: Path, stamp: Stamp) -> State:
    """Return what the file and the journal behind it say, up to the revision of the index."""
    tables: Tables = {name: index.filed(name) for name in index.tables}
    state = State(tables, stamp.rev, dict(stamp.next_ids))
    for entry in Tail(store, stamp.position, stamp.mark, stamp.rev).entries():
        if entry.rev > index.rev:
            break
        state.apply(entry)
    return state


def _differing_in(index: ReadIndex, table: str, docs: Mapping[str, Doc]) -> int:
    """Count the documents of a table that are missing, too many, in another place, or not as they should be."""
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
