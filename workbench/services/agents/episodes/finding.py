"""Five ways to episodes (source 004, section 2.4): by meaning, by attributes, by both, by time, and by how they failed.

What is found by words comes with its score, term by term; what is found by attributes or time, the latest first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.core.agents.episodes.criteria import Criteria, Strategy, checked
from workbench.core.agents.episodes.digest import Digest
from workbench.core.agents.episodes.episode import Episode
from workbench.core.agents.episodes.phases import BEGINS, Phase, age_of, phase_of
from workbench.core.agents.episodes.signature import features_of, likeness, shared
from workbench.core.errors import InvalidQuery
from workbench.core.text import clean_for_store
from workbench.core.tuning.episodic import TERMS, WEIGHTS, EpisodeTerms, Term
from workbench.retrieval.arrays import Column, Mask, Rows
from workbench.retrieval.episodes.floor import BY_WORDS
from workbench.retrieval.episodes.scoring import scored
from workbench.services.agents.episodes.columns import fitting, in_domains, older
from workbench.services.agents.episodes.pool import Cancelled, EpisodePool, EpisodePools, Progress
from workbench.services.context import Context
from workbench.services.tuning.retriever import Retriever

if TYPE_CHECKING:
    from workbench.services.agents.episodes.consolidating import Consolidation

K = 5
"""How many are found when nobody says."""

LEAST_ALIKE, AGED = 0.4, 0.1
"""The similarity from which two failures are alike, and how much more an aged episode must have to be found."""

LONGEST = 4_000
"""Characters of what is asked that are looked for."""


class ScorePart(NamedTuple):
    """One term of a score: its value (0–1) × its weight = what it adds."""

    term: Term
    value: float
    weight: float
    weighted: float


@dataclass(frozen=True, slots=True)
class FoundEpisode:
    """An episode that was found, what is searched of it, and its score, where it has one.

    `shared` are the features that its failure has in common with the one that was asked for.
    """

    episode: Episode
    digest: Digest
    phase: Phase
    age_days: float
    terms: EpisodeTerms | None = None
    shared: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[ScorePart, ...]:
        """The terms of its score, the most first."""
        if self.terms is None:
            return ()
        known = ((term, float(getattr(self.terms, term)), WEIGHTS[term]) for term in TERMS)
        parts = (ScorePart(term, value, weight, value * weight) for term, value, weight in known)
        return tuple(sorted(parts, key=lambda part: -part.weighted))

    @property
    def total(self) -> float:
        """Its score; 0 where it has none."""
        return sum(part.weighted for part in self.parts)


@dataclass(frozen=True, slots=True)
class FoundEpisodes:
    """An answer: what was asked in which way, the episodes, the best or the latest first, and how many fit."""

    query: str
    strategy: Strategy
    found: tuple[FoundEpisode, ...]
    fitting: int


Judge = Callable[[FoundEpisode], bool]


class EpisodeFinder:
    """Finds episodes of an open store; reads only. Any thread may ask."""

    def __init__(self, context: Context, retriever: Callable[[], Retriever]) -> None:
        self._context, self._retriever = context, retriever

    @property
    def consolidation(self) -> "Consolidation":
        """The way to put those together that say the same."""
        from workbench.services.agents.episodes.consolidating import Consolidation

        return Consolidation(self._context, self._pools)

    @property
    def _pools(self) -> EpisodePools:
        return self._retriever().episodes

    def prepare(self, strategy: Strategy, progress: Progress, cancelled: Cancelled) -> None:
        """Make what a strategy needs that is not made yet; the first time, in a large store, that takes a while.

        Raises `WorkStopped` when it is stopped; what is made until then is kept.
        """
        if strategy == "failure":
            names: tuple[str, ...] = ("failures",)
        else:
            names = ("tasks", "wholes") if strategy in ("semantic", "hybrid") else ()
        self._pools.prepare(progress, cancelled, names)

    def recent(self, n: int = K, criteria: Criteria = Criteria()) -> FoundEpisodes:  # noqa: B008 - a frozen value
        """Return the latest episodes that are meant."""
        return self.find("", "temporal", criteria, n)

    def find(
        self,
        query: str,
        strategy: Strategy = "semantic",
        criteria: Criteria = Criteria(),  # noqa: B008 - a frozen value
        k: int = K,
        judge: Judge = lambda _: True,
        close: float = 0.0,
    ) -> FoundEpisodes:
        """Return the episodes that a strategy finds, at most `k` that the `judge` lets pass. Raises `InvalidQuery`.

        What is found by words has at least the part `close` of the highest similarity there is.
        """
        text = _asked(query, strategy, checked(criteria))
        pool, now = self._pools.pool(), self._context.now()
        rows = np.flatnonzero(fitting(pool, criteria, now))
        if strategy == "failure":
            found = self._by_failure(pool, rows, text, now, close)
        elif text:
            found = self._by_meaning(pool, rows, text, criteria, now, close)
        else:
            found = self._by_time(pool, rows, now)
        return FoundEpisodes(text, strategy, *_first(found, k, judge))

    def _by_time(self, pool: EpisodePool, rows: Rows, now: datetime) -> "_Found":
        order = rows[np.argsort(-pool.at[rows], kind="stable")]
        return _Found(len(order), lambda place: self._found(pool, int(order[place]), now))

    def _by_meaning(
        self, pool: EpisodePool, rows: Rows, text: str, criteria: Criteria, now: datetime, close: float
    ) -> "_Found":
        if not len(rows):
            return _NOTHING
        vector, floor = self._retriever().vector(text), BY_WORDS
        if vector.any():
            similarity, floor = np.maximum(pool.tasks @ vector, pool.wholes @ vector), pool.floor
        else:
            # The model does not know the language.
            similarity = pool.words.scores(text)
        similarity = similarity.astype(np.float64)[rows]
        if similarity.max() < floor.query:
            return _NOTHING
        rows, similarity = _relevant(pool, rows, similarity, max(floor.row, close * float(similarity.max())), now)
        domain = in_domains(pool, f"{criteria.domain} {text}")
        return self._ranked(pool, rows, similarity, domain, now)

    def _by_failure(self, pool: EpisodePool, rows: Rows, text: str, now: datetime, close: float) -> "_Found":
        """Return episodes that failed alike, by what tells a failure again and by what was said of it."""
        meant = np.isin(pool.failing, rows)
        if not meant.any():
            return _NOTHING
        signature, rows = features_of([text]), pool.failing[meant]
        cosine = np.maximum(pool.failures[meant] @ self._retriever().vector(text), 0.0)
        mine, signatures = frozenset(signature), (pool.digests[row].signature for row in rows.tolist())
        # Hardly any has something in common with it, and what has not is told apart by that alone.
        alike = [0.0 if mine.isdisjoint(its) else likeness(signature, its) for its in signatures]
        similarity = np.maximum((cosine + np.array(alike)) / 2, cosine * 0.75).astype(np.float64)
        rows, similarity = _relevant(pool, rows, similarity, max(LEAST_ALIKE, close * float(similarity.max())), now)
        return self._ranked(pool, rows, similarity, in_domains(pool, text), now, signature)

    def _ranked(
        self,
        pool: EpisodePool,
        rows: Rows,
        similarity: Column,
        domain: Mask,
        now: datetime,
        signature: tuple[str, ...] = (),
    ) -> "_Found":
        scores = scored(rows, similarity, pool.at, pool.success, self._pools.use(), domain, now)
        order = scores.best(len(rows))

        def at(place: int) -> FoundEpisode:
            """Return the episode at a place of the ranking."""
            row = int(scores.rows[order[place]])
            return self._found(pool, row, now, scores.terms(int(order[place])), signature)

        return _Found(len(order), at)

    def _found(
        self,
        pool: EpisodePool,
        row: int,
        now: datetime,
        terms: EpisodeTerms | None = None,
        signature: tuple[str, ...] = (),
    ) -> FoundEpisode:
        head, digest = pool.heads[row], pool.digests[row]
        both = shared(signature, digest.signature) if signature else ()
        return FoundEpisode(head, digest, phase_of(head, now), age_of(head.at, now), terms, both)


class _Found(NamedTuple):
    """What was found, in order: how `many`, and the one at a place."""

    many: int
    at: Callable[[int], FoundEpisode]


def _nowhere(place: int) -> FoundEpisode:
    raise IndexError(place)


_NOTHING = _Found(0, _nowhere)


def _first(found: _Found, k: int, judge: Judge) -> tuple[tuple[FoundEpisode, ...], int]:
    """Return the first that may pass, and how many there are."""
    passed = list[FoundEpisode]()
    for place in range(found.many):
        if len(passed) == k:
            break
        one = found.at(place)
        if judge(one):
            passed.append(one)
    return tuple(passed), found.many


def _asked(query: str, strategy: Strategy, criteria: Criteria) -> str:
    """Return what is asked for as it is looked for; raises `InvalidQuery` when a strategy lacks what it needs."""
    text = clean_for_store(query.strip())
    if len(text) > LONGEST:
        raise InvalidQuery(f"The query has {len(text):,} characters; {LONGEST:,} are looked for.", "Shorten it.")
    if strategy in ("semantic", "hybrid", "failure") and not text:
        raise InvalidQuery(f"The strategy {strategy} needs words to go by.", "Say what the task or the error is.")
    if strategy in ("structured", "hybrid") and criteria.are_none:
        said = "Name a domain, a type, an outcome, a tag, a tool, a session or a time."
        raise InvalidQuery(f"The strategy {strategy} needs something to filter by.", said)
    return "" if strategy in ("structured", "temporal") else text


def _relevant(pool: EpisodePool, rows: Rows, similarity: Column, least: float, now: datetime) -> tuple[Rows, Column]:
    """Return the rows that have to do with what is asked; an old one must do so more."""
    near = similarity >= np.where(older(pool, BEGINS["aged"], now)[rows], least + AGED, least)
    return rows[near], similarity[near]
