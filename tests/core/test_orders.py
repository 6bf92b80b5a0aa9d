"""Orders of memories: what stands first, what equals keep, and what a ranking has to say."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from workbench.core.stream.confidence import ORDERS, Arranged, find_order, ordered
from workbench.core.stream.memory import Memory

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def memory(id: str, days: int, **fields: object) -> Memory:
    at = NOW - timedelta(days=days)
    return replace(Memory(id=id, content=id, created_at=at, last_accessed_at=at), **fields)  # type: ignore[arg-type]


FOUND = (
    memory("a", 1, importance_score=3.0, helpful_votes=1),
    memory("b", 2, importance_score=9.0, harmful_votes=2, confidence=2),
    memory("c", 3, importance_score=3.0, helpful_votes=3, harmful_votes=2, access_count=1),
)


def ids(order: str, scores: dict[str, float] | None = None) -> str:
    return "".join(m.id for m in ordered(FOUND, Arranged(order), scores))


@pytest.mark.parametrize(
    ("order", "first", "turned"),
    [
        ("made", "abc", "cba"),
        ("read", "cab", "abc"),
        ("importance", "bac", "acb"),
        ("votes", "cab", "bac"),
        ("confidence", "abc", "bca"),
    ],
)
def test_the_greatest_stands_first_and_equals_stay_as_found(
    order: str, first: str, turned: str
) -> None:
    """Of one more helpful than harmful each, the one with more votes stands first."""
    assert (ids(order), ids(f"-{order}")) == (first, turned)


def test_by_score_what_a_ranking_does_not_know_comes_last_and_without_one_nothing_moves() -> None:
    assert ids("score", {"c": 0.9, "a": 0.5}) == "cab"
    assert ids("-score", {"c": 0.9, "a": 0.5}) == "acb"
    assert ids("score") == ids("") == ids("no such order") == "abc"


def test_every_order_is_found_by_its_name_turned_round_or_not() -> None:
    assert [find_order(order.id) for order in ORDERS] == list(ORDERS)
    assert [find_order(f"-{order.id}") for order in ORDERS] == list(ORDERS)
    assert find_order("") is None
