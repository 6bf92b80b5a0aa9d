"""Votes and the importance they make."""

from dataclasses import replace
from datetime import datetime
from typing import Literal

import pytest

from tests.core.samples import NOW, days, memory
from workbench.core.playbook.book import Bullet
from workbench.core.stream.confidence import (
    apply_vote,
    confidence_of,
    effective_importance,
    retract_vote,
)
from workbench.core.stream.memory import Memory, Vote


def vote(verdict: Literal["helpful", "harmful"], at: datetime = NOW) -> Vote:
    return Vote("v", "memories", "mem-1", "ann", verdict, at)


@pytest.mark.parametrize(
    ("base", "helpful", "harmful", "effective"),
    [
        (5, 0, 0, 5.0),
        (5, 10, 0, 10.0),
        (5, 0, 10, 0.0),
        (7, 5, 2, 8.5),
        (8, 3, 5, 7.0),
        (5, 99, 0, 10.0),
    ],
)
def test_the_source_table(base: float, helpful: int, harmful: int, effective: float) -> None:
    """Source 000, algorithm 5, with the clamp on both sides."""
    one = memory(importance_score=float(base), helpful_votes=helpful, harmful_votes=harmful)
    assert effective_importance(one, NOW) == effective


def test_all_parts_count_and_the_weight_is_a_parameter() -> None:
    """Imported, created and absorbed marks move it like votes."""
    one = memory(
        helpful_imported=1,
        helpful_created=1,
        helpful_absorbed=1,
        helpful_votes=1,
        harmful_imported=1,
    )
    assert effective_importance(one, NOW) == 6.5
    assert effective_importance(one, NOW, weight=0.0) == 5.0


def test_time_weighting_halves_by_the_half_life() -> None:
    """From the last vote, or from the creation when there was none."""
    voted = memory(helpful_votes=4, created_at=NOW - days(100), last_feedback_at=NOW - days(29))
    assert effective_importance(voted, NOW, half_life=29.0) == pytest.approx(6.0)
    imported = memory(helpful_imported=4, created_at=NOW - days(58))
    assert effective_importance(imported, NOW, half_life=29.0) == pytest.approx(5.5)
    assert effective_importance(imported, NOW) == 7.0


def test_a_vote_counts_and_stamps_the_time() -> None:
    """For memories and bullets alike."""
    one = apply_vote(memory(), vote("helpful", NOW + days(1)), None)
    assert (one.helpful_votes, one.harmful_votes, one.last_feedback_at) == (1, 0, NOW + days(1))
    bullet = apply_vote(Bullet("b", "s", "text"), vote("harmful"), None)
    assert (bullet.helpful_votes, bullet.harmful_votes) == (0, 1)


def test_a_second_vote_replaces_the_first() -> None:
    """Changing one's mind moves the mark; repeating it changes nothing."""
    first = vote("helpful")
    one = apply_vote(memory(helpful_votes=3), first, None)
    assert apply_vote(one, vote("harmful"), first).helpful_votes == 3
    assert apply_vote(one, vote("harmful"), first).harmful_votes == 1
    assert apply_vote(one, vote("helpful"), first).helpful_votes == 4
    back = apply_vote(memory(harmful_votes=1), vote("helpful"), vote("harmful"))
    assert (back.helpful_votes, back.harmful_votes) == (1, 0)


def test_counts_never_fall_below_zero() -> None:
    """Even when the earlier vote was never counted."""
    one = apply_vote(memory(), vote("harmful"), vote("helpful"))
    assert (one.helpful_votes, one.harmful_votes) == (0, 1)


def test_a_vote_can_be_taken_back() -> None:
    """The mark goes, the time of the last feedback moves."""
    one = retract_vote(memory(helpful_votes=2, harmful_votes=1), vote("helpful"), NOW + days(1))
    assert (one.helpful_votes, one.harmful_votes, one.last_feedback_at) == (1, 1, NOW + days(1))
    assert retract_vote(memory(), vote("harmful"), NOW).harmful_votes == 0


def by_agents(one: Memory, verdict: Literal["helpful", "harmful"], count: int) -> Memory:
    for number in range(count):
        one = apply_vote(
            one, Vote(f"v{number}", "memories", one.id, f"agent:x{number}", verdict, NOW, "s"), None
        )
    return one


def test_all_agents_together_move_a_memory_by_one_point_either_way() -> None:
    for base in (memory(importance_score=5.0), memory(importance_score=5.0, helpful_votes=1)):
        start, sure = effective_importance(base, NOW), confidence_of(base)
        helped, harmed = by_agents(base, "helpful", 6), by_agents(base, "harmful", 6)
        assert (effective_importance(helped, NOW), effective_importance(harmed, NOW)) == (
            start + 1,
            start - 1,
        )
        assert (helped.helpful_votes, harmed.harmful_votes) == (base.helpful_votes + 6, 6)
        assert abs(confidence_of(helped) - sure) <= 1
        assert abs(confidence_of(harmed) - sure) <= 1
    both = by_agents(by_agents(memory(importance_score=5.0), "helpful", 5), "harmful", 6)
    assert effective_importance(both, NOW) == 4.5


def test_agents_never_lower_what_a_person_pinned_or_approved() -> None:
    for kept in (
        memory(importance_score=8.0, pinned=True),
        memory(importance_score=8.0, status="confirmed"),
    ):
        harmed = by_agents(kept, "harmful", 6)
        assert effective_importance(harmed, NOW) == 8.0
        assert confidence_of(harmed) == confidence_of(kept)
        by_a_person = apply_vote(harmed, vote("harmful"), None)
        assert effective_importance(by_a_person, NOW) == 7.5


def test_a_vote_that_is_taken_back_counts_no_more_for_agents_either() -> None:
    cast = Vote("v", "memories", "m", "agent:x", "harmful", NOW, "s")
    one = apply_vote(memory(), cast, None)
    assert retract_vote(one, cast, NOW) == replace(memory(), last_feedback_at=NOW)
