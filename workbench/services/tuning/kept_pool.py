"""The pool of a large store as it is kept between two questions."""

from pathlib import Path

from workbench.core.stream.memory import Memory
from workbench.retrieval.ranking import pool_file
from workbench.retrieval.ranking.memory_rows import MemoryRows
from workbench.retrieval.ranking.pool import Pool
from workbench.store.library import Library


class KeptPool:
    """Reads and keeps the columns of a store's pool, in a `folder` of its caches; only of a store that is indexed.

    What is kept is of the state that `memory.json` is of; what was changed since is put on top.
    """

    def __init__(self, library: Library, folder: Path) -> None:
        self._library = library
        self._folder = folder
        self._of = ""

    @property
    def is_due(self) -> bool:
        """Whether the store is in another state than the one that was read or kept last."""
        return self._library.saved not in ("", self._of)

    def read(self) -> Pool | None:
        """Return the pool of the store as it is now; `None` where memories have to be read for it."""
        since = self._library.since_saved(Memory)
        stored = None if since is None or since.removed else pool_file.read(self._folder, since.saved)
        if stored is None or since is None:
            return None
        self._of = since.saved
        rows = MemoryRows.unread(stored.places, lambda doc_id: self._library.document(Memory, doc_id))
        pool = Pool.restored(rows, stored.ids, (stored.sessions, stored.speakers), stored.columns)
        changed = self._library.memories.at(since.changed)
        if len(changed) != len(since.changed):
            return None
        known = [memory for memory in changed if memory.id in pool.row_of]
        new = [memory for memory in changed if memory.id not in pool.row_of]
        pool = pool.with_replaced(known) if known else pool
        pool = pool.with_added(new) if new else pool
        return pool if len(pool) == len(self._library.memories) else None

    def write(self, pool: Pool) -> None:
        """Keep a pool that all memories of the store as it is now were read for."""
        saved = self._of = self._library.saved
        places = [self._library.memories.doc_id_of(id) for id in pool.row_of] if saved else []
        if saved and len(pool) == len(self._library.memories):
            found = [place for place in places if place is not None]
            if len(found) == len(places):
                pool_file.write(self._folder, saved, pool, found)
