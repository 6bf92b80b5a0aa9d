"""What approving would do to the saved queries: what would be found where, what that displaces, how the pool moves.

The ranking is made twice for every saved query: over the store as it is, and over the store as it would be.
Reads only; callable from any thread.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.core.record import WorkStopped
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.core.stream.memory import Memory
from workbench.core.text import clean_for_store
from workbench.core.tuning.judgment import SavedQuery
from workbench.core.tuning.profile import Profile
from workbench.retrieval.fulltext.lexical import LexicalIndex
from workbench.retrieval.ranking.ranker import QueryScores, Ranker, Ranking
from workbench.retrieval.text import searched_text
from workbench.services.context import Context
from workbench.services.tuning.profiles import Profiles
from workbench.services.tuning.retriever import Retriever

Outcome = Callable[[Proposal], Sequence[Memory]]
"""Returns the memories that accepting a proposal would write; the one it is about comes first."""

EPSILON = 5e-4
"""Differences of a minimum or maximum below this do not show and are no move."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A factor's minimum and maximum over the pool, before and after; raw values."""

    factor: str
    low: tuple[float, float]
    high: tuple[float, float]


@dataclass(frozen=True, slots=True)
class QueryImpact:
    """One saved query: `place` is where the memory would stand (from 1; `None`: it would not be served).

    `before` is its place now. `displaced` is what would drop out of the best k for it. `moved` are the
    factors whose range over the pool would change, and so every score with it.
    """

    query: SavedQuery
    place: int | None
    before: int | None
    k: int
    displaced: Memory | None
    moved: tuple[Moved, ...]

    @property
    def enters(self) -> bool:
        """Whether it would be among the best k and is not now."""
        return self.place is not None and self.place <= self.k and (self.before is None or self.before > self.k)

    @property
    def leaves(self) -> bool:
        """Whether it is among the best k now and would not be."""
        return self.before is not None and self.before <= self.k and (self.place is None or self.place > self.k)


@dataclass(frozen=True, slots=True)
class Impact:
    """What approving would do, query by query, under one profile. `memory` is the id of what would be found."""

    memory: str
    profile: str
    k: int
    queries: tuple[QueryImpact, ...]

    @property
    def entered(self) -> tuple[QueryImpact, ...]:
        """The queries that would find the memory among the best k, the highest place first."""
        return tuple(sorted((q for q in self.queries if q.enters), key=lambda q: q.place or 0))

    @property
    def left(self) -> tuple[QueryImpact, ...]:
        """The queries that would no longer find the memory among the best k."""
        return tuple(q for q in self.queries if q.leaves)


class ImpactPreview:
    """Makes previews; keeps the relevance of the saved queries for as long as no text changes."""

    def __init__(self, context: Context, outcome: Outcome, retriever: Retriever, profiles: Profiles) -> None:
        self._context = context
        self._outcome = outcome
        self._retriever = retriever
        self._profiles = profiles
        self._lock = threading.Lock()
        self._known: dict[str, QueryScores] = {}
        self._texts: tuple[object, object] = (None, None)

    @property
    def ready(self) -> bool:
        """Whether the model is loaded."""
        return self._retriever.ready

    def queries(self) -> int:
        return len(self._context.library.queries)

    def of(self, proposal: Proposal, cancelled: Cancelled = lambda: False) -> Impact | None:
        """Return what accepting a proposal would change, under the profile of the settings; `None` for no memory.

        Raises `WorkStopped`, `UnknownRecord` or `InvalidRecord` (the profile), or what accepting would raise.
        """
        after = self._outcome(proposal)
        if not after:
            return None
        used = self._context.profile
        found = self.of_memories(after, self._context.library.queries.all(), self._profiles.used(used), cancelled)
        return replace(found, profile=str(used))

    def of_memories(
        self, after: Sequence[Memory], queries: Sequence[SavedQuery], profile: Profile, cancelled: Cancelled
    ) -> Impact:
        """Return what would change if the memories `after` stood in the store as they are here.

        The first of them is the one whose places are told. Raises `WorkStopped`.
        """
        ranker, now = self._retriever.ranker(), self._context.now()
        then, same_texts = self._hypothetical(ranker, after)
        found = []
        for query in queries:
            if cancelled():
                raise WorkStopped("The preview was left.", "Nothing was changed.")
            scores = self._scores(ranker, query.text)
            at = query.now or now
            later = scores if same_texts else then.relevance(query.text)
            found.append(_compared(query, after[0].id, ranker.rank(scores, profile, at), then.rank(later, profile, at)))
        return Impact(after[0].id, profile.name, profile.k, tuple(found))

    def _hypothetical(self, ranker: Ranker, after: Sequence[Memory]) -> tuple[Ranker, bool]:
        """Return a ranker over the store as it would be, and whether all texts are those it has now."""
        fresh = [m for m in after if m.id not in ranker.pool.row_of]
        known = [m for m in after if m.id in ranker.pool.row_of]
        rows = {ranker.pool.row(m.id): m for m in known}
        changed = {row: _text(m) for row, m in rows.items() if _text(m) != _text(ranker.pool.memories[row])}
        pool = ranker.pool.with_replaced(known) if known else ranker.pool
        if not changed and not fresh:
            return ranker.moved_to(pool), True
        lexical, vectors = ranker.lexical, ranker.vectors
        assert isinstance(lexical, LexicalIndex)
        if changed:
            vectors, lexical = vectors.copy(), lexical.with_replaced(changed)
            vectors[list(changed)] = self._retriever.vectors(list(changed.values()))
        if fresh:
            texts = [_text(m) for m in fresh]
            pool = pool.with_added(fresh)
            vectors = np.concatenate([vectors, self._retriever.vectors(texts)])
            lexical = lexical.with_added(texts)
        return ranker.moved_to(pool, vectors, lexical), False

    def _scores(self, ranker: Ranker, text: str) -> QueryScores:
        """Return a query's relevance, as known from a former preview over the same texts."""
        texts = (ranker.vectors, ranker.lexical)
        with self._lock:
            if any(one is not other for one, other in zip(texts, self._texts, strict=True)):
                self._texts, self._known = texts, {}
            known = self._known.get(text)
        if known is None:
            known = ranker.relevance(text)
            with self._lock:
                if self._texts[0] is texts[0]:
                    self._known[text] = known
        return known


def _compared(query: SavedQuery, id: str, now: Ranking, then: Ranking) -> QueryImpact:
    place = then.place_of(id)
    before = now.place_of(id) if id in now.pool.row_of else None
    kept = set(then.ids)
    inside = place is not None and place <= then.k
    out = next((i for i in reversed(now.ids) if i not in kept), None) if inside else None
    displaced = None if out is None else now.pool.memory(out)
    return QueryImpact(query, place, before, then.k, displaced, _moves(now, then))


def _moves(now: Ranking, then: Ranking) -> tuple[Moved, ...]:
    if not now.factors or not then.factors:
        return ()
    pairs = ((name, now.factors[name], then.factors[name]) for name in now.factors)
    moved = (Moved(name, (a.low, b.low), (a.high, b.high)) for name, a, b in pairs)
    return tuple(m for m in moved if max(abs(m.low[1] - m.low[0]), abs(m.high[1] - m.high[0])) >= EPSILON)


def _text(memory: Memory) -> str:
    return clean_for_store(searched_text(memory))
