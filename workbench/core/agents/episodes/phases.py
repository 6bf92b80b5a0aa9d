"""How old an episode is in its life (source 004, section 2.5), by its date alone: nothing is rewritten for that."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Literal

from workbench.core.agents.episodes.episode import Episode
from workbench.core.record import moved

Phase = Literal["active", "mature", "aged", "archived", "deleted"]

BEGINS: Mapping[Phase, int] = {"active": 0, "mature": 30, "aged": 180, "archived": 365}
"""From which age, in days, an episode is in a phase."""

CLOSED: frozenset[Phase] = frozenset({"aged", "archived"})
"""Phases in which the trace is opened on request only."""

UNASKED: frozenset[Phase] = frozenset({"active", "mature", "aged"})
"""Phases that are looked through when nobody asks for more."""

RETENTION = timedelta(days=30)
"""How long an episode is kept that a person deleted; after that it may be purged."""


def phase_of(episode: Episode, now: datetime) -> Phase:
    """Return the phase of an episode: a person's word, or else what its age says."""
    if episode.status != "active":
        return episode.status
    days = age_of(episode.at, now)
    return next(phase for phase, begin in reversed(tuple(BEGINS.items())) if days >= begin)


def phase_dates(episode: Episode) -> dict[Phase, datetime]:
    """Return when each phase begins, or began."""
    return {phase: moved(episode.at, timedelta(days=days)) for phase, days in BEGINS.items()}


def age_of(at: datetime, now: datetime) -> float:
    """Return an age in days; what is not yet is of none."""
    return max((now - at).total_seconds() / 86_400, 0.0)


def is_over(episode: Episode, now: datetime) -> bool:
    """Tell whether the retention of an episode that a person deleted is over."""
    return episode.status == "deleted" and episode.deleted_at is not None and now - episode.deleted_at >= RETENTION
