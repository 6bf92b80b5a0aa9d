"""Three-factor scoring (source 000, algorithm 1): the plain rule.

`workbench.retrieval.ranking.ranker` is the fast form of the same rule over columns; a property
test holds the two equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from statistics import fmean, pstdev

from workbench.core.stream.feedback import effective_importance
from workbench.core.stream.memory import Memory
from workbench.core.tuning import episodic
from workbench.core.tuning.candidates import candidate_filter
from workbench.core.tuning.profile import Profile
from workbench.core.tuning.recency import hours_between, rank_recency, recency

DEAD_SPREAD = 1e-12
"""A factor whose maximum exceeds its minimum by no more than this normalises to 0.5."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory of the pool with its two relevance scores: cosine (−1…1) and absolute BM25 (0…1)."""

    memory: Memory
    dense: float
    lexical: float


@dataclass(frozen=True, slots=True)
class Factors:
    """One number per factor."""

    recency: float
    importance: float
    relevance: float


@dataclass(frozen=True, slots=True)
class Scored:
    """A ranked memory with everything its score is made of; `total` is the sum of `weighted`."""

    memory: Memory
    raw: Factors
    norm: Factors
    weighted: Factors
    total: float


def normalise(values: Sequence[float], low: float, high: float) -> list[float]:
    """Map low…high to 0…1, clamped; a factor without spread becomes 0.5 everywhere."""
    span = high - low
    if span <= DEAD_SPREAD:
        return [0.5] * len(values)
    return [min(1.0, max(0.0, (v - low) / span)) for v in values]


def relevance_scores(pool: Sequence[Candidate], profile: Profile) -> list[float]:
    """Blend cosine and absolute BM25, then add each memory's share of its neighbours' excess.

    The excess is what exceeds the pool's mean plus one standard deviation; neighbours are the
    memories just before and after in the same session, by time, then id.
    """
    base = [profile.blend * c.dense + (1 - profile.blend) * c.lexical for c in pool]
    if not profile.contiguity or not base:
        return base
    floor = fmean(base) + pstdev(base)
    excess = [max(0.0, b - floor) for b in base]
    gained = [0.0] * len(base)
    order = sorted(range(len(pool)), key=lambda i: _place(pool[i].memory))
    for left, right in pairwise(order):
        session = pool[left].memory.session_id
        if session and session == pool[right].memory.session_id:
            gained[left] = max(gained[left], excess[right])
            gained[right] = max(gained[right], excess[left])
    return [b + profile.contiguity * g for b, g in zip(base, gained, strict=True)]


def recency_scores(pool: Sequence[Candidate], profile: Profile, now: datetime) -> list[float]:
    """Score recency since the last access, or since a memory was made (see `since`); pinned ones may stay fresh."""
    if profile.mode == "off":
        return [1.0] * len(pool)
    if profile.mode == "rank":
        newest = profile.rank_order == "newest"
        order = sorted(range(len(pool)), key=lambda i: pool[i].memory.id)
        order.sort(key=lambda i: since(pool[i].memory, profile), reverse=newest)
        place = {index: rank for rank, index in enumerate(order)}
        return [rank_recency(place[i], profile.rank_decay) for i in range(len(pool))]
    return [_hourly(c.memory, profile, now) for c in pool]


def rank(pool: Sequence[Candidate], profile: Profile, now: datetime, query: str = "") -> list[Scored]:
    """Return the whole pool, best first, without what the profile's candidate filter leaves out.

    Equal totals are ordered by id.
    A profile with the scorer "episodic" ranks the episodes of the pool; only it looks at the words of `query`.
    """
    if profile.candidates:
        takes_part = candidate_filter(profile.candidates, now).predicate()
        pool = [c for c in pool if takes_part(c.memory)]
    columns: tuple[list[float], ...]
    norms: tuple[list[float], ...]
    if profile.scorer == "episodic":
        pool = [c for c in pool if c.memory.memory_type == "episodic"]
        columns = norms = _episode_columns(pool, profile, now, query)
    else:
        columns = (
            recency_scores(pool, profile, now),
            [effective_importance(c.memory, now, profile.feedback, profile.feedback_half_life) / 10 for c in pool],
            relevance_scores(pool, profile),
        )
        norms = _norms(columns, pool, profile)
    scored = []
    for i, candidate in enumerate(pool):
        norm = Factors(norms[0][i], norms[1][i], norms[2][i])
        weighted = Factors(
            profile.recency * norm.recency, profile.importance * norm.importance, profile.relevance * norm.relevance
        )
        raw = Factors(columns[0][i], columns[1][i], columns[2][i])
        total = weighted.recency + weighted.importance + weighted.relevance
        scored.append(Scored(candidate.memory, raw, norm, weighted, total))
    return sorted(scored, key=lambda s: (-s.total, s.memory.id))


def _hourly(memory: Memory, profile: Profile, now: datetime) -> float:
    return recency(hours_between(since(memory, profile), now), half_life_of(memory, profile))


def half_life_of(memory: Memory, profile: Profile) -> float | None:
    """Return the half-life in days of a memory's recency; `None` when it does not fade."""
    if memory.pinned and profile.pinned == "fresh":
        return None
    return profile.half_lives.of(memory.memory_type)


def since(memory: Memory, profile: Profile) -> datetime:
    """Return the moment recency counts from: the last access; when it was made, for episodes and in mode "days"."""
    made = profile.scorer == "episodic" or profile.mode == "days"
    return memory.created_at if made else memory.last_accessed_at


def _episode_columns(
    pool: Sequence[Candidate], profile: Profile, now: datetime, query: str
) -> tuple[list[float], list[float], list[float]]:
    """Return recency, importance and relevance of episodes: their terms by group, which the pool does not change."""
    relevance = relevance_scores(pool, replace(profile, contiguity=0.0))
    ages, asked = recency_scores(pool, profile, now), episodic.query_words(query)
    terms = [episodic.terms_of(c.memory, r, a, asked) for c, r, a in zip(pool, relevance, ages, strict=True)]
    return (
        [t.group("recency") for t in terms],
        [t.group("importance") for t in terms],
        [t.group("relevance") for t in terms],
    )


def _scope(relevance: Sequence[float], pool: Sequence[Candidate], profile: Profile) -> list[int]:
    every = list(range(len(pool)))
    if profile.scope != "top":
        return every
    return sorted(every, key=lambda i: (-relevance[i], pool[i].memory.id))[: profile.top_n]


def _norms(columns: Sequence[Sequence[float]], pool: Sequence[Candidate], profile: Profile) -> tuple[list[float], ...]:
    frozen = profile.frozen if profile.scope == "frozen" else None
    if frozen is not None:
        bounds = (frozen.recency, frozen.importance, frozen.relevance)
        return tuple(normalise(column, *low_high) for column, low_high in zip(columns, bounds, strict=True))
    inside = _scope(columns[2], pool, profile)
    return tuple(_normalised(column, inside) for column in columns)


def _normalised(column: Sequence[float], inside: Sequence[int]) -> list[float]:
    if not column:
        return []
    return normalise(column, min(column[i] for i in inside), max(column[i] for i in inside))


def _place(memory: Memory) -> tuple[str, datetime, str]:
    return (memory.session_id, memory.created_at, memory.id)
