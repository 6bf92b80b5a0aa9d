"""Exponential recency decay (source 000, algorithm 2) with its pitfalls settled.

The formula decides, not the source's printed schedule: 0.995 per hour is 0.431 after 7 days.
Hours clamp at 0, so a memory from after `now` counts as fresh. Values below 1e-9 are cut to 0.
"""

import math
from datetime import datetime

CUT = 1e-9
"""A recency below this reads as forgotten (by value, so that slow decays are not cut early)."""


def hours_between(earlier: datetime, now: datetime) -> float:
    """Return the hours from `earlier` to `now`, never below 0."""
    return max(0.0, (now - earlier).total_seconds() / 3600)


def decay_per_hour(half_life_days: float) -> float:
    """Return the hourly factor that halves a value every `half_life_days`."""
    return float(0.5 ** (1 / (half_life_days * 24)))


def half_life_days(decay: float) -> float:
    """Return the half-life in days of an hourly factor in (0, 1)."""
    return math.log(0.5) / math.log(decay) / 24


def recency(hours: float, half_life: float | None) -> float:
    """Return 0…1: 0.5 to the power of hours over the half-life in days; `None` never decays."""
    if half_life is None:
        return 1.0
    value = float(0.5 ** (max(0.0, hours) / (half_life * 24)))
    return value if value >= CUT else 0.0


def rank_recency(rank: int, decay: float) -> float:
    """Return the decay by place instead of by time: `decay` to the power of `rank`, from 0."""
    value = float(decay**rank)
    return value if value >= CUT else 0.0
