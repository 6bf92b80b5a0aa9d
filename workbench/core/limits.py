"""The limits that a person may set, and what they are at first; light, since every command reads
the settings.
"""

from typing import NamedTuple


class LifecycleLimits(NamedTuple):
    """Ages in days after which a rule speaks, and how often a memory is seen before it earns
    confirmation.

    `doubtful` is the confidence (0–5) at which a trusted memory that was marked harmful is asked
    about.
    """

    signal_days: float = 14.0
    candidate_days: float = 30.0
    confirmed_days: float = 90.0
    sightings: int = 3
    references: int = 2
    doubtful: int = 1


LIFECYCLE_LIMITS = LifecycleLimits()


class TriggerLimits(NamedTuple):
    """The thresholds of the three conditions; the last one is in hours."""

    importance: float = 150.0
    observations: int = 100
    hours: float = 24.0


TRIGGER_LIMITS = TriggerLimits()


class LlmSettings(NamedTuple):
    """How Claude is asked.

    `temperature` (0–1) is sent only when it is set: not every model takes one. `max_tokens` bounds
    one reply, `monthly_tokens` everything sent and received in a calendar month (UTC; 0 means no
    bound). `memories` is how many of the latest memories one reflection reads. With
    `rate_importance` the model rates each insight 1–10; otherwise every insight gets importance 8
    (source 000, algorithm 8). `rounds` bounds a refinement. The key is never part of the settings:
    the SDK finds it itself.
    """

    model: str = "claude-sonnet-5-5"
    temperature: float | None = None
    max_tokens: int = 2_000
    monthly_tokens: int = 1_000_000
    memories: int = 100
    rounds: int = 3
    rate_importance: bool = False


class Thresholds(NamedTuple):
    """Cosines: from `flag` on a likely duplicate, from `review` on an entry in the review list.

    Nothing is merged on a cosine alone, because a static model ignores word order and negation.
    """

    flag: float
    review: float


BUNDLED = Thresholds(flag=0.88, review=0.71)
"""Measured on paraphrases and near-misses for the bundled model (see `model/README.md`)."""


class DedupThresholds(NamedTuple):
    """`flag`: cosine from which a pair is proposed; `review`: from which it joins a review list.

    `order`: ordered text similarity (0–100) from which a flagged pair may be absorbed.
    """

    flag: float = BUNDLED.flag
    review: float = BUNDLED.review
    order: float = 95.0


DEFAULT_THRESHOLDS = DedupThresholds()
