"""The fast ranking equals the plain rule, whatever was cached before."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.cases import Candidate
from tests.oracle.ranking import rank
from tests.retrieval.rankers import assert_equal, ranker_of
from tests.retrieval.samples import (
    DEFAULT,
    RELEVANCE_ONLY,
    T0,
    memories,
    memory,
    near,
    profiles,
    query_scores,
)
from workbench.core.record import UnknownRecord
from workbench.core.stream.memory import Memory, MemoryType, is_served
from workbench.core.tuning.profile import FrozenBounds, HalfLives, Profile
from workbench.core.tuning.scoring import Scored
from workbench.retrieval.arrays import Mask
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.ranking.cases import ColumnCache, QueryScores
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.ranker import Ranker


def by_rule(
    pool: Pool, scores: QueryScores, profile: Profile, now: datetime, mask: Mask | None = None
) -> list[Scored]:
    candidates = [
        Candidate(m, float(scores.dense[row]), float(scores.lexical[row]), known=scores.knows(row))
        for row, m in enumerate(pool.memories)
        if (is_served(m, now) if mask is None else mask[row])
    ]
    return rank(candidates, profile, now)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_fast_ranking_equals_the_rule(data: st.DataObject) -> None:
    pool = Pool.build(data.draw(memories()))
    ranker = ranker_of(pool)
    scores = [data.draw(query_scores(len(pool))) for _ in range(2)]
    for _ in range(4):
        # One ranker throughout, so that a column cached for other parameters would be found out.
        profile, now, asked = (
            data.draw(profiles()),
            data.draw(near()),
            data.draw(st.sampled_from(scores)),
        )
        fast = ranker.rank(asked, profile, now, data.draw(st.integers(1, 15)))
        assert_equal(fast, by_rule(pool, asked, profile, now))


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_a_changed_pool_with_a_shared_cache_equals_the_rule(data: st.DataObject) -> None:
    pool = Pool.build(data.draw(memories()))
    ranker = ranker_of(pool)
    scores = data.draw(query_scores(len(pool)))
    now = data.draw(near())
    profile = data.draw(profiles())
    ranker.rank(scores, profile, now)
    for _ in range(3):
        other = data.draw(memories())
        row = data.draw(st.integers(0, len(pool) - 1))
        pool = pool.with_replaced([replace(other[0], id=pool.memories[row].id)])
        ranker = ranker.moved_to(pool)
        assert_equal(ranker.rank(scores, profile, now), by_rule(pool, scores, profile, now))


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.data())
def test_a_mask_replaces_the_served_filter(data: st.DataObject) -> None:
    pool = Pool.build(data.draw(memories()))
    mask = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(pool), max_size=len(pool))), np.bool_
    )
    scores, now, profile = (
        data.draw(query_scores(len(pool))),
        data.draw(near()),
        data.draw(profiles()),
    )
    assert_equal(
        ranker_of(pool).rank(scores, profile, now, mask=mask),
        by_rule(pool, scores, profile, now, mask),
    )


def scores_of(dense: list[float]) -> QueryScores:
    return QueryScores("q", np.array(dense, np.float32), np.zeros(len(dense), np.float32))


def test_a_tie_across_the_cut_is_settled_by_id() -> None:
    pool = Pool.build([memory(n) for n in (7, 3, 9, 1, 5)])
    ranking = ranker_of(pool).rank(
        scores_of([0.5, 0.5, 0.9, 0.5, 0.5]), RELEVANCE_ONLY, T0 + timedelta(1), k=3
    )
    assert [id[-1] for id in ranking.ids] == ["9", "1", "3"]
    assert ranking.place_of(memory(7).id) == 5


def test_bounds_name_the_memories_that_set_them_and_dead_factors() -> None:
    pool = Pool.build([memory(n, importance_score=float(n)) for n in (4, 2, 8, 6)])
    ranking = ranker_of(pool).rank(
        scores_of([0.5, 0.1, 0.1, 0.9]), RELEVANCE_ONLY, T0 + timedelta(1)
    )
    assert ranking.dead == ("recency",)
    assert ranking.bounds["recency"].low_id == memory(2).id
    relevance = ranking.bounds["relevance"]
    assert (relevance.low_id, relevance.high_id) == (memory(2).id, memory(6).id)
    assert (relevance.low, relevance.high) == pytest.approx((0.1, 0.9))
    assert ranking.bounds["importance"].high_id == memory(8).id


def test_a_hidden_memory_has_no_place_and_an_unknown_one_is_an_error() -> None:
    hidden = memory(2, status="archived")
    ranking = ranker_of(Pool.build([memory(1), hidden])).rank(
        scores_of([0.1, 0.9]), DEFAULT, T0 + timedelta(1)
    )
    assert ranking.ids == (memory(1).id,)
    assert ranking.place_of(hidden.id) is None
    assert ranking.scored(hidden.id) is None
    with pytest.raises(UnknownRecord):
        ranking.place_of("mem-nowhere")


def test_nothing_served_ranks_nothing() -> None:
    pool = Pool.build([memory(1, status="candidate")])
    ranking = ranker_of(pool).rank(scores_of([0.3]), DEFAULT, T0)
    assert (ranking.top, ranking.ids, ranking.bounds, ranking.dead) == ((), (), {}, ())
    assert ranking.place_of(memory(1).id) is None
    assert ranker_of(Pool.build([])).rank(scores_of([]), DEFAULT, T0).ids == ()


def test_scores_of_another_pool_are_refused() -> None:
    with pytest.raises(ValueError, match="another pool"):
        ranker_of(Pool.build([memory(1)])).rank(scores_of([0.1, 0.2]), DEFAULT, T0)
    with pytest.raises(ValueError, match="vectors"):
        ranker_of(Pool.build([memory(1)])).moved_to(Pool.build([memory(1), memory(2)]))


def test_equal_texts_score_equal_although_the_product_rounds_by_position() -> None:
    random = np.random.default_rng(5)
    one = random.standard_normal(256).astype(np.float32)
    one /= np.linalg.norm(one)
    rows = 103
    pool = Pool.build([memory(n, "the same text") for n in range(rows)])
    ranker = Ranker(
        pool,
        np.tile(one, (rows, 1)),
        LexicalIndex.build(["the same text"] * rows),
        lambda _: np.roll(one, 1)[None],
    )
    assert len(np.unique(ranker.relevance("query").dense)) == 1
    later = T0 + timedelta(days=1)
    ranking = ranker.rank(ranker.relevance("query"), RELEVANCE_ONLY, later, k=rows)
    assert list(ranking.ids) == sorted(ranking.ids)


def test_relevance_is_cosine_and_absolute_bm25() -> None:
    texts = ["alpha beta", "gamma"]
    vectors = np.eye(2, dtype=np.float32)
    ranker = Ranker(
        Pool.build([memory(n, text) for n, text in enumerate(texts)]),
        vectors,
        LexicalIndex.build(texts),
        lambda asked: np.array([[0.6, 0.8]] * len(asked), np.float32),
    )
    scores = ranker.relevance("gamma")
    assert scores.dense.tolist() == pytest.approx([0.6, 0.8])
    assert scores.lexical[0] == 0 < scores.lexical[1] < 1
    assert [column.dtype.name for column in (scores.dense, scores.lexical)] == [
        "float32",
        "float32",
    ]


FADING = replace(
    DEFAULT, half_lives=HalfLives(1.0, 2.0, 3.0, 4.0), recency=0.5, importance=0.5, relevance=0.5
)
BY_RANK = replace(FADING, mode="rank")
AMONG_TOP = replace(FADING, scope="top", top_n=4)
FROZEN = replace(FADING, scope="frozen", frozen=FrozenBounds((0.0, 1.0), (0.0, 1.0), (0.0, 1.0)))


@pytest.mark.parametrize(
    ("before", "change"),
    [
        (FADING, {"mode": "days"}),
        (FADING, {"half_lives": HalfLives(1.0, 8.0, 3.0, 4.0)}),
        (FADING, {"pinned": "fades"}),
        (FADING, {"feedback": 2.0}),
        (FADING, {"feedback_half_life": None}),
        (FADING, {"blend": 0.9}),
        (FADING, {"contiguity": 0.9}),
        (FADING, {"scope": "top", "top_n": 4}),
        (FADING, {"candidates": "-pinned:yes"}),
        (BY_RANK, {"rank_decay": 0.5}),
        (BY_RANK, {"rank_order": "oldest"}),
        (AMONG_TOP, {"top_n": 6}),
        (FROZEN, {"frozen": FrozenBounds((0.2, 0.9), (0.0, 1.0), (0.0, 1.0))}),
    ],
)
def test_a_parameter_that_changes_alone_is_not_answered_from_the_cache(
    before: Profile, change: dict[str, Any]
) -> None:
    kinds: tuple[MemoryType, ...] = ("episodic", "semantic", "working", "procedural")
    rows = [
        memory(
            n, created_at=T0 - timedelta(days=3 * n), last_accessed_at=T0 - timedelta(days=n), memory_type=kinds[n % 4],
            pinned=n % 5 == 0, helpful_votes=n % 3, importance_score=float(n), session_id=f"s{n // 4}",
        )
        for n in range(12)
    ]  # fmt: skip
    pool = Pool.build(rows)
    ranker = ranker_of(pool)
    scores = QueryScores(
        "q",
        np.linspace(0.9, 0.1, 12, dtype=np.float32),
        np.linspace(0, 1, 12, dtype=np.float32) ** 2,
    )
    after = replace(before, **change)
    first = ranker.rank(scores, before, T0, 12)
    second = ranker.rank(scores, after, T0, 12)
    assert second.best(12) != first.best(12)  # it is a parameter that matters here
    assert_equal(second, by_rule(pool, scores, after, T0))


def test_the_cache_stays_within_its_limit_and_still_gives_right_columns() -> None:
    pool = Pool.build([memory(n, importance_score=float(n)) for n in range(6)])
    ranker, scores = ranker_of(pool, ColumnCache(limit=100)), scores_of([0.1 * n for n in range(6)])
    for hour in range(20):
        now = T0 + timedelta(hours=hour)
        assert_equal(ranker.rank(scores, DEFAULT, now), by_rule(pool, scores, DEFAULT, now))


def test_an_input_is_never_written_to() -> None:
    pool = Pool.build([memory(n, session_id="s") for n in range(5)])
    scores = scores_of([0.1, 0.9, 0.3, 0.2, 0.1])
    copies: list[Memory] = list(pool.memories)
    before = (pool.accessed.copy(), pool.net.copy(), scores.dense.copy())
    ranker_of(pool).rank(scores, DEFAULT, T0 + timedelta(1))
    for kept, now in zip(before, (pool.accessed, pool.net, scores.dense), strict=True):
        np.testing.assert_array_equal(kept, now)
    assert list(pool.memories) == copies
