"""Three-factor scoring: values on small pools, and the properties that hold on every pool."""

import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.samples import NOW, days, memory
from tests.oracle.cases import Candidate, RuleCase
from tests.oracle.ranking import normalise, rank, recency_scores, relevance_scores
from workbench.core.record import InvalidRecord
from workbench.core.stream.memory import MEMORY_TYPES, Memory
from workbench.core.tuning.profile import (
    BUILT_IN,
    WORKBENCH,
    FrozenBounds,
    HalfLives,
    Profile,
    check_profile,
)

EQUAL = Profile("equal", 1.0, 1.0, 1.0, half_lives=HalfLives(episodic=1.0), feedback_half_life=None)

few = settings(max_examples=60, deadline=None)


def candidate(
    id: str, dense: float = 0.0, lexical: float = 0.0, hours: float = 0.0, **fields: Any
) -> Candidate:
    return Candidate(memory(id, created_at=NOW - timedelta(hours=hours), **fields), dense, lexical)


@st.composite
def pools(draw: st.DrawFn) -> list[Candidate]:
    rows = draw(
        st.lists(
            st.tuples(
                st.floats(-1, 1), st.floats(0, 1), st.integers(0, 5000), st.floats(0, 10), st.integers(-5, 5),
                st.sampled_from(MEMORY_TYPES), st.booleans(), st.sampled_from(["", "s1", "s2"]),
            ),
            min_size=1, max_size=12,
        )
    )  # fmt: skip
    return [
        candidate(
            f"mem-{i:02}", dense, lexical, hours,
            importance_score=importance, helpful_votes=max(0, votes), harmful_votes=max(0, -votes),
            memory_type=kind, pinned=pinned, session_id=session,
        )
        for i, (dense, lexical, hours, importance, votes, kind, pinned, session) in enumerate(rows)
    ]  # fmt: skip


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


@pytest.mark.slow
@few
@given(
    pools(), st.randoms(), st.sampled_from([*BUILT_IN, replace(WORKBENCH, scope="top", top_n=3)])
)
def test_the_order_of_the_pool_does_not_matter(
    pool: list[Candidate], random: object, profile: Profile
) -> None:
    """Same ids in the same order, same totals."""
    shuffled = list(pool)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = rank(pool, profile, NOW), rank(shuffled, profile, NOW)
    assert [s.memory.id for s in one] == [s.memory.id for s in other]
    assert [s.total for s in one] == pytest.approx([s.total for s in other])


@pytest.mark.slow
@few
@given(pools(), st.sampled_from(BUILT_IN))
def test_a_total_is_the_sum_of_its_parts(pool: list[Candidate], profile: Profile) -> None:
    """Normalised factors lie in 0…1, totals fall."""
    ranked = rank(pool, profile, NOW)
    for s in ranked:
        assert s.total == s.weighted["recency"] + s.weighted["importance"] + s.weighted["relevance"]
        assert all(
            0 <= x <= 1 for x in (s.norm["recency"], s.norm["importance"], s.norm["relevance"])
        )
        assert s.weighted["recency"] == profile.recency * s.norm["recency"]
    assert [s.total for s in ranked] == sorted((s.total for s in ranked), reverse=True)


@pytest.mark.slow
@few
@given(pools(), st.sampled_from(["recency", "importance", "relevance"]), st.floats(0.1, 5))
def test_raising_a_weight_never_lowers_the_leader_against_one_that_trails_on_all(
    pool: list[Candidate], factor: str, more: float
) -> None:
    """Who leads on the raised factor keeps ahead of whoever is no better on any."""
    before = rank(pool, EQUAL, NOW)
    leader = max(before, key=lambda s: s.norm[factor])
    trailing = {
        s.memory.id
        for s in before
        if s.norm["recency"] < leader.norm["recency"]
        and s.norm["importance"] < leader.norm["importance"]
        and s.norm["relevance"] < leader.norm["relevance"]
    }
    raised = replace(EQUAL, **{factor: getattr(EQUAL, factor) + more})
    order = [s.memory.id for s in rank(pool, raised, NOW)]
    assert all(order.index(leader.memory.id) < order.index(id) for id in trailing)


@pytest.mark.slow
@few
@given(pools(), st.sampled_from(["recency", "importance", "relevance"]), st.floats(0.1, 5))
def test_raising_a_weight_adds_to_the_advantage_of_who_leads_on_it(
    pool: list[Candidate], factor: str, more: float
) -> None:
    """The leader's advantage over anybody grows by the weight times its lead."""
    raised = replace(EQUAL, **{factor: getattr(EQUAL, factor) + more})
    before = {s.memory.id: s for s in rank(pool, EQUAL, NOW)}
    after = {s.memory.id: s for s in rank(pool, raised, NOW)}
    leader = max(before, key=lambda id: before[id].norm[factor])
    for id, was in before.items():
        gained = (after[leader].total - after[id].total) - (before[leader].total - was.total)
        lead = before[leader].norm[factor] - was.norm[factor]
        assert gained == pytest.approx(more * lead, abs=1e-9)
        assert gained >= -1e-9


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


@pytest.mark.slow
@few
@given(pools(), st.integers(0, 2))
def test_a_factor_that_all_share_decides_nothing(pool: list[Candidate], which: int) -> None:
    """It is 0.5 for everybody, so that any weight of it leaves the order as it is."""
    name = ("recency", "importance", "relevance")[which]
    flat = {
        "recency": replace(EQUAL, mode="off"), "importance": replace(EQUAL, feedback=0.0), "relevance": EQUAL,
    }[name]  # fmt: skip
    same = pool
    if name == "importance":
        same = [replace(c, memory=replace(c.memory, importance_score=5.0)) for c in pool]
    elif name == "relevance":
        same = [replace(c, dense=0.3, lexical=0.3) for c in pool]
    orders = []
    for weight in (0.0, 1.0, 7.0):
        change: dict[str, Any] = {name: weight}
        ranked = rank(same, replace(flat, **change), NOW)
        assert {s.norm[name] for s in ranked} == {0.5}
        orders.append(
            [s.memory.id for s in sorted(ranked, key=lambda s: (-round(s.total, 9), s.memory.id))]
        )
    assert orders[0] == orders[1] == orders[2]
