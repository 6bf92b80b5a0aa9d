"""The read index beside an open journal: opened with it, kept up with it, and made where there is
none.

Small stores have none: reading all of their documents is as fast.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.store.entry import Transaction
from workbench.store.files import DOCUMENTS
from workbench.store.index.indexing import Arrival, Indexing, arrival_of
from workbench.store.journal import segments
from workbench.store.journal.segments import Stamp
from workbench.store.journal.state import State, Tables
from workbench.store.maintenance import checkpoint_writer
from workbench.store.maintenance.checkpoint_writer import Loaded

if TYPE_CHECKING:
    from workbench.store.index.reading import ReadIndex


class IndexKeeper:
    """Keeps the index of one store that is open. `index` is what its documents are read from, if
    they are.

    Nothing here fails: an index that cannot be read or written is none.
    """

    def __init__(self, indexing: Indexing | None, store: Path) -> None:
        self.index: ReadIndex | None = None
        self.digest = ""
        """The hash of the documents that the index is of, whether they are read from it or not;
        empty for no index.
        """
        self._indexing = indexing
        self._store = store
        self._since = 0
        self._arrivals: list[Arrival] = []

    def open(self, key: bytes | None, whole: Callable[[int], Tables]) -> Loaded | None:
        """Open the index, as `checkpoint_writer.load` opens the documents; `None` when there is
        none that can be believed.

        `whole` returns all tables as of a revision, should the index turn out to be spoilt.
        """
        self.forget_news(0)
        self.digest = ""
        if self._indexing is None or not self._is_large():
            return None
        from workbench.store.index.reading import (
            ReadIndex,
        )  # SQLite: not for a store that does without

        index = ReadIndex.open(self._indexing.folder, self._store)
        if index is None:
            return None
        facts, stamp = index.facts, index.facts.stamp
        stamps = {one.hash for one in checkpoint_writer.stamps_of(self._store, key)}
        if stamp.hash not in stamps or not segments.fits(self._store, stamp.position, stamp.mark):
            index.close()
            return None
        self.index, self.digest = index, stamp.hash
        self.forget_news(stamp.rev)
        state = State({}, stamp.rev, dict(stamp.next_ids), base=index, whole=whole)
        return Loaded(state, stamp, saved=facts.saved)

    def close(self) -> None:
        """Let go of the index: all documents were read. What it knows of arrivals is kept."""
        if self.index is not None:
            before = self.index.arrivals(self.index.facts.news_from)
            if before is not None:
                self._since, self._arrivals = self.index.facts.news_from, [*before, *self._arrivals]
            self.index.close()
            self.index = None

    def forget_news(self, rev: int) -> None:
        """Begin anew to note what comes, after revision `rev`."""
        self._since, self._arrivals = rev, []

    def note(self, entry: Transaction) -> None:
        if (
            self._indexing is not None
            and (arrival := arrival_of(entry, self._indexing.news)) is not None
        ):
            self._arrivals.append(arrival)

    def arrivals(self, after: int) -> "list[Arrival] | None":
        """Return who added and read which documents after a revision, oldest first; `None` when
        that is not known.
        """
        if after >= self._since:
            return [one for one in self._arrivals if one.rev > after]
        before = None if self.index is None else self.index.arrivals(after)
        return None if before is None else [*before, *self._arrivals]

    def fold(self, state: State, stamp: Stamp) -> bool:
        """Take into the index what was read after it, when that is much; return whether it was."""
        if (
            self._indexing is None
            or self.index is None
            or stamp.rev - self.index.rev < self._indexing.fold_after
        ):
            return False
        from workbench.store.index.checking import fold

        return fold(self.index, state, stamp, self._arrivals)

    def write(self, tables: Tables, stamp: Stamp) -> None:
        """Make the index of a checkpoint that was just written."""
        if self._indexing is None:
            return
        self.digest = ""
        if not self._is_large():
            self._indexing.forget()
            return
        from workbench.store.index.checking import make

        before = [] if self.index is None else self.index.arrivals(self.index.facts.news_from)
        since = self._since if self.index is None or before is None else self.index.facts.news_from
        arrivals = [one for one in (*(before or ()), *self._arrivals) if one.rev <= stamp.rev]
        make(self._indexing, self._store, tables, stamp, since, arrivals)
        self.digest = stamp.hash

    def write_missing(self, key: bytes | None) -> None:
        """Make the index of the checkpoint that stands there, when there is none."""
        if self._indexing is None or self.digest or not self._is_large():
            return
        from workbench.store.index.reading import look_at

        with contextlib.suppress(OSError):
            look, loaded = look_at(self._store), checkpoint_writer.load(self._store, key)
            stamp = loaded.stamp
            if stamp.hash:
                from workbench.store.index.checking import make

                make(self._indexing, self._store, loaded.state.tables, stamp, stamp.rev, [], look)
                self.digest = stamp.hash

    def differing(self) -> int | None:
        """Return of how many documents the index says something else than the files do; 0 also
        without an index.

        `None` for one that cannot be read to its end. Raises `OSError` where the files cannot.
        """
        if self._indexing is None or not self._is_large():
            return 0
        from workbench.store.index import checking
        from workbench.store.index.reading import IndexSpoilt, ReadIndex

        index = ReadIndex.open(self._indexing.folder, self._store)
        if index is None:
            return 0
        with contextlib.closing(index):
            try:
                return checking.differing(index, self._store)
            except IndexSpoilt:
                return None

    def forget(self) -> None:
        """Remove an index that differs."""
        assert self._indexing is not None
        self._indexing.forget()
        self.digest = ""

    def _is_large(self) -> bool:
        assert self._indexing is not None
        try:
            return (self._store / DOCUMENTS).lstat().st_size >= self._indexing.least
        except OSError:
            return False
