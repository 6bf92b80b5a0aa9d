"""From when on a rule of the lifecycle speaks: a person's settings, which are read without the rules."""

from typing import NamedTuple


class LifecycleLimits(NamedTuple):
    """Ages in days after which a rule speaks, and how often a memory is seen before it earns confirmation.

    `doubtful` is the confidence (0–5) at which a trusted memory that was marked harmful is asked about.
    """

    signal_days: float = 14.0
    candidate_days: float = 30.0
    confirmed_days: float = 90.0
    sightings: int = 3
    references: int = 2
    doubtful: int = 1


DEFAULT_LIMITS = LifecycleLimits()
