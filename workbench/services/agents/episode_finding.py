"""Five ways to episodes (source 004, section 2.4): by meaning, by attributes, by both, by time, and
by how they failed.

What is found by words comes with its score, term by term; what is found by attributes or time, the
latest first.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

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
    digest_of,
    features_of,
    likeness,
    objection,
    phase_of,
    shared,
    variation,
)
from workbench.core.agents.episodes.episode import KIND, STATUSES, Episode, EpisodeBody, EpisodeUse
from workbench.core.agents.patterns.matching import Fit
from workbench.core.agents.patterns.pattern import Feature
from workbench.core.agents.patterns.statistics import MOST_CHANCE, fisher
from workbench.core.record import InvalidQuery, InvalidRecord, WorkStopped, moved
from workbench.core.runtime import Cancelled, Progress
from workbench.core.text import clean_for_store, counted
from workbench.core.tuning.episodic import (
    TERMS,
    WEIGHTS,
    EpisodeTerms,
    Term,
    in_domain,
    query_words,
    use_of,
)
from workbench.retrieval.arrays import Column, Mask, Micros, Rows, Vectors, micros
from workbench.retrieval.episodes import BY_WORDS, DigestCache, EpisodeFloor, floor_of, scored
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.patterns import telling
from workbench.services.agents.episodes import Episodes
from workbench.services.context import Changed, Context
from workbench.services.safety.texts import body_of
from workbench.store.blobs import BlobProblem

# The episodes of a store as they are searched: their heads, what is made of their files, and
# columns of both.

Embed = Callable[[Sequence[str], Progress | None, Cancelled | None], Vectors]

VECTORS = ("tasks", "wholes", "failures")
"""The vectors that are made of episodes."""

CHUNK = 1_000
"""Episodes whose files are read before what was made of them is kept."""

EMPTY = Digest("", "", "", "", "", "", "", (), (), ())
"""What is searched of an episode whose file cannot be read: its head alone is found."""

OFTEN, GOES_WITH = 3, 0.6
"""A word goes with a type or domain where so many of the episodes that have it, and this share of
them, are of it, more than by chance.
"""

_ATTRIBUTES: Mapping[str, Callable[[Episode, Digest], Sequence[str]]] = {
    "domain": lambda head, _: (head.domain,),
    "type": lambda head, _: (head.type,),
    "outcome": lambda head, _: (head.outcome,),
    "tag": lambda head, _: head.tags,
    "session": lambda _, digest: (digest.session,),
    "tool": lambda _, digest: digest.tools,
    "strategy": lambda _, digest: digest.strategies,
}


@dataclass(eq=False)
class EpisodePool:
    """The episodes in the order of their ids, with their digests; row i is the i-th of each.

    Vectors are made when they are first asked for: of the tasks, of what failed, and of the whole.
    """

    heads: Sequence[Episode]
    digests: Sequence[Digest]
    _embed: Embed | None = None
    _named: dict[str, Mapping[str, Rows]] = field(default_factory=dict)
    _vectors: dict[str, Vectors] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.heads)

    def of(self, attribute: str, wanted: str) -> Mask:
        """Return which are of what an attribute says, without regard to case."""
        found: Mask = np.zeros(len(self), np.bool_)
        found[self.named(attribute).get(wanted.casefold(), [])] = True
        return found

    @cached_property
    def at(self) -> Micros:
        """When each was, in microseconds since 1970."""
        return np.fromiter((micros(one.at) for one in self.heads), np.int64, len(self))

    @cached_property
    def success(self) -> Mask:
        return np.fromiter((one.outcome == "SUCCESS" for one in self.heads), np.bool_, len(self))

    def vectors(
        self, name: str, progress: Progress | None = None, cancelled: Cancelled | None = None
    ) -> Vectors:
        """Return the vectors of the `tasks`, of all that is searched of each (`wholes`), or of what
        failed (`failures`, in the order of `failing`). Raises `WorkStopped`.
        """
        if name not in self._vectors:
            if name == "failures":
                some = [self.digests[row] for row in self.failing.tolist()]
                texts = [one.failure or one.whole for one in some]
            else:
                texts = [one.task if name == "tasks" else one.whole for one in self.digests]
            assert self._embed is not None
            self._vectors[name] = self._embed(texts, progress, cancelled)
        return self._vectors[name]

    @cached_property
    def floor(self) -> EpisodeFloor:
        """What questions reach that they have nothing to do with."""
        embed = self._embed
        assert embed is not None
        tasks, wholes = self.vectors("tasks"), self.vectors("wholes")
        return floor_of(tasks, wholes, lambda texts: embed(texts, None, None))

    @cached_property
    def words(self) -> LexicalIndex:
        """Full text, for who asks in a language that the model does not know."""
        return LexicalIndex.build([one.whole for one in self.digests])

    @cached_property
    def failing(self) -> Rows:
        """The rows of those in which something failed."""
        rows = zip(self.heads, self.digests, strict=True)
        return np.flatnonzero(
            [bool(digest.signature) or head.outcome != "SUCCESS" for head, digest in rows]
        )

    @cached_property
    def failing_words(self) -> list[frozenset[str]]:
        """The words that tell those failures, in the same order."""
        some = (self.digests[row] for row in self.failing.tolist())
        return telling(*(f"{one.failure}\n{one.task}" for one in some))

    @cached_property
    def status(self) -> NDArray[np.int8]:
        """What a person said of each, as an index into `STATUSES`."""
        codes = {status: code for code, status in enumerate(STATUSES)}
        return np.fromiter((codes[one.status] for one in self.heads), np.int8, len(self))

    def named(self, attribute: str) -> Mapping[str, Rows]:
        """Return the rows by what an attribute says (see `Criteria`), in lower case."""
        if attribute not in self._named:
            found: dict[str, list[int]] = {}
            for row, (head, digest) in enumerate(zip(self.heads, self.digests, strict=True)):
                for name in _ATTRIBUTES[attribute](head, digest):
                    found.setdefault(name.casefold(), []).append(row)
            self._named[attribute] = {
                name: np.array(rows, np.intp) for name, rows in found.items() if name
            }
        return self._named[attribute]

    def fits(self, text: str) -> tuple[Fit, ...]:
        """Return the types and domains that the words of a text go with in these episodes."""
        found = dict[tuple[Feature, str], tuple[float, Fit]]()
        kinds: tuple[tuple[Feature, str], ...] = (("problem_type", "type"), ("domain", "domain"))
        for term in self.words.matches(text).terms:
            many = len(term.rows)
            for about, attribute in kinds:
                for name, rows in self.named(attribute).items():
                    both = len(np.intersect1d(term.rows, rows))
                    if both < max(OFTEN, GOES_WITH * many):
                        continue
                    chance = fisher(
                        both, many - both, len(rows) - both, len(self) - len(rows) - many + both
                    )
                    if chance < MOST_CHANCE and chance < found.get((about, name), (1.0, None))[0]:
                        why = f"{both:,} of the {counted(many, 'episode')} with “{term.term}” are of it"
                        found[about, name] = chance, Fit(about, name, why)
        return tuple(fit for _, fit in found.values())


class EpisodePools:
    """Keeps the pool in step with the store; one whose episodes did not change is the same."""

    def __init__(self, context: Context, embed: Embed) -> None:
        self._context, self._embed = context, embed
        self._cache = DigestCache(context.caches / "episodes")
        self._lock = threading.RLock()
        self._pool: EpisodePool | None = None
        self._use: Column | None = None
        self._changed = Changed(context.library, "episodes", "episode_uses")

    def pool(
        self, progress: Progress | None = None, cancelled: Cancelled | None = None
    ) -> EpisodePool:
        """Return the pool of the store as it is now; raises `WorkStopped`."""
        with self._lock:
            self._context.library.refresh()
            changed = {table for table, _ in self._changed.take()}
            self._use = None if changed else self._use
            if self._pool is None or "episodes" in changed:
                heads = sorted(self._context.library.table(Episode).all(), key=lambda one: one.id)
                known = self._digests([one.hash for one in heads], progress, cancelled)
                self._pool = EpisodePool(
                    heads, [known.get(one.hash, EMPTY) for one in heads], self._embed
                )
                self._use = None
            return self._pool

    def prepare(
        self,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
        names: Sequence[str] = VECTORS,
    ) -> EpisodePool:
        """Make whatever a search needs that is not made yet, once for a store; what is made before
        a stop is kept.

        `names` are the vectors that are meant. Raises `WorkStopped`.
        """
        pool = self.pool(progress, cancelled)
        for name in names:
            pool.vectors(name, progress, cancelled)
        return pool

    def _digests(
        self, hashes: Sequence[str], progress: Progress | None, cancelled: Cancelled | None
    ) -> dict[str, Digest]:
        found: dict[str, Digest] = {}
        for start in range(0, len(hashes), CHUNK):
            if cancelled is not None and cancelled():
                raise WorkStopped(
                    "Reading the episodes was stopped.",
                    "What was read so far is kept for next time.",
                )
            if progress is not None:
                progress(start, len(hashes))
            found |= self._cache.digests(hashes[start : start + CHUNK], self._digest)
        return found

    def use(self) -> Column:
        """Return how much each episode of the pool is used, on the score's scale."""
        with self._lock:
            pool = self.pool()
            if self._use is None:
                uses = {
                    use.episode: use.access_count
                    for use in self._context.library.table(EpisodeUse).all()
                }
                self._use = np.fromiter(
                    (use_of(uses.get(one.id, 0)) for one in pool.heads), np.float64, len(pool)
                )
            return self._use

    def _digest(self, name: str) -> Digest | None:
        try:
            return digest_of(EpisodeBody(body_of(self._context.library, name)))
        except (BlobProblem, StopIteration):
            return None


def fitting(pool: EpisodePool, criteria: Criteria, now: datetime) -> Mask:
    """Return which episodes of a pool are meant."""
    until = min(now, criteria.until) if criteria.until is not None else now
    mask = (pool.at <= micros(until)) & _in_phase(pool, criteria, now)
    if criteria.only_successful:
        mask &= pool.success
    if criteria.prefer_recent:
        mask &= pool.at >= micros(moved(now, -RECENT))
    if criteria.since is not None:
        mask &= pool.at >= micros(criteria.since)
    for attribute in _ATTRIBUTES:
        if wanted := getattr(criteria, attribute):
            mask &= pool.of(attribute, wanted[:KIND] if attribute in ("domain", "type") else wanted)
    return mask


def _in_phase(pool: EpisodePool, criteria: Criteria, now: datetime) -> Mask:
    active, archived, deleted = (np.equal(pool.status, code) for code, _ in enumerate(STATUSES))
    old = older(pool, BEGINS["archived"], now)
    if criteria.phase in ("", "deleted"):
        return deleted if criteria.phase else active | archived if criteria.every else active & ~old
    if criteria.phase == "archived":
        return archived | (active & old)
    begins = list(BEGINS.values())
    place = list(BEGINS).index(criteria.phase)  # type: ignore[arg-type]
    return (
        active
        & ~older(pool, begins[place + 1], now)
        & (older(pool, begins[place], now) if place else True)
    )


def older(pool: EpisodePool, days: int, now: datetime) -> Mask:
    found: Mask = np.less_equal(pool.at, micros(moved(now, -timedelta(days=days))))
    return found


def in_domains(pool: EpisodePool, text: str) -> Mask:
    """Return which episodes are of a domain that a text names."""
    asked, found = query_words(text), np.zeros(len(pool), np.bool_)
    for domain, rows in pool.named("domain").items():
        if in_domain((domain,), asked):
            found[rows] = True
    return found


# Consolidating episodes: those that say the same are put under one and archived; a dry run is the
# same plan.


class ConsolidationPlan(NamedTuple):
    """What would be consolidated: the clusters, and how many episodes were old enough to be looked
    at.
    """

    clusters: tuple[EpisodeCluster, ...]
    looked: int

    @property
    def archived(self) -> tuple[str, ...]:
        """The episodes that would be archived: all but those that stand for others."""
        return tuple(id for one in self.clusters for id in one.members if id != one.representative)


class Consolidation:
    """Consolidates the episodes of a store. Only mature and aged ones are: what is recent may still
    be looked at.
    """

    def __init__(self, context: Context, pools: EpisodePools) -> None:
        self._context, self._pools = context, pools
        self._episodes = Episodes(context)

    def plan(
        self,
        cancelled: Cancelled = lambda: False,
        progress: Progress = lambda _done, _all: None,
    ) -> ConsolidationPlan:
        """Return what would be consolidated; writes nothing. What is planned until it is cancelled
        is returned.
        """
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

        Raises `InvalidRecord` when an episode was changed since.
        """
        label = f"consolidate {counted(len(plan.archived), 'episode')}"
        with self._context.transaction(label) as tx:
            for id in plan.archived:
                episode = self._episodes.get(id)
                if episode.status != "active":
                    raise InvalidRecord(
                        f"{id} was changed since this was planned.", "Nothing was changed."
                    )
                tx.put(replace(episode, status="archived"))
            for cluster in plan.clusters:
                tx.put(cluster)
                self._episodes.refer(tx, cluster.members, cluster.id)


def _clusters(pool: EpisodePool, rows: Rows, now: datetime) -> list[EpisodeCluster]:
    """Return the clusters among episodes of one type, domain and outcome, the latest one standing
    for each.
    """
    order = rows[np.argsort(-pool.at[rows], kind="stable")]
    free = np.ones(len(order), np.bool_)
    vectors, window, found = (
        pool.vectors("wholes")[order],
        int(WINDOW.total_seconds() * 1_000_000),
        list[EpisodeCluster](),
    )
    for place in range(len(order)):
        if not free[place]:
            continue
        free[place] = False
        near = (
            free
            & (vectors @ vectors[place] > LEAST)
            & (pool.at[order[place]] - pool.at[order] <= window)
        )
        head = pool.digests[order[place]]
        alike = [
            at
            for at in np.flatnonzero(near).tolist()
            if not objection(pool.digests[order[at]], head)
        ]
        if alike:
            free[alike] = False
            found.append(_cluster(pool, [int(order[at]) for at in (place, *alike)], now))
    return found


def _cluster(pool: EpisodePool, rows: Sequence[int], now: datetime) -> EpisodeCluster:
    heads, digests = [pool.heads[row] for row in rows], [pool.digests[row] for row in rows]
    others = zip(heads[1:], digests[1:], strict=True)
    return EpisodeCluster(
        id=cluster_id(heads[0].id),
        representative=heads[0].id,
        members=tuple(one.id for one in heads),
        variations=tuple(variation(head.id, digest, digests[0]) for head, digest in others),
        first_at=min(one.at for one in heads),
        last_at=max(one.at for one in heads),
        made_at=now,
        success_rate=float(heads[0].outcome == "SUCCESS"),
        average_duration=average([digest.duration for digest in digests]),
    )


# Finding

K = 5
"""How many are found when nobody says."""

LEAST_ALIKE, AGED = 0.4, 0.1
"""The similarity from which two failures are alike, and how much more an aged episode must have to
be found.
"""

LONGEST = 4_000
"""Characters of what is asked that are looked for."""


class ScorePart(NamedTuple):
    """One term of a score: its value (0–1) × its weight = what it adds."""

    term: Term
    value: float
    weight: float
    weighted: float


class FoundEpisode(NamedTuple):
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
        values = [(term, float(getattr(self.terms, term)), WEIGHTS[term]) for term in TERMS]
        parts = [ScorePart(term, value, weight, value * weight) for term, value, weight in values]
        return tuple(sorted(parts, key=lambda part: -part.weighted))

    @property
    def total(self) -> float:
        """Its score; 0 where it has none."""
        return sum(part.weighted for part in self.parts)


class FoundEpisodes(NamedTuple):
    """An answer: what was asked in which way, the episodes, the best or the latest first, and how
    many fit.
    """

    query: str
    strategy: Strategy
    found: tuple[FoundEpisode, ...]
    fitting: int


Judge = Callable[[FoundEpisode], bool]


class Searching(Protocol):
    """What is searched with: the pools of episodes, and the vector of a text."""

    @property
    def episodes(self) -> "EpisodePools":
        """What is searched of the store's episodes."""

    def vector(self, text: str) -> Vectors:
        """Return the vector of a text."""


class EpisodeFinder:
    """Finds episodes of an open store; reads only. Any thread may ask."""

    def __init__(self, context: Context, retriever: Callable[[], Searching]) -> None:
        self._context, self._retriever = context, retriever

    @property
    def consolidation(self) -> "Consolidation":
        """The way to put those together that say the same."""
        return Consolidation(self._context, self._pools)

    @property
    def _pools(self) -> "EpisodePools":
        return self._retriever().episodes

    def prepare(self, strategy: Strategy, progress: Progress, cancelled: Cancelled) -> None:
        """Make what a strategy needs that is not made yet; the first time, in a large store, that
        takes a while.

        Raises `WorkStopped` when it is stopped; what is made until then is kept.
        """
        needed = {
            "failure": ("failures",),
            "semantic": ("tasks", "wholes"),
            "hybrid": ("tasks", "wholes"),
        }
        self._pools.prepare(progress, cancelled, needed.get(strategy, ()))

    def listed(self, criteria: Criteria) -> list[Episode]:
        """Return the heads of those that are meant, the latest first; only what heads do not say
        needs the pool.
        """
        heads = Episodes(self._context).all()
        in_files = criteria.session or criteria.tool or criteria.strategy
        pool = self._pools.pool() if in_files else EpisodePool(heads, [EMPTY] * len(heads))
        mask = fitting(pool, checked(criteria), self._context.now())
        meant = [pool.heads[row] for row in np.flatnonzero(mask).tolist()]
        return sorted(meant, key=lambda one: (one.at, one.id), reverse=True)

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
        """Return the episodes that a strategy finds, at most `k` that the `judge` lets pass. Raises
        `InvalidQuery`.

        What is found by words has at least the part `close` of the highest similarity there is; a
        failure, one of the words that it is to be `sharing`.
        """
        text = _asked(query, strategy, checked(criteria))
        pool, now = self._pools.pool(), self._context.now()
        rows, signature = (
            np.flatnonzero(fitting(pool, criteria, now)),
            features_of([text]) if text else (),
        )
        similarity: Column | None = None
        if strategy == "failure":
            rows, similarity, least = self._by_failure(pool, rows, text, signature, sharing)
        elif text:
            signature = ()
            rows, similarity, least = self._by_meaning(pool, rows, text)
        terms: Callable[[int], EpisodeTerms] | None = None
        if similarity is None:
            order = np.argsort(-pool.at[rows], kind="stable")
        else:
            least = max(least, close * float(similarity.max(initial=0.0)))
            near = similarity >= np.where(
                older(pool, BEGINS["aged"], now)[rows], least + AGED, least
            )
            rows, domain = rows[near], in_domains(pool, f"{criteria.domain} {text}")
            scores = scored(
                rows, similarity[near], pool.at, pool.success, self._pools.use(), domain, now
            )
            order, terms = scores.best(len(rows)), scores.terms

        def found(place: int) -> FoundEpisode:
            head, digest = pool.heads[rows[place]], pool.digests[rows[place]]
            same = shared(signature, digest.signature) if signature else ()
            score = None if terms is None else terms(place)
            return FoundEpisode(
                head, digest, phase_of(head, now), age_of(head.at, now), score, same
            )

        passed = islice(filter(judge, map(found, order.tolist())), k)
        return FoundEpisodes(text, strategy, tuple(passed), len(rows))

    def _by_meaning(self, pool: EpisodePool, rows: Rows, text: str) -> tuple[Rows, Column, float]:
        """Return which episodes have to do with a text, how much, and how much is the least."""
        vector, floor = self._retriever().vector(text), BY_WORDS
        if not len(rows):
            return rows, np.zeros(0), floor.row
        if vector.any():
            tasks, wholes = pool.vectors("tasks"), pool.vectors("wholes")
            similarity, floor = np.maximum(tasks @ vector, wholes @ vector), pool.floor
        else:
            similarity = pool.words.scores(text)  # the model does not know the language
        similarity = similarity.astype(np.float64)[rows]
        if similarity.max() < floor.query:
            return rows[:0], similarity[:0], floor.row
        return rows, similarity, floor.row

    def _by_failure(
        self,
        pool: EpisodePool,
        rows: Rows,
        text: str,
        signature: Sequence[str],
        sharing: frozenset[str] | None,
    ) -> tuple[Rows, Column, float]:
        """Return episodes that failed alike, by what tells a failure again and by what was said of
        it.
        """
        meant = np.isin(pool.failing, rows)
        if sharing is not None:
            meant &= np.array([not sharing.isdisjoint(its) for its in pool.failing_words], np.bool_)
        rows = pool.failing[meant]
        if not len(rows):
            return rows, np.zeros(0), LEAST_ALIKE
        cosine = np.maximum(pool.vectors("failures")[meant] @ self._retriever().vector(text), 0.0)
        mine, signatures = (
            frozenset(signature),
            (pool.digests[row].signature for row in rows.tolist()),
        )
        # Hardly any has something in common with it, and what has not is told apart by that alone.
        alike = [0.0 if mine.isdisjoint(its) else likeness(signature, its) for its in signatures]
        return (
            rows,
            np.maximum((cosine + np.array(alike)) / 2, cosine * 0.75).astype(np.float64),
            LEAST_ALIKE,
        )


def _asked(query: str, strategy: Strategy, criteria: Criteria) -> str:
    """Return what is asked for as it is looked for; raises `InvalidQuery` when a strategy lacks
    what it needs.
    """
    text = clean_for_store(query.strip())
    if len(text) > LONGEST:
        raise InvalidQuery(
            f"The query has {len(text):,} characters; at most {LONGEST:,} are searched.",
            "Shorten it.",
        )
    if strategy in ("semantic", "hybrid", "failure") and not text:
        raise InvalidQuery(
            f"The strategy {strategy} needs a query.", "Give the task or the error message."
        )
    if strategy in ("structured", "hybrid") and criteria.are_none:
        said = "Give a domain, type, outcome, tag, tool, session or time."
        raise InvalidQuery(f"The strategy {strategy} needs a filter.", said)
    return "" if strategy in ("structured", "temporal") else text
