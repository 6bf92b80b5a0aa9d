"""The floor under relevance: what it is for the store, and a query against it."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

import numpy as np

from workbench.core.runtime import Cancelled
from workbench.core.tuning.floor import NONE, OFF, UNKNOWN, Floor, Standard, Verdict, floor_for
from workbench.retrieval.arrays import Mask, Rows
from workbench.retrieval.floor import (
    FloorFile,
    Kept,
    Texts,
    floors_of,
    reach_of,
    texts_of,
    weak_rows,
)
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.pool import Pool, Token
from workbench.retrieval.ranking.ranker import Ranker, Ranking
from workbench.retrieval.text_keys import Keys
from workbench.services.context import Context
from workbench.services.tuning.retriever import Retriever

# A query and its memories held against the floor of the store.


@dataclass(frozen=True, eq=False)
class AgainstFloor:
    """A query over what may be served at a moment, and each memory, held against the floor.

    Under a floor by words the `scores` know nothing.
    """

    verdict: Verdict
    pool: Pool
    scores: QueryScores
    now: datetime

    @property
    def empty(self) -> bool:
        """Whether nothing is relevant."""
        return self.verdict.empty

    def scores_of(self, id: str) -> tuple[float, float, bool]:
        """Return a memory's cosine and full-text score, and whether the model knows it. Raises
        `UnknownRecord`.
        """
        row = self.pool.row(id)
        return (
            float(self.scores.dense[row]),
            float(self.scores.lexical[row]),
            self.scores.knows(row),
        )

    def relevance(self, id: str) -> float:
        """Return how relevant a memory is, whatever the profile. Raises `UnknownRecord`."""
        return float(self.scores.relevance[self.pool.row(id)])

    def is_weak(self, id: str) -> bool:
        """Tell whether a memory is one that any question could have found. Raises `UnknownRecord`."""
        return self.verdict.is_weak(*self.scores_of(id))

    def strong(self, rows: Rows) -> Mask:
        """Tell of each of some rows of the pool whether its memory is not weak."""
        floor = self.verdict.standard.floor
        if floor is None or self.empty:
            return np.full(len(rows), not self.empty)
        return ~weak_rows(floor, self.scores, rows)


def against(standard: Standard, scores: QueryScores, ranking: Ranking) -> AgainstFloor:
    """Hold a query against a floor at the moment of a ranking, whatever its profile."""
    if standard.floor is not None and standard.floor.by_words:
        scores = replace(scores, known=np.zeros(len(scores.dense), np.bool_))
    reach = (
        reach_of(scores, ranking.pool.served(ranking.now)) if standard.floor is not None else None
    )
    return AgainstFloor(Verdict(standard, reach), ranking.pool, scores, ranking.now)


# The floor of the store as it is now: known, not computed yet, or none. Computing it takes a moment
# and is kept.


@dataclass(frozen=True, eq=False)
class _Served:
    """What may be served at a moment: its rows, and what they are known by."""

    keys: Keys
    layout: Token
    rows: Mask

    def is_like(self, other: "_Served | None") -> bool:
        """Tell whether these are the rows and the texts of another moment."""
        return (
            other is not None
            and (self.keys is other.keys and self.layout is other.layout)
            and bool(np.array_equal(self.rows, other.rows))
        )

    @cached_property
    def texts(self) -> Texts:
        return texts_of(self.keys, self.rows)


class Floors:
    """Tells what a query is held against; safe to share between threads."""

    def __init__(self, context: Context, retriever: Retriever) -> None:
        self._context = context
        self._retriever = retriever
        self._lock = threading.Lock()
        self._kept: Kept | None = None
        self._served: _Served | None = None
        self._found: Standard | Mapping[str, Floor] = UNKNOWN

    def known(self, query: str = "", ranker: Ranker | None = None) -> Standard:
        """Return what a query is held against under a ranker (else the present one), if it is
        known.

        Computes nothing.
        """
        if not self._context.settings.floor:
            return OFF
        with self._lock:
            self._look(ranker or self._retriever.ranker())
            return _standard(query, self._found)

    def settled(self, query: str = "", cancelled: Cancelled | None = None) -> Standard:
        """Return what a query is held against, computed now when it is not known.

        It is the floor of all that may be served at this moment, whatever the profile. May wait for
        the model. Raises `WorkStopped`.
        """
        if not self._context.settings.floor:
            return OFF
        with self._lock:
            ranker = self._retriever.ranker()
            served, found = self._look(ranker), self._found
        if found == UNKNOWN:
            found = floors_of(ranker, served.rows, cancelled)
            with self._lock:
                self._kept = Kept(found, served.texts)
                self._file.write(self._kept)
                if self._served is served:
                    self._found = found
        return _standard(query, found)

    def _look(self, ranker: Ranker) -> _Served:
        """Find out what is known of what may be served now."""
        pool = ranker.pool
        now = _Served(pool.text_keys, pool.layout_token, pool.served(self._context.now()))
        if self._served is not None and now.is_like(self._served):
            return self._served
        self._served, self._found = now, NONE
        if now.rows.any():
            if self._kept is None or not self._kept.fits(now.texts):
                # Another process may have computed it for the store as it is.
                self._kept = self._file.read()
            fits = self._kept is not None and self._kept.fits(now.texts)
            self._found = self._kept.floors if self._kept is not None and fits else UNKNOWN
        return now

    @property
    def _file(self) -> FloorFile:
        return FloorFile(self._context.caches / "floor", self._retriever.embedder.fingerprint)


def _standard(query: str, found: Standard | Mapping[str, Floor]) -> Standard:
    return found if isinstance(found, Standard) else Standard(floor_for(query, found))
