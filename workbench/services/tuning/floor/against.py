"""A query and its memories held against the floor of the store."""

from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from workbench.core.tuning.floor import Standard, Verdict
from workbench.retrieval.arrays import Mask, Rows
from workbench.retrieval.floor.floor import reach_of, weak_rows
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.ranker import QueryScores, Ranking


@dataclass(frozen=True, eq=False)
class AgainstFloor:
    """A query over what may be served at a moment, and each memory, held against the floor.

    Under a floor by words the `scores` know nothing.
    """

    verdict: Verdict
    pool: Pool
    scores: QueryScores
    now: datetime

    @property
    def empty(self) -> bool:
        """Whether nothing is relevant."""
        return self.verdict.empty

    def scores_of(self, id: str) -> tuple[float, float, bool]:
        """Return a memory's cosine and full-text score, and whether the model knows it. Raises `UnknownRecord`."""
        row = self.pool.row(id)
        return float(self.scores.dense[row]), float(self.scores.lexical[row]), self.scores.knows(row)

    def relevance(self, id: str) -> float:
        """Return how relevant a memory is, whatever the profile. Raises `UnknownRecord`."""
        return float(self.scores.relevance[self.pool.row(id)])

    def is_weak(self, id: str) -> bool:
        """Tell whether a memory is one that any question could have found. Raises `UnknownRecord`."""
        return self.verdict.is_weak(*self.scores_of(id))

    def strong(self, rows: Rows) -> Mask:
        """Tell of each of some rows of the pool whether its memory is not weak."""
        floor = self.verdict.standard.floor
        if floor is None or self.empty:
            return np.full(len(rows), not self.empty)
        return ~weak_rows(floor, self.scores, rows)


def against(standard: Standard, scores: QueryScores, ranking: Ranking) -> AgainstFloor:
    """Hold a query against a floor at the moment of a ranking, whatever its profile."""
    if standard.floor is not None and standard.floor.by_words:
        scores = replace(scores, known=np.zeros(len(scores.dense), np.bool_))
    reach = reach_of(scores, ranking.pool.served(ranking.now)) if standard.floor is not None else None
    return AgainstFloor(Verdict(standard, reach), ranking.pool, scores, ranking.now)
