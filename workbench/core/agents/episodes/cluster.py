"""Episodes that say the same, held together under one of them; the others are kept, and found on request."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from workbench.core.agents.episodes.criteria import Digest
from workbench.core.duplicates.dedup import conflicts, differing, word_conflicts

LEAST = 0.95
"""The cosine above which two episodes may say the same."""

WINDOW = timedelta(days=30)
"""How far apart in time two of one cluster lie at the most."""


@dataclass(frozen=True, slots=True)
class Variation:
    """How an episode differs from the one that stands for it: the words that only it has, and its duration."""

    episode: str
    words: tuple[str, ...] = ()
    duration: float | None = None


@dataclass(frozen=True, slots=True)
class EpisodeCluster:
    """Episodes of one type, domain, outcome and time that say the same (source 004, section 2.5).

    `representative` stands for them, the latest; `members` are all of them, it included, which stay as they are.
    `first_at` and `last_at` say when they were, `average_duration` how long they took (seconds).
    """

    id: str
    representative: str
    members: tuple[str, ...]
    variations: tuple[Variation, ...]
    first_at: datetime
    last_at: datetime
    made_at: datetime
    success_rate: float
    average_duration: float | None = None
    version: int = 1


def cluster_id(representative: str) -> str:
    """Return the id of the cluster that an episode stands for."""
    return f"{representative}:cluster"


def objection(one: Digest, other: Digest) -> bool:
    """Tell whether two much alike episodes say different things all the same: opposites reach a cosine of 1.00."""
    left, right = _told(one), _told(other)
    return bool(conflicts(left, right) or word_conflicts(left, right))


def variation(id: str, digest: Digest, representative: Digest) -> Variation:
    """Return how an episode differs from the one that stands for it."""
    return Variation(id, differing(_told(digest), _told(representative))[0], digest.duration)


def average(durations: Sequence[float | None]) -> float | None:
    """Return the mean of the durations that are known."""
    known = [one for one in durations if one is not None]
    return sum(known) / len(known) if known else None


def _told(digest: Digest) -> str:
    return "\n".join((digest.task, digest.result, digest.lessons, digest.failure))
