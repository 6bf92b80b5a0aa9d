"""Three-factor scoring: values on small pools, and the properties that hold on every pool."""

import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.core.samples import NOW, days, memory
from tests.oracle.cases import Candidate, RuleCase
from tests.oracle.ranking import normalise, rank, recency_scores, relevance_scores
from workbench.core.record import InvalidRecord
from workbench.core.stream.memory import Memory
from workbench.core.tuning.profile import (
    BUILT_IN,
    FrozenBounds,
    HalfLives,
    Profile,
    check_profile,
)

EQUAL = Profile("equal", 1.0, 1.0, 1.0, half_lives=HalfLives(episodic=1.0), feedback_half_life=None)


def candidate(
    id: str, dense: float = 0.0, lexical: float = 0.0, hours: float = 0.0, **fields: Any
) -> Candidate:
    return Candidate(memory(id, created_at=NOW - timedelta(hours=hours), **fields), dense, lexical)


def test_min_max_and_the_constant_factor() -> None:
    """0…1 over the range, clamped outside it, 0.5 without spread."""
    assert normalise([2, 4, 6], 2, 6) == [0.0, 0.5, 1.0]
    assert normalise([0, 9], 2, 6) == [0.0, 1.0]
    assert normalise([3, 3], 3, 3) == [0.5, 0.5]
    assert normalise([1, 1 + 1e-13], 1, 1 + 1e-13) == [0.5, 0.5]


def test_a_ranking_by_hand() -> None:
    """Every number of the explanation, and their sum."""
    pool = [
        candidate("a", dense=0.2, hours=24, importance_score=10.0),
        candidate("b", dense=0.8, hours=0, importance_score=0.0),
        candidate("c", dense=0.5, hours=48, importance_score=5.0),
    ]
    best = rank(pool, EQUAL, NOW)
    assert [s.memory.id for s in best] == ["b", "a", "c"]
    a = best[1]
    assert (a.raw["recency"], a.raw["importance"], a.raw["relevance"]) == (0.5, 1.0, 0.2)
    assert a.norm["recency"] == pytest.approx(1 / 3)
    assert (a.norm["importance"], a.norm["relevance"]) == (1.0, 0.0)
    assert a.total == pytest.approx(4 / 3)
    assert [s.total for s in best] == pytest.approx([2.0, 4 / 3, 1.0])


def test_an_empty_pool_ranks_nothing() -> None:
    """Under every profile."""
    for profile in BUILT_IN:
        assert rank([], profile, NOW) == []


def test_ties_go_by_id() -> None:
    """Whatever the order of the pool."""
    pool = [candidate(id) for id in ("c", "a", "b")]
    assert [s.memory.id for s in rank(pool, EQUAL, NOW)] == ["a", "b", "c"]
    assert {s.total for s in rank(pool, EQUAL, NOW)} == {1.5}


def test_relevance_blends_cosine_and_full_text() -> None:
    """The blend is the share of the cosine."""
    pool = [candidate("a", dense=1.0, lexical=0.0), candidate("b", dense=0.0, lexical=0.4)]
    assert relevance_scores(RuleCase(pool, replace(EQUAL, blend=0.75), NOW)) == pytest.approx(
        [0.75, 0.1]
    )


def test_contiguity_lends_only_the_excess() -> None:
    """What exceeds mean plus one deviation goes to the neighbours in the session, and to nobody
    else.
    """
    hits = [0.0, 0.1, 0.9, 0.1, 0.0]
    pool = [candidate(f"m{i}", dense=d, hours=10 - i, session_id="s") for i, d in enumerate(hits)]
    pool.append(candidate("x", dense=0.1, hours=7.5, session_id="other"))
    pool.append(candidate("y", dense=0.1, hours=7.5))
    base = [c.dense for c in pool]
    mean = sum(base) / len(base)
    deviation = (sum((b - mean) ** 2 for b in base) / len(base)) ** 0.5
    lent = 0.5 * (0.9 - mean - deviation)
    scores = relevance_scores(RuleCase(pool, replace(EQUAL, contiguity=0.5), NOW))
    assert lent > 0
    assert scores == pytest.approx([0.0, 0.1 + lent, 0.9, 0.1 + lent, 0.0, 0.1, 0.1])


def test_contiguity_needs_an_excess_and_a_session() -> None:
    """An even pool lends nothing, nor do memories without a session."""
    even = [candidate(f"m{i}", dense=0.5, session_id="s") for i in range(4)]
    assert relevance_scores(RuleCase(even, replace(EQUAL, contiguity=1.0), NOW)) == [0.5] * 4
    alone = [candidate(f"m{i}", dense=d) for i, d in enumerate((0.0, 0.0, 1.0, 0.0))]
    assert relevance_scores(RuleCase(alone, replace(EQUAL, contiguity=1.0), NOW)) == [
        0.0,
        0.0,
        1.0,
        0.0,
    ]
    assert relevance_scores(RuleCase([], replace(EQUAL, contiguity=1.0), NOW)) == []


def test_recency_by_hours_type_and_pin() -> None:
    """Counted from the last access; pinned memories and types without a half-life do not decay."""
    old = NOW - days(1)
    pool = [
        Candidate(memory("a", created_at=NOW - days(9), last_accessed_at=old), 0, 0),
        Candidate(memory("b", created_at=old, pinned=True), 0, 0),
        Candidate(memory("c", created_at=old, memory_type="semantic"), 0, 0),
        Candidate(memory("d", created_at=NOW + days(3)), 0, 0),
    ]
    assert recency_scores(RuleCase(pool, EQUAL, NOW)) == [0.5, 1.0, 1.0, 1.0]
    assert recency_scores(RuleCase(pool, replace(EQUAL, mode="off"), NOW)) == [1.0] * 4


def test_recency_by_age_and_pins_that_fade() -> None:
    """Mode "days" is exp(−age / τ) since a memory was made, however lately it was read; half-life =
    τ · ln 2.
    """
    pool = [
        Candidate(memory("a", created_at=NOW - days(30), last_accessed_at=NOW), 0, 0),
        Candidate(memory("b", created_at=NOW - days(60), last_accessed_at=NOW, pinned=True), 0, 0),
    ]
    by_age = replace(EQUAL, mode="days", half_lives=HalfLives(episodic=30 * math.log(2)))
    assert recency_scores(RuleCase(pool, by_age, NOW)) == pytest.approx([math.exp(-1), 1.0])
    assert recency_scores(RuleCase(pool, replace(by_age, pinned="fades"), NOW)) == pytest.approx(
        [math.exp(-1), math.exp(-2)]
    )
    assert recency_scores(RuleCase(pool, replace(by_age, mode="hours"), NOW)) == [1.0, 1.0]


def test_what_the_candidate_filter_leaves_out_sets_no_bound_and_no_rank() -> None:
    pool = [candidate("a", 0.9, tags=("wip",)), candidate("b", 0.5), candidate("c", 0.1)]
    found = rank(pool, replace(EQUAL, candidates="-tag:wip"), NOW)
    assert [(s.memory.id, s.norm["relevance"]) for s in found] == [("b", 1.0), ("c", 0.0)]
    for broken in ("free words", "since:sometime"):
        with pytest.raises(InvalidRecord, match="candidate filter"):
            check_profile(replace(EQUAL, candidates=broken))


def test_recency_by_rank() -> None:
    """Newest first, or oldest first as the published code ships; ties go by id in both."""
    pool = [candidate("b", hours=5), candidate("c", hours=1), candidate("a", hours=5)]
    newest = replace(EQUAL, mode="rank", rank_decay=0.5)
    assert recency_scores(RuleCase(pool, newest, NOW)) == [0.25, 1.0, 0.5]
    assert recency_scores(RuleCase(pool, replace(newest, rank_order="oldest"), NOW)) == [
        0.5,
        0.25,
        1.0,
    ]


def test_normalising_by_the_most_relevant_only() -> None:
    """Those outside the top are clamped to its range and may not stretch it."""
    pool = [
        candidate("a", dense=0.9, importance_score=4.0),
        candidate("b", dense=0.8, importance_score=6.0),
        candidate("c", dense=0.1, importance_score=10.0),
    ]
    top = {s.memory.id: s.norm for s in rank(pool, replace(EQUAL, scope="top", top_n=2), NOW)}
    assert (top["a"]["importance"], top["b"]["importance"], top["c"]["importance"]) == (
        0.0,
        1.0,
        1.0,
    )
    whole = {s.memory.id: s.norm for s in rank(pool, EQUAL, NOW)}
    assert whole["b"]["importance"] == pytest.approx(1 / 3)


def test_votes_move_the_importance() -> None:
    """By the profile's weight, fading by its half-life."""
    voted: Memory = memory("a", helpful_votes=4, last_feedback_at=NOW - days(29))
    pool = [Candidate(voted, 0, 0)]

    def importance(profile: Profile) -> float:
        return rank(pool, profile, NOW)[0].raw["importance"]

    assert importance(EQUAL) == 0.7
    assert importance(replace(EQUAL, feedback=0.0)) == 0.5
    assert importance(replace(EQUAL, feedback_half_life=29.0)) == pytest.approx(0.6)


FROZEN = FrozenBounds((0.0, 1.0), (0.2, 0.8), (0.1, 0.9))


def test_frozen_bounds_normalise_whatever_the_pool_holds() -> None:
    """A memory keeps its total when the pool changes, and what is beyond the bounds is clamped."""
    frozen = replace(EQUAL, scope="frozen", frozen=FROZEN, feedback=0.0)
    one = candidate("a", dense=0.5, hours=24, importance_score=5.0)
    beyond = candidate("b", dense=1.0, importance_score=10.0)
    alone, among = rank([one], frozen, NOW)[0], rank([one, beyond], frozen, NOW)
    assert alone == next(s for s in among if s.memory.id == "a")
    assert (
        alone.norm["recency"],
        alone.norm["importance"],
        alone.norm["relevance"],
    ) == pytest.approx((0.5, 0.5, 0.5))
    top = among[0]
    assert (top.norm["recency"], top.norm["importance"], top.norm["relevance"]) == (1.0, 1.0, 1.0)
