"""The columns of a pool, and that a changed pool equals one built anew."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.retrieval.samples import T0, memories, memory, near
from workbench.core.record import UnknownRecord
from workbench.core.stream.confidence import effective_importance
from workbench.core.stream.memory import Memory, MemoryType, is_served
from workbench.core.tuning.profile import WORKBENCH
from workbench.retrieval.arrays import EPOCH, micros
from workbench.retrieval.ranking.cases import Candidates
from workbench.retrieval.ranking.episodic import most_important
from workbench.retrieval.ranking.pool import PINNED, Pool

COLUMNS = (
    "created",
    "accessed",
    "feedback",
    "importance",
    "net",
    "kind",
    "servable",
    "settled",
    "id_rank",
)
LASTING: tuple[MemoryType, ...] = ("semantic", "procedural")


def assert_same(one: Pool, other: Pool) -> None:
    assert list(one.memories) == list(other.memories)
    assert one.row_of == other.row_of
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    np.testing.assert_array_equal(one.twins, other.twins)
    np.testing.assert_array_equal(one.asks, other.asks)
    assert _neighbours(one) == _neighbours(other)


def _neighbours(pool: Pool) -> set[tuple[int, int]]:
    """The rows that stand side by side in a session; how sessions are numbered does not matter."""
    chosen = Candidates.of(pool, np.ones(len(pool), np.bool_))
    pairs = zip(
        chosen.order[:-1].tolist(), chosen.order[1:].tolist(), chosen.linked.tolist(), strict=True
    )
    return {(left, right) for left, right, linked in pairs if linked}


@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])))
def test_micros_are_exact(at: datetime) -> None:
    assert EPOCH + timedelta(microseconds=micros(at)) == at


def test_a_vote_replaces_only_the_columns_it_touches() -> None:
    pool = Pool.build([memory(n) for n in range(3)])
    ranked, order = pool.id_rank, pool.order
    voted = pool.with_replaced([replace(pool.memories[1], helpful_votes=1, last_feedback_at=T0)])
    assert voted.net.tolist() == [0, 1, 0]
    assert pool.net.tolist() == [0, 0, 0]
    assert voted.accessed is pool.accessed
    assert (voted.id_rank is ranked, voted.order is order) == (True, True)
    assert voted.layout_token is pool.layout_token
    assert voted.access_token is pool.access_token
    assert voted.importance_token is not pool.importance_token
    assert voted.memory(memory(1).id).helpful_votes == 1


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_replacing_equals_building_anew(data: st.DataObject) -> None:
    old = data.draw(memories())
    pool = Pool.build(old)
    assert pool.id_rank.shape == pool.order.shape == pool.asks.shape == (len(old),)
    new = [replace(m, id=o.id) for m, o in zip(data.draw(memories()), old, strict=False)]
    changed = pool.with_replaced(new)
    assert_same(changed, Pool.build(new + old[len(new) :]))
    assert_same(pool, Pool.build(old))


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(memories(), st.integers(0, 14))
def test_adding_equals_building_anew(every: list[object], cut: int) -> None:
    pool = Pool.build(every[:cut])  # type: ignore[arg-type]
    assert_same(pool.with_added(every[cut:]), Pool.build(every))  # type: ignore[arg-type]


def test_an_unknown_or_repeated_id_is_refused() -> None:
    pool = Pool.build([memory(1)])
    with pytest.raises(UnknownRecord):
        pool.with_replaced([memory(2)])
    with pytest.raises(ValueError, match="twice"):
        pool.with_added([memory(1)])
    with pytest.raises(ValueError, match="twice"):
        Pool.build([memory(1), memory(1)])


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(memories(), near())
def test_served_agrees_with_the_rule(every: list[object], now: datetime) -> None:
    pool = Pool.build(every)  # type: ignore[arg-type]
    assert pool.served(now).tolist() == [is_served(m, now) for m in pool.memories]


def test_each_memory_type_has_a_kind_more_for_what_is_pinned() -> None:
    pool = Pool.build(
        [memory(1, memory_type="semantic"), memory(2, memory_type="semantic", pinned=True)]
    )
    assert pool.kind.tolist() == [2, 2 + PINNED]


def test_twins_point_at_the_first_row_with_the_same_text() -> None:
    pool = Pool.build([memory(1, "a"), memory(2, "b"), memory(3, "a"), memory(4, "a", summary="s")])
    assert pool.twins is not None
    assert pool.twins.tolist() == [0, 1, 0, 3]
    assert Pool.build([memory(1, "a"), memory(2, "b")]).twins is None


def test_neighbours_are_found_among_the_candidates_only() -> None:
    pool = Pool.build(
        [memory(n, session_id="s") for n in (1, 2, 3)] + [memory(4, session_id="t"), memory(5)]
    )
    everyone = Candidates.of(pool, np.ones(5, np.bool_))
    values = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    assert everyone.neighbour_maximum(values).tolist() == [2, 4, 2, 0, 0]
    without = Candidates.of(pool, np.array([1, 0, 1, 1, 1], np.bool_))
    assert without.neighbour_maximum(values[without.rows]).tolist() == [4, 1, 0, 0]
    assert [without.position(row) for row in range(5)] == [0, None, 1, 2, 3]


def test_a_kept_pool_reads_what_is_looked_at(tmp_path: Path) -> None:
    Pool.build([memory(n) for n in range(4)]).keep(tmp_path, "state", [str(n) for n in range(4)])
    assert Pool.kept(tmp_path, "another", lambda place: memory(int(place))) is None
    read = Pool.kept(tmp_path, "state", lambda place: memory(int(place)))
    assert read is not None
    new = memory(1, "other", helpful_votes=2)
    changed = read.with_replaced([new]).with_added([memory(9)])
    assert_same(changed, Pool.build([memory(0), new, memory(2), memory(3), memory(9)]))
    assert read.memories[1] == memory(1)
    assert [changed.memories[row] for row in (1, 2)] == [new, memory(2)]


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(memories(), st.integers(1, 6))
def test_the_most_important_are_those_of_the_plain_rule(every: list[Memory], count: int) -> None:
    pool, now, types = Pool.build(every), T0, LASTING
    rows = np.flatnonzero(pool.settled & pool.is_of(*types) & pool.served(now))
    found = pool.memories_at(most_important(pool, rows, count, WORKBENCH, now))

    def weight(one: Memory) -> float:
        return effective_importance(one, now, WORKBENCH.feedback, WORKBENCH.feedback_half_life)

    lasting = [
        m for m in every if m.memory_type in types and m.status != "signal" and is_served(m, now)
    ]
    np.testing.assert_allclose(
        [*map(weight, found)], sorted(map(weight, lasting), reverse=True)[:count]
    )
    assert {m.id for m in found} <= {m.id for m in lasting}
    pinned = pool.memories_at(np.flatnonzero(pool.is_pinned()))
    assert {m.id for m in pinned} == {m.id for m in every if m.pinned}
