"""Ranking over columns: the fast form of `core.scoring` (source 000, algorithm 1).

A query is scored once. A ranking then only combines one column per factor, and the columns
that a changed parameter does not touch are taken from a cache, so a slider step costs about one
pass over memory.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from typing import NamedTuple, Self

import numpy as np

from workbench.core.runtime import may_stop
from workbench.core.stream.memory import Memory
from workbench.core.tuning.episodic import EpisodeTerms
from workbench.core.tuning.profile import (
    FACTORS,
    PLAIN_PARTS,
    RELEVANCE,
    Factor,
    Profile,
    factors_parameters_of,
    value_of,
    weight_of,
)
from workbench.core.tuning.scoring import Scored, weighed
from workbench.retrieval.arrays import (
    Column,
    Embed,
    Mask,
    Rows,
    Scores,
    Vectors,
    micros,
    place_of,
    top_positions,
)
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.fulltext.thesaurus import Matches, Related
from workbench.retrieval.ranking import relevance
from workbench.retrieval.ranking.cases import (
    Candidates,
    ColumnCache,
    ColumnCase,
    QueryScores,
)
from workbench.retrieval.ranking.episodic import (
    IMPORTANCE,
    NOBODY,
    RECENCY,
    EpisodeColumns,
    FactorColumn,
    episode_columns,
    normalised,
    normalised_by,
)
from workbench.retrieval.ranking.pool import Pool

# The outcome of one ranking, with everything needed to explain it.


_FIRST = 80
"""How many of the best are put in order at first; four times as many whenever that was not enough."""


class Bounds(NamedTuple):
    """What normalised one factor: its minimum and maximum and the memories that set them, "" for
    frozen ones.
    """

    low: float
    high: float
    low_id: str
    high_id: str
    dead: bool


@dataclass(frozen=True, eq=False)
class Ranking:
    """The `k` best candidates, best first, and the columns of all candidates.

    `positions` index the candidates, `totals` and the columns of `factors`, by the factor's id,
    have one number per candidate (none when there are no candidates). `episodes` holds the terms
    when the score is that of episodes.
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

    @cached_property
    def places(self) -> Rows:
        """Each pool row's place from 1, 0 when it is hidden."""
        places = np.zeros(len(self.pool), np.intp)
        order = np.lexsort((self.candidates.id_rank, -self.totals))
        places[self.candidates.rows[order]] = np.arange(1, len(order) + 1)
        return places

    def weight(self, factor: Factor) -> float:
        """Return the weight of a factor under the profile."""
        return weight_of(self.profile, factor.weight)

    @property
    def dead(self) -> tuple[str, ...]:
        """The factors without spread, which decide nothing here."""
        return tuple(name for name, column in self.factors.items() if column.dead)

    def place_of(self, id: str) -> int | None:
        """Return the place of a memory, from 1, or `None` when it is hidden. Raises
        `UnknownRecord`.
        """
        position = self._position(id)
        return (
            None if position is None else place_of(self.totals, self.candidates.id_rank, position)
        )

    def scored(self, id: str) -> Scored | None:
        """Return the parts of any memory's score, or `None` when it is hidden. Raises
        `UnknownRecord`.
        """
        position = self._position(id)
        return None if position is None else self._scored(position)

    def total_of(self, id: str) -> float | None:
        """Return any memory's score alone, or `None` when it is hidden. Raises `UnknownRecord`."""
        position = self._position(id)
        return None if position is None else float(self.totals[position])

    def terms_of(self, id: str) -> EpisodeTerms | None:
        """Return the terms of an episode's score, or `None` when it is not ranked by them. Raises
        `UnknownRecord`.
        """
        position = self._position(id)
        return None if self.episodes is None or position is None else self.episodes.terms(position)

    def _position(self, id: str) -> int | None:
        return self.candidates.position(self.pool.row(id))

    def best(self, k: int) -> tuple[Scored, ...]:
        """Return more (or fewer) of the best than the ranking was made for."""
        return tuple(
            self._scored(p) for p in top_positions(self.totals, self.candidates.id_rank, k).tolist()
        )

    def descending(self, among: Mask) -> Iterator[Memory]:
        """Yield the best of some candidates, the best first: no more of them are put in order than
        are asked for.

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


BLOCK = 1 << 14
"""Rows combined at a time: two float64 blocks of this size stay in a processor's cache."""

PARTS = 128 << 20
"""Bytes of the parts of relevance that are remembered: some twenty settings of 100,000 memories,
one of a million.
"""


COLUMNS = {"recency": RECENCY, "importance": IMPORTANCE, RELEVANCE: relevance.RELEVANCE}
"""What works out each factor: 0…1, the higher the better."""


class Ranker:
    """Ranks the memories of a pool; reads only, writes nothing.

    `vectors` (n, dim) and `lexical` are aligned with the rows of `pool`; `embed` turns a query into
    a vector of the same model; `related` names words of like meaning. `parts` is where the parts of
    relevance are remembered. Immutable apart from the caches, so it may be used from several
    threads.
    """

    def __init__(
        self,
        pool: Pool,
        vectors: Vectors,
        lexical: LexicalIndex,
        embed: Embed,
        cache: ColumnCache | None = None,
        related: Related | None = None,
        parts: ColumnCache | None = None,
    ) -> None:
        if len(vectors) != len(pool):
            raise ValueError(f"{len(vectors)} vectors for {len(pool)} memories")
        self.pool = pool
        self.vectors = vectors
        self.lexical = lexical
        self._related = related
        self._embed = embed
        self._cache = cache or ColumnCache()
        self.parts = parts or ColumnCache(PARTS)

    def moved_to(
        self, pool: Pool, vectors: Vectors | None = None, lexical: LexicalIndex | None = None
    ) -> Self:
        """Return a ranker for a later version of the pool that shares the cache.

        After a vote, an access or a status change the pool alone is enough, and `QueryScores` stay
        valid; when texts or rows change, give the new vectors and index, and compute `relevance`
        again.
        """
        vectors = self.vectors if vectors is None else vectors
        kept = self._cache, self._related, self.parts
        return type(self)(pool, vectors, lexical or self.lexical, self._embed, *kept)

    def relevance(self, query: str) -> QueryScores:
        """Compute both relevance scores of `query` for every row; texts that are equal score equal."""
        vector = self._embed([query])[0]
        return self._scored(query, vector, self.vectors @ vector)

    def relevances(self, queries: Sequence[str], together: int) -> Iterator[QueryScores]:
        """Yield both relevance scores of each query; so many are put `together` in one product."""
        vectors = self._embed(queries)
        for start in range(0, len(queries), together):
            some = vectors[start : start + together]
            rows = zip(queries[start : start + together], some, some @ self.vectors.T, strict=True)
            yield from (self._scored(query, vector, cosines) for query, vector, cosines in rows)

    def _scored(self, query: str, vector: Vectors, cosines: Scores) -> QueryScores:
        dense = np.clip(cosines, -1.0, 1.0)
        if self.pool.twins is not None:
            dense = dense[self.pool.twins]
        return QueryScores(
            query, dense, self.lexical.scores(query), self._look, self._known(vector, dense)
        )

    def _known(self, vector: Vectors, dense: Scores) -> Mask | None:
        """Return where the model knows a query and the text: both have a vector then."""
        nothing = np.flatnonzero(dense == 0)
        if vector.any():
            nothing = nothing[~self.vectors[nothing].any(axis=1)]
        if not len(nothing):
            return None
        known = np.ones(len(dense), np.bool_)
        known[nothing] = False
        return known

    def _look(self, query: str) -> Matches:
        return self.lexical.matches(query, self._related, self.pool.actors)

    def rank(
        self,
        scores: QueryScores,
        profile: Profile,
        now: datetime,
        k: int | None = None,
        mask: Mask | None = None,
    ) -> Ranking:
        """Rank what is served at `now` (or the rows of `mask`) and return the best `k` (default:
        the profile's).

        Only what passes the profile's candidate filter takes part. Totals are ordered from the
        highest, equal ones by id. Raises `Stopped`, `ValueError` when `scores` belong to another
        number of rows, and `InvalidQuery` for a filter that cannot be read.
        """
        if len(scores.dense) != len(self.pool) or len(scores.lexical) != len(self.pool):
            raise ValueError("the query's scores were made for another pool")
        episodic = profile.scorer == "episodic"
        if profile.candidates:
            mask = (self.pool.served(now) if mask is None else mask) & self.pool.matching(
                profile.candidates, now
            )
        chosen = self._episodes(now, mask) if episodic else self._candidates(now, mask)
        k = profile.k if k is None else k
        if not len(chosen):
            return Ranking(
                self.pool, chosen, profile, now, k, {}, np.zeros(0), np.zeros(0, np.intp)
            )
        case = ColumnCase(self.pool, chosen, scores, profile, now, self.parts)
        terms = self._terms(case) if episodic else None
        factors = terms.factors if terms else self._factors(case)
        totals = _combined(factors, profile)
        best = top_positions(totals, chosen.id_rank, k)
        return Ranking(self.pool, chosen, profile, now, k, factors, totals, best, terms)

    def _candidates(self, now: datetime, mask: Mask | None) -> Candidates:
        if mask is not None:
            return self._chosen(mask)
        key = ("served", self.pool.layout_token, micros(now))
        return self._cache.get(key, lambda: self._chosen(self.pool.served(now)))

    def _episodes(self, now: datetime, mask: Mask | None) -> Candidates:
        return self._chosen(
            (self.pool.served(now) if mask is None else mask) & self.pool.episodes.episode
        )

    def _terms(self, case: ColumnCase) -> EpisodeColumns:
        p = case.profile
        moment = (micros(case.now), p.pinned) if p.fades else None
        matching = tuple(value_of(p, knob.key) for knob in factors_parameters_of(PLAIN_PARTS))
        key = (
            "terms",
            case.chosen,
            self.pool.episodes,
            case.scores,
            matching,
            p.mode,
            p.half_lives,
            moment,
        )
        return self._cache.get(
            (*key, p.rank_decay, p.rank_order, p.lexical),
            partial(episode_columns, case),
        )

    def _chosen(self, mask: Mask) -> Candidates:
        """Return the candidates of a mask, the same value for an equal mask, so their columns are
        found again.
        """
        key = ("mask", self.pool.layout_token, np.packbits(mask).tobytes())
        return self._cache.get(key, lambda: Candidates.of(self.pool, mask))

    def _factors(self, case: ColumnCase) -> dict[str, FactorColumn]:
        p, chosen = case.profile, case.chosen
        keys: dict[str, Hashable] = {}
        raw: dict[str, Column] = {}
        for factor in FACTORS:
            may_stop()
            columns = COLUMNS[factor.id]
            key = keys[factor.id] = (factor.id, chosen, columns.depends(case))
            raw[factor.id] = self._cache.get(("raw", key), partial(columns.make, case))
        if p.scope == "frozen" and (frozen := p.frozen) is not None:
            return {
                name: self._cache.get(
                    ("frozen", key, getattr(frozen, name)),
                    partial(normalised_by, raw[name], getattr(frozen, name)),
                )
                for name, key in keys.items()
            }
        inside, scope = None, None
        if p.scope == "top" and p.top_n < len(chosen):
            inside, scope = (
                top_positions(raw[RELEVANCE], chosen.id_rank, p.top_n),
                (keys[RELEVANCE], p.top_n),
            )
        return {
            name: self._cache.get(
                ("norm", key, scope), partial(normalised, raw[name], chosen, inside)
            )
            for name, key in keys.items()
        }


def _combined(factors: dict[str, FactorColumn], profile: Profile) -> Column:
    """Return the weighted sum, factor by factor in their order, block by block for the caches'
    sake.
    """
    terms = [(factors[f.id].norm, weight_of(profile, f.weight)) for f in FACTORS if f.id in factors]
    (first, weight), *others = terms
    totals = np.empty(len(first))
    scratch = np.empty(min(BLOCK, len(first)))
    for start in range(0, len(totals), BLOCK):
        part = slice(start, min(start + BLOCK, len(totals)))
        out, term = totals[part], scratch[: part.stop - start]
        np.multiply(first[part], weight, out=out)
        for column, share in others:
            out += np.multiply(column[part], share, out=term)
    return totals
