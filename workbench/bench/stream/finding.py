"""The memories in the order of the stream: kept from one key to the next, and up with the store."""

import threading
from bisect import bisect_left, insort
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.stream.filter import Filter, Predicate
from workbench.core.stream.memory import Memory
from workbench.store.library import Library, Touched

if TYPE_CHECKING:
    from workbench.bench.stream.memory_lines import MemoryLines

_MANY = 5_000
"""Changes at once from which everything is read anew."""


class MemoryFinder:
    """Every memory of a store, newest first, what each session has, and the lines that free words are looked for in.

    All are made when they are first asked for, which takes a second or two of a hundred thousand memories, and
    follow the store from then on. Any thread may ask.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = threading.RLock()
        self._dirty: set[str] = set()
        self._order: list[Memory] | None = None
        self._known: dict[str, Memory] = {}
        self._sessions: dict[str, set[str]] | None = None
        self._words: MemoryLines | None = None
        self._passed: _Passed | None = None
        library.listen(self._note)

    @property
    def is_prepared(self) -> bool:
        """Whether free words can be looked for at once."""
        return self._words is not None

    def prepare(self, *, words: bool = True) -> None:
        """Get ready for filters, those with free `words` too; others may ask meanwhile."""
        order, lines = self._now(), None
        self.session("")
        while words and self._words is None:
            lines = _lines_of(order)
            with self._lock:
                # What came meanwhile is not in those lines.
                if order is self._followed() and self._words is None:
                    self._words = lines
            order = self._now()

    def passing(self, tests: Sequence[Predicate], chosen: Filter) -> list[Memory]:
        """Return the memories that pass the tests of a filter, and others that come after them, newest first.

        Whoever goes on typing a phrase finds no more than before, and only that is looked through.
        """
        order = self._now()
        known = self._passed
        goes_on = known is not None and known.order is order and _goes_on(known.chosen, chosen)
        own = len(chosen.tests())
        found = passed(known.memories if known is not None and goes_on else order, tests[:own])
        self._passed = _Passed(order, chosen, found)
        return passed(found, tests[own:])

    def matching(self, words: str, tests: Sequence[Predicate]) -> list[Memory]:
        """Return the memories that pass some tests and hold every one of some free words, the best match first.

        Of equally good matches those that show in a memory's line come first, and then the newest.
        """
        with self._lock:
            order = self._followed()
            if self._words is None:
                self._words = _lines_of(order)
            found = self._words.ranked(words, order)
        return passed(found, tests)

    def session(self, of: str) -> list[Memory]:
        """Return the memories of a session, oldest first."""
        with self._lock:
            self._followed()
            if self._sessions is None:
                self._sessions = {}
                for memory in self._known.values():
                    self._sessions.setdefault(memory.session_id, set()).add(memory.id)
            return sorted((self._known[id] for id in self._sessions.get(of, ())), key=newest)

    def _now(self) -> list[Memory]:
        with self._lock:
            return self._followed()

    def _note(self, touched: Touched) -> None:
        # No lock: a change does not wait for whoever is reading.
        self._dirty.update([key for table, key in touched.keys if table == "memories"])

    def _followed(self) -> list[Memory]:
        dirty = self._take_dirty()
        if self._order is None or len(dirty) > _MANY:
            self._order = sorted(self._library.memories.all(), key=newest, reverse=True)
            self._known = {memory.id: memory for memory in self._order}
            self._words = self._sessions = None
        elif dirty:
            self._order = list(self._order)  # whoever was given it goes on with what it was
            for id in dirty:
                self._follow(self._order, id)
        return self._order

    def _take_dirty(self) -> list[str]:
        taken = []
        while self._dirty:
            taken.append(self._dirty.pop())
        return sorted(taken)

    def _follow(self, order: list[Memory], id: str) -> None:
        """Take over that a memory came, went or changed."""
        table = self._library.memories
        doc_id = table.doc_id_of(id)
        before, now = self._known.pop(id, None), next(iter(table.at(() if doc_id is None else (doc_id,))), None)
        if before is not None:
            del order[bisect_left(order, older(before), key=older)]
        if now is not None:
            insort(order, now, key=older)
            self._known[id] = now
        if self._sessions is not None:
            if before is not None:
                self._sessions[before.session_id].discard(id)
            if now is not None:
                self._sessions.setdefault(now.session_id, set()).add(id)
        if self._words is not None:
            self._words.follow(before, now)


class _Passed(NamedTuple):
    """What a filter let through last, and of which memories."""

    order: list[Memory]
    chosen: Filter
    memories: list[Memory]


def _goes_on(before: Filter, now: Filter) -> bool:
    """Tell whether one filter is another one whose last phrase was typed on."""
    if not before.phrases or before.words or now.words or len(before.phrases) != len(now.phrases):
        return False
    rest = before.phrases[:-1] == now.phrases[:-1] and (before.clauses, before.excluded) == (now.clauses, now.excluded)
    return rest and now.phrases[-1].startswith(before.phrases[-1])


def passed(memories: Sequence[Memory], tests: Sequence[Predicate]) -> list[Memory]:
    """Return those memories that pass every test: one test after the other, which takes half as long as all of each."""
    for test in tests:
        memories = list(filter(test, memories))
    return list(memories)


def best_of(memories: Sequence[Memory], words: str) -> list[Memory]:
    """Return those memories that hold every one of some free words, the best match first (see `MemoryFinder`)."""
    return _lines_of(memories).ranked(words, memories)


def _lines_of(order: Sequence[Memory]) -> "MemoryLines":
    from workbench.bench.stream.memory_lines import MemoryLines  # numeric libraries: not before they are needed

    return MemoryLines(order)


def newest(memory: Memory) -> tuple[datetime, str]:
    """Return a key that orders the newest last."""
    return (memory.created_at, memory.id)


def older(memory: Memory) -> tuple[float, tuple[int, ...]]:
    """Return a key that orders the newest first, as `newest` in reverse does; the 1 puts a prefix last."""
    return (-memory.created_at.timestamp(), (*(-ord(c) for c in memory.id), 1))
