"""The five terms of an episode's score (`core.tuning.episodic`) as columns."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.core.stream.memory import MEMORY_TYPES
from workbench.core.tuning.episodic import (
    GROUPS,
    TERMS,
    UNKNOWN_SUCCESS,
    EpisodeTerms,
    Term,
    in_domain,
    query_words,
    share,
)
from workbench.core.tuning.profile import PLAIN_PARTS, Profile
from workbench.core.tuning.recency import CUT
from workbench.core.tuning.scoring import DEAD_SPREAD
from workbench.retrieval.arrays import Column, Mask, Rows, micros
from workbench.retrieval.ranking.cases import Candidates, ColumnCase, Columns
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.relevance import relevance_column

# Recency and importance as columns, and how any factor is normalised.


NOBODY = -1
"""The position of who set a bound that was frozen."""


@dataclass(frozen=True, slots=True, eq=False)
class FactorColumn:
    """One factor, raw and normalised, with the positions of the candidates that set minimum and
    maximum.

    A position is `NOBODY` where the bounds are frozen.
    """

    raw: Column
    norm: Column
    low: float
    high: float
    low_at: int
    high_at: int

    @property
    def dead(self) -> bool:
        """Tell whether the factor has no spread, so that it is 0.5 everywhere and decides nothing."""
        return self.high - self.low <= DEAD_SPREAD


def recency_column(case: ColumnCase) -> Column:
    """Score recency since the last access (of episodes and in mode "days": since they were made),
    0…1.
    """
    pool, chosen, profile, now = case.pool, case.chosen, case.profile, case.now
    if profile.mode == "off":
        return np.ones(len(chosen))
    made = profile.scorer == "episodic" or profile.mode == "days"
    since = (pool.created if made else pool.accessed)[chosen.rows]
    if profile.mode == "rank":
        key = -since if profile.rank_order == "newest" else since
        place = np.empty(len(chosen))
        place[np.lexsort((chosen.id_rank, key))] = np.arange(len(chosen))
        return _cut(profile.rank_decay**place)
    lives = [profile.half_lives.of(kind) for kind in MEMORY_TYPES]
    pinned = [None] * len(lives) if profile.pinned == "fresh" else lives
    hours = np.array([np.inf if days is None else days * 24 for days in (*lives, *pinned)])
    return _cut(np.exp2(-_hours_since(since, now) / hours[pool.kind[chosen.rows]]))


def importance_column(case: ColumnCase) -> Column:
    """Return the effective importance, 0…1; see `core.stream.confidence.effective_importance`."""
    return effective_importance(case.pool, case.chosen.rows, case.profile, case.now) / 10


def effective_importance(pool: Pool, rows: Rows, profile: Profile, now: datetime) -> Column:
    """Return the effective importance of some rows, 0…10."""
    delta = pool.net[rows] * profile.feedback
    if profile.feedback_half_life is not None:
        voted = np.flatnonzero(delta)
        hours = _hours_since(pool.feedback[rows[voted]], now)
        delta[voted] *= _cut(np.exp2(-hours / (profile.feedback_half_life * 24)))
    delta += pool.importance[rows]
    found: Column = np.clip(delta, 0.0, 10.0, out=delta)
    return found


def most_important(pool: Pool, rows: Rows, count: int, profile: Profile, now: datetime) -> Rows:
    """Return those of some rows that are the most important, in that order; the smaller id of
    equals first.
    """
    weight = effective_importance(pool, rows, profile, now)
    if len(rows) > count:
        least = np.partition(weight, len(rows) - count)[len(rows) - count]
        rows, weight = rows[weight >= least], weight[weight >= least]
    found: Rows = rows[np.lexsort((pool.id_rank[rows], -weight))][:count]
    return found


def normalised(raw: Column, chosen: Candidates, inside: Rows | None) -> FactorColumn:
    """Map a column to 0…1 by the minimum and maximum of the positions `inside` (`None`: of all),
    clamped.
    """
    found = unnormalised(raw, chosen, inside)
    return replace(found, norm=_mapped(raw, found.low, found.high))


def normalised_by(raw: Column, bounds: tuple[float, float]) -> FactorColumn:
    """Map a column to 0…1 by a minimum and a maximum that were frozen, clamped."""
    low, high = bounds
    return FactorColumn(raw, _mapped(raw, low, high), low, high, NOBODY, NOBODY)


def _mapped(raw: Column, low: float, high: float) -> Column:
    if high - low <= DEAD_SPREAD:
        return np.full(len(raw), 0.5)
    norm: Column = (raw - low) / (high - low)
    return np.clip(norm, 0.0, 1.0, out=norm)


def unnormalised(raw: Column, chosen: Candidates, inside: Rows | None = None) -> FactorColumn:
    """Take a column as it is, for a score that the pool does not normalise."""
    scope = raw if inside is None else raw[inside]
    low, high = float(scope.min()), float(scope.max())
    low_at, high_at = (_first(scope == value, chosen, inside) for value in (low, high))
    return FactorColumn(raw, raw, low, high, low_at, high_at)


def _first(hit: NDArray[np.bool_], chosen: Candidates, inside: Rows | None) -> int:
    """Return the position with the smallest id among the hits."""
    positions = np.flatnonzero(hit) if inside is None else inside[hit]
    return int(positions[np.argmin(chosen.id_rank[positions])])


def _hours_since(then: NDArray[np.int64], now: datetime) -> Column:
    return np.maximum((micros(now) - then) / 1e6 / 3600, 0.0)


def _cut(values: Column) -> Column:
    values[values < CUT] = 0.0
    return values


def _recency_depends(case: ColumnCase) -> Hashable:
    p, at = case.profile, micros(case.now)
    decay = (
        (p.half_lives, p.pinned, at)
        if p.fades
        else (p.rank_decay, p.rank_order)
        if p.mode == "rank"
        else ()
    )
    return (case.pool.access_token, p.mode, decay)


def _importance_depends(case: ColumnCase) -> Hashable:
    p = case.profile
    fading = None if p.feedback_half_life is None else (p.feedback_half_life, micros(case.now))
    return (case.pool.importance_token, p.feedback, fading)


RECENCY = Columns(_recency_depends, recency_column)
IMPORTANCE = Columns(_importance_depends, importance_column)


@dataclass(frozen=True, eq=False)
class TermColumns:
    """The terms of episodes, one number each in 0–1."""

    similarity: Column
    recency: Column
    success: Column
    use: Column
    domain: Column

    def terms(self, place: int) -> EpisodeTerms:
        """Return the terms of one episode, by its place."""
        found: dict[str, Any] = {term: float(getattr(self, term)[place]) for term in TERMS}
        return EpisodeTerms(**found)


@dataclass(frozen=True, eq=False)
class EpisodeColumns(TermColumns):
    """The terms of all candidates, and the three factors that they add up to. `known` tells whether
    an outcome is recorded.
    """

    known: Mask
    factors: dict[str, FactorColumn]

    def terms(self, place: int) -> EpisodeTerms:
        return replace(super().terms(place), known=bool(self.known[place]))


def episode_columns(case: ColumnCase) -> EpisodeColumns:
    """Compute the terms of the chosen episodes, of which there is at least one."""
    chosen, fields, asked = case.chosen, case.pool.episodes, query_words(case.scores.query)
    relevance = relevance_column(replace(case, parts=PLAIN_PARTS))
    success = fields.success[chosen.rows]
    matches = np.array([in_domain(names, asked) for names in fields.domains], np.float64)
    columns: dict[Term, Column] = {
        "similarity": np.maximum(relevance, 0.0),
        "recency": recency_column(case),
        "success": np.where(np.isnan(success), UNKNOWN_SUCCESS, success),
        "use": fields.use[chosen.rows],
        "domain": matches[fields.domain[chosen.rows]],
    }
    factors = {group: unnormalised(_sum(group, columns), chosen) for group in GROUPS}
    known: Mask = ~np.isnan(success)
    return EpisodeColumns(**columns, known=known, factors=factors)


def _sum(group: str, columns: Mapping[Term, Column]) -> Column:
    total: Column = np.zeros(len(columns["recency"]))
    for term in GROUPS[group]:
        total += share(term) * columns[term]
    return total
