"""Erasing records for good: from the checkpoint, every journal segment, copies and caches.

What stays is that there was a record of that id, who touched it and when. There is no undo.
"""

import gzip
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.core.errors import UnknownRecord
from workbench.store import chain, checkpoint, history
from workbench.store.checkpoint import Stamp
from workbench.store.codec import mark_of
from workbench.store.engine import Journal
from workbench.store.files import put_in_place, write_atomically, write_temporary
from workbench.store.lock import cannot_write
from workbench.store.redact import Redactor, texts_of
from workbench.store.segments import NAME
from workbench.store.state import Tables

_COPIES = ("memory.edited-*.json", "memory.dismissed-*.json", "backup-*/*", ".*.tmp")


@dataclass(frozen=True, slots=True)
class Purged:
    """What was removed where: records, journal lines that were changed, files rewritten and files removed.

    `damaged` counts unreadable journal lines that held the text and were removed whole.
    """

    records: tuple[tuple[str, str], ...]
    lines: int
    rewritten: tuple[str, ...]
    removed: tuple[str, ...]
    damaged: int


def purge(journal: Journal, records: Sequence[tuple[str, str]], actor: str) -> Purged:
    """Erase records, given as (table, key), with every text they ever held.

    Other records that quote such a text get a mark in its place. Interrupted, it can be run
    again; when nothing of them is left, only copies and caches are looked at. Raises
    `UnknownRecord`, and `StoreProblem` when a file cannot be rewritten.
    """
    with journal.exclusive():
        doomed = _doomed(journal, records)
        texts = tuple(_texts(journal, doomed))
        redactor = Redactor(doomed, frozenset(k.rpartition("/")[2] for _, k in records), texts)
        if not texts and not any(journal.state.get(*place) for place in doomed):
            return Purged(tuple(records), 0, (), _without_copies(journal.folder, redactor), 0)
        label = "purge 1 record" if len(records) == 1 else f"purge {len(records):,} records"
        with journal.transaction(actor, label, kind="purge") as staged:
            for table, doc_id in sorted(doomed):
                staged.delete(table, doc_id)
        tables, stamp = journal.snapshot()
        clean = _clean(tables, redactor)
        try:
            checkpoint.save(journal.folder, clean, stamp)
            rewritten = tuple(_rewrite_segments(journal.folder, redactor))
            checkpoint.save(journal.folder, clean, _moved(journal.folder, stamp))
        except OSError as error:
            raise cannot_write(journal.folder, error) from error
        removed = _without_copies(journal.folder, redactor)
        journal.reload()
    return Purged(tuple(records), redactor.lines, (checkpoint.DOCUMENTS, *rewritten), removed, redactor.dropped)


def _doomed(journal: Journal, records: Sequence[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for table, key in records:
        ids = history.doc_ids(journal, table, key)
        if not ids:
            raise UnknownRecord(f"There is and was no {key} in {table}.", "Nothing was purged.")
        found.update((table, doc_id) for doc_id in ids)
    return frozenset(found)


def _texts(journal: Journal, doomed: frozenset[tuple[str, str]]) -> Iterator[str]:
    """Yield every text that the doomed documents hold or held."""
    for table, doc_id in doomed:
        yield from texts_of(journal.state.get(table, doc_id) or {})
        for entry in journal.entries_back(f'"id":"{doc_id}"'.encode()):
            for change in entry.changes:
                if (change.table, change.doc) == (table, doc_id):
                    for side in (0, 1):
                        yield from texts_of({name: sides[side] for name, sides in change.fields.items()})


def _clean(tables: Tables, redactor: Redactor) -> Tables:
    clean: Tables = {}
    for table, docs in tables.items():
        kept = ((doc_id, redactor.doc(table, doc_id, doc)) for doc_id, doc in docs.items())
        clean[table] = {doc_id: doc for doc_id, doc in kept if doc is not None}
    return clean


def _rewrite_segments(folder: Path, redactor: Redactor) -> Iterator[str]:
    """Rewrite what holds the records; the active segment always, with the next edition, so that others read anew."""
    for segment in chain.closed(folder):
        with chain.open_closed(segment) as source:
            old = list(source)
        new = [redactor.line(raw) for raw in old]
        if new != old:
            data = b"".join(new)
            write_atomically(segment.path, gzip.compress(data, mtime=0) if segment.path.suffix == ".gz" else data)
            yield segment.path.name
    active = chain.open_active(folder)
    if active is not None:
        with active[0] as source:
            source.seek(0)
            lines = (redactor.line(raw, active[1].edition + 1) for raw in source)
            put_in_place(write_temporary(folder / NAME, lines), folder / NAME)
        yield NAME


def _moved(folder: Path, stamp: Stamp) -> Stamp:
    """Return the stamp with the place of the same revision in the rewritten active segment."""
    offset, count, last = 0, 0, b""
    with (folder / NAME).open("rb") as file:
        for raw in file:
            offset, count, last = offset + len(raw), count + 1, raw
    return replace(stamp, offset=offset, line=count, mark=mark_of(last[:-1]))


def _without_copies(folder: Path, redactor: Redactor) -> tuple[str, ...]:
    try:
        return tuple(_remove_copies(folder, redactor))
    except OSError as error:
        raise cannot_write(folder, error) from error


def _remove_copies(folder: Path, redactor: Redactor) -> Iterator[str]:
    """Remove copies that hold one of the records, and all caches: they are built again from what is left."""
    for pattern in _COPIES:
        for path in sorted(folder.glob(pattern)):
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            if redactor.is_in(data) or redactor.names_in(data) or path.suffix == ".tmp":
                path.unlink()
                yield str(path.relative_to(folder))
    cache = folder / "cache"
    if cache.is_dir():
        for path in sorted(cache.iterdir()):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
            yield str(path.relative_to(folder))
