"""The metric of every setting for one judged query: what tuning maximises."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np

from workbench.core.tuning.factors import FACTORS, WEIGHT_KEYS
from workbench.core.tuning.measure import Measure
from workbench.core.tuning.metrics import RELEVANT_FROM
from workbench.core.tuning.profile import Profile, weight_of
from workbench.evaluation.settings import Settings
from workbench.retrieval.arrays import Column, Rows
from workbench.retrieval.ranking.places import Places, contenders, places
from workbench.retrieval.ranking.ranker import QueryScores, Ranker


@dataclass(frozen=True, eq=False)
class JudgedScores:
    """A query with its relevance scores, its graded memories and the moment it is asked at.

    Every grade counts towards the best possible order, also of a memory that is hidden at that moment.
    """

    scores: QueryScores
    grades: Mapping[str, int]
    now: datetime

    @cached_property
    def relevant(self) -> tuple[str, ...]:
        """The memories that a metric looks for, in the order they were judged."""
        return tuple(id for id, grade in self.grades.items() if grade >= RELEVANT_FROM)


def values(ranker: Ranker, query: JudgedScores, settings: Settings, measure: Measure) -> Column:
    """Return the metric under every setting, shape (settings,): exactly what ranking each of them would give."""
    found = [_values(ranker, query, life, settings.weights, measure) for life in settings.lives]
    for profile in settings.contenders:
        weights = np.array([[weight_of(profile, key) for key in WEIGHT_KEYS]])
        found.append(_values(ranker, query, profile, weights, measure))
    return np.concatenate(found)


def columns_by_id(ranker: Ranker, query: JudgedScores, profile: Profile) -> tuple[Column, Rows]:
    """Return the normalised factors of what is served, shape (n, factors), in the order of ids, and the pool rows.

    The columns are in that of the factors; a factor that the profile's scorer does not know is 0 for all.
    """
    ranking = ranker.rank(query.scores, profile, query.now, k=0)
    if not len(ranking.candidates):
        return np.zeros((0, len(FACTORS))), np.zeros(0, np.intp)
    order = np.argsort(ranking.candidates.id_rank)
    known, nothing = ranking.factors, np.zeros(len(order))
    norms = [known[f.id].norm[order] if f.id in known else nothing for f in FACTORS]
    return np.stack(norms, axis=1), ranking.candidates.rows[order]


def _values(ranker: Ranker, query: JudgedScores, life: Profile, weights: Column, measure: Measure) -> Column:
    columns, rows = columns_by_id(ranker, query, life)
    wanted = {ranker.pool.row(id): query.grades[id] for id in query.relevant if id in ranker.pool.row_of}
    keep = contenders(columns, measure.k) if len(columns) else np.zeros(0, np.bool_)
    kept = rows[keep]
    targets = np.flatnonzero(np.isin(kept, list(wanted)))
    grades = np.array([wanted[row] for row in kept[targets].tolist()], np.float64)
    where = places(columns[keep], weights, targets)
    return _metric(where, grades, query, measure)


def _metric(where: Places, grades: Column, query: JudgedScores, measure: Measure) -> Column:
    """Return the metric from the places, shape (targets, weights), of the relevant memories."""
    inside = where <= measure.k
    if measure.kind == "mrr":
        first = where.min(axis=0, initial=np.iinfo(np.int64).max)
        return np.where(first <= measure.k, 1 / first, 0.0)
    if measure.kind == "recall":
        return np.asarray(inside.sum(axis=0) / max(1, len(query.relevant)), np.float64)
    if measure.kind == "p":
        return np.asarray(inside.sum(axis=0) / measure.k, np.float64)
    gains = np.where(inside, grades[:, None] / np.log2(where + 1.0), 0.0).sum(axis=0)
    best = sorted((query.grades[id] for id in query.relevant), reverse=True)[: measure.k]
    ideal = (np.array(best) / np.log2(np.arange(2.0, len(best) + 2))).sum()
    result: Column = gains / ideal if ideal else np.zeros(where.shape[1])
    return result
