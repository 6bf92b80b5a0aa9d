"""The outcome of one ranking, with everything needed to explain it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np

from workbench.core.runtime import may_stop
from workbench.core.stream.memory import Memory
from workbench.core.tuning.episodic import EpisodeTerms
from workbench.core.tuning.factors import Factor
from workbench.core.tuning.profile import Profile, weight_of
from workbench.core.tuning.scoring import Scored, weighed
from workbench.retrieval.arrays import Column, Mask, Rows
from workbench.retrieval.ranking.candidates import Candidates
from workbench.retrieval.ranking.columns import NOBODY, FactorColumn
from workbench.retrieval.ranking.episodic import EpisodeColumns
from workbench.retrieval.ranking.pool import Pool
from workbench.retrieval.ranking.selecting import place_of, top_positions

_FIRST = 80
"""How many of the best are put in order at first; four times as many whenever that was not enough."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What normalised one factor: its minimum and maximum and the memories that set them, "" for frozen ones."""

    low: float
    high: float
    low_id: str
    high_id: str
    dead: bool


@dataclass(frozen=True, eq=False)
class Ranking:
    """The `k` best candidates, best first, and the columns of all candidates.

    `positions` index the candidates, `totals` and the columns of `factors`, by the factor's id, have one number per
    candidate (none when there are no candidates). `episodes` holds the terms when the score is that of episodes.
    """

    pool: Pool
    candidates: Candidates
    profile: Profile
    now: datetime
    k: int
    factors: dict[str, FactorColumn]
    totals: Column
    positions: Rows
    episodes: EpisodeColumns | None = None

    @cached_property
    def top(self) -> tuple[Scored, ...]:
        """The best `k`, with the parts of their scores."""
        return tuple(self._scored(position) for position in self.positions.tolist())

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The ids of the best `k`, best first."""
        return tuple(self._memory(position).id for position in self.positions.tolist())

    @cached_property
    def bounds(self) -> dict[str, Bounds]:
        """Minimum and maximum per factor, and which memories set them."""
        return {
            name: Bounds(c.low, c.high, self._id(c.low_at), self._id(c.high_at), c.dead)
            for name, c in self.factors.items()
        }

    def weight(self, factor: Factor) -> float:
        """Return the weight of a factor under the profile."""
        return weight_of(self.profile, factor.weight)

    @property
    def dead(self) -> tuple[str, ...]:
        """The factors without spread, which decide nothing here."""
        return tuple(name for name, column in self.factors.items() if column.dead)

    def place_of(self, id: str) -> int | None:
        """Return the place of a memory, from 1, or `None` when it is hidden. Raises `UnknownRecord`."""
        position = self.candidates.position(self.pool.row(id))
        return None if position is None else place_of(self.totals, self.candidates.id_rank, position)

    def scored(self, id: str) -> Scored | None:
        """Return the parts of any memory's score, or `None` when it is hidden. Raises `UnknownRecord`."""
        position = self.candidates.position(self.pool.row(id))
        return None if position is None else self._scored(position)

    def total_of(self, id: str) -> float | None:
        """Return any memory's score alone, or `None` when it is hidden. Raises `UnknownRecord`."""
        position = self.candidates.position(self.pool.row(id))
        return None if position is None else float(self.totals[position])

    def terms_of(self, id: str) -> EpisodeTerms | None:
        """Return the terms of an episode's score, or `None` when it is not ranked by them. Raises `UnknownRecord`."""
        position = self.candidates.position(self.pool.row(id))
        return None if self.episodes is None or position is None else self.episodes.terms(position)

    def best(self, k: int) -> tuple[Scored, ...]:
        """Return more (or fewer) of the best than the ranking was made for."""
        return tuple(self._scored(p) for p in top_positions(self.totals, self.candidates.id_rank, k).tolist())

    def descending(self, among: Mask) -> Iterator[Memory]:
        """Yield the best of some candidates, the best first: no more of them are put in order than are asked for.

        `among` has a flag for each candidate. Raises `Stopped`.
        """
        places = np.flatnonzero(among)
        totals, ranks = self.totals[places], self.candidates.id_rank[places]
        begun, count = 0, _FIRST
        while begun < len(places):
            may_stop()
            best = top_positions(totals, ranks, count)
            yield from map(self._memory, places[best[begun:]].tolist())
            begun, count = len(best), count * 4

    def _id(self, position: int) -> str:
        return "" if position == NOBODY else self._memory(position).id

    def _memory(self, position: int) -> Memory:
        return self.pool.memories[int(self.candidates.rows[position])]

    def _scored(self, position: int) -> Scored:
        raw = {factor: float(column.raw[position]) for factor, column in self.factors.items()}
        norm = {factor: float(column.norm[position]) for factor, column in self.factors.items()}
        weighted, _ = weighed(norm, self.profile)
        return Scored(self._memory(position), raw, norm, weighted, float(self.totals[position]))
