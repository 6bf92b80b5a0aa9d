"""Episodes that say the same, held together under one of them; the others are kept, and found on request."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from workbench.core.agents.episodes.criteria import Digest, said
from workbench.core.agents.episodes.episode import EpisodeBody
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


def cluster_lines(cluster: EpisodeCluster, id: str) -> Iterator[str]:
    """Say what an episode stands for, or which one stands for it."""
    if cluster.representative != id:
        yield f"consolidated under {cluster.representative}"
        return
    when = f"{cluster.first_at:%Y-%m-%d} to {cluster.last_at:%Y-%m-%d}"
    mean = "" if cluster.average_duration is None else f", mean duration {cluster.average_duration:,.0f} s"
    yield f"consolidated: {len(cluster.members)} instances, {when}, {cluster.success_rate:.0%} succeeded{mean}"
    for one in cluster.variations:
        took = [] if one.duration is None else [f"{one.duration:,.0f} s"]
        words = [f"only here: {', '.join(one.words)}"] if one.words else ["the same words"]
        yield f"  {one.episode}  {' · '.join((*took, *words))}"


_COMPARED = (
    "task.original_input", "outcome.status", "outcome.evidence", "outcome.primary_output", "outcome.side_effects",
    "execution.duration", "metadata.domain", "metadata.task_type", "metadata.tools_used",
    "metadata.strategies_applied", "reflection.insights", "session_id",
)  # fmt: skip


def compared(one: EpisodeBody, other: EpisodeBody) -> Iterator[tuple[str, str, str]]:
    """Yield what two episodes say, part by part: its name, and the two texts; of lists what only one of them has."""
    for path in _COMPARED:
        left, right = one.get(path), other.get(path)
        if isinstance(left, list | tuple) and isinstance(right, list | tuple):
            left, right = [x for x in left if x not in right], [x for x in right if x not in left]
        one_text, other_text = (
            f"{v:,.0f} s" if isinstance(v, int | float) else ", ".join(said(v, 600).splitlines()) for v in (left, right)
        )
        if one_text or other_text:
            yield path.rpartition(".")[2].replace("_", " "), one_text, other_text
