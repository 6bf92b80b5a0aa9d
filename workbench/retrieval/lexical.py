"""Full text over the memories: absolute BM25.

Absolute BM25 is BM25 divided by the most that the query could ever reach, the sum over its terms
of idf · (k1 + 1), absent terms counted. It runs from 0 to below 1 without looking at the pool, so an
accidental shared word stays small, which rank fusion and per-query normalisation blow up.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from workbench.retrieval.arrays import Mask, Rows, Scores
from workbench.retrieval.lexical_query import parse
from workbench.retrieval.segment import Counts, Segment, joined
from workbench.retrieval.vocabulary import Vocabulary

K1 = 1.2
B = 0.75
OVERLAY = 2_000
"""Changed rows kept apart before the index is put together again."""

Found = list[tuple[Rows, Counts]]


class LexicalIndex:
    """Words, identifiers and phrases of n texts; row i is text i. Immutable: changes give a new index.

    A changed index shares the large `base` segment with the old one; changed and added rows live in a
    small second segment until there are more than `OVERLAY` of them.
    """

    def __init__(self, size: int, vocabulary: Vocabulary, segments: tuple[Segment, ...], replaced: Mask) -> None:
        self._size = size
        self._vocabulary = vocabulary
        self._segments = segments
        # Rows of the base whose text was replaced: the overlay speaks for them.
        self._replaced = replaced
        self._live = [~replaced[segments[0].rows], *(np.ones(len(s.rows), np.bool_) for s in segments[1:])]
        lengths = np.zeros(size, np.int64)
        for segment, live in zip(segments, self._live, strict=True):
            lengths[segment.rows[live]] = segment.lengths[live]
        filled = lengths[lengths > 0]
        mean = float(filled.mean()) if len(filled) else 1.0
        self._documents = len(filled)
        self._damping = K1 * (1 - B + B * lengths / mean)

    @classmethod
    def build(cls, texts: Sequence[str]) -> Self:
        """Index `texts`."""
        vocabulary = Vocabulary()
        base = Segment(np.arange(len(texts)), vocabulary.encode(texts), vocabulary.stop)
        return cls(len(texts), vocabulary, (base,), np.zeros(len(texts), np.bool_))

    def __len__(self) -> int:
        return self._size

    def scores(self, query: str) -> Scores:
        """Return absolute BM25 for every row, float32 of shape (n,), 0…1.

        Words count by their stems, stop words do not count; an identifier or path as it is written counts
        besides its words; `"two words"` in quotes count only where they follow each other.
        """
        asked = parse(query, self._vocabulary)
        total = np.zeros(self._size)
        most = 0.0
        for found in [self._rows(term) for term in asked.terms] + [self._phrase_rows(p) for p in asked.phrases]:
            frequency = sum(len(rows) for rows, _ in found)
            weight = math.log1p((max(self._documents, frequency) - frequency + 0.5) / (frequency + 0.5)) * (K1 + 1)
            most += weight
            for rows, counts in found:
                total[rows] += weight * counts / (counts + self._damping[rows])
        return (total / most if most else total).astype(np.float32)

    def with_replaced(self, texts: Mapping[int, str]) -> Self:
        """Return an index in which the given rows have new texts; an empty text removes a row's words."""
        return self._changed(dict(texts), self._size)

    def with_added(self, texts: Sequence[str]) -> Self:
        """Return an index with more rows at the end."""
        return self._changed({self._size + i: text for i, text in enumerate(texts)}, self._size + len(texts))

    def _rows(self, term: int) -> Found:
        return [self._alive(i, *s.postings(term)) for i, s in enumerate(self._segments)]

    def _phrase_rows(self, terms: tuple[int, ...]) -> Found:
        return [self._alive(i, *s.phrase(terms)) for i, s in enumerate(self._segments)]

    def _alive(self, segment: int, local: Rows, counts: Counts) -> tuple[Rows, Counts]:
        live = self._live[segment][local]
        return self._segments[segment].rows[local[live]], counts[live]

    def _changed(self, texts: dict[int, str], size: int) -> Self:
        if not texts:
            return self
        rows = np.array(sorted(texts), np.intp)
        new = self._vocabulary.encode([texts[row] for row in rows.tolist()])
        base = self._segments[0]
        old = self._segments[1:]
        parts = [(s.texts, np.flatnonzero(~np.isin(s.rows, rows))) for s in old]
        kept = [s.rows[chosen] for s, (_, chosen) in zip(old, parts, strict=True)]
        overlay_rows = np.concatenate([*kept, rows])
        overlay = Segment(overlay_rows, joined([*parts, (new, np.arange(len(rows)))]), self._vocabulary.stop)
        replaced = np.zeros(size, np.bool_)
        replaced[overlay_rows] = True
        index = type(self)(size, self._vocabulary, (base, overlay), replaced)
        return index if len(overlay_rows) <= OVERLAY else index._compacted()

    def _compacted(self) -> Self:
        parts = [(s.texts, np.flatnonzero(live)) for s, live in zip(self._segments, self._live, strict=True)]
        rows = np.concatenate([s.rows[live] for s, live in zip(self._segments, self._live, strict=True)])
        base = Segment(rows, joined(parts), self._vocabulary.stop)
        return type(self)(self._size, self._vocabulary, (base,), np.zeros(self._size, np.bool_))
