"""Pairs of memories that settings disagree about: the questions of "better 1 or 2?"."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np

from workbench.core.tuning.profile import Profile
from workbench.evaluation.objective import JudgedScores, columns_by_id
from workbench.evaluation.pooling import judging_pool
from workbench.evaluation.settings import Settings
from workbench.retrieval.arrays import Column, Rows
from workbench.retrieval.ranking.ranker import QueryScores, Ranker

MOST = 2_000
"""Pairs that are kept as possible questions."""

SLIP = 0.08
"""How often a person presses the wrong key, or sees it the other way for once."""

WIDTH = 0.02
"""Differences of totals (weights summing to 1) about this small are hard to tell for a person."""

EQUAL_WIDTH = 0.05
"""Totals that differ by less than about this are called equal."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The question whether, for a query (its number), memory `a` is better than memory `b`."""

    query: int
    a: str
    b: str


@dataclass(frozen=True, eq=False)
class Pooled:
    """One query's judging pool with the normalised factors under every half-life, shape (lives, memories, factors)."""

    ids: tuple[str, ...]
    columns: Column


@dataclass(frozen=True, eq=False)
class Pairs:
    """The possible questions; `apart`, shape (lives, pairs, factors), holds a's factors minus b's."""

    settings: Settings
    pooled: tuple[Pooled, ...]
    every: tuple[Pair, ...]
    apart: Column

    def __len__(self) -> int:
        return len(self.every)

    @cached_property
    def prefer(self) -> Column:
        """How likely a person whose mind is a setting says "a": float32 of shape (pairs, settings)."""
        return np.concatenate([_said_a(part @ self.settings.weights.T) for part in self.apart], axis=1)

    @cached_property
    def surprise(self) -> Column:
        """The entropy of that answer in nats: what is left to chance even when the setting is known."""
        return entropy(self.prefer)

    def equal(self, pair: int) -> Column:
        """How likely each setting makes the answer "equal" for one pair, up to a factor."""
        difference = np.concatenate([part[pair] @ self.settings.weights.T for part in self.apart])
        close = 1 / np.cosh(difference / (2 * EQUAL_WIDTH)) ** 2
        likelihood: Column = SLIP + (1 - SLIP) * close
        return likelihood


def pairs_of(
    ranker: Ranker,
    queries: Sequence[tuple[QueryScores, datetime]],
    profile: Profile,
    settings: Settings,
    seed: int = 0,
) -> Pairs:
    """Collect the pairs of each query's judging pool that two settings put in opposite orders.

    At most `MOST`, drawn by `seed` with the same share for every query.
    """
    random = np.random.default_rng(seed)
    pooled = tuple(_pooled(ranker, scores, now, profile, settings, seed) for scores, now in queries)
    every: list[Pair] = []
    apart: list[Column] = []
    for number, pool in enumerate(pooled):
        left, right = _disputed(pool)
        share = MOST // len(pooled)
        if len(left) > share:
            drawn = np.sort(random.choice(len(left), share, replace=False))
            left, right = left[drawn], right[drawn]
        every += [Pair(number, pool.ids[a], pool.ids[b]) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
        apart.append(pool.columns[:, left] - pool.columns[:, right])
    nothing = np.zeros((len(settings.lives), 0, settings.weights.shape[1]))
    return Pairs(settings, pooled, tuple(every), np.concatenate([nothing, *apart], axis=1))


def entropy(share: Column) -> Column:
    """Return the entropy of a yes or no with this probability, in nats."""
    inside = np.clip(share, 1e-7, 1 - 1e-7)
    result: Column = -(inside * np.log(inside) + (1 - inside) * np.log1p(-inside))
    return result


def _said_a(difference: Column) -> Column:
    # Half a slip at no difference, as the wrong key is the other one then.
    clear = 0.5 * (1 + np.tanh(difference.astype(np.float32) / (2 * WIDTH)))
    likelihood: Column = SLIP + (1 - 2 * SLIP) * clear
    return likelihood


def _pooled(
    ranker: Ranker, scores: QueryScores, now: datetime, profile: Profile, settings: Settings, seed: int
) -> Pooled:
    ids = judging_pool(ranker, scores, profile, now, seed=seed).ids
    rows = np.array([ranker.pool.row(id) for id in ids], np.intp)
    found = []
    for life in settings.lives:
        columns, of = columns_by_id(ranker, JudgedScores(scores, {}, now), life)
        place = np.empty(len(ranker.pool), np.intp)
        place[of] = np.arange(len(of))
        found.append(columns[place[rows]])
    return Pooled(ids, np.array(found).reshape(len(settings.lives), len(ids), settings.weights.shape[1]))


def _disputed(pool: Pooled) -> tuple[Rows, Rows]:
    """Return both sides of the pairs that some setting orders one way and some setting the other way."""
    left, right = np.triu_indices(len(pool.ids), 1)
    most, least = np.full(len(left), -np.inf), np.full(len(left), np.inf)
    for part in pool.columns:
        # A linear function is largest and smallest at the corners of the simplex: the factors themselves.
        apart = part[left] - part[right]
        np.maximum(most, apart.max(axis=1), out=most)
        np.minimum(least, apart.min(axis=1), out=least)
    disputed = (most > WIDTH) & (least < -WIDTH)
    return left[disputed], right[disputed]
