"""What filters look at of many memories, as columns: a condition is answered for all of them at once."""

from bisect import bisect_left
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.core.runtime import in_pieces
from workbench.core.stream.filter import READS, TEXT, TIMES, Condition, Predicate, said_by, says_the_same
from workbench.core.stream.memory import Memory
from workbench.retrieval.arrays import Mask, Rows

USUAL = ("status", "type", "tag")
"""Keys whose columns are made beforehand; those of others when somebody asks by them."""


class MemoryColumns:
    """Memories in the order of the stream, with a column for each key that they are filtered by.

    A clause is tried once for each distinct value of what it reads, a phrase looked for in texts that were `taken`
    before, which takes a moment to make of many. Whoever changes the memories says where.
    """

    def __init__(self, order: Sequence[Memory]) -> None:
        self._memories = np.empty(len(order), np.object_)
        self._memories[:] = order
        self._texts: list[str] | None = None
        self._held: tuple[str, Mask] | None = None
        self._columns = {key: _Column(key, order) for key in USUAL}

    def take(self, texts: Sequence[str]) -> None:
        """Look for phrases in these from now on: what is said by each memory (`texts_of`)."""
        self._texts, self._held = list(texts), None

    def passing(self, conditions: Sequence[Condition], places: Rows | None = None) -> list[Memory]:
        """Return the memories that pass all of some conditions, of those at some `places` in their order, or of all."""
        if not conditions:
            every: list[Memory] = (self._memories if places is None else self._memories[places]).tolist()
            return every
        mask = np.ones(len(self._memories), np.bool_)
        for condition in conditions:
            mask &= self._passing(condition)
        found: list[Memory] = self._memories[mask if places is None else places[mask[places]]].tolist()
        return found

    def follow(self, gone: Sequence[int], places: Sequence[int], came: Sequence[Memory]) -> None:
        """Take over that the memories at some places went, and that others came, before those at `places` of the rest.

        All are in the order of the stream.
        """
        self._held = None
        if self._texts is not None:
            known = {self._memories[place].id: (self._memories[place], self._texts[place]) for place in gone}
            for place in reversed(gone):
                del self._texts[place]
            for place, memory in zip(reversed(places), reversed(came), strict=True):
                before, text = known.get(memory.id, (None, ""))
                said_before = before is not None and says_the_same(before, memory)
                self._texts.insert(place, text if said_before else said_by(memory))
        fresh = np.empty(len(came), np.object_)
        fresh[:] = came
        self._memories = np.insert(np.delete(self._memories, gone), places, fresh)
        for column in self._columns.values():
            column.follow(gone, places, came)

    def _passing(self, condition: Condition) -> Mask:
        if condition.key == TEXT and self._texts is not None:
            held = self._holding(condition.phrase, self._texts)
            return ~held if condition.negated else held
        if condition.key in TIMES:
            return _at_an_end(self._memories, condition.test)
        if condition.key not in READS:
            return np.fromiter(map(condition.test, self._memories), np.bool_, len(self._memories))
        if condition.key not in self._columns:
            self._columns[condition.key] = _Column(condition.key, self._memories.tolist())
        return self._columns[condition.key].passing(condition.test)

    def _holding(self, phrase: str, texts: Sequence[str]) -> Mask:
        """Tell which texts a phrase stands in; whoever types on is answered from where the shorter one stood."""
        if self._held is None or self._held[0] not in phrase:
            self._held = "", np.ones(len(texts), np.bool_)
        places = np.flatnonzero(self._held[1])
        found = np.zeros(len(texts), np.bool_)
        found[places] = [phrase in texts[place] for place in places.tolist()]
        self._held = phrase, found
        return found


def texts_of(order: Sequence[Memory]) -> list[str]:
    """Return what is said by each of many memories. Raises `Stopped`."""
    return [said_by(memory) for memory in in_pieces(order)]


class _Column:
    """What a key reads of memories: a number for each distinct value, and one memory that has it."""

    def __init__(self, key: str, memories: Sequence[Memory]) -> None:
        self._reads = READS[key]
        self._numbers: dict[Hashable, int] = {}
        self._samples: list[Memory] = []
        self._codes: NDArray[np.int32] = np.fromiter(map(self._number_of, memories), np.int32, len(memories))

    def passing(self, test: Predicate) -> Mask:
        passing = np.fromiter(map(test, self._samples), np.bool_, len(self._samples))
        found: Mask = passing[self._codes]
        return found

    def follow(self, gone: Sequence[int], places: Sequence[int], came: Sequence[Memory]) -> None:
        self._codes = np.insert(np.delete(self._codes, gone), places, [self._number_of(memory) for memory in came])

    def _number_of(self, memory: Memory) -> int:
        number = self._numbers.setdefault(self._reads(memory), len(self._samples))
        if number == len(self._samples):
            self._samples.append(memory)
        return number


def _at_an_end(memories: NDArray[np.object_], test: Predicate) -> Mask:
    """Tell which of memories in the order of time pass a test that those at one end of it do."""
    found = np.zeros(len(memories), np.bool_)
    if len(memories):
        first = test(memories[0])
        turn = bisect_left(memories, True, key=lambda memory: test(memory) != first)
        found[:turn], found[turn:] = first, not first
    return found
