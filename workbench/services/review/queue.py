"""The open proposals, kept in step with the store, so that a decision costs the same however many
wait.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

import numpy as np

from workbench.core.playbook.book import Bullet
from workbench.core.record import WorkStopped
from workbench.core.review import lifecycle
from workbench.core.review.contradiction import Contradiction, contradictions
from workbench.core.review.kinds import is_noise, kind_of, order_of
from workbench.core.review.lifecycle import Tombstone, resembling_rejections
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled
from workbench.core.stream.confidence import arrived
from workbench.core.stream.memory import Memory
from workbench.core.team import proposer
from workbench.core.text import clean_for_store
from workbench.core.tuning.judgment import SavedQuery
from workbench.core.tuning.profile import Profile
from workbench.retrieval.ranking.cases import QueryScores
from workbench.retrieval.ranking.ranker import Ranker, Ranking
from workbench.retrieval.text_keys import searched_text
from workbench.services.agents.capture.memories import told_by
from workbench.services.context import Changed, Context
from workbench.services.review.counting import count_waiting
from workbench.services.safety.masking import PREFIX, masked_name
from workbench.services.safety.suspicion import SECRET, flags_of
from workbench.services.safety.verdicts import Verdicts
from workbench.services.tuning.profiles import Profiles
from workbench.services.tuning.retriever import Retriever
from workbench.store.library import Library

# What approving would do to the saved queries: what would be found where, what that displaces, how
# the pool moves.
#
# The ranking is made twice for every saved query: over the store as it is, and over the store as it
# would be. Reads only; callable from any thread.


Outcome = Callable[[Proposal], Sequence[Memory]]
"""Returns the memories that accepting a proposal would write; the one it is about comes first."""

EPSILON = 5e-4
"""Differences of a minimum or maximum below this do not show and are no move."""


class Moved(NamedTuple):
    """A factor's minimum and maximum over the pool, before and after; raw values."""

    factor: str
    low: tuple[float, float]
    high: tuple[float, float]


class QueryImpact(NamedTuple):
    """One saved query: `place` is where the memory would stand (from 1; `None`: it would not be
    served).

    `before` is its place now. `displaced` is what would drop out of the best k for it. `moved` are
    the factors whose range over the pool would change, and so every score with it.
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
        return self._is_in(self.place) and not self._is_in(self.before)

    @property
    def leaves(self) -> bool:
        """Whether it is among the best k now and would not be."""
        return self._is_in(self.before) and not self._is_in(self.place)

    def _is_in(self, place: int | None) -> bool:
        return place is not None and place <= self.k


class Impact(NamedTuple):
    """What approving would do, query by query, under one profile. `memory` is the id of what would
    be found.
    """

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

    def __init__(
        self, context: Context, outcome: Outcome, retriever: Retriever, profiles: Profiles
    ) -> None:
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
        """Return what accepting a proposal would change, under the profile of the settings; `None`
        for no memory.

        Raises `WorkStopped`, `UnknownRecord` or `InvalidRecord` (the profile), or what accepting
        would raise.
        """
        after = self._outcome(proposal)
        if not after:
            return None
        used = self._context.profile
        found = self.of_memories(
            after, self._context.library.queries.all(), self._profiles.used(used), cancelled
        )
        return found._replace(profile=str(used))

    def of_memories(
        self,
        after: Sequence[Memory],
        queries: Sequence[SavedQuery],
        profile: Profile,
        cancelled: Cancelled,
    ) -> Impact:
        """Return what would change if the memories `after` stood in the store as they are here.

        The first of them is the one whose places are told. Raises `WorkStopped`.
        """
        ranker, now = self._retriever.ranker(), self._context.now()
        then, same_texts = self._hypothetical(ranker, after)
        found = []
        for query in queries:
            if cancelled():
                raise WorkStopped("The preview was closed.", "Nothing was changed.")
            scores = self._scores(ranker, query.text)
            at = query.now or now
            later = scores if same_texts else then.relevance(query.text)
            found.append(
                _compared(
                    query,
                    after[0].id,
                    ranker.rank(scores, profile, at),
                    then.rank(later, profile, at),
                )
            )
        return Impact(after[0].id, profile.name, profile.k, tuple(found))

    def _hypothetical(self, ranker: Ranker, after: Sequence[Memory]) -> tuple[Ranker, bool]:
        """Return a ranker over the store as it would be, and whether all texts are those it has
        now.
        """
        fresh = [m for m in after if m.id not in ranker.pool.row_of]
        known = [m for m in after if m.id in ranker.pool.row_of]
        rows = {ranker.pool.row(m.id): m for m in known}
        changed = {
            row: _text(m) for row, m in rows.items() if _text(m) != _text(ranker.pool.memories[row])
        }
        pool = ranker.pool.with_replaced(known) if known else ranker.pool
        if not changed and not fresh:
            return ranker.moved_to(pool), True
        lexical, vectors = ranker.lexical, ranker.vectors
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
    return tuple(
        m for m in moved if max(abs(m.low[1] - m.low[0]), abs(m.high[1] - m.high[0])) >= EPSILON
    )


def _text(memory: Memory) -> str:
    return clean_for_store(searched_text(memory))


# What citations mean: the memory behind an id, also after a merge, and the tree down to raw events.


MAX_DEPTH = 8
"""Levels of citations that a tree shows."""

MAX_CITED = 80
"""Citations that a tree shows."""


class Cited(NamedTuple):
    """A citation: the id as written, and the memory it means (`None` when it is not in the store).

    After a merge that is the memory which the cited one became.
    """

    id: str
    memory: Memory | None

    @property
    def merged(self) -> bool:
        """Whether the cited memory was merged into another, which stands for it now."""
        return self.memory is not None and self.memory.id != self.id

    @property
    def gone(self) -> str:
        """Why the citation no longer supports anything, or an empty text."""
        if self.memory is None:
            return "not in this store"
        return self.memory.archived_reason or "archived" if self.memory.status == "archived" else ""


class Branch(NamedTuple):
    """A citation in a tree: its depth (0: cited by the item itself), and whether it stands above
    already.
    """

    cited: Cited
    depth: int
    again: bool = False


class Citations:
    """Looks citations up; callable from any thread."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._became: dict[str, str] | None = None
        self._changed = Changed(library, "memories")

    def cited(self, ids: Iterable[str]) -> tuple[Cited, ...]:
        """Return the memories that ids mean."""
        return tuple(Cited(id, self.meant(id)) for id in ids)

    def meant(self, id: str) -> Memory | None:
        """Return the memory with an id, or the one it was merged into."""
        seen: set[str] = set()
        while id not in seen:
            seen.add(id)
            memory = self._library.memories.find(id)
            if memory is not None and memory.archived_reason != "merged":
                return memory
            into = None if memory is None else memory.metadata.get("merged_into")
            id = into if isinstance(into, str) else self._alias(id)
            if not id:
                return memory
        return None

    def tree(self, ids: Iterable[str], root: str = "") -> tuple[Branch, ...]:
        """Return citations with what they cite in turn, each right above its own; `root` is what
        cites them.

        What was shown already is not opened again, so a circle ends. At most `MAX_CITED` are
        returned.
        """
        found: list[Branch] = []
        for branch in self._walk(ids, 0, {root}):
            found.append(branch)
            if len(found) == MAX_CITED:
                break
        return tuple(found)

    def _walk(self, ids: Iterable[str], depth: int, seen: set[str]) -> Iterator[Branch]:
        for cited in self.cited(ids):
            name = cited.id if cited.memory is None else cited.memory.id
            yield Branch(cited, depth, name in seen)
            if cited.memory is None or name in seen:
                continue
            seen.add(name)
            if depth + 1 < MAX_DEPTH:
                yield from self._walk(cited.memory.citations, depth + 1, seen)

    def _alias(self, id: str) -> str:
        """Return the id of a memory that carries another as its alias; the store is read through
        once.
        """
        memories = self._library.memories
        with self._lock:
            changed = self._changed.take()
            if self._became is None:
                self._became, fresh = {}, memories.all()
            else:
                fresh = [m for _, key in changed if (m := memories.find(key)) is not None]
            self._became.update((alias, m.id) for m in fresh for alias in m.aliases)
            into = self._became.get(id, "")
        holder = memories.find(into) if into else None
        return into if holder is not None and id in holder.aliases else ""


# What a decision rests on: citations, what is most alike, what was rejected before, what
# contradicts.


REJECTIONS = 3
"""How many earlier rejections are shown at most."""

_LOOKED_AT = 30
"""How many of the nearest memories are looked through for rejections."""

_COMPARED = 8
"""How many of the nearest living memories, and of the bullets, are looked through for
contradictions.
"""


class Evidence(NamedTuple):
    """What a decision rests on.

    `near` are the most similar other memories and `near_bullets` the most similar bullets, with
    their cosine; `rejections` what was rejected before and is much alike. They are empty, and
    `searched` false, while the model is still loading. `flag` is the cosine from which something is
    likely a duplicate. `impact` says what approving would do to the saved queries, if anybody
    asked. `messages` are how many messages of a session it was captured from, where it was.
    """

    cited: tuple[Cited, ...]
    tree: tuple[Branch, ...] = ()
    near: tuple[tuple[Memory, float], ...] = ()
    near_bullets: tuple[tuple[Bullet, float], ...] = ()
    rejections: tuple[Tombstone, ...] = ()
    against: tuple[Contradiction, ...] = ()
    searched: bool = False
    flag: float = 2.0
    impact: "Impact | None" = None
    messages: int = 0


def looked_up(
    known: Evidence, memory: Memory, retriever: "Retriever", exclude: Iterable[str], k: int
) -> Evidence:
    """Return the evidence with what resembles and what contradicts a memory; `k` of each kind are
    named.
    """
    near = retriever.nearest_memories(memory.content, _LOOKED_AT, exclude=exclude)
    bullets = retriever.nearest_bullets(memory.content, _COMPARED)
    thresholds = retriever.thresholds()
    rejections = resembling_rejections(memory, near, thresholds.review)
    living = [(m, s) for m, s in near if m.status != "archived"]
    others = [(m.id, m.content) for m, _ in living[:_COMPARED]] + [
        (b.id, b.content) for b, _ in bullets
    ]
    return known._replace(
        near=tuple(living[:k]),
        near_bullets=bullets[:k],
        rejections=rejections[:REJECTIONS],
        against=contradictions(memory.content, others),
        searched=True,
        flag=thresholds.flag,
    )


NO_EVIDENCE = "no evidence"
GONE = "cites deleted memories"
WAITS = "overdue"

Place = tuple[str, str]
"""Table and key of a record."""


class _Entry:
    """An open proposal and the ids it depends on; from `waits_from` on it is flagged for its age,
    too.

    The texts of a candidate are looked at when somebody asks for the proposal: to count what waits,
    nobody needs to.
    """

    def __init__(
        self,
        proposal: Proposal,
        rests_on: tuple[str, ...],
        waits_from: datetime | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.proposal = proposal
        self.rests_on = rests_on
        self._waits_from = waits_from
        self._memory = memory
        self._flagged: tuple[tuple[str, ...], Proposal, Proposal] | None = None

    def at(self, now: datetime, verdicts: Verdicts) -> Proposal:
        """Return the proposal as it is at a moment, with the flags of its texts as far as they were
        looked at.
        """
        if self._memory is None:
            return self.proposal
        flags = flags_of(self._memory, verdicts.sorts)
        if self._flagged is None or self._flagged[0] != flags:
            title = verdicts.masked(self.proposal.title) if SECRET in flags else self.proposal.title
            shown = replace(self.proposal, title=title, flags=(*flags, *self.proposal.flags))
            self._flagged = flags, shown, replace(shown, flags=(*shown.flags, WAITS))
        waits = self._waits_from is not None and now >= self._waits_from
        return self._flagged[2] if waits else self._flagged[1]


class ReviewQueue:
    """Every open proposal: candidates as proposals to confirm them, and those stored as proposals.

    What a transaction touched is noted as it happens and looked at when somebody next asks: the
    records themselves, and the proposals that rest on them. Callable from any thread.
    """

    def __init__(self, context: Context, citations: Citations) -> None:
        self._context = context
        self._citations = citations
        self._library = context.library
        self._entries: dict[Place, _Entry] | None = None
        self._citing: defaultdict[str, set[Place]] = defaultdict(set)
        self._changed = Changed(context.library, "memories", "proposals")
        self._lock = threading.RLock()

    def all(self) -> tuple[Proposal, ...]:
        """Return what is open: flagged first, then in the order of the kinds, then the oldest;
        put-off ones last.
        """
        now = self._context.now()
        found = [entry.at(now, self._context.verdicts) for entry in self._current().values()]
        found.sort(key=lambda p: (is_put_off(p, now), not p.flags, order_of(p), p.created_at, p.id))
        return tuple(found)

    def waiting(self) -> int:
        """Return how many proposals are open and not put off, without what may be noise; a store is
        not read for it.
        """
        now = self._context.now()
        if self._entries is None and not self._library.is_read:
            return count_waiting(self._library, now)
        every = (entry.proposal for entry in self._current().values())
        return sum(not is_put_off(one, now) and not is_noise(one.kind) for one in every)

    def cited(self, proposal: Proposal) -> tuple[Cited, ...]:
        """Return the records that a proposal rests on: a candidate's citations, also after a merge."""
        if kind_of(proposal.kind).is_candidate:
            return self._citations.cited(proposal.evidence)
        return tuple(Cited(id, self._library.memories.find(id)) for id in proposal.evidence)

    def find(self, id: str) -> Proposal | None:
        """Return an open proposal as the store has it now, or `None`; `id` may be what stands for
        one with a secret.
        """
        if id.startswith(PREFIX):
            mask = self._context.verdicts.masked
            names = (key for table, key in self._every_place() if masked_name(key, mask) == id)
            id = next(names, id)
        entry = self._candidate(id)
        if entry is not None:
            return entry.at(self._context.now(), self._context.verdicts)
        proposal = self._library.proposals.find(id)
        return proposal if proposal is not None and proposal.state == "open" else None

    def _current(self) -> dict[Place, _Entry]:
        with self._lock:
            changed = self._changed.take()
            if self._entries is None:
                self._entries = {}
                self._follow(self._entries, self._every_place())
            self._follow(self._entries, changed)
            return dict(self._entries)

    def _every_place(self) -> set[Place]:
        candidates = {("memories", m.id) for m in self._library.waiting(Memory, "candidate")}
        return candidates | {("proposals", p.id) for p in self._library.waiting(Proposal, "open")}

    def _follow(self, entries: dict[Place, _Entry], dirty: Iterable[Place]) -> None:
        resting = {
            place
            for table, key in dirty
            if table == "memories"
            for place in self._citing.get(key, ())
        }
        for place in resting.union(dirty):
            table, key = place
            entry = self._stored(key) if table == "proposals" else self._candidate(key)
            if entry is None:
                entries.pop(place, None)
                continue
            entries[place] = entry
            for id in entry.rests_on:
                self._citing[id].add(place)

    def _stored(self, key: str) -> _Entry | None:
        proposal = self._library.proposals.find(key)
        if proposal is None or proposal.state != "open":
            return None
        gone = not kind_of(proposal.kind).of_archived and any(c.gone for c in self.cited(proposal))
        shown = replace(proposal, flags=(*proposal.flags, GONE)) if gone else proposal
        return _Entry(shown, proposal.evidence)

    def _candidate(self, key: str) -> _Entry | None:
        memory = self._library.memories.find(key)
        return (
            None if memory is None or memory.status != "candidate" else self._of_candidate(memory)
        )

    def _of_candidate(self, memory: Memory) -> _Entry:
        cited = self._citations.cited(memory.citations)
        proposal = Proposal(
            id=memory.id,
            kind="reflection",
            actor=proposer(memory.metadata)
            or str(memory.metadata.get("reflector", memory.source.hook or "reflection")),
            title=memory.line,
            created_at=arrived(memory),
            evidence=memory.citations,
            flags=_flags(memory, cited),
            importance=memory.importance_score,
            review_after=memory.review_after,
        )
        rests_on = (
            *memory.citations,
            *(c.memory.id for c in cited if c.memory is not None and c.merged),
        )
        return _Entry(
            proposal,
            rests_on,
            lifecycle.waits_from(memory, self._context.settings.lifecycle),
            memory,
        )


def _flags(memory: Memory, cited: tuple[Cited, ...]) -> tuple[str, ...]:
    # What was captured rests on messages of a session, which it names, and what somebody proposed
    # to the team on their word.
    rests = bool(told_by(memory) or proposer(memory.metadata)) or any(
        c.memory and c.memory.id != memory.id for c in cited
    )
    flags = () if rests else (NO_EVIDENCE,)
    return (*flags, *((GONE,) if any(c.gone for c in cited) else ()))


def is_put_off(proposal: Proposal | Memory, now: datetime) -> bool:
    """Tell whether a proposal, or a candidate, was left for later, and later has not come yet."""
    return proposal.review_after is not None and proposal.review_after > now
