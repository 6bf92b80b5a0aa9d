"""Proposals that were worked out and are stored nowhere: they are decided like those that are."""

import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping

from workbench.core.review.kinds import order_of
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.context import Context
from workbench.store.library import Touched


class Suggestions:
    """What finders found last, as far as it still stands; callable from any thread.

    One stands as long as the memories that it rests on are as they were, and no proposal of its name is stored: who
    decides on it stores it, and an undo brings it back. What a transaction touched is looked at when somebody asks.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library
        self._by_finder: dict[str, tuple[str, ...]] = {}
        self._lately: dict[str, frozenset[str]] = {}
        self._all: dict[str, Proposal] = {}
        self._rests: dict[str, tuple[Memory | None, ...]] = {}
        self._resting: defaultdict[str, set[str]] = defaultdict(set)
        self._fallen: set[str] = set()
        self._touched: set[tuple[str, str]] = set()
        self._sorted: tuple[Proposal, ...] | None = None
        self._lock = threading.RLock()
        # A lock of its own: a transaction must never wait for somebody who looks.
        self._touched_lock = threading.Lock()
        self._is_following = False

    def take(self, by_finder: Mapping[str, Iterable[Proposal]]) -> None:
        """Take what finders found in place of what they found before; what was decided since may be taken back."""
        with self._lock:
            if not self._is_following:
                self._is_following = True
                self._library.listen(self._note)
        for finder, proposals in by_finder.items():
            # Looked at before anybody has to wait for it: what is touched meanwhile is looked at again.
            found = {one.id: (one, self._memories(one), self._is_stored(one.id)) for one in proposals}
            with self._lock:
                self._lately[finder] = frozenset(found)
                known = self._by_finder.get(finder, ())
                decided = {id: None for id in known if id not in found and self._is_stored(id)}
                for id in known:
                    if id not in decided:
                        self._forget(id)
                self._by_finder[finder] = (*found, *decided)
                for proposal, rests, is_stored in found.values():
                    self._remember(proposal, rests, is_stored=is_stored)
                self._sorted = None

    def standing(self) -> tuple[Proposal, ...]:
        """Return what still stands: flagged first, then by importance (`kinds.order_of`), then by name."""
        with self._lock:
            self._follow()
            if self._sorted is None:
                left = [one for id, one in self._all.items() if id not in self._fallen]
                left.sort(key=lambda one: (not one.flags, order_of(one), one.id))
                self._sorted = tuple(left)
            return self._sorted

    def holds(self, id: str) -> bool:
        """Tell whether the finders found it last, whatever became of it since."""
        with self._lock:
            return any(id in found for found in self._lately.values())

    def find(self, id: str) -> Proposal | None:
        """Return one that still stands, or `None`."""
        with self._lock:
            self._follow()
            return None if id in self._fallen else self._all.get(id)

    def _note(self, touched: Touched) -> None:
        places = [place for place in touched.keys if place[0] in ("memories", "proposals")]
        with self._touched_lock:
            self._touched.update(places)

    def _follow(self) -> None:
        with self._touched_lock:
            touched, self._touched = self._touched, set()
        again = {key for table, key in touched if table == "proposals" and key in self._all}
        for table, key in touched:
            if table == "memories":
                again |= self._resting.get(key, set())
        for id in again:
            self._look_at(id)

    def _remember(self, proposal: Proposal, rests: tuple[Memory | None, ...], *, is_stored: bool) -> None:
        self._all[proposal.id], self._rests[proposal.id] = proposal, rests
        for id in proposal.evidence:
            self._resting[id].add(proposal.id)
        (self._fallen.add if is_stored else self._fallen.discard)(proposal.id)

    def _forget(self, id: str) -> None:
        proposal = self._all.pop(id, None)
        self._rests.pop(id, None)
        self._fallen.discard(id)
        for other in () if proposal is None else proposal.evidence:
            self._resting[other].discard(id)

    def _look_at(self, id: str) -> None:
        stands = not self._is_stored(id) and self._memories(self._all[id]) == self._rests[id]
        (self._fallen.discard if stands else self._fallen.add)(id)
        self._sorted = None

    def _is_stored(self, id: str) -> bool:
        return self._library.proposals.find(id) is not None

    def _memories(self, proposal: Proposal) -> tuple[Memory | None, ...]:
        return tuple(self._library.memories.find(id) for id in proposal.evidence)
