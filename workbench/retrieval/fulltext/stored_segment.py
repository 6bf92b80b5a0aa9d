"""Reads a segment of the full-text index from its file."""

import sqlite3
import weakref
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import Self

import numpy as np

from workbench.core.errors import WorkbenchError
from workbench.retrieval.arrays import Rows
from workbench.retrieval.fulltext.lexical_file import LONGEST, digest
from workbench.retrieval.fulltext.lexicon import Lexicon
from workbench.retrieval.fulltext.segment import NOTHING, Counts, Languages
from workbench.retrieval.ranking.column_cache import ColumnCache
from workbench.retrieval.text_keys import Keys, KeyTable, keys_of

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
