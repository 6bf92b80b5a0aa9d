"""The lines of memories that free words are looked for in, prepared for filtering at every keystroke."""

from collections.abc import Sequence

import numpy as np

from workbench.core.runtime import in_pieces
from workbench.core.stream.memory import Memory
from workbench.retrieval.arrays import Rows
from workbench.retrieval.fulltext.fuzzy import MOST, FuzzyLines

MAX_SEARCHED = 10_000
"""Characters of a memory's line, and of the rest, that free words are looked for in."""

_STEPS = 300
"""Steps of a score between two whole numbers that are told apart."""

_PART = 500
"""Lines up to which what came last is put together anew with what comes."""


class MemoryLines:
    """The lines of memories, in parts: those that were there when it was made, and what came or
    changed since.
    """

    def __init__(self, order: Sequence[Memory]) -> None:
        self._rows = {memory.id: row for row, memory in enumerate(order)}
        self._parts = [_lines(order)]
        self._fresh: list[Memory] = []
        self._fresh_lines: FuzzyLines | None = None
        self._in_order: Rows | None = np.arange(len(order))

    def follow(self, before: Memory | None, now: Memory | None) -> None:
        """Take over that a memory came, went or changed."""
        is_same = False
        if before is not None and now is not None:
            is_same = searched(before) == searched(now)
            if is_same and before.created_at == now.created_at:
                return
        self._in_order = None
        if before is not None and not is_same:
            del self._rows[before.id]
        if now is not None and not is_same:
            self._rows[now.id] = sum(map(len, self._parts)) + len(self._fresh)
            self._fresh.append(now)
            self._fresh_lines = None

    def places(self, words: str, order: Sequence[Memory]) -> Rows:
        """Return where in an order of all memories those that match stand, the best match first."""
        found = [part.scores(words) for part in self._put_together()]
        scores, shows = (np.concatenate(columns) for columns in zip(*found, strict=True))
        if self._in_order is None:
            self._in_order = np.fromiter(
                (self._rows[memory.id] for memory in order), np.intp, len(order)
            )
        scores, shows = scores[self._in_order], shows[self._in_order]
        hits = np.flatnonzero(scores > 0)
        # Of numbers this small many are put in order in one go; what is nearer than a step is
        # equally good.
        below_best = np.rint((MOST - scores[hits]) * _STEPS).astype(np.uint16) * 2 + ~shows[hits]
        return hits[np.argsort(below_best, kind="stable")]

    def _put_together(self) -> list[FuzzyLines]:
        if len(self._fresh) > _PART:
            self._parts = [*self._parts, _lines(self._fresh)]
            self._fresh = []
            self._fresh_lines = None
        if self._fresh_lines is None:
            self._fresh_lines = _lines(self._fresh)
        return [*self._parts, self._fresh_lines]


def _lines(memories: Sequence[Memory]) -> FuzzyLines:
    heads = [len(head_of(memory)) for memory in memories]
    return FuzzyLines([searched(memory) for memory in in_pieces(memories)], heads)


def head_of(memory: Memory) -> str:
    """Return what shows in the line of a memory, as far as free words are looked for in it."""
    return memory.line[:MAX_SEARCHED]


def searched(memory: Memory) -> str:
    """Return the text that free words are matched against: the line a person sees, then the rest."""
    line = head_of(memory)
    rest = (
        ""
        if memory.content.startswith(line) and len(memory.content) <= len(line)
        else memory.content
    )
    return "\n".join(part for part in (line, rest, " ".join(memory.tags)) if part)
