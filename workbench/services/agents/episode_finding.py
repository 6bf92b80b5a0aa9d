"""Five ways to episodes (source 004, section 2.4): by meaning, by attributes, by both, by time, and by how they failed.

What is found by words comes with its score, term by term; what is found by attributes or time, the latest first.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from workbench.core.agents.actors import require_person
from workbench.core.agents.episodes.criteria import (
    BEGINS,
    LEAST,
    RECENT,
    WINDOW,
    Criteria,
    Digest,
    EpisodeCluster,
    Phase,
    Strategy,
    age_of,
    average,
    checked,
    cluster_id,
    features_of,
    likeness,
    objection,
    phase_of,
    shared,
    variation,
)
from workbench.core.agents.episodes.episode import KIND, STATUSES, Episode
from workbench.core.record import InvalidQuery, InvalidRecord, moved
from workbench.core.runtime import Cancelled, Progress
from workbench.core.text import clean_for_store, counted
from workbench.core.tuning.episodic import TERMS, WEIGHTS, EpisodeTerms, Term, in_domain, query_words
from workbench.retrieval.arrays import Column, Mask, Rows
from workbench.retrieval.episodes import BY_WORDS, scored
from workbench.retrieval.ranking.times import micros
from workbench.services.agents.episode_pool import EpisodePool, EpisodePools
from workbench.services.agents.episodes import Episodes
from workbench.services.context import Context
from workbench.services.tuning.retriever import Retriever

# The episodes of a store as they are searched: their heads, what is made of their files, and columns of both.


# Which episodes are meant, over columns: the fast form of `Criteria.fit`, and what is asked of the body.


_ACTIVE, _ARCHIVED, _DELETED = (STATUSES.index(status) for status in ("active", "archived", "deleted"))


def fitting(pool: EpisodePool, criteria: Criteria, now: datetime) -> Mask:
    """Return which episodes of a pool are meant."""
    mask = (pool.at <= micros(now)) & _in_phase(pool, criteria, now)
    if criteria.only_successful:
        mask &= pool.success
    if criteria.prefer_recent:
        mask &= pool.at >= micros(moved(now, -RECENT))
    if criteria.since is not None:
        mask &= pool.at >= micros(criteria.since)
    if criteria.until is not None:
        mask &= pool.at <= micros(criteria.until)
    for attribute, wanted in _wanted_attributes(criteria):
        one: Mask = np.zeros(len(pool), np.bool_)
        rows = pool.named(attribute).get(wanted.casefold())
        if rows is not None:
            one[rows] = True
        mask &= one
    return mask


def in_domains(pool: EpisodePool, text: str) -> Mask:
    """Return which episodes are of a domain that a text names."""
    asked, found = query_words(text), np.zeros(len(pool), np.bool_)
    for domain, rows in pool.named("domain").items():
        if in_domain((domain,), asked):
            found[rows] = True
    return found


def _wanted_attributes(criteria: Criteria) -> Iterator[tuple[str, str]]:
    if criteria.domain:
        yield "domain", criteria.domain[:KIND]
    if criteria.type:
        yield "type", criteria.type[:KIND]
    for attribute in ("outcome", "tag", "session", "tool", "strategy"):
        wanted: str = getattr(criteria, attribute)
        if wanted:
            yield attribute, wanted


def _in_phase(pool: EpisodePool, criteria: Criteria, now: datetime) -> Mask:
    active, archived = _is(pool, _ACTIVE), _is(pool, _ARCHIVED)
    if criteria.phase == "deleted":
        return _is(pool, _DELETED)
    if criteria.every and not criteria.phase:
        return active | archived
    if criteria.phase == "archived":
        return archived | (active & older(pool, BEGINS["archived"], now))
    if not criteria.phase:
        return active & ~older(pool, BEGINS["archived"], now)
    phases = list(BEGINS)
    first = phases.index(next(phase for phase in phases if phase == criteria.phase))
    young = active & ~older(pool, BEGINS[phases[first + 1]], now)
    return young & older(pool, BEGINS[phases[first]], now) if first else young


def _is(pool: EpisodePool, status: int) -> Mask:
    found: Mask = np.equal(pool.status, status)
    return found


def older(pool: EpisodePool, days: int, now: datetime) -> Mask:
    found: Mask = np.less_equal(pool.at, micros(moved(now, -timedelta(days=days))))
    return found


# Consolidating episodes: those that say the same are put under one and archived; a dry run is the same plan.


@dataclass(frozen=True, slots=True)
class ConsolidationPlan:
    """What would be consolidated: the clusters, and how many episodes were old enough to be looked at."""

    clusters: tuple[EpisodeCluster, ...]
    looked: int

    @property
    def archived(self) -> tuple[str, ...]:
        """The episodes that would be archived: all but those that stand for others."""
        members = (id for one in self.clusters for id in one.members if id != one.representative)
        return tuple(members)


class Consolidation:
    """Consolidates the episodes of a store. Only mature and aged ones are: what is recent may still be looked at."""

    def __init__(self, context: Context, pools: EpisodePools) -> None:
        self._context, self._pools = context, pools
        self._episodes = Episodes(context)

    def plan(
        self,
        cancelled: Cancelled = lambda: False,
        progress: Progress = lambda _done, _all: None,
    ) -> ConsolidationPlan:
        """Return what would be consolidated; writes nothing. What is planned until it is cancelled is returned."""
        pool, now = self._pools.pool(), self._context.now()
        groups: dict[tuple[str, str, str], list[int]] = {}
        for row, head in enumerate(pool.heads):
            if phase_of(head, now) in ("mature", "aged") and pool.digests[row].task:
                groups.setdefault((head.type, head.domain, head.outcome), []).append(row)
        clusters, looked, count = list[EpisodeCluster](), 0, sum(map(len, groups.values()))
        for rows in groups.values():
            if cancelled():
                break
            progress(looked, count)
            looked += len(rows)
            if len(rows) > 1:
                clusters += _clusters(pool, np.array(rows, np.intp), now)
        ordered = sorted(clusters, key=lambda one: (one.last_at, one.id), reverse=True)
        return ConsolidationPlan(tuple(ordered), count)

    def carry_out(self, plan: ConsolidationPlan) -> None:
        """Keep the clusters of a plan and archive what they hold together, as one action.

        Raises `InvalidRecord` when an episode was changed since, and `WorkbenchError` for an agent.
        """
        require_person(self._context.actor, "consolidate episodes")
        count = len(plan.archived)
        label = f"consolidate {counted(count, 'episode')}"
        with self._context.library.transaction(self._context.actor, label) as tx:
            for id in plan.archived:
                episode = self._episodes.get(id)
                if episode.status != "active":
                    raise InvalidRecord(f"{id} was changed since this was planned.", "Nothing was changed.")
                tx.put(replace(episode, status="archived"))
            for cluster in plan.clusters:
                tx.put(cluster)
                self._episodes.refer(tx, cluster.members, cluster.id)


def _clusters(pool: EpisodePool, rows: Rows, now: datetime) -> list[EpisodeCluster]:
    """Return the clusters among episodes of one type, domain and outcome, the latest one standing for each."""
    order = rows[np.argsort(-pool.at[rows], kind="stable")]
    free = np.ones(len(order), np.bool_)
    vectors, window, found = pool.wholes[order], int(WINDOW.total_seconds() * 1_000_000), list[EpisodeCluster]()
    for place in range(len(order)):
        if not free[place]:
            continue
        free[place] = False
        near = free & (vectors @ vectors[place] > LEAST) & (pool.at[order[place]] - pool.at[order] <= window)
        head = pool.digests[order[place]]
        alike = [at for at in np.flatnonzero(near).tolist() if not objection(pool.digests[order[at]], head)]
        if alike:
            free[alike] = False
            found.append(_cluster(pool, [int(order[at]) for at in (place, *alike)], now))
    return found


def _cluster(pool: EpisodePool, rows: Sequence[int], now: datetime) -> EpisodeCluster:
    heads, digests = [pool.heads[row] for row in rows], [pool.digests[row] for row in rows]
    others = zip(heads[1:], digests[1:], strict=True)
    return EpisodeCluster(
        cluster_id(heads[0].id),
        heads[0].id,
        tuple(one.id for one in heads),
        tuple(variation(head.id, digest, digests[0]) for head, digest in others),
        min(one.at for one in heads),
        max(one.at for one in heads),
        now,
        float(heads[0].outcome == "SUCCESS"),
        average([digest.duration for digest in digests]),
    )


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
        sharing: frozenset[str] | None = None,
    ) -> FoundEpisodes:
        """Return the episodes that a strategy finds, at most `k` that the `judge` lets pass. Raises `InvalidQuery`.

        What is found by words has at least the part `close` of the highest similarity there is; a failure, one of the
        words that it is to be `sharing`.
        """
        text = _asked(query, strategy, checked(criteria))
        pool, now = self._pools.pool(), self._context.now()
        rows = np.flatnonzero(fitting(pool, criteria, now))
        if strategy == "failure":
            found = self._by_failure(pool, rows, text, now, close, sharing)
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

    def _by_failure(
        self, pool: EpisodePool, rows: Rows, text: str, now: datetime, close: float, sharing: frozenset[str] | None
    ) -> "_Found":
        """Return episodes that failed alike, by what tells a failure again and by what was said of it."""
        meant = np.isin(pool.failing, rows)
        if sharing is not None:
            meant &= np.array([not sharing.isdisjoint(its) for its in pool.failing_words], np.bool_)
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
