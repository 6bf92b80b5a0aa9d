"""The read index beside an open journal: opened with it, kept up with it, and made where there is
none.

Small stores have none: reading all of their documents is as fast.
"""

import contextlib
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.core.health import MendedIndex
from workbench.store.entry import Transaction
from workbench.store.files import DOCUMENTS
from workbench.store.index.indexing import FILE, Arrival, Indexing, arrival_of
from workbench.store.journal import segments
from workbench.store.journal.state import State, Tables
from workbench.store.maintenance import checkpoint_writer
from workbench.store.maintenance.checkpoint_writer import Loaded, Places, Stamp

if TYPE_CHECKING:
    from workbench.store.index.reading import ReadIndex
    from workbench.store.journal.segments import Tail


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

    def open(
        self, believed: Collection[str] | None, whole: Callable[[int], Tables]
    ) -> Loaded | None:
        """Open the index, as `checkpoint.load` opens the documents; `None` when there is none that
        can be believed.

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
        facts = index.facts
        stamps = {stamp.hash for stamp in checkpoint_writer.stamps_of(self._store)}
        trusted = facts.digest in stamps and (believed is None or facts.digest in believed)
        if not trusted or not segments.fits(self._store, facts.position, facts.mark):
            index.close()
            return None
        self.index, self.digest = index, facts.digest
        self.forget_news(facts.rev)
        state = State({}, facts.rev, dict(facts.next_ids), base=index, whole=whole)
        return Loaded(state, facts.position, facts.mark, dict(facts.unfinished), saved=facts.saved)

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

    def fold(self, state: State, tail: "Tail", unfinished: Mapping[str, str]) -> bool:
        """Take into the index what was read after it, when that is much; return whether it was."""
        if (
            self._indexing is None
            or self.index is None
            or tail.rev - self.index.rev < self._indexing.fold_after
        ):
            return False
        from workbench.store.index.checking import fold

        return fold(self.index, state, tail, unfinished, self._arrivals)

    def write(self, tables: Tables, stamp: Stamp, places: Places) -> None:
        """Make the index of a checkpoint that was just written."""
        if self._indexing is None:
            return
        self.digest = ""
        if places.size < self._indexing.least:
            with contextlib.suppress(OSError):
                (self._indexing.folder / FILE).unlink(missing_ok=True)
            return
        from workbench.store.index.checking import make

        before = [] if self.index is None else self.index.arrivals(self.index.facts.news_from)
        since = self._since if self.index is None or before is None else self.index.facts.news_from
        arrivals = [one for one in (*(before or ()), *self._arrivals) if one.rev <= stamp.rev]
        make(self._indexing, self._store, tables, stamp, places, since, arrivals)
        self.digest = stamp.hash

    def write_missing(self, believed: Collection[str] | None, state: State) -> None:
        """Make the index of the checkpoint that stands there, when there is none; mostly it is what
        `state` holds.
        """
        if self._indexing is None or self.digest or not self._is_large():
            return
        with contextlib.suppress(OSError):
            tables = self._held(state)
            stamp, places = (
                (None, Places())
                if tables is None
                else checkpoint_writer.places_of(self._store, tables)
            )
            if tables is None or stamp is None:
                tables = checkpoint_writer.load(self._store, believed).state.tables
                stamp, places = checkpoint_writer.places_of(self._store, tables)
            if stamp is not None and (believed is None or stamp.hash in believed):
                from workbench.store.index.checking import make

                make(self._indexing, self._store, tables, stamp, places, stamp.rev, [])
                self.digest = stamp.hash

    def _held(self, state: State) -> Tables | None:
        """Return the documents of a state where they are those of the checkpoint: read again, they
        were there twice.

        Other threads may change the state meanwhile.
        """
        rev = state.rev
        if state.unread or not checkpoint_writer.is_of(self._store, rev):
            return None
        tables = {name: dict(docs) for name, docs in list(state.tables.items())}
        return tables if state.rev == rev else None

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
            stamp = next(
                (
                    one
                    for one in checkpoint_writer.stamps_of(self._store)
                    if one.hash == index.facts.digest
                ),
                None,
            )
            if stamp is None:
                return 0
            try:
                return checking.differing(index, self._store, stamp)
            except IndexSpoilt:
                return None

    def forget(self, at: datetime, documents: int | None) -> None:
        """Remove an index that differs of so many documents, `None` if it cannot be read; that it
        did is noted.
        """
        assert self._indexing is not None
        from workbench.store.index import checking
        from workbench.store.index import checking as making

        making.forget(self._indexing.folder)
        self.digest = ""
        checking.note_mended(self._indexing, MendedIndex(at, documents or 0))

    def last_mended(self) -> MendedIndex | None:
        """Return when the index was made anew last since it differed; `None` if it never was."""
        from workbench.store.index import checking

        return None if self._indexing is None else checking.last_mended(self._indexing.folder)

    def _is_large(self) -> bool:
        assert self._indexing is not None
        try:
            return (self._store / DOCUMENTS).lstat().st_size >= self._indexing.least
        except OSError:
            return False
