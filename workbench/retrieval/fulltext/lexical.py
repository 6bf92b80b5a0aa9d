"""Full text over the memories: absolute BM25.

Absolute BM25 is BM25 divided by the most that the query could ever reach, the sum over its terms
of idf · (k1 + 1), absent terms counted. It runs from 0 to below 1 without looking at the pool, so an
accidental shared word stays small, which rank fusion and per-query normalisation blow up.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Self

import numpy as np

from workbench.retrieval.arrays import Column, Mask, Rows, Scores
from workbench.retrieval.fulltext.asking import PHRASE, Asked, Asking
from workbench.retrieval.fulltext.lexical_part import Part, PartScores
from workbench.retrieval.fulltext.matches import Matches, Near, Related, TermMatch, expandable, nearness
from workbench.retrieval.fulltext.segment import MemorySegment, Segment, joined
from workbench.retrieval.fulltext.vocabulary import Vocabulary

K1 = 1.2
B = 0.75
OVERLAY = 2_000
"""Changed rows kept apart before they are put together with those that changed earlier."""


class LexicalIndex:
    """Words, identifiers and phrases of n texts; row i is text i. Immutable: changes give a new index.

    Rows belong to parts: those read from disk (`LexicalCache`), and in memory those that were built or changed
    since. A changed index shares the large parts with the old one; the latest changes live in a small overlay.
    Raises `CacheDamaged` from whatever reads a part on disk that has become unreadable.
    """

    def __init__(
        self, size: int, vocabulary: Vocabulary, parts: Sequence[Part[Segment]], overlay: Part[Segment] | None = None
    ) -> None:
        self._size = size
        self._vocabulary = vocabulary
        self._fixed = tuple(parts)
        self._overlay = overlay
        self.parts = self._fixed if overlay is None else (*self._fixed, overlay)
        filled, words = 0, 0
        for part in self.parts:
            filled += int(np.count_nonzero(part.lengths))
            words += int(part.lengths.sum())
        mean = words / filled if filled else 1.0
        self._documents = filled
        self._damping: list[Column] = [
            np.asarray(K1 * (1 - B + B * part.segment.lengths / mean), np.float64) for part in self.parts
        ]

    @classmethod
    def build(cls, texts: Sequence[str]) -> Self:
        """Index `texts` in memory."""
        vocabulary = Vocabulary()
        everything = np.arange(len(texts))
        return cls(len(texts), vocabulary, [Part(_segment(texts, vocabulary), everything, everything)])

    def __len__(self) -> int:
        return self._size

    def scores(self, query: str) -> Scores:
        """Return absolute BM25 for every row, float32 of shape (n,), 0…1.

        Words count by their stems, stop words do not count; an identifier or path as it is written counts
        besides its words; `"two words"` in quotes count only where they follow each other.
        """
        sums = [PartScores(part, damping) for part, damping in zip(self.parts, self._damping, strict=True)]
        most = 0.0
        for asked in self._asked(query):
            frequency = sum(part.look(asked) for part in sums)
            weight = math.log1p((max(self._documents, frequency) - frequency + 0.5) / (frequency + 0.5)) * (K1 + 1)
            most += weight
            for part in sums:
                part.add(weight)
        total = np.zeros(self._size)
        for part in sums:
            part.into(total)
        return (total / most if most else total).astype(np.float32)

    def matches(self, query: str, related: Related | None = None, names: Collection[str] = ()) -> Matches:
        """Return where the terms of a query stand, and the words that are `related` to them.

        What `names` somebody has no related words (`matches.expandable`).
        """
        plain = expandable(PHRASE.sub(" ", query), names) if related is not None else {}
        found = [
            self._match(
                one, (*related(one.stem), *plain[one.stem]) if related is not None and one.stem in plain else ()
            )
            for one in self._asked(query)
        ]
        return Matches(tuple(found), self._row_lengths)

    def _asked(self, query: str) -> tuple[Asked, ...]:
        return self._asking.read(query)

    @cached_property
    def _asking(self) -> Asking:
        return Asking(self._vocabulary, [(part.segment, part.owners) for part in self.parts], self.languages)

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages of the texts in Latin letters; a text of one that is not told apart counts as English."""
        return frozenset[str]().union(*(part.languages for part in self.parts))

    def _match(self, asked: Asked, related: Near) -> TermMatch:
        every: list[tuple[Rows, Column, Column]] = [(np.zeros(0, np.intp), np.zeros(0), np.zeros(0))]
        for part in self.parts:
            every.append(part.counted(asked, [(stem, nearness(cosine)) for stem, cosine in related]))
        rows, own, near = (np.concatenate(column) for column in zip(*every, strict=True))
        silent = bool(asked.silent)
        frequency = sum(part.frequency(asked) for part in self.parts) if silent else int(np.count_nonzero(own))
        weight = math.log1p((max(self._documents, frequency) - frequency + 0.5) / (frequency + 0.5))
        return TermMatch(asked.name, weight, related, rows, own, near)

    @cached_property
    def _row_lengths(self) -> Column:
        lengths = np.zeros(self._size)
        for part in self.parts:
            lengths[part.rows] = part.lengths
        return lengths

    def with_replaced(self, texts: Mapping[int, str]) -> Self:
        """Return an index in which the given rows have new texts; an empty text removes a row's words."""
        return self._changed(dict(texts), self._size)

    def with_added(self, texts: Sequence[str]) -> Self:
        """Return an index with more rows at the end."""
        return self._changed({self._size + i: text for i, text in enumerate(texts)}, self._size + len(texts))

    def _changed(self, texts: dict[int, str], size: int) -> Self:
        if not texts:
            return self
        rows = np.array(sorted(texts), np.intp)
        gone: Mask = np.zeros(size, np.bool_)
        gone[rows] = True
        fixed = [part.without(gone) for part in self._fixed]
        old = [] if self._overlay is None else [self._overlay.without(gone)]
        new: Part[Segment] = Part(
            _segment([texts[row] for row in rows.tolist()], self._vocabulary), rows, np.arange(len(rows))
        )
        overlay = self._together([*old, new])
        if len(overlay.rows) > OVERLAY:
            loose = [part for part in fixed if isinstance(part.segment, MemorySegment)]
            kept = [part for part in fixed if part not in loose]
            return type(self)(size, self._vocabulary, [*kept, self._together([*loose, overlay])])
        return type(self)(size, self._vocabulary, fixed, overlay)

    def _together(self, parts: Sequence[Part[Segment]]) -> Part[Segment]:
        """Return parts in memory, in which each text has one row, as one."""
        if len(parts) == 1:
            return parts[0]
        segments = [part.segment for part in parts if isinstance(part.segment, MemorySegment)]
        encoded = joined([(s.texts, part.texts) for s, part in zip(segments, parts, strict=True)])
        rows = np.concatenate([part.rows for part in parts])
        return Part(MemorySegment(encoded, self._vocabulary), rows, np.arange(len(rows)))


def _segment(texts: Sequence[str], vocabulary: Vocabulary) -> MemorySegment:
    return MemorySegment(vocabulary.encode(texts), vocabulary)
