"""Pairs of memories that settings disagree about: the questions of "better 1 or 2?"."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.core.tuning.measure import RELEVANT_FROM, Measure
from workbench.core.tuning.profile import (
    ENGRAM_HALF_LIFE,
    FACTORS,
    WEIGHT_KEYS,
    HalfLives,
    Profile,
    weight_of,
    with_value,
)
from workbench.evaluation.pooling import judging_pool
from workbench.retrieval.arrays import Column, Mask, Rows
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.ranker import Ranker

# At which place a few memories stand under many weights at once, without sorting.
#
# A memory's place is the number of candidates with a larger total, plus those with the same total
# and a smaller id, plus 1. Totals are added in the order of `core.scoring`, so the places equal
# those of the ranking to the bit.


Places = NDArray[np.int64]

_CELLS = 1 << 15
"""Cells that all factors together are divided into, 32 steps each for three, to find rows beaten
everywhere.
"""

_BLOCK = 128
"""Rows combined at a time: a block stays in a processor's cache, and a count of it fits a byte."""


def contenders(columns: Column, depth: int) -> Mask:
    """Tell which rows some weights could put among the first `depth`.

    `columns` has shape (n, factors), values 0…1, rows in the order of ids. The other rows are
    beaten in every factor that has a spread by at least `depth` rows, clearly enough that no
    rounding and no tie matters. Leaving them out changes no place up to `depth`.
    """
    factors = columns.shape[1]
    steps = int(_CELLS ** (1 / factors) + 1e-9)
    cell = np.minimum((columns * steps).astype(np.intp), steps - 1)
    flat = np.ravel_multi_index(tuple(cell.T), (steps,) * factors)
    count = np.bincount(flat, minlength=steps**factors).reshape((steps,) * factors)
    for axis in range(factors):
        count = np.flip(np.cumsum(np.flip(count, axis), axis=axis), axis)
    # Two cells up: at least one whole cell better, wherever in their cells the two rows lie.
    up = np.where(np.ptp(columns, axis=0) > 0, 2, 0)
    ahead = np.zeros((steps + 2,) * factors, count.dtype)
    ahead[(slice(steps),) * factors] = count
    if not up.any():
        return np.ones(len(columns), np.bool_)
    keep: Mask = ahead[tuple((cell + up).T)] < depth
    # When all weight is on factors without spread, the order is that of the ids.
    keep[:depth] = True
    return keep


def places(columns: Column, weights: Column, targets: Rows) -> Places:
    """Return the places, from 1, of the rows `targets` under each row of `weights`: shape (targets,
    weights).

    `columns`, shape (n, factors), are in the order of ids, `weights` in that of the factors.
    """
    # One row per factor: contiguous for the multiplications.
    factors = np.ascontiguousarray(weights.T)
    goal = np.empty((len(targets), len(weights)))
    _totals(columns[targets], factors, goal, np.empty_like(goal))
    result = np.ones((len(targets), len(weights)), np.int64)
    totals, scratch = np.empty((_BLOCK, len(weights))), np.empty((_BLOCK, len(weights)))
    hit = np.empty((_BLOCK, len(weights)), np.bool_)
    for start in range(0, len(columns), _BLOCK):
        part = columns[start : start + _BLOCK]
        _totals(part, factors, totals[: len(part)], scratch[: len(part)])
        for j, target in enumerate(targets.tolist()):
            # Rows before the target in the order of ids win ties against it.
            cut = min(max(target - start, 0), len(part))
            np.greater_equal(totals[:cut], goal[j], out=hit[:cut])
            np.greater(totals[cut : len(part)], goal[j], out=hit[cut : len(part)])
            result[j] += np.add.reduce(hit[: len(part)].view(np.uint8), axis=0, dtype=np.uint8)
    return result


def _totals(columns: Column, factors: Column, out: Column, scratch: Column) -> None:
    """Write the totals of some rows under all weights, shape (rows, weights), term by term."""
    np.multiply(columns[:, :1], factors[0], out=out)
    for number in range(1, len(factors)):
        out += np.multiply(columns[:, number : number + 1], factors[number], out=scratch)


# The settings that tuning tries: every point of a grid over the weights, times a handful of
# half-lives.


STEPS = 20
"""Shares of the weights move in steps of 1/20: 231 points for three factors."""

POINTS = 300
"""Points of the grid at most: with more factors the steps are longer."""

LIVES: tuple[float | None, ...] = (1.0, 3.0, ENGRAM_HALF_LIFE, 14.0, 30.0, 90.0, None)
"""Half-lives in days of episodic memories, from a day to no decay."""

NEAR = 3
"""Grid steps from which on a neighbour has no say in how good a setting is."""

SAME_LIFE = 0.1
"""Two half-lives are the same when their ratio is within 10 %."""


@dataclass(frozen=True, eq=False)
class Settings:
    """All settings around one profile, numbered life by life: number = life · len(weights) +
    weight.

    `weights` has shape (W, factors), each row with sum 1, in the order of the factors. Row 0 holds
    the shares of the start itself and `lives[0]` its own half-lives, so setting 0 ranks as the
    start does. Behind the grid come the `contenders`, whole profiles that stand as they are.
    """

    start: Profile
    weights: Column
    lives: tuple[Profile, ...]
    steps: int = STEPS
    contenders: tuple[Profile, ...] = ()

    def __len__(self) -> int:
        return self.grid + len(self.contenders)

    @property
    def grid(self) -> int:
        return len(self.weights) * len(self.lives)

    def profile(self, number: int) -> Profile:
        """Return one setting as a profile; the start's own weights are left as they were given."""
        if number >= self.grid:
            return self.contenders[number - self.grid]
        life, weight = divmod(number, len(self.weights))
        return with_weights(self.lives[life], self.weights[weight]) if weight else self.lives[life]

    def smoothed(self, means: Column) -> Column:
        """Average a value per setting with those of its neighbours on the grid of weights, shape
        (settings,).

        A metric over few queries jumps wherever two memories swap, so its highest peak is mostly
        luck. A setting among good ones is better than a lone peak. The weight of a neighbour falls
        evenly to 0 at `NEAR` steps. The start and the contenders were not picked from the peaks, so
        each counts for what it is.
        """
        by_life = means[: self.grid].reshape(len(self.lives), len(self.weights))
        averaged: Column = np.concatenate([(by_life @ self._kernel.T).ravel(), means[self.grid :]])
        averaged[0] = max(averaged[0], means[0])
        return averaged

    @cached_property
    def _kernel(self) -> Column:
        moved = np.abs(self.weights[:, None] - self.weights[None, :]).sum(axis=2) / 2
        say = np.maximum(0.0, 1 - moved * self.steps / NEAR)
        return np.asarray(say / say.sum(axis=1, keepdims=True), np.float64)

    @cached_property
    def distance(self) -> Column:
        """How far each setting is from the start: half the moved share of weight, plus what the
        half-life moved.

        A tenfold half-life counts like a twentieth of the weight, and switching decay on or off
        like two. Contenders are further away than all of the grid, in their order.
        """
        moved = np.abs(self.weights - self.weights[0]).sum(axis=1) / 2
        apart = np.array([_life_distance(self.lives[0], life) for life in self.lives]) / self.steps
        distance = (apart[:, None] + moved[None, :]).ravel()
        return np.concatenate([distance, distance.max() + 1 + np.arange(len(self.contenders))])


def settings_around(
    start: Profile,
    steps: int = 0,
    contenders: Iterable[Profile] = (),
    dead: Collection[str] = (),
) -> Settings:
    """Return the grid around a profile, by default as fine as `POINTS` lets it be, and the
    contenders beside it.

    The weights of `dead` factors keep the share they have. Profiles without hourly recency keep
    their one way of ageing.
    """
    own = np.array([weight_of(start, key) for key in WEIGHT_KEYS], np.float64)
    own /= own.sum()
    alive = np.flatnonzero([factor.id not in dead for factor in FACTORS])
    steps = steps or _steps(max(1, len(alive)))
    points = np.array(
        list(_points(steps, len(alive))) if len(alive) else np.zeros((0, 0)), np.float64
    )
    grid = np.tile(own, (len(points), 1))
    grid[:, alive] = points / steps * own[alive].sum()
    # The shares of the start are a point of their own, unless the grid has it.
    distinct = grid[np.abs(grid - own).max(axis=1) > 1e-9]
    others = tuple(profile for profile in contenders if profile.name != start.name)
    return Settings(start, np.vstack([own, distinct]), tuple(_lives(start)), steps, others)


def with_weights(profile: Profile, weights: Iterable[float]) -> Profile:
    """Return a profile with other weights, in the order of the factors."""
    for key, weight in zip(WEIGHT_KEYS, weights, strict=True):
        profile = with_value(profile, key, round(float(weight), 6))
    return profile


def _steps(factors: int) -> int:
    """Return into how many steps the grid of so many weights is divided."""
    return next(
        s
        for s in range(STEPS, 0, -1)
        if s == 1 or math.comb(s + factors - 1, factors - 1) <= POINTS
    )


def _points(steps: int, factors: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to share steps among factors."""
    if factors == 1:
        yield (steps,)
        return
    for first in range(steps + 1):
        yield from ((first, *rest) for rest in _points(steps - first, factors - 1))


def with_half_life(profile: Profile, days: float | None) -> Profile:
    """Return a profile with another half-life for episodic memories.

    Types that do not decay stay so, and types with the same half-life move along; `None` ends the
    decay.
    """
    own = profile.half_lives
    alike = [
        f.name
        for f in fields(HalfLives)
        if f.name == "episodic" or getattr(own, f.name) == own.episodic
    ]
    moved = [name for name in alike if name == "episodic" or own.episodic is not None]
    return replace(profile, half_lives=replace(own, **dict.fromkeys(moved, days)))


def _lives(start: Profile) -> Iterator[Profile]:
    yield start
    if start.mode == "rank":
        return
    own = start.half_lives.episodic if start.fades else None
    for days in LIVES:
        if not _same_life(days, own):
            yield with_half_life(start if start.fades else replace(start, mode="hours"), days)


def _same_life(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return abs(math.log(a / b)) < math.log1p(SAME_LIFE)


def _life_distance(a: Profile, b: Profile) -> float:
    if a is b:
        return 0.0
    one, other = a.half_lives.episodic, b.half_lives.episodic
    if one is None or other is None:
        return 2.0
    return abs(math.log10(one / other))


# The metric of every setting for one judged query: what tuning maximises.


@dataclass(frozen=True, eq=False)
class JudgedScores:
    """A query with its relevance scores, its graded memories and the moment it is asked at.

    Every grade counts towards the best possible order, also of a memory that is hidden at that
    moment.
    """

    scores: QueryScores
    grades: Mapping[str, int]
    now: datetime

    @cached_property
    def relevant(self) -> tuple[str, ...]:
        """The memories that a metric looks for, in the order they were judged."""
        return tuple(id for id, grade in self.grades.items() if grade >= RELEVANT_FROM)


def values(ranker: Ranker, query: JudgedScores, settings: Settings, measure: Measure) -> Column:
    """Return the metric under every setting, shape (settings,): exactly what ranking each of them
    would give.
    """
    found = [_values(ranker, query, life, settings.weights, measure) for life in settings.lives]
    for profile in settings.contenders:
        weights = np.array([[weight_of(profile, key) for key in WEIGHT_KEYS]])
        found.append(_values(ranker, query, profile, weights, measure))
    return np.concatenate(found)


def columns_by_id(ranker: Ranker, query: JudgedScores, profile: Profile) -> tuple[Column, Rows]:
    """Return the normalised factors of what is served, shape (n, factors), in the order of ids, and
    the pool rows.

    The columns are in that of the factors; a factor that the profile's scorer does not know is 0
    for all.
    """
    ranking = ranker.rank(query.scores, profile, query.now, k=0)
    if not len(ranking.candidates):
        return np.zeros((0, len(FACTORS))), np.zeros(0, np.intp)
    order = np.argsort(ranking.candidates.id_rank)
    known, nothing = ranking.factors, np.zeros(len(order))
    norms = [known[f.id].norm[order] if f.id in known else nothing for f in FACTORS]
    return np.stack(norms, axis=1), ranking.candidates.rows[order]


def _values(
    ranker: Ranker, query: JudgedScores, life: Profile, weights: Column, measure: Measure
) -> Column:
    columns, rows = columns_by_id(ranker, query, life)
    wanted = {
        ranker.pool.row(id): query.grades[id] for id in query.relevant if id in ranker.pool.row_of
    }
    keep = contenders(columns, measure.k) if len(columns) else np.zeros(0, np.bool_)
    kept = rows[keep]
    targets = np.flatnonzero(np.isin(kept, list(wanted)))
    grades = np.array([wanted[row] for row in kept[targets].tolist()], np.float64)
    where = places(columns[keep], weights, targets)
    return _metric(where, grades, query, measure)


def _metric(where: Places, grades: Column, query: JudgedScores, measure: Measure) -> Column:
    """Return the metric from the places, shape (targets, weights), of the relevant memories."""
    inside = where <= measure.k
    if measure.kind == "mrr":
        first = where.min(axis=0, initial=np.iinfo(np.int64).max)
        return np.where(first <= measure.k, 1 / first, 0.0)
    if measure.kind == "recall":
        return np.asarray(inside.sum(axis=0) / max(1, len(query.relevant)), np.float64)
    if measure.kind == "p":
        return np.asarray(inside.sum(axis=0) / measure.k, np.float64)
    gains = np.where(inside, grades[:, None] / np.log2(where + 1.0), 0.0).sum(axis=0)
    best = sorted((query.grades[id] for id in query.relevant), reverse=True)[: measure.k]
    ideal = (np.array(best) / np.log2(np.arange(2.0, len(best) + 2))).sum()
    result: Column = gains / ideal if ideal else np.zeros(where.shape[1])
    return result


MOST = 2_000
"""Pairs that are kept as possible questions."""

SLIP = 0.08
"""How often a person presses the wrong key, or sees it the other way for once."""

WIDTH = 0.02
"""Differences of totals (weights summing to 1) about this small are hard to tell for a person."""

EQUAL_WIDTH = 0.05
"""Totals that differ by less than about this are called equal."""


class Pair(NamedTuple):
    """The question whether, for a query (its number), memory `a` is better than memory `b`."""

    query: int
    a: str
    b: str


@dataclass(frozen=True, eq=False)
class Pooled:
    """One query's judging pool with the normalised factors under every half-life, shape (lives,
    memories, factors).
    """

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
        return np.concatenate(
            [_said_a(part @ self.settings.weights.T) for part in self.apart], axis=1
        )

    @cached_property
    def surprise(self) -> Column:
        """The entropy of that answer in nats: what is left to chance even when the setting is
        known.
        """
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
        every += [
            Pair(number, pool.ids[a], pool.ids[b])
            for a, b in zip(left.tolist(), right.tolist(), strict=True)
        ]
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
    ranker: Ranker,
    scores: QueryScores,
    now: datetime,
    profile: Profile,
    settings: Settings,
    seed: int,
) -> Pooled:
    ids = judging_pool(ranker, scores, profile, now, seed=seed)
    rows = np.array([ranker.pool.row(id) for id in ids], np.intp)
    found = []
    for life in settings.lives:
        columns, of = columns_by_id(ranker, JudgedScores(scores, {}, now), life)
        place = np.empty(len(ranker.pool), np.intp)
        place[of] = np.arange(len(of))
        found.append(columns[place[rows]])
    return Pooled(
        ids, np.array(found).reshape(len(settings.lives), len(ids), settings.weights.shape[1])
    )


def _disputed(pool: Pooled) -> tuple[Rows, Rows]:
    """Return both sides of the pairs that some setting orders one way and some setting the other
    way.
    """
    left, right = np.triu_indices(len(pool.ids), 1)
    most, least = np.full(len(left), -np.inf), np.full(len(left), np.inf)
    for part in pool.columns:
        # A linear function is largest and smallest at the corners of the simplex: the factors
        # themselves.
        apart = part[left] - part[right]
        np.maximum(most, apart.max(axis=1), out=most)
        np.minimum(least, apart.min(axis=1), out=least)
    disputed = (most > WIDTH) & (least < -WIDTH)
    return left[disputed], right[disputed]
