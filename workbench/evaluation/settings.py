"""The settings that tuning tries: every point of a grid over the weights, times a handful of half-lives."""

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from workbench.core.tuning.factors import FACTORS, WEIGHT_KEYS
from workbench.core.tuning.profile import ENGRAM_HALF_LIFE, HalfLives, Profile, weight_of, with_value
from workbench.retrieval.arrays import Column

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
    """All settings around one profile, numbered life by life: number = life · len(weights) + weight.

    `weights` has shape (W, factors), each row with sum 1, in the order of the factors. Row 0 holds the shares of
    the start itself and `lives[0]` its own half-lives, so setting 0 ranks as the start does. Behind the grid come
    the `contenders`, whole profiles that stand as they are.
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
        """How many settings the grid has."""
        return len(self.weights) * len(self.lives)

    def profile(self, number: int) -> Profile:
        """Return one setting as a profile; the start's own weights are left as they were given."""
        if number >= self.grid:
            return self.contenders[number - self.grid]
        life, weight = divmod(number, len(self.weights))
        return with_weights(self.lives[life], self.weights[weight]) if weight else self.lives[life]

    def smoothed(self, means: Column) -> Column:
        """Average a value per setting with those of its neighbours on the grid of weights, shape (settings,).

        A metric over few queries jumps wherever two memories swap, so its highest peak is mostly luck. A setting
        among good ones is better than a lone peak. The weight of a neighbour falls evenly to 0 at `NEAR` steps.
        The start and the contenders were not picked from the peaks, so each counts for what it is.
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
        """How far each setting is from the start: half the moved share of weight, plus what the half-life moved.

        A tenfold half-life counts like a twentieth of the weight, and switching decay on or off like two.
        Contenders are further away than all of the grid, in their order.
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
    """Return the grid around a profile, by default as fine as `POINTS` lets it be, and the contenders beside it.

    The weights of `dead` factors keep the share they have. Profiles without hourly recency keep their one way of
    ageing.
    """
    own = np.array([weight_of(start, key) for key in WEIGHT_KEYS], np.float64)
    own /= own.sum()
    alive = np.flatnonzero([factor.id not in dead for factor in FACTORS])
    steps = steps or _steps(max(1, len(alive)))
    points = np.array(list(_points(steps, len(alive))) if len(alive) else np.zeros((0, 0)), np.float64)
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
    return next(s for s in range(STEPS, 0, -1) if s == 1 or math.comb(s + factors - 1, factors - 1) <= POINTS)


def _points(steps: int, factors: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to share steps among factors."""
    if factors == 1:
        yield (steps,)
        return
    for first in range(steps + 1):
        yield from ((first, *rest) for rest in _points(steps - first, factors - 1))


def with_half_life(profile: Profile, days: float | None) -> Profile:
    """Return a profile with another half-life for episodic memories.

    Types that do not decay stay so, and types with the same half-life move along; `None` ends the decay.
    """
    own = profile.half_lives
    alike = [f.name for f in fields(HalfLives) if f.name == "episodic" or getattr(own, f.name) == own.episodic]
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
