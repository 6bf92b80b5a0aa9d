"""The full-text index on disk: a folder of segments that knows texts by their content.

A text is split and indexed once. The cache is not truth: whatever is missing, torn or foreign is made
again, and the folder can be deleted at any time.
"""

import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import Self

import numpy as np

from workbench.core.files.locks import locked
from workbench.core.record import WorkbenchError, WorkStopped
from workbench.core.runtime import Cancelled, Progress
from workbench.retrieval import cache_folder
from workbench.retrieval.arrays import Rows
from workbench.retrieval.fulltext.lexical import LexicalIndex, Part
from workbench.retrieval.fulltext.lexical_file import LONGEST, SUFFIX, NewSegment, digest, edition
from workbench.retrieval.fulltext.segment import (
    NOTHING,
    Counts,
    Encoded,
    Languages,
    Lexicon,
    MemorySegment,
    Segment,
    Vocabulary,
    joined,
)
from workbench.retrieval.ranking.column_cache import ColumnCache
from workbench.retrieval.text_keys import Keys, KeyTable, first_places, keys_of, text_keys

# Reads a segment of the full-text index from its file.


_KEPT = 32 << 20
"""Bytes of postings that a segment keeps in memory."""

_OFFSET = 20
"""Bits for a word's place in its text, far more than the longest text needs."""


class CacheDamaged(WorkbenchError):
    """A file of the full-text cache became unreadable while it was open."""


class StoredSegment:
    """A segment on disk, open for reading (see `segment.Segment`).

    Nothing is locked, nothing written. Postings are read when they are first asked for. For several threads.
    """

    def __init__(self, path: Path, db: sqlite3.Connection, keys: Keys, lengths: Counts, languages: Languages) -> None:
        self.path = path
        self.table = KeyTable(keys)
        self.lengths = lengths
        self.languages = languages
        self._db = db
        # Indexes come and go and share segments; the last one closes the file.
        weakref.finalize(self, db.close)
        self._known = ColumnCache(_KEPT)
        self._one_at_a_time = Lock()

    @classmethod
    def open(cls, path: Path) -> Self | None:
        """Open a file, or return `None` when it is not what its name says. Raises `OSError`."""
        if digest(path) != path.stem:
            return None
        # A file that fits its name does not change any more, so SQLite need neither lock it nor look for a journal.
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        try:
            db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
            keys, lengths, spoken = db.execute("SELECT keys, lengths, languages FROM texts").fetchone()
        except sqlite3.Error as error:
            raise OSError(f"{path}: {error}") from error
        sizes = np.frombuffer(lengths, "<i4").astype(np.int64)
        languages = np.zeros(len(sizes), np.uint8) if spoken is None else np.frombuffer(spoken, np.uint8)
        return cls(path, db, keys_of(keys), sizes, languages)

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The words of the texts that are not English."""
        try:
            with self._one_at_a_time:
                (content,) = self._db.execute("SELECT lexicon FROM texts").fetchone()
            return Lexicon.from_bytes(content) if content else Lexicon([])
        except (sqlite3.Error, ValueError) as error:
            raise _damaged(error) from error

    def postings(self, term: str) -> tuple[Rows, Counts]:
        """Return the texts that hold a term, and how often."""
        return self._known.get(term, partial(self._postings, term[:LONGEST]), _bytes)

    def phrase(self, terms: Sequence[str]) -> tuple[Rows, Counts]:
        """Return the texts in which the terms follow each other, and how often."""
        return self._known.get(tuple(terms), partial(self._phrase, [term[:LONGEST] for term in terms]), _bytes)

    def _postings(self, term: str) -> tuple[Rows, Counts]:
        return _counted(self._numbers("SELECT group_concat(doc) FROM places WHERE term = ?", term) - 1)

    def _phrase(self, terms: Sequence[str]) -> tuple[Rows, Counts]:
        # Most phrases that are tried occur nowhere, and FTS5 knows that without reading whole postings.
        if not len(self._matching(_quoted(" ".join(terms)))):
            return NOTHING
        at = self._places(terms[0])
        for step, term in enumerate(terms[1:], 1):
            at = at[np.isin(at + step, self._places(term))]
        return _counted((at >> _OFFSET) - 1)

    def _places(self, term: str) -> Counts:
        """Return where a term stands: the text's number from 1 and, in the lowest bits, the word's."""
        sql = f'SELECT group_concat((doc << {_OFFSET}) | "offset") FROM places WHERE term = ?'
        return self._numbers(sql, term)

    def _matching(self, query: str) -> Rows:
        return self._numbers("SELECT group_concat(rowid) FROM words WHERE words MATCH ?", query) - 1

    def _numbers(self, sql: str, argument: str) -> Counts:
        # One text of all numbers is read three times faster than one row a number.
        try:
            with self._one_at_a_time:
                found: str | None = self._db.execute(sql, (argument,)).fetchone()[0]
        except sqlite3.Error as error:
            raise _damaged(error) from error
        return np.fromstring(found, np.int64, sep=",") if found else np.zeros(0, np.int64)


def _damaged(error: Exception) -> CacheDamaged:
    return CacheDamaged(
        f"The full-text cache cannot be read any more ({error}).",
        "No memory is affected; the cache is built again at the next start.",
    )


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _counted(texts: Rows) -> tuple[Rows, Counts]:
    """Return the distinct numbers and how often each occurs."""
    if len(texts) and not np.any(texts[1:] < texts[:-1]):
        starts = np.flatnonzero(np.concatenate([[True], texts[1:] != texts[:-1]]))
        return texts[starts], np.diff(starts, append=len(texts))
    return np.unique(texts, return_counts=True)


def _bytes(found: tuple[Rows, Counts]) -> int:
    return found[0].nbytes + found[1].nbytes


FULL = 1 << 17
"""Texts of the largest segment: some 5 s of work, and 17 MB on disk."""

SMALL = 512
"""Texts of a segment that is not worth keeping apart when something is written anyway."""

BATCH = 4_096
"""Texts encoded between two looks at `cancelled`."""


@dataclass(frozen=True, slots=True)
class _Watch:
    """Whom to tell how far the work is, of `total` texts, and whom to ask whether to go on."""

    progress: Progress | None
    cancelled: Cancelled | None
    total: int

    def step(self, done: int) -> None:
        if self.progress is not None:
            self.progress(done, self.total)

    def check(self, done: int) -> None:
        if self.cancelled is not None and self.cancelled():
            raise WorkStopped(
                f"Indexing was stopped after {done:,} of {self.total:,} texts.",
                "No memory is affected; the rest is indexed next time.",
            )


class LexicalCache:
    """Full-text segments under `folder`, at most one writing process at a time.

    Readers never wait: a file is written under another name and does not change once it has its own. When another
    process is writing, or the folder cannot be written, or `read_only` is set, what is missing is indexed in memory;
    a read-only cache touches nothing on disk, not even the folder. Not for several threads; the indexes it returns are.
    """

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self.read_only = read_only
        self.folder = folder / edition()
        self._open: dict[str, StoredSegment] = {}
        self._unsound: set[Path] = set()

    def index(
        self,
        texts: Sequence[str],
        keys: Keys | None = None,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> LexicalIndex:
        """Return the index of `texts`, whose `keys` are `text_keys(texts)`; new texts are written to the cache.

        `progress(done, total)` counts the texts that have to be indexed. Raises `WorkStopped` when
        `cancelled()` becomes true.
        """
        keys = text_keys(texts) if keys is None else keys
        self._look()
        stored, missing = self._parts(keys)
        if len(missing) and not self.read_only and self._written(texts, keys, progress, cancelled):
            stored, missing = self._parts(keys)
        parts: list[Part[Segment]] = [*stored]
        vocabulary = Vocabulary()
        if len(missing):
            watch = _Watch(progress, cancelled, len(missing))
            encoded = _encoded([texts[row] for row in missing.tolist()], vocabulary, watch)
            parts.append(Part(MemorySegment(encoded, vocabulary), missing, np.arange(len(missing))))
        return LexicalIndex(len(texts), vocabulary, parts)

    def _look(self) -> None:
        """Open the files that came and forget those that went; an index that uses one keeps it open."""
        try:
            found = {path.stem: path for path in self.folder.glob(f"*{SUFFIX}")}
        except OSError:
            found = {}
        self._open = {name: segment for name, segment in self._open.items() if name in found}
        self._unsound = set()
        for name in sorted(found.keys() - self._open.keys()):
            try:
                segment = StoredSegment.open(found[name])
            except OSError:
                # Another process may have just removed it, or it cannot be read: its texts are indexed again.
                continue
            if segment is None:
                self._unsound.add(found[name])
            else:
                self._open[name] = segment

    def _parts(self, keys: Keys) -> tuple[list[Part[StoredSegment]], Rows]:
        """Return which rows the open segments have, each row once, and the rows that none has."""
        parts: list[Part[StoredSegment]] = []
        rest = np.arange(len(keys))
        for segment in sorted(self._open.values(), key=lambda s: (-len(s), s.path)):
            place = segment.table.find(keys[rest])
            known = place >= 0
            if known.any():
                parts.append(Part(segment, rest[known], place[known]))
                rest = rest[~known]
        return parts, rest

    def _written(
        self, texts: Sequence[str], keys: Keys, progress: Progress | None, cancelled: Cancelled | None
    ) -> bool:
        """Write what is missing; return `False` when somebody else is writing or the disk refuses."""
        try:
            cache_folder.make(self.folder)
            with locked(self.folder / "writer.lock", make=True) as alone:
                if alone:
                    self._write(texts, keys, progress, cancelled)
                return alone
        except (OSError, sqlite3.Error):
            self.read_only = True
            return False

    def _write(self, texts: Sequence[str], keys: Keys, progress: Progress | None, cancelled: Cancelled | None) -> None:
        # Another process may have written since this one looked.
        self._look()
        for path in self._unsound:
            _remove(path)
        parts, missing = self._parts(keys)
        kept = {part.segment.path for part in self._worth_keeping(parts, len(missing))}
        moving = [part.rows for part in parts if part.segment.path not in kept]
        rows = np.sort(np.concatenate([missing, *moving]))
        rows = rows[first_places(keys[rows])]
        watch = _Watch(progress, cancelled, len(rows))
        for start in range(0, len(rows), FULL):
            chunk = rows[start : start + FULL]
            vocabulary = Vocabulary()
            encoded = _encoded([texts[row] for row in chunk.tolist()], vocabulary, watch, start)
            written = NewSegment(keys[chunk], encoded, vocabulary).write(self.folder)
            kept.add(written)
        self._remove_others(kept)
        self._look()

    @staticmethod
    def _worth_keeping(parts: Sequence[Part[StoredSegment]], new: int) -> Iterator[Part[StoredSegment]]:
        """Yield the parts to leave as they are when `new` texts are written.

        Small ones are written anew together with the new texts, so that there are never many; so
        are those whose texts are mostly gone.
        """
        for part in sorted(parts, key=lambda part: len(part.rows)):
            living, size = int(np.count_nonzero(part.owners)), len(part.segment.lengths)
            grown_over = living <= max(SMALL, 2 * new) and size < FULL // 2
            if grown_over or 2 * living < size:
                new += living
            else:
                yield part

    def _remove_others(self, kept: set[Path]) -> None:
        for path in self.folder.glob(f"*{SUFFIX}"):
            if path not in kept:
                _remove(path)


def _remove(path: Path) -> None:
    # Where a file that is open elsewhere cannot be removed, the next writer tries again.
    with suppress(OSError):
        path.unlink()


def _encoded(texts: Sequence[str], vocabulary: Vocabulary, watch: _Watch, done: int = 0) -> Encoded:
    parts: list[Encoded] = []
    for start in range(0, len(texts), BATCH):
        watch.check(done + start)
        batch = texts[start : start + BATCH]
        parts.append(vocabulary.encode(batch))
        watch.step(done + start + len(batch))
    return joined([(part, np.arange(len(part.ends))) for part in parts])
