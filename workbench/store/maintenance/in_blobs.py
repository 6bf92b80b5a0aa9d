"""What of records lies beside the store, for a purge: which files are theirs alone, and what is said in them."""

import contextlib
import json
from collections.abc import Iterator
from typing import NamedTuple

from workbench.store.blobs import BlobProblem, Blobs
from workbench.store.entry import Doc, DocChange
from workbench.store.journal.engine import Journal
from workbench.store.maintenance.redact import texts_of
from workbench.store.records import IN_BLOBS

Place = tuple[str, str]


class InBlobs(NamedTuple):
    """The files beside a store."""

    blobs: Blobs

    def named_by(self, journal: Journal, doomed: frozenset[Place]) -> frozenset[str]:
        """Return the hashes that documents have, or had at any time."""
        places = [place for place in doomed if place[0] in IN_BLOBS]
        found = {name for table, doc in places for name in self._of(table, journal.state.get(table, doc) or {})}
        for table, doc_id in places:
            for entry in journal.entries_back(f'"id":"{doc_id}"'.encode()):
                own = (change for change in entry.changes if (change.table, change.doc) == (table, doc_id))
                found.update(name for change in own for name in self._in(change))
        return frozenset(found)

    def texts(self, journal: Journal, doomed: frozenset[Place]) -> Iterator[str]:
        """Yield what the documents say in words of their own; of a file that cannot be read, nothing."""
        words = {part for table, _ in doomed if table in IN_BLOBS for part in IN_BLOBS[table].words}
        for name in sorted(self.named_by(journal, doomed)):
            with contextlib.suppress(BlobProblem, ValueError, RecursionError):
                body = json.loads(self.blobs.read(name))
                yield from texts_of({part: body[part] for part in words if part in body})

    def remove(self, journal: Journal, doomed: frozenset[Place]) -> tuple[str, ...]:
        """Remove the files that no other record names or named, and those that none does; raises `OSError`."""
        replaced = self.blobs.replaced()
        there = set(self.blobs.names())
        for name in self._elsewhere(journal, doomed, there | set(replaced)):
            there.discard(replaced.get(name, name))
            there.discard(name)
        return self.blobs.remove(sorted(there))

    def _elsewhere(self, journal: Journal, doomed: frozenset[Place], names: set[str]) -> Iterator[str]:
        """Yield those hashes that other records have, or had at any time: an undo brings those back.

        Records of kinds that only a later version knows may have some, too.
        """
        if not names:
            return
        for table, docs in journal.state.tables.items():
            for doc_id, doc in docs.items():
                if (table, doc_id) not in doomed:
                    yield from names.intersection(value for value in doc.values() if isinstance(value, str))
        for entry in journal.entries_back(*(name.encode() for name in names)):
            for change in entry.changes:
                if (change.table, change.doc) not in doomed:
                    sides = (side for pair in change.fields.values() for side in pair)
                    yield from names.intersection(side for side in sides if isinstance(side, str))

    def _of(self, table: str, doc: Doc) -> tuple[str, ...]:
        name = doc.get(IN_BLOBS[table].field) if table in IN_BLOBS else None
        return (name,) if isinstance(name, str) and name else ()

    def _in(self, change: DocChange) -> Iterator[str]:
        kind = IN_BLOBS.get(change.table)
        sides = change.fields.get(kind.field, ()) if kind is not None else ()
        yield from (side for side in sides if isinstance(side, str) and side)
