"""The memories in the order of the stream: kept from one key to the next, and up with the store."""

import threading
from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.stream.filter import Filter, Predicate
from workbench.core.stream.memory import Memory
from workbench.store.library import Library, Touched

if TYPE_CHECKING:
    from workbench.services.stream.columns import MemoryColumns
    from workbench.services.stream.memory_lines import MemoryLines

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
        self._columns: MemoryColumns | None = None
        library.listen(self._note)

    @property
    def is_prepared(self) -> bool:
        """Whether free words can be looked for at once."""
        return self._words is not None

    def prepare(self, *, words: bool = True) -> None:
        """Get ready for filters, those with free `words` too; others may ask meanwhile."""
        order = self._now()
        self.session("")
        while self._columns is None or (words and self._words is None):
            columns, lines = self._columns or _columns_of(order), _lines_of(order) if words else None
            texts = None if lines is None else _texts_of(order)
            with self._lock:
                # What came meanwhile is not in those.
                if order is self._followed():
                    self._columns, self._words = self._columns or columns, self._words or lines
                    if texts is not None:
                        self._columns.take(texts)
            order = self._now()

    def passing(self, chosen: Filter, beyond: Sequence[Predicate] = ()) -> list[Memory]:
        """Return the memories that a filter without words lets through, and tests beyond it, newest first."""
        with self._lock:
            order = self._followed()
            columns = self._columns
            if columns is not None:
                return passed(columns.passing(chosen.conditions()), beyond)
        return passed(order, [*chosen.tests(), *beyond])

    def matching(self, chosen: Filter, beyond: Sequence[Predicate] = ()) -> list[Memory]:
        """Return the memories that a filter lets through, that pass tests beyond it and hold every one of its free
        words, the best match first.

        Of equally good matches those that show in a memory's line come first, and then the newest.
        """
        with self._lock:
            order = self._followed()
            if self._words is None:
                self._words = _lines_of(order)
            if self._columns is None:
                self._columns = _columns_of(order)
            places = self._words.places(" ".join(chosen.words), order)
            found = self._columns.passing(chosen.conditions(), places)
        return passed(found, beyond)

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
            self._words = self._sessions = self._columns = None
        elif dirty:
            self._order = self._follow(list(self._order), dirty)  # whoever was given it goes on with what it was
        return self._order

    def _take_dirty(self) -> list[str]:
        taken = []
        while self._dirty:
            taken.append(self._dirty.pop())
        return sorted(taken)

    def _follow(self, order: list[Memory], ids: Sequence[str]) -> list[Memory]:
        """Take over that memories came, went or changed; return the order with what did."""
        table = self._library.memories
        moves: list[_Move] = []
        for id in ids:
            doc_id = table.doc_id_of(id)
            now = next(iter(table.at(() if doc_id is None else (doc_id,))), None)
            moves.append(_Move(self._known.pop(id, None), now))
            if now is not None:
                self._known[id] = now
        gone = sorted(bisect_left(order, older(move.before), key=older) for move in moves if move.before is not None)
        for place in reversed(gone):
            del order[place]
        came = sorted((move.now for move in moves if move.now is not None), key=older)
        places = [bisect_left(order, older(memory), key=older) for memory in came]
        for place, memory in zip(reversed(places), reversed(came), strict=True):
            order.insert(place, memory)
        if self._columns is not None:
            self._columns.follow(gone, places, came)
        for move in moves:
            self._take_over(move)
        return order

    def _take_over(self, move: "_Move") -> None:
        before, now = move
        if self._sessions is not None:
            if before is not None:
                self._sessions[before.session_id].discard(before.id)
            if now is not None:
                self._sessions.setdefault(now.session_id, set()).add(now.id)
        if self._words is not None:
            self._words.follow(before, now)


class _Move(NamedTuple):
    """A memory as it was and as it is; `None` for one that was not there, or is no more."""

    before: Memory | None
    now: Memory | None


def passed(memories: Sequence[Memory], tests: Sequence[Predicate]) -> list[Memory]:
    """Return those memories that pass every test: one test after the other, which takes half as long as all of each."""
    found = memories if isinstance(memories, list) else list(memories)
    for test in tests:
        found = list(filter(test, found))
    return found


def best_of(memories: Sequence[Memory], words: str) -> list[Memory]:
    """Return those memories that hold every one of some free words, the best match first (see `MemoryFinder`)."""
    return [memories[place] for place in _lines_of(memories).places(words, memories).tolist()]


def _lines_of(order: Sequence[Memory]) -> "MemoryLines":
    from workbench.services.stream.memory_lines import MemoryLines  # numeric libraries: not before they are needed

    return MemoryLines(order)


def _columns_of(order: Sequence[Memory]) -> "MemoryColumns":
    from workbench.services.stream.columns import MemoryColumns  # as above

    return MemoryColumns(order)


def _texts_of(order: Sequence[Memory]) -> list[str]:
    from workbench.services.stream.columns import texts_of  # as above

    return texts_of(order)


def newest(memory: Memory) -> tuple[datetime, str]:
    """Return a key that orders the newest last."""
    return (memory.created_at, memory.id)


def older(memory: Memory) -> tuple[float, tuple[int, ...]]:
    """Return a key that orders the newest first, as `newest` in reverse does; the 1 puts a prefix last."""
    return (-memory.created_at.timestamp(), (*(-ord(c) for c in memory.id), 1))
