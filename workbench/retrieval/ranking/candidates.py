"""The memories that take part in one ranking, and who is whose neighbour among them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from workbench.retrieval.arrays import Column, Mask, Rows
from workbench.retrieval.ranking.pool import Pool


@dataclass(frozen=True, eq=False)
class Candidates:
    """The chosen `rows` of a pool, ascending; a *position* is an index into them.

    `id_rank` orders the candidates by id. `order` holds their positions by session and time, and
    `linked[i]` tells whether `order[i]` and `order[i + 1]` are neighbours in one session.
    """

    rows: Rows
    everything: bool
    id_rank: Rows
    order: Rows
    linked: Mask

    @classmethod
    def of(cls, pool: Pool, mask: Mask) -> Self:
        """Choose the rows of `pool` whose flag in `mask` is set."""
        rows = np.flatnonzero(mask)
        everything = len(rows) == len(pool)
        by_session = pool.order if everything else pool.order[mask[pool.order]]
        session = pool.session[by_session]
        linked = (session[1:] == session[:-1]) & (session[1:] >= 0)
        position = np.empty(len(pool), np.intp)
        position[rows] = np.arange(len(rows))
        return cls(rows, everything, pool.id_rank[rows], position[by_session], linked)

    def __len__(self) -> int:
        return len(self.rows)

    def position(self, row: int) -> int | None:
        """Return the position of a pool row, or `None` when it does not take part."""
        at = int(np.searchsorted(self.rows, row))
        return at if at < len(self.rows) and self.rows[at] == row else None

    @cached_property
    def _place_of(self) -> Rows:
        places = np.empty(len(self), np.intp)
        places[self.order] = np.arange(len(self))
        return places

    def places(self, rows: Rows) -> Rows:
        """Return where pool rows stand in `order`, −1 for those that take no part."""
        if self.everything or not len(self):
            return self._place_of[rows] if len(self) else np.full(len(rows), -1)
        at = np.minimum(np.searchsorted(self.rows, rows), len(self) - 1)
        found: Rows = np.where(self.rows[at] == rows, self._place_of[at], -1)
        return found

    def around(self, row: int, steps: int) -> Iterator[tuple[int, int]]:
        """Yield the rows at most `steps` before (negative) and after a row in its session, with how far they are."""
        (at,) = self.places(np.array([row])).tolist()
        for way in (-1, 1) if at >= 0 else ():
            for step in range(1, steps + 1):
                link = at - step if way < 0 else at + step - 1
                if not 0 <= link < len(self.linked) or not self.linked[link]:
                    break
                yield way * step, int(self.rows[self.order[at + way * step]])

    @cached_property
    def alone(self) -> bool:
        """Tell whether no candidate has a neighbour."""
        return not self.linked.any()

    def neighbour_maximum(self, values: Column) -> Column:
        """Return for each position the larger value of its two neighbours, 0 without any; values ≥ 0."""
        ordered = values[self.order]
        best = np.zeros(len(values))
        best[:-1] = np.where(self.linked, ordered[1:], 0.0)
        best[1:] = np.maximum(best[1:], np.where(self.linked, ordered[:-1], 0.0))
        gained = np.empty(len(values))
        gained[self.order] = best
        return gained
