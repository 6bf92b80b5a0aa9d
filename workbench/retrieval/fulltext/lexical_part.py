"""Which rows of a store a segment speaks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from workbench.retrieval.arrays import Column, Mask, Rows
from workbench.retrieval.fulltext.asking import Asked
from workbench.retrieval.fulltext.segment import Counts, Segment
from workbench.retrieval.fulltext.vocabulary import LANGUAGES

S_co = TypeVar("S_co", bound=Segment, covariant=True)


@dataclass(frozen=True, eq=False)
class Part(Generic[S_co]):
    """A segment and the rows that have its texts: row `rows[i]` has text `texts[i]`.

    Several rows may have one text, and a text may have no row any more.
    """

    segment: S_co
    rows: Rows
    texts: Rows

    @cached_property
    def owners(self) -> Counts:
        """How many rows have each text."""
        return np.bincount(self.texts, minlength=len(self.segment.lengths)).astype(np.int64)

    @cached_property
    def lengths(self) -> Counts:
        """The length of each row's text, in words."""
        return self.segment.lengths[self.texts]

    def without(self, rows: Mask) -> "Part[S_co]":
        """Return the part without the marked rows."""
        kept = ~rows[self.rows]
        return self if kept.all() else Part(self.segment, self.rows[kept], self.texts[kept])

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages of the rows' texts in Latin letters."""
        return frozenset(LANGUAGES[number] for number in np.unique(self.segment.languages[self.texts]).tolist())

    def frequency(self, asked: Asked) -> int:
        """Return how many rows have what is asked for, or the word where it says nothing."""
        some = [asked.found_in(self.segment)[0], *(self.segment.postings(term)[0] for term in asked.silent)]
        return int(self.owners[np.unique(np.concatenate(some))].sum())

    def counted(self, asked: Asked, related: Sequence[tuple[str, float]]) -> tuple[Rows, Column, Column]:
        """Return the rows that have what is asked for, or stems related to it; and how often each has both.

        A related stem counts by the factor that stands beside it.
        """
        own, near = np.zeros(len(self.segment.lengths)), np.zeros(len(self.segment.lengths))
        texts, counts = asked.found_in(self.segment)
        own[texts] = counts
        for stem, factor in related:
            texts, counts = self.segment.postings(stem)
            near[texts] += factor * counts
        found = np.flatnonzero(np.take(own + near, self.texts) if related else np.take(own, self.texts))
        texts = self.texts[found]
        return self.rows[found], own[texts], near[texts]


class PartScores:
    """Adds up the scores of one part, text by text."""

    def __init__(self, part: Part[Segment], damping: Column) -> None:
        self.part = part
        self._damping = damping
        self._total = np.zeros(len(damping))
        self._found: tuple[Rows, Counts | Column] | None = None

    def look(self, asked: Asked) -> int:
        """Look up what is asked for; return how many rows have it."""
        self._found = asked.found_in(self.part.segment)
        if asked.silent:
            return self.part.frequency(asked)
        return int(self.part.owners[self._found[0]].sum())

    def add(self, weight: float) -> None:
        """Count what was looked up last."""
        assert self._found is not None
        texts, counts = self._found
        self._total[texts] += weight * counts / (counts + self._damping[texts])

    def into(self, scores: Column) -> None:
        """Put the sums where their rows are."""
        scores[self.part.rows] = self._total[self.part.texts]
