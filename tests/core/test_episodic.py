"""The score of episodes: its five terms by value, where each comes from, and that the groups add up
to it.
"""

import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.samples import NOW, memory
from tests.oracle.cases import Candidate
from tests.oracle.ranking import group_of, rank, score, terms_of
from workbench.core.stream.memory import MEMORY_TYPES
from workbench.core.tuning import episodic
from workbench.core.tuning.episodic import GROUPS, TERMS, WEIGHTS, EpisodeTerms, group_weight, share
from workbench.core.tuning.profile import BUILT_IN, EPISODE_HALF_LIFE

EPISODIC = next(p for p in BUILT_IN if p.name == "episodic")
units = st.floats(0, 1)


def candidate(id: str, dense: float = 0.0, days: float = 0.0, **fields: Any) -> Candidate:
    at = NOW - timedelta(days=days)
    return Candidate(memory(id, created_at=at, last_accessed_at=NOW, **fields), dense, 0.0)


def test_the_weights_are_the_printed_ones() -> None:
    """Source 004, section 2.4."""
    assert dict(WEIGHTS) == {
        "similarity": 0.5,
        "recency": 0.2,
        "success": 0.15,
        "use": 0.1,
        "domain": 0.05,
    }
    assert math.fsum(WEIGHTS.values()) == 1
    assert [EPISODIC.recency, EPISODIC.importance, EPISODIC.relevance] == [
        group_weight(g) for g in GROUPS
    ]


def test_a_score_by_hand() -> None:
    """0.5·0.8 + 0.2·e⁻¹ + 0.15·1 + 0.1·ln(1 + 9)/10 + 0.05·1."""
    one = candidate("a", 0.8, 30, metadata={"success": True}, access_count=9, category="auth")
    found = rank([one], EPISODIC, NOW, "why did auth break")[0]
    assert found.total == pytest.approx(
        0.4 + 0.2 * math.exp(-1) + 0.15 + 0.1 * math.log(10) / 10 + 0.05, abs=1e-12
    )
    assert found.raw == found.norm
    assert found.raw["recency"] == pytest.approx(math.exp(-1))
    assert pytest.approx(20.794, abs=1e-3) == EPISODE_HALF_LIFE


def test_nothing_depends_on_the_pool() -> None:
    """A score is the same beside others, and only episodes have one."""
    one = candidate("a", 0.4, 12, metadata={"outcome": "failure"}, access_count=3)
    others = [candidate(kind, 0.9, 2, memory_type=kind) for kind in MEMORY_TYPES]
    alone = rank([one], EPISODIC, NOW)[0]
    ranked = rank([one, *others], EPISODIC, NOW)
    assert [s.memory.id for s in ranked] == ["episodic", "a"]
    assert ranked[1] == alone


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"success": True}, 1.0), ({"success": False}, 0.0), ({"outcome": {"success": True}}, 1.0),
        ({"outcome": {"success": False, "status": "SUCCESS"}}, 0.0), ({"outcome": {"status": "SUCCESS"}}, 1.0),
        ({"outcome": "success"}, 1.0), ({"outcome": " Failure "}, 0.0), ({"outcome": "PARTIAL"}, 0.0),
        ({}, None), ({"outcome": "abandoned"}, None), ({"outcome": {}}, None), ({"outcome": None}, None),
        ({"success": "yes"}, None), ({"success": 1}, None), ({"outcome": {"status": 3}}, None),
        ({"outcome": ["success"]}, None),
    ],
)  # fmt: skip
def test_success_is_read_from_the_metadata(
    metadata: dict[str, object], expected: float | None
) -> None:
    """Whatever an episode was imported with; an unknown outcome counts half."""
    assert episodic.success_of(metadata) == expected
    terms = terms_of(memory(metadata=metadata), 0.0, 0.0, [])
    assert (terms.success, terms.known) == (
        0.5 if expected is None else expected,
        expected is not None,
    )


@pytest.mark.parametrize(
    ("reads", "expected"), [(0, 0.0), (1, math.log(2) / 10), (22_025, 1.0), (10**9, 1.0)]
)
def test_use_is_logarithmic_and_bounded(reads: int, expected: float) -> None:
    """ln(1 + n) / 10, at most 1."""
    assert episodic.use_of(reads) == pytest.approx(expected, abs=1e-5)
    assert episodic.use_of(reads) <= 1


@pytest.mark.parametrize(
    ("query", "fields", "matches"),
    [
        ("the auth flow", {"category": "auth"}, True), ("the Auth flow", {"section": "AUTH"}, True),
        ("authentication", {"category": "auth"}, False), ("a code review", {"section": "code_review"}, True),
        ("code_review", {"category": "code-review"}, True), ("review the code", {"section": "code review"}, False),
        ("billing", {"metadata": {"domain": "billing"}}, True), ("billing", {"metadata": {"domain": 3}}, False),
        ("anything", {}, False), ("", {"category": "auth"}, False), ("…", {"category": "…"}, False),
    ],
)  # fmt: skip
def test_the_domain_is_asked_for_by_whole_words(
    query: str, fields: dict[str, Any], matches: bool
) -> None:
    """Category, section or the metadata's domain, in the order of its words."""
    one = memory(**fields)
    terms = terms_of(one, 0.0, 0.0, episodic.query_words(query))
    assert terms.domain == float(matches)


def test_the_age_counts_from_the_making_and_pinned_ones_do_not_age() -> None:
    """An access does not make an episode younger."""
    old, pinned = candidate("a", days=60), candidate("b", days=60, pinned=True)
    ranked = {s.memory.id: s for s in rank([old, pinned], EPISODIC, NOW)}
    assert ranked["a"].raw["recency"] == pytest.approx(math.exp(-2))
    assert ranked["b"].raw["recency"] == 1
    assert rank([old], replace(EPISODIC, mode="off"), NOW)[0].raw["recency"] == 1
    assert rank([candidate("c", days=-5)], EPISODIC, NOW)[0].raw["recency"] == 1


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(units, units, units, units, units)
def test_the_groups_add_up_to_the_printed_sum(
    a: float, b: float, c: float, d: float, e: float
) -> None:
    """Under the profile's own weights; a shared weight parts by the printed ones."""
    terms = EpisodeTerms(a, b, c, d, e)
    assert sum(group_weight(g) * group_of(terms, g) for g in GROUPS) == pytest.approx(
        score(terms), abs=1e-12
    )
    assert all(0 <= group_of(terms, g) <= 1 + 1e-12 for g in GROUPS)
    assert [math.fsum(share(t) for t in members) for members in GROUPS.values()] == pytest.approx(
        [1, 1, 1]
    )
    assert {term for members in GROUPS.values() for term in members} == set(TERMS)


@settings(max_examples=40, deadline=None)
@given(st.floats(-1, 1), st.floats(-1, 1))
def test_more_similar_is_never_worse(low: float, high: float) -> None:
    """And an opposite direction counts as none at all."""
    low, high = sorted((low, high))
    ranked = {
        s.memory.id: s.total
        for s in rank([candidate("low", low), candidate("high", high)], EPISODIC, NOW)
    }
    assert ranked["high"] >= ranked["low"]
    assert terms_of(memory(), -0.4, 0.0, []).similarity == 0
