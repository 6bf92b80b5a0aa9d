"""The plain rules of the factors and of the parts of relevance (source 000, algorithms 1, 2 and 5).

Each is named by its entry in `core.tuning.factors`; the fast forms are in `retrieval.ranking`.
"""

from datetime import datetime
from itertools import pairwise
from typing import Any

from workbench.core.named import implementation
from workbench.core.stream.feedback import effective_importance
from workbench.core.stream.memory import Memory
from workbench.core.tuning.cases import PartCase, PartRule, RuleCase
from workbench.core.tuning.conversation import absolute_scores
from workbench.core.tuning.profile import Profile
from workbench.core.tuning.recency import hours_between, rank_recency, recency


def recency_scores(case: RuleCase) -> list[float]:
    """Score recency since the last access, or since a memory was made (see `since`); pinned ones may stay fresh."""
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
    for part in case.recipe.parts:
        rule: PartRule = implementation(part.rule)
        values = rule(PartCase(case, so_far or [], fed))
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
    """Return the profile's share of full text: absolute BM25, or the words that the parts before have counted.

    It counts in full where the model does not know the text or the query.
    """
    share = 1 - case.profile.blend
    absolute = case.profile.lexical == "absolute"
    values = absolute_scores(case) if absolute else [c.lexical for c in case.pool]
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
    """Return the moment recency counts from: the last access; when it was made, for episodes and in mode "days"."""
    made = profile.scorer == "episodic" or profile.mode == "days"
    return memory.created_at if made else memory.last_accessed_at


def _hourly(memory: Memory, profile: Profile, now: datetime) -> float:
    return recency(hours_between(since(memory, profile), now), half_life_of(memory, profile))


def _place(memory: Memory) -> tuple[str, datetime, str]:
    return (memory.session_id, memory.created_at, memory.id)
