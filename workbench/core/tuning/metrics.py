"""How good a ranking is, against graded judgments.

The definitions are those of trec_eval and ranx: linear gain, discount log₂(place + 1), an unjudged
memory counts as grade 0, and a memory is relevant from grade 1 on. How many of the top k are unjudged is
counted apart, because a metric over unjudged results says little.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

RELEVANT_FROM = 1
"""The lowest grade that counts as relevant for MRR, recall and precision."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of one ranking, cut at `k`; each is 0…1. For a set of queries, their means.

    `unjudged` counts results among the top k without a judgment (for a set: in all), `queries` how many it is about.
    """

    k: int
    ndcg: float
    mrr: float
    recall: float
    precision: float
    unjudged: int
    queries: int = 1


def ndcg(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return nDCG@k: the discounted gain of the ranking over that of the best possible one.

    The gain of a result is its grade, divided by log₂(place + 1); the best ranking has all judged
    memories by falling grade. 0 when nothing is relevant.
    """
    ideal = _discounted(sorted((g for g in grades.values() if g > 0), reverse=True)[:k])
    return _discounted([max(0, grades.get(id, 0)) for id in ranked[:k]]) / ideal if ideal else 0.0


def reciprocal_rank(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return RR@k: one over the place of the first relevant result, 0 when none is among the top k."""
    hits = (place for place, id in enumerate(ranked[:k], 1) if _relevant(grades, id))
    return 1 / place if (place := next(hits, 0)) else 0.0


def recall(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return Recall@k: the share of all relevant memories that are among the top k; 0 when there are none."""
    every = sum(grade >= RELEVANT_FROM for grade in grades.values())
    return sum(_relevant(grades, id) for id in ranked[:k]) / every if every else 0.0


def precision(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return P@k: relevant results among the top k, over k, also when fewer than k were returned."""
    return sum(_relevant(grades, id) for id in ranked[:k]) / k


def unjudged(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> int:
    """Count the results among the top k that nobody judged for this query."""
    return sum(id not in grades for id in ranked[:k])


def measure(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> Metrics:
    """Return all metrics of one ranking (distinct ids, best first). Raises `ValueError` when k is below 1."""
    if k < 1:
        raise ValueError("k must be at least 1")
    return Metrics(
        k,
        ndcg(ranked, grades, k),
        reciprocal_rank(ranked, grades, k),
        recall(ranked, grades, k),
        precision(ranked, grades, k),
        unjudged(ranked, grades, k),
    )


def mean(each: Sequence[Metrics]) -> Metrics:
    """Return the mean of several queries' metrics, each query counting the same. Raises `ValueError` when empty."""
    if not each:
        raise ValueError("no query to average over")
    return Metrics(
        each[0].k,
        fmean(m.ndcg for m in each),
        fmean(m.mrr for m in each),
        fmean(m.recall for m in each),
        fmean(m.precision for m in each),
        sum(m.unjudged for m in each),
        sum(m.queries for m in each),
    )


def _relevant(grades: Mapping[str, int], id: str) -> bool:
    return grades.get(id, 0) >= RELEVANT_FROM


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))
