"""The settings that tuning tries: every point of a grid over the weights, times a handful of half-lives."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from workbench.core.tuning.profile import ENGRAM_HALF_LIFE, HalfLives, Profile
from workbench.retrieval.arrays import Column

STEPS = 20
"""Shares of the weights move in steps of 1/20: 231 points."""

LIVES: tuple[float | None, ...] = (1.0, 3.0, ENGRAM_HALF_LIFE, 14.0, 30.0, 90.0, None)
"""Half-lives in days of episodic memories, from a day to no decay."""

NEAR = 3
"""Grid steps from which on a neighbour has no say in how good a setting is."""

SAME_LIFE = 0.1
"""Two half-lives are the same when their ratio is within 10 %."""


@dataclass(frozen=True, eq=False)
class Settings:
    """All settings around one profile, numbered life by life: number = life · len(weights) + weight.

    `weights` has shape (W, 3), each row with sum 1: recency, importance, relevance. Row 0 holds the shares of
    the start itself and `lives[0]` its own half-lives, so setting 0 ranks as the start does.
    """

    start: Profile
    weights: Column
    lives: tuple[Profile, ...]

    def __len__(self) -> int:
        return len(self.weights) * len(self.lives)

    def profile(self, number: int) -> Profile:
        """Return one setting as a profile; the start's own weights are left as they were given."""
        life, weight = divmod(number, len(self.weights))
        return with_weights(self.lives[life], self.weights[weight]) if weight else self.lives[life]

    def smoothed(self, means: Column) -> Column:
        """Average a value per setting with those of its neighbours on the grid of weights, shape (settings,).

        A metric over few queries jumps wherever two memories swap, so its highest peak is mostly luck. A setting
        among good ones is better than a lone peak. The weight of a neighbour falls evenly to 0 at `NEAR` steps.
        """
        by_life = means.reshape(len(self.lives), len(self.weights))
        averaged: Column = (by_life @ self._kernel.T).ravel()
        return averaged

    @cached_property
    def _kernel(self) -> Column:
        moved = np.abs(self.weights[:, None] - self.weights[None, :]).sum(axis=2) / 2
        say = np.maximum(0.0, 1 - moved * STEPS / NEAR)
        return np.asarray(say / say.sum(axis=1, keepdims=True), np.float64)

    @cached_property
    def distance(self) -> Column:
        """How far each setting is from the start: half the moved share of weight, plus what the half-life moved.

        A tenfold half-life counts like a twentieth of the weight, and switching decay on or off like two.
        """
        moved = np.abs(self.weights - self.weights[0]).sum(axis=1) / 2
        apart = np.array([_life_distance(self.lives[0], life) for life in self.lives]) / STEPS
        distance: Column = (apart[:, None] + moved[None, :]).ravel()
        return distance


def settings_around(start: Profile, steps: int = STEPS) -> Settings:
    """Return the grid around a profile; profiles without hourly recency keep their one way of ageing."""
    own = np.array([start.recency, start.importance, start.relevance], np.float64)
    grid = [(i / steps, j / steps, (steps - i - j) / steps) for i in range(steps + 1) for j in range(steps + 1 - i)]
    # The shares of the start are a point of their own, unless the grid has it.
    distinct = [point for point in grid if np.abs(np.array(point) - own / own.sum()).max() > 1e-9]
    return Settings(start, np.array([own / own.sum(), *distinct]), tuple(_lives(start)))


def with_weights(profile: Profile, weights: Column) -> Profile:
    """Return a profile with other weights, in the order recency, importance, relevance."""
    recency, importance, relevance = (round(float(w), 6) for w in weights)
    return replace(profile, recency=recency, importance=importance, relevance=relevance)


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
