"""The score of episodes (source 004, section 2.4) over columns; its terms and weights are those of `core.tuning`."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from workbench.core.tuning.episodic import TERMS, WEIGHTS, EpisodeTerms
from workbench.retrieval.arrays import Column, Mask, Rows
from workbench.retrieval.ranking.times import Micros, micros

DECAY_DAYS = 30.0
"""Days in which the term of recency falls to 1/e."""

_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True, eq=False)
class EpisodeScores:
    """The terms of some rows, one number each in 0–1, and their totals. `rows` are the rows, in the order of the rest.

    The best come first; those with equal totals stand in the order of their rows.
    """

    rows: Rows
    similarity: Column
    recency: Column
    success: Column
    use: Column
    domain: Column

    @property
    def totals(self) -> Column:
        """The printed sum."""
        total: Column = np.zeros(len(self.rows))
        for term in TERMS:
            total += WEIGHTS[term] * getattr(self, term)
        return total

    def terms(self, place: int) -> EpisodeTerms:
        """Return the terms of one row, by its place."""
        return EpisodeTerms(
            float(self.similarity[place]),
            float(self.recency[place]),
            float(self.success[place]),
            float(self.use[place]),
            float(self.domain[place]),
        )

    def best(self, k: int) -> NDArray[np.intp]:
        """Return the places of the best, at most so many."""
        return np.argsort(-self.totals, kind="stable")[:k]


def scored(
    rows: Rows, similarity: Column, at: Micros, success: Mask, use: Column, domain: Mask, now: datetime
) -> EpisodeScores:
    """Return the terms of some rows. All columns but `rows` and `similarity` are of every row there is."""
    days = np.maximum(micros(now) - at[rows], 0) / _DAY
    return EpisodeScores(
        rows,
        np.clip(similarity, 0.0, 1.0),
        np.exp(-days / DECAY_DAYS),
        success[rows].astype(np.float64),
        use[rows],
        domain[rows].astype(np.float64),
    )
