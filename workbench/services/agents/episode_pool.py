"""The episodes of a store as they are searched: their heads, what is made of their files, and columns of both."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.core.agents.episodes.criteria import Digest, digest_of
from workbench.core.agents.episodes.episode import STATUSES, Episode, EpisodeBody, EpisodeUse
from workbench.core.agents.patterns.matching import Fit
from workbench.core.agents.patterns.pattern import Feature
from workbench.core.agents.patterns.statistics import MOST_CHANCE, fisher
from workbench.core.record import WorkStopped
from workbench.core.runtime import Cancelled, Progress
from workbench.core.text import counted
from workbench.core.tuning.episodic import use_of
from workbench.retrieval.arrays import Column, Mask, Rows, Vectors
from workbench.retrieval.episodes import DigestCache, EpisodeFloor, floor_of
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.patterns import telling
from workbench.retrieval.ranking.times import Micros, micros
from workbench.services.context import Context
from workbench.services.safety.bodies import body_of
from workbench.store.blobs import BlobProblem
from workbench.store.library import Touched

Embed = Callable[[Sequence[str], Progress | None, Cancelled | None], Vectors]

VECTORS = ("tasks", "wholes", "outcomes", "failures")
"""The vectors that are made of episodes."""

CHUNK = 1_000
"""Episodes whose files are read before what was made of them is kept."""

EMPTY = Digest("", "", "", "", "", "", "", (), (), ())
"""What is searched of an episode whose file cannot be read: its head alone is found."""


@dataclass(eq=False)
class EpisodePool:
    """The episodes in the order of their ids, with their digests; row i is the i-th of each.

    Vectors are made when they are first asked for: of the tasks, of how they ended, of what failed, and of the whole.
    """

    heads: Sequence[Episode]
    digests: Sequence[Digest]
    _embed: Embed
    _named: dict[str, Mapping[str, Rows]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.heads)

    @cached_property
    def at(self) -> Micros:
        """When each was, in microseconds since 1970."""
        return np.fromiter((micros(one.at) for one in self.heads), np.int64, len(self))

    @cached_property
    def success(self) -> Mask:
        return np.fromiter((one.outcome == "SUCCESS" for one in self.heads), np.bool_, len(self))

    @cached_property
    def tasks(self) -> Vectors:
        return self._made("tasks")

    @cached_property
    def outcomes(self) -> Vectors:
        return self._made("outcomes")

    @cached_property
    def wholes(self) -> Vectors:
        """The vectors of all that is searched of each."""
        return self._made("wholes")

    @cached_property
    def floor(self) -> EpisodeFloor:
        """What questions reach that they have nothing to do with."""
        return floor_of(self.tasks, self.wholes, lambda texts: self._embed(texts, None, None))

    @cached_property
    def words(self) -> LexicalIndex:
        """Full text, for who asks in a language that the model does not know."""
        return LexicalIndex.build([one.whole for one in self.digests])

    @cached_property
    def failing(self) -> Rows:
        """The rows of those in which something failed."""
        rows = zip(self.heads, self.digests, strict=True)
        return np.flatnonzero([bool(digest.signature) or head.outcome != "SUCCESS" for head, digest in rows])

    @cached_property
    def failures(self) -> Vectors:
        """The vectors of what failed, in the order of `failing`."""
        return self._made("failures")

    @cached_property
    def failing_words(self) -> list[frozenset[str]]:
        """The words that tell those failures, in the same order."""
        some = (self.digests[row] for row in self.failing.tolist())
        return telling(*(f"{one.failure}\n{one.task}" for one in some))

    def prepare(
        self, progress: Progress | None = None, cancelled: Cancelled | None = None, names: Sequence[str] = VECTORS
    ) -> None:
        """Make the vectors that are not made yet; raises `WorkStopped`, and then those so far are kept."""
        for name in names:
            if name not in self.__dict__:
                self.__dict__[name] = self._made(name, progress, cancelled)

    def _made(self, name: str, progress: Progress | None = None, cancelled: Cancelled | None = None) -> Vectors:
        failing = self.failing.tolist() if name == "failures" else []
        texts: Mapping[str, Callable[[], list[str]]] = {
            "tasks": lambda: [one.task for one in self.digests],
            "outcomes": lambda: [one.result for one in self.digests],
            "wholes": lambda: [one.whole for one in self.digests],
            "failures": lambda: [self.digests[row].failure or self.digests[row].whole for row in failing],
        }
        return self._embed(texts[name](), progress, cancelled)

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
            self._named[attribute] = {name: np.array(rows, np.intp) for name, rows in found.items() if name}
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
                    chance = fisher(both, many - both, len(rows) - both, len(self) - len(rows) - many + both)
                    if chance < MOST_CHANCE and chance < found.get((about, name), (1.0, None))[0]:
                        why = f"{both:,} of the {counted(many, 'episode')} with “{term.term}” are of it"
                        found[about, name] = chance, Fit(about, name, why)
        return tuple(fit for _, fit in found.values())


OFTEN, GOES_WITH = 3, 0.6
"""A word goes with a type or domain where so many of the episodes that have it, and this share of them, are of it, more
than by chance."""

_ATTRIBUTES: Mapping[str, Callable[[Episode, Digest], Sequence[str]]] = {
    "domain": lambda head, _: (head.domain,),
    "type": lambda head, _: (head.type,),
    "outcome": lambda head, _: (head.outcome,),
    "tag": lambda head, _: head.tags,
    "session": lambda _, digest: (digest.session,),
    "tool": lambda _, digest: digest.tools,
    "strategy": lambda _, digest: digest.strategies,
}


class EpisodePools:
    """Keeps the pool in step with the store; one whose episodes did not change is the same."""

    def __init__(self, context: Context, embed: Embed) -> None:
        self._context, self._embed = context, embed
        self._cache = DigestCache(context.caches / "episodes")
        self._lock = threading.RLock()
        self._pool: EpisodePool | None = None
        self._use: Column | None = None
        context.library.listen(self._note)

    def pool(self, progress: Progress | None = None, cancelled: Cancelled | None = None) -> EpisodePool:
        """Return the pool of the store as it is now; raises `WorkStopped`."""
        with self._lock:
            self._context.library.refresh()
            if self._pool is None:
                heads = sorted(self._context.library.table(Episode).all(), key=lambda one: one.id)
                known = self._digests([one.hash for one in heads], progress, cancelled)
                self._pool = EpisodePool(heads, [known.get(one.hash, EMPTY) for one in heads], self._embed)
                self._use = None
            return self._pool

    def prepare(
        self, progress: Progress | None = None, cancelled: Cancelled | None = None, names: Sequence[str] = VECTORS
    ) -> EpisodePool:
        """Make whatever a search needs that is not made yet, once for a store; what is made before a stop is kept.

        `names` are the vectors that are meant. Raises `WorkStopped`.
        """
        pool = self.pool(progress, cancelled)
        pool.prepare(progress, cancelled, names)
        return pool

    def _digests(
        self, hashes: Sequence[str], progress: Progress | None, cancelled: Cancelled | None
    ) -> dict[str, Digest]:
        found: dict[str, Digest] = {}
        for start in range(0, len(hashes), CHUNK):
            if cancelled is not None and cancelled():
                raise WorkStopped(
                    "The reading of the episodes was stopped.", "What was read so far is known the next time."
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
                uses = {use.episode: use.access_count for use in self._context.library.table(EpisodeUse).all()}
                self._use = np.fromiter((use_of(uses.get(one.id, 0)) for one in pool.heads), np.float64, len(pool))
            return self._use

    def _digest(self, name: str) -> Digest | None:
        try:
            return digest_of(EpisodeBody(body_of(self._context.library, name)))
        except (BlobProblem, StopIteration):
            return None

    def _note(self, touched: Touched) -> None:
        tables = {table for table, _ in touched.keys}
        with self._lock:
            if "episodes" in tables:
                self._pool = None
            if "episode_uses" in tables:
                self._use = None
