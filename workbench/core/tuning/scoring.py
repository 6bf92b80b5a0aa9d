"""Scoring (source 000, algorithm 1): the plain rule.

`workbench.retrieval.ranking.ranker` is the fast form of the same rule over columns; a property
test holds the two equal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from workbench.core.named import implementation
from workbench.core.stream.memory import Memory
from workbench.core.tuning import episodic
from workbench.core.tuning.candidates import candidate_filter
from workbench.core.tuning.cases import Candidate, Rule, RuleCase
from workbench.core.tuning.factors import RECIPE, RELEVANCE, Factor, Recipe
from workbench.core.tuning.profile import Profile, weight_of
from workbench.core.tuning.rules import recency_scores, relevance_scores

DEAD_SPREAD = 1e-12
"""A factor whose maximum exceeds its minimum by no more than this normalises to 0.5."""

Factors = Mapping[str, float]
"""One number per factor."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A ranked memory with everything its score is made of; `total` is the sum of `weighted`."""

    memory: Memory
    raw: Factors
    norm: Factors
    weighted: Factors
    total: float


def weighed(norm: Factors, profile: Profile, recipe: Recipe) -> tuple[dict[str, float], float]:
    """Return each factor times its weight, and their sum, added in the order of the recipe."""
    weighted: dict[str, float] = {}
    total = None
    for factor in recipe.factors:
        if factor.id in norm:
            value = weighted[factor.id] = weight_of(profile, factor.weight) * norm[factor.id]
            total = value if total is None else total + value
    return weighted, total or 0.0


def normalise(values: Sequence[float], low: float, high: float) -> list[float]:
    """Map low…high to 0…1, clamped; a factor without spread becomes 0.5 everywhere."""
    span = high - low
    if span <= DEAD_SPREAD:
        return [0.5] * len(values)
    return [min(1.0, max(0.0, (v - low) / span)) for v in values]


def rank(
    pool: Sequence[Candidate], profile: Profile, now: datetime, query: str = "", recipe: Recipe = RECIPE
) -> list[Scored]:
    """Rank a pool of which nothing is known but its two scores (see `rank_case`)."""
    return rank_case(RuleCase(pool, profile, now, query, recipe))


def rank_case(case: RuleCase) -> list[Scored]:
    """Return the whole pool, best first, without what the profile's candidate filter leaves out.

    Equal totals are ordered by id.
    A profile with the scorer "episodic" ranks the episodes of the pool, by the words of the query too.
    """
    pool, profile, recipe = case.pool, case.profile, case.recipe
    if profile.candidates:
        takes_part = candidate_filter(profile.candidates, case.now).predicate()
        pool = [c for c in pool if takes_part(c.memory)]
    if profile.scorer == "episodic":
        pool = [c for c in pool if c.memory.memory_type == "episodic"]
        columns = norms = _episode_columns(replace(case, pool=pool))
    else:
        case = replace(case, pool=pool)
        columns = {factor.id: _ruled(factor, case) for factor in recipe.factors}
        norms = _norms(columns, pool, profile)
    scored = []
    for i, candidate in enumerate(pool):
        norm = _each(norms, i)
        weighted, total = weighed(norm, profile, recipe)
        scored.append(Scored(candidate.memory, _each(columns, i), norm, weighted, total))
    return sorted(scored, key=lambda s: (-s.total, s.memory.id))


def _ruled(factor: Factor, case: RuleCase) -> list[float]:
    rule: Rule = implementation(factor.rule)
    return rule(case)


def _each(columns: Mapping[str, Sequence[float]], at: int) -> dict[str, float]:
    return {factor: column[at] for factor, column in columns.items()}


def _episode_columns(case: RuleCase) -> dict[str, list[float]]:
    """Return the factors of episodes: their terms by group, which the pool does not change."""
    relevance = relevance_scores(replace(case, recipe=case.recipe.plain))
    ages, asked = recency_scores(case), episodic.query_words(case.query)
    terms = [episodic.terms_of(c.memory, r, a, asked) for c, r, a in zip(case.pool, relevance, ages, strict=True)]
    return {group: [t.group(group) for t in terms] for group in episodic.GROUPS}


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
        return {factor: normalise(column, *frozen.of(factor)) for factor, column in columns.items()}
    inside = _scope(columns[RELEVANCE], pool, profile)
    return {factor: _normalised(column, inside) for factor, column in columns.items()}


def _normalised(column: Sequence[float], inside: Sequence[int]) -> list[float]:
    if not column:
        return []
    return normalise(column, min(column[i] for i in inside), max(column[i] for i in inside))
