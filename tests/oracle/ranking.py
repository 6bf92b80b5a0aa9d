"""The plain rules of a ranking, of its factors and of the parts of relevance (source 000,
algorithms 1, 2 and 5).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from tests.oracle import conversation
from tests.oracle.cases import Candidate, PartCase, RuleCase
from workbench.core.stream.confidence import effective_importance
from workbench.core.stream.memory import Memory
from workbench.core.tuning.episodic import (
    GROUPS,
    UNKNOWN_SUCCESS,
    WEIGHTS,
    EpisodeTerms,
    domains_of,
    in_domain,
    query_words,
    share,
    success_of,
    use_of,
)
from workbench.core.tuning.profile import FACTORS, PLAIN_PARTS, RELEVANCE, Profile, candidate_filter
from workbench.core.tuning.recency import hours_between, rank_recency, recency
from workbench.core.tuning.scoring import DEAD_SPREAD, Scored, weighed


def recency_scores(case: RuleCase) -> list[float]:
    """Score recency since the last access, or since a memory was made (see `since`); pinned ones
    may stay fresh.
    """
    pool, profile = case.pool, case.profile
    if profile.mode == "off":
        return [1.0] * len(pool)
    if profile.mode == "rank":
        newest = profile.rank_order == "newest"
        order = sorted(range(len(pool)), key=lambda i: pool[i].memory.id)
        order.sort(key=lambda i: since(pool[i].memory, profile), reverse=newest)
        place = {index: rank for rank, index in enumerate(order)}
        return [rank_recency(place[i], profile.rank_decay) for i in range(len(pool))]
    return [_hourly(c.memory, profile, case.now) for c in pool]


def importance_scores(case: RuleCase) -> list[float]:
    """Return the effective importance, 0…1."""
    weight, half_life = case.profile.feedback, case.profile.feedback_half_life
    return [effective_importance(c.memory, case.now, weight, half_life) / 10 for c in case.pool]


def relevance_scores(case: RuleCase) -> list[float]:
    """Let the parts of relevance make it, one after the other."""
    so_far: list[float] | None = None
    fed: dict[str, list[Any]] = {}
    for part in case.parts:
        values = RULES[part.id](PartCase(case, so_far or [], fed))
        if part.how == "feeds":
            fed[part.id] = values
        elif so_far is None:
            so_far = values if part.how == "adds" else None
        elif part.how == "adds":
            so_far = [a + b for a, b in zip(so_far, values, strict=True)]
        else:
            so_far = [a * b for a, b in zip(so_far, values, strict=True)]
    return [0.0] * len(case.pool) if so_far is None else so_far


def dense_scores(case: PartCase) -> list[float]:
    """Return the profile's share of the cosine."""
    return [case.profile.blend * c.dense for c in case.pool]


def lexical_scores(case: PartCase) -> list[float]:
    """Return the profile's share of full text: absolute BM25, or the words that the parts before
    have counted.

    It counts in full where the model does not know the text or the query.
    """
    share = 1 - case.profile.blend
    absolute = case.profile.lexical == "absolute"
    values = conversation.absolute_scores(case) if absolute else [c.lexical for c in case.pool]
    return [share * value if c.known else value for c, value in zip(case.pool, values, strict=True)]


def contiguity_scores(case: PartCase) -> list[float]:
    """Return each memory's share of its neighbours' excess.

    The excess is what exceeds the pool's mean plus one standard deviation; neighbours are the
    memories just before and after in the same session, by time, then id.
    """
    pool, so_far, gained = case.pool, case.so_far, [0.0] * len(case.pool)
    if not case.profile.contiguity or not so_far:
        return gained
    usual = case.usual
    excess = [max(0.0, value - usual) for value in so_far]
    order = sorted(range(len(pool)), key=lambda i: _place(pool[i].memory))
    for left, right in pairwise(order):
        session = pool[left].memory.session_id
        if session and session == pool[right].memory.session_id:
            gained[left] = max(gained[left], excess[right])
            gained[right] = max(gained[right], excess[left])
    return [case.profile.contiguity * value for value in gained]


def half_life_of(memory: Memory, profile: Profile) -> float | None:
    """Return the half-life in days of a memory's recency; `None` when it does not fade."""
    if memory.pinned and profile.pinned == "fresh":
        return None
    return profile.half_lives.of(memory.memory_type)


def since(memory: Memory, profile: Profile) -> datetime:
    """Return the moment recency counts from: the last access; when it was made, for episodes and in
    mode "days".
    """
    made = profile.scorer == "episodic" or profile.mode == "days"
    return memory.created_at if made else memory.last_accessed_at


def _hourly(memory: Memory, profile: Profile, now: datetime) -> float:
    return recency(hours_between(since(memory, profile), now), half_life_of(memory, profile))


def _place(memory: Memory) -> tuple[str, datetime, str]:
    return (memory.session_id, memory.created_at, memory.id)


def normalise(values: Sequence[float], low: float, high: float) -> list[float]:
    """Map low…high to 0…1, clamped; a factor without spread becomes 0.5 everywhere."""
    span = high - low
    if span <= DEAD_SPREAD:
        return [0.5] * len(values)
    return [min(1.0, max(0.0, (v - low) / span)) for v in values]


def rank(
    pool: Sequence[Candidate],
    profile: Profile,
    now: datetime,
    query: str = "",
) -> list[Scored]:
    """Rank a pool of which nothing is known but its two scores (see `rank_case`)."""
    return rank_case(RuleCase(pool, profile, now, query))


def rank_case(case: RuleCase) -> list[Scored]:
    """Return the whole pool, best first, without what the profile's candidate filter leaves out.

    Equal totals are ordered by id. A profile with the scorer "episodic" ranks the episodes of the
    pool, by the words of the query too.
    """
    pool, profile = case.pool, case.profile
    if profile.candidates:
        takes_part = candidate_filter(profile.candidates, case.now).predicate()
        pool = [c for c in pool if takes_part(c.memory)]
    if profile.scorer == "episodic":
        pool = [c for c in pool if c.memory.memory_type == "episodic"]
        columns = norms = _episode_columns(replace(case, pool=pool))
    else:
        case = replace(case, pool=pool)
        columns = {factor.id: RULES[factor.id](case) for factor in FACTORS}
        norms = _norms(columns, pool, profile)
    scored = []
    for i, candidate in enumerate(pool):
        norm = _each(norms, i)
        weighted, total = weighed(norm, profile)
        scored.append(Scored(candidate.memory, _each(columns, i), norm, weighted, total))
    return sorted(scored, key=lambda s: (-s.total, s.memory.id))


def _each(columns: Mapping[str, Sequence[float]], at: int) -> dict[str, float]:
    return {factor: column[at] for factor, column in columns.items()}


def _episode_columns(case: RuleCase) -> dict[str, list[float]]:
    """Return the factors of episodes: their terms by group, which the pool does not change."""
    relevance = relevance_scores(replace(case, parts=PLAIN_PARTS))
    ages, asked = recency_scores(case), query_words(case.query)
    terms = [
        terms_of(c.memory, r, a, asked) for c, r, a in zip(case.pool, relevance, ages, strict=True)
    ]
    return {group: [group_of(t, group) for t in terms] for group in GROUPS}


def _scope(relevance: Sequence[float], pool: Sequence[Candidate], profile: Profile) -> list[int]:
    every = list(range(len(pool)))
    if profile.scope != "top":
        return every
    return sorted(every, key=lambda i: (-relevance[i], pool[i].memory.id))[: profile.top_n]


def _norms(
    columns: Mapping[str, Sequence[float]], pool: Sequence[Candidate], profile: Profile
) -> dict[str, list[float]]:
    frozen = profile.frozen if profile.scope == "frozen" else None
    if frozen is not None:
        return {
            factor: normalise(column, *getattr(frozen, factor))
            for factor, column in columns.items()
        }
    inside = _scope(columns[RELEVANCE], pool, profile)
    return {factor: _normalised(column, inside) for factor, column in columns.items()}


def _normalised(column: Sequence[float], inside: Sequence[int]) -> list[float]:
    if not column:
        return []
    return normalise(column, min(column[i] for i in inside), max(column[i] for i in inside))


def terms_of(
    memory: Memory, relevance: float, recency: float, asked: Sequence[str]
) -> EpisodeTerms:
    """Return the terms of an episode from its relevance, its recency (0…1) and the words that are
    asked for.
    """
    success = success_of(memory.metadata)
    return EpisodeTerms(
        similarity=max(0.0, relevance),
        recency=recency,
        success=UNKNOWN_SUCCESS if success is None else success,
        use=use_of(memory.access_count),
        domain=float(
            in_domain(domains_of(memory.category, memory.section, memory.metadata), asked)
        ),
        known=success is not None,
    )


def group_of(terms: EpisodeTerms, group: str) -> float:
    """Return the terms under one weight of the profile as one number, at most 1."""
    total: float = sum(share(term) * getattr(terms, term) for term in GROUPS[group])
    return total


def score(terms: EpisodeTerms) -> float:
    """Return the printed sum."""
    return math.fsum(weight * getattr(terms, term) for term, weight in WEIGHTS.items())


RULES: Mapping[str, Any] = {
    "recency": recency_scores,
    "importance": importance_scores,
    "relevance": relevance_scores,
    "related": conversation.related_words,
    "neighbours": conversation.neighbour_words,
    "dense": dense_scores,
    "lexical": lexical_scores,
    "contiguity": contiguity_scores,
    "carry": conversation.carry_scores,
    "questions": conversation.question_shares,
    "other_actor": conversation.actor_shares,
    "role": conversation.role_shares,
    "month": conversation.month_shares,
}
"""The rule of each factor, and of each part of relevance, by its id."""
