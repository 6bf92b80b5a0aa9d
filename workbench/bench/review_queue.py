"""The open proposals, kept in step with the store, so that a decision costs the same however many wait."""

import threading
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from workbench.bench.context import Context
from workbench.core import lifecycle
from workbench.core.memory import Memory
from workbench.core.proposal import Proposal
from workbench.store.library import Touched

NO_EVIDENCE = "no evidence"
GONE = "cites what is gone"
WAITS = "waits long"

Place = tuple[str, str]
"""Table and key of a record."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation: the id as written, and the memory it means (`None` when it is not in the store)."""

    id: str
    memory: Memory | None

    @property
    def gone(self) -> str:
        """Why the citation no longer supports anything, or an empty text."""
        if self.memory is None:
            return "not in this store"
        return self.memory.archived_reason or "archived" if self.memory.status == "archived" else ""


@dataclass(frozen=True, slots=True)
class _Entry:
    """An open proposal; `aging` is the candidate without its date of review, for the rule about its age."""

    proposal: Proposal
    aging: Memory | None = None


class ReviewQueue:
    """Every open proposal: candidates as proposals to confirm them, and those stored as proposals.

    What a transaction touched is noted as it happens and looked at when somebody next asks: the
    records themselves, and the proposals that rest on them. Callable from any thread.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library
        self._entries: dict[Place, _Entry] | None = None
        self._citing: defaultdict[str, set[Place]] = defaultdict(set)
        self._dirty: set[Place] = set()
        self._lock = threading.RLock()
        # A lock of its own: a transaction must never wait for the first look at a large store.
        self._dirty_lock = threading.Lock()
        self._library.listen(self._note)

    def all(self) -> tuple[Proposal, ...]:
        """Return what is open: flagged first, then by importance, then the oldest; put-off ones at the end."""
        now = self._context.now()
        found = [self._aged(entry, now) for entry in self._current().values()]
        found.sort(key=lambda p: (is_put_off(p, now), not p.flags, -p.importance, p.created_at, p.id))
        return tuple(found)

    def waiting(self) -> int:
        """Return how many proposals are open and not put off."""
        now = self._context.now()
        return sum(not is_put_off(entry.proposal, now) for entry in self._current().values())

    def cited(self, ids: Iterable[str]) -> tuple[Cited, ...]:
        """Return the memories that ids mean."""
        return tuple(Cited(id, self._library.memories.find(id)) for id in ids)

    def find(self, id: str) -> Proposal | None:
        """Return an open proposal as the store has it now, or `None`."""
        entry = self._candidate(id)
        if entry is not None:
            return self._aged(entry, self._context.now())
        proposal = self._library.proposals.find(id)
        return proposal if proposal is not None and proposal.state == "open" else None

    def _note(self, touched: Touched) -> None:
        places = [place for place in touched.keys if place[0] in ("memories", "proposals")]
        with self._dirty_lock:
            self._dirty.update(places)

    def _current(self) -> dict[Place, _Entry]:
        with self._lock:
            with self._dirty_lock:
                dirty, self._dirty = self._dirty, set()
            if self._entries is None:
                self._entries = {}
                dirty = self._every_place()
            self._follow(self._entries, dirty)
            return dict(self._entries)

    def _every_place(self) -> set[Place]:
        candidates = {("memories", m.id) for m in self._library.memories.all() if m.status == "candidate"}
        return candidates | {("proposals", p.id) for p in self._library.proposals.all()}

    def _follow(self, entries: dict[Place, _Entry], dirty: Iterable[Place]) -> None:
        resting = {place for table, key in dirty if table == "memories" for place in self._citing.get(key, ())}
        for place in resting.union(dirty):
            table, key = place
            entry = self._stored(key) if table == "proposals" else self._candidate(key)
            if entry is None:
                entries.pop(place, None)
                continue
            entries[place] = entry
            for id in entry.proposal.evidence:
                self._citing[id].add(place)

    def _stored(self, key: str) -> _Entry | None:
        proposal = self._library.proposals.find(key)
        if proposal is None or proposal.state != "open":
            return None
        gone = any(c.gone for c in self.cited(proposal.evidence))
        return _Entry(replace(proposal, flags=(*proposal.flags, GONE)) if gone else proposal)

    def _candidate(self, key: str) -> _Entry | None:
        memory = self._library.memories.find(key)
        return None if memory is None or memory.status != "candidate" else self._of_candidate(memory)

    def _of_candidate(self, memory: Memory) -> _Entry:
        proposal = Proposal(
            id=memory.id,
            kind="reflection",
            actor=str(memory.metadata.get("reflector", memory.source.hook or "reflection")),
            title=memory.line,
            created_at=memory.created_at,
            evidence=memory.citations,
            flags=self._flags(memory),
            importance=memory.importance_score,
            review_after=memory.review_after,
        )
        return _Entry(proposal, replace(memory, review_after=None))

    def _flags(self, memory: Memory) -> tuple[str, ...]:
        cited = self.cited(memory.citations)
        flags = [] if any(c.memory and c.id != memory.id for c in cited) else [NO_EVIDENCE]
        return (*flags, GONE) if any(c.gone for c in cited) else tuple(flags)

    def _aged(self, entry: _Entry, now: datetime) -> Proposal:
        """Add the flag that comes with time."""
        limits = self._context.settings.lifecycle
        if entry.aging is None or lifecycle.age_finding(entry.aging, now, limits) is None:
            return entry.proposal
        return replace(entry.proposal, flags=(*entry.proposal.flags, WAITS))


def is_put_off(proposal: Proposal, now: datetime) -> bool:
    """Tell whether a proposal was left for later, and later has not come yet."""
    return proposal.review_after is not None and proposal.review_after > now
