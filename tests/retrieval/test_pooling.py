"""The judging pool: what every corner would show, in an order that gives nothing away."""

from datetime import timedelta

import numpy as np

from tests.retrieval.samples import T0, memory
from workbench.core.tuning.profile import WORKBENCH, check_profile
from workbench.evaluation.pooling import corners, judging_pool
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.ranker import Ranker

LATER = T0 + timedelta(days=3)


def ranker_of(rows: int) -> Ranker:
    random = np.random.default_rng(1)
    stored = [memory(i, importance_score=float(random.integers(0, 11))) for i in range(rows)]
    nothing = np.zeros((rows, 0), np.float32)
    return Ranker(
        Pool.build(stored), nothing, LexicalIndex.build([""] * rows), lambda texts: nothing
    )


def scores_of(rows: int, query: str = "query") -> QueryScores:
    random = np.random.default_rng(2)
    return QueryScores(
        query, random.random(rows).astype(np.float32), random.random(rows).astype(np.float32)
    )


def test_the_corners_are_profiles_and_begin_with_the_present_one() -> None:
    every = list(corners(WORKBENCH))
    assert every[0] == WORKBENCH
    for profile in every:
        check_profile(profile)
    shares = {(p.recency, p.importance, p.relevance) for p in every}
    assert {(1, 0, 0), (0, 1, 0), (0, 0, 1)} <= shares
    assert {p.blend for p in every} == {0.0, 0.5, 1.0}


def test_it_is_the_union_of_the_top_tens() -> None:
    ranker, scores = ranker_of(500), scores_of(500)
    pool = judging_pool(ranker, scores, WORKBENCH, LATER)
    tops = [ranker.rank(scores, corner, LATER, 10).ids for corner in corners(WORKBENCH)]
    assert set(pool) == {id for top in tops for id in top}
    assert len(pool) == len(set(pool))
    # It shows what the present top ten does not.
    assert len(pool) > 25
    assert len(judging_pool(ranker, scores, WORKBENCH, LATER, depth=3)) < len(pool)


def test_the_order_is_shuffled_and_always_the_same() -> None:
    ranker, scores = ranker_of(300), scores_of(300)
    pool = judging_pool(ranker, scores, WORKBENCH, LATER)
    assert pool == judging_pool(ranker, scores, WORKBENCH, LATER)
    assert list(pool) != sorted(pool)
    assert pool[:10] != ranker.rank(scores, WORKBENCH, LATER, 10).ids
    other = judging_pool(ranker, scores, WORKBENCH, LATER, seed=1)
    assert other != pool
    assert set(other) == set(pool)
    assert judging_pool(ranker, scores_of(300, "another"), WORKBENCH, LATER) != pool


def test_small_and_empty_stores() -> None:
    assert len(judging_pool(ranker_of(4), scores_of(4), WORKBENCH, LATER)) == 4
    assert judging_pool(ranker_of(0), scores_of(0), WORKBENCH, LATER) == ()
    # Nothing was there yet.
    assert judging_pool(ranker_of(4), scores_of(4), WORKBENCH, T0 - timedelta(days=1)) == ()
