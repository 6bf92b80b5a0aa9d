"""The fast score of episodes equals the plain rule, whatever was cached and however the pool was
read.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.cases import Candidate
from tests.oracle.ranking import rank
from tests.retrieval.rankers import assert_equal, ranker_of
from tests.retrieval.samples import T0, memory, near, query_scores
from workbench.core.stream.memory import MEMORY_TYPES, Memory, is_served
from workbench.core.tuning.profile import BUILT_IN
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.pool import Pool

EPISODIC = next(p for p in BUILT_IN if p.name == "episodic")
OUTCOMES: list[dict[str, object]] = [
    {},
    {"success": True},
    {"outcome": "failure"},
    {"outcome": {"status": "SUCCESS"}},
]


@st.composite
def episodes(draw: st.DrawFn) -> list[Memory]:
    numbers = draw(st.lists(st.integers(0, 99), min_size=1, max_size=10, unique=True))
    return [
        memory(
            number,
            created_at=draw(near()),
            last_accessed_at=draw(near()),
            memory_type=draw(st.sampled_from(["episodic", *MEMORY_TYPES])),
            category=draw(st.sampled_from(["", "auth", "query", "code review"])),
            section=draw(st.sampled_from(["", "query"])),
            access_count=draw(st.sampled_from([0, 1, 7, 30_000])),
            metadata=draw(st.sampled_from(OUTCOMES)),
            pinned=draw(st.booleans()),
        )
        for number in numbers
    ]


def changed(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "recency": draw(st.sampled_from([0.0, 0.2, 1.0])),
        "blend": draw(st.sampled_from([0.0, 0.5, 1.0])),
        "contiguity": draw(st.sampled_from([0.0, 0.5])),
        "mode": draw(st.sampled_from(["hours", "rank", "off"])),
    }


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.data())
def test_the_fast_score_equals_the_rule(data: st.DataObject) -> None:
    stored = data.draw(episodes())
    ranker = ranker_of(Pool.build(stored))
    scores = data.draw(query_scores(len(stored)))
    for _ in range(3):
        profile = replace(EPISODIC, **data.draw(st.composite(changed)()))
        now = data.draw(near())
        rows = enumerate(stored)
        pool = [
            Candidate(m, float(scores.dense[i]), float(scores.lexical[i]), known=scores.knows(i))
            for i, m in rows
            if is_served(m, now)
        ]
        rule = rank(pool, profile, now, scores.query)
        assert_equal(ranker.rank(scores, profile, now), rule)


def test_a_change_of_what_only_episodes_have_is_seen() -> None:
    pool = Pool.build([memory(1), memory(2)])
    ranker, scores = (
        ranker_of(pool),
        QueryScores("auth", np.zeros(2, np.float32), np.zeros(2, np.float32)),
    )
    before = ranker.rank(scores, EPISODIC, T0.replace(day=9))
    for fields in (
        {"metadata": {"success": True}},
        {"category": "auth"},
        {"access_count": 9},
        {"pinned": True},
    ):
        moved = ranker.moved_to(pool.with_replaced([memory(1, **fields)]))
        after = moved.rank(scores, EPISODIC, T0.replace(day=9))
        gained = after.scored(memory(1).id), before.scored(memory(1).id)
        assert gained[0] is not None
        assert gained[1] is not None
        assert gained[0].total > gained[1].total, fields
    gone = ranker.moved_to(pool.with_replaced([memory(1, memory_type="semantic")]))
    assert gone.rank(scores, EPISODIC, T0.replace(day=9)).ids == (memory(2).id,)


def test_terms_are_there_for_episodes_under_this_profile_only() -> None:
    pool = Pool.build(
        [memory(1, metadata={"outcome": "failure"}), memory(2, memory_type="semantic")]
    )
    ranker, now = ranker_of(pool), T0.replace(day=9)
    scores = QueryScores("q", np.array([0.5, -0.5], np.float32), np.zeros(2, np.float32))
    ranking = ranker.rank(scores, EPISODIC, now)
    terms = ranking.terms_of(memory(1).id)
    assert terms is not None
    assert (terms.similarity, terms.success, terms.known, terms.use, terms.domain) == (
        0.5,
        0.0,
        True,
        0.0,
        0.0,
    )
    assert ranking.terms_of(memory(2).id) is None
    assert (
        ranker.rank(scores, replace(EPISODIC, scorer="factors"), now).terms_of(memory(1).id) is None
    )


def test_a_pool_without_episodes_ranks_nothing() -> None:
    pool = Pool.build([memory(1, memory_type="semantic")])
    scores = QueryScores("q", np.zeros(1, np.float32), np.zeros(1, np.float32))
    ranking = ranker_of(pool).rank(scores, EPISODIC, T0.replace(day=9))
    assert (ranking.ids, ranking.bounds, ranking.episodes) == ((), {}, None)
    with pytest.raises(KeyError):
        ranking.bounds["recency"]
