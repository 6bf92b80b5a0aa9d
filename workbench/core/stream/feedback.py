"""Votes and the importance they make (source 000, algorithm 5)."""

from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from workbench.core.playbook.book import Bullet
from workbench.core.stream.memory import Memory, Vote
from workbench.core.tuning.recency import hours_between, recency

Voted = TypeVar("Voted", Memory, Bullet)


def effective_importance(memory: Memory, now: datetime, weight: float = 0.5, half_life: float | None = None) -> float:
    """Return clamp(base + (helpful − harmful) · weight, 0, 10), in which agents' votes are bounded.

    With a `half_life` in days the marks fade from `last_feedback_at` (or the creation, if it was never voted on).
    """
    delta = memory.net_marks * weight
    if half_life is not None and delta:
        delta *= recency(hours_between(memory.last_feedback_at or memory.created_at, now), half_life)
    return min(10.0, max(0.0, memory.importance_score + delta))


def apply_vote(record: Voted, vote: Vote, previous: Vote | None) -> Voted:
    """Return `record` with `vote` counted, and `previous` (the same actor's live vote) taken back first."""
    if previous is not None:
        record = _counted(record, previous, -1)
    return replace(_counted(record, vote, 1), last_feedback_at=vote.at)


def retract_vote(record: Voted, vote: Vote, now: datetime) -> Voted:
    """Return `record` without `vote`, which was counted in it."""
    return replace(_counted(record, vote, -1), last_feedback_at=now)


def _counted(record: Voted, vote: Vote, step: int) -> Voted:
    """Return `record` with one vote more or less; of a memory it is kept apart which are agents'."""
    names = [f"{vote.verdict}_votes"]
    if isinstance(record, Memory) and vote.actor.startswith("agent:"):
        names.append(f"{vote.verdict}_by_agents")
    return replace(record, **{name: max(0, getattr(record, name) + step) for name in names})
