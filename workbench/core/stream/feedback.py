"""Votes and the importance they make (source 000, algorithm 5)."""

from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from workbench.core.playbook.book import Bullet
from workbench.core.stream.memory import Memory
from workbench.core.stream.vote import Vote
from workbench.core.tuning.recency import hours_between, recency

Voted = TypeVar("Voted", Memory, Bullet)


def effective_importance(memory: Memory, now: datetime, weight: float = 0.5, half_life: float | None = None) -> float:
    """Return clamp(base + (helpful − harmful) · weight, 0, 10).

    With a `half_life` in days the marks fade from `last_feedback_at` (or the creation, if it was never voted on).
    """
    delta = (memory.helpful_count - memory.harmful_count) * weight
    if half_life is not None and delta:
        delta *= recency(hours_between(memory.last_feedback_at or memory.created_at, now), half_life)
    return min(10.0, max(0.0, memory.importance_score + delta))


def apply_vote(record: Voted, vote: Vote, previous: Vote | None) -> Voted:
    """Return `record` with `vote` counted, and `previous` (the same actor's live vote) taken back first."""
    helpful = record.helpful_votes + (vote.verdict == "helpful")
    harmful = record.harmful_votes + (vote.verdict == "harmful")
    if previous is not None:
        helpful -= previous.verdict == "helpful"
        harmful -= previous.verdict == "harmful"
    return replace(record, helpful_votes=max(0, helpful), harmful_votes=max(0, harmful), last_feedback_at=vote.at)


def retract_vote(record: Voted, vote: Vote, now: datetime) -> Voted:
    """Return `record` without `vote`, which was counted in it."""
    helpful = record.helpful_votes - (vote.verdict == "helpful")
    harmful = record.harmful_votes - (vote.verdict == "harmful")
    return replace(record, helpful_votes=max(0, helpful), harmful_votes=max(0, harmful), last_feedback_at=now)
