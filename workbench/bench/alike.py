"""Which memories would merge at a similarity: every close pair, from scores computed once. Reads only."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workbench.bench.retriever import Retriever
from workbench.core.errors import WorkbenchError
from workbench.core.memory import Memory
from workbench.core.served import SERVED
from workbench.retrieval.arrays import Column, Rows
from workbench.retrieval.close_pairs import close_pairs

FLOOR = 0.6
"""Pairs less alike than this are of no interest at any threshold."""

MOST = 20_000
"""Pairs that are kept at most: the most similar ones."""

_BLOCK = 512


class ComparingCancelled(WorkbenchError):
    """The comparison was stopped before it was through."""


@dataclass(frozen=True, slots=True, eq=False)
class AlikePairs:
    """Close pairs by falling cosine; `floor` is the cosine from which on every pair is there.

    `left` and `right` index `memories`; `flag` and `review` are the thresholds that hold.
    """

    memories: tuple[Memory, ...]
    left: Rows
    right: Rows
    cosines: Column
    floor: float
    flag: float
    review: float

    def count(self, threshold: float) -> int:
        """Return how many pairs are at least that alike."""
        return int(np.searchsorted(-self.cosines, -threshold, side="right"))

    def pairs(self, threshold: float, limit: int) -> tuple[tuple[Memory, Memory, float], ...]:
        """Return the first of those pairs, the older memory first."""
        found = []
        for i in range(min(limit, self.count(threshold))):
            one, other = self.memories[int(self.left[i])], self.memories[int(self.right[i])]
            older, newer = sorted((one, other), key=lambda m: (m.created_at, m.id))
            found.append((older, newer, float(self.cosines[i])))
        return tuple(found)

    def remaining(self, threshold: float) -> int:
        """Return how many memories would be left if every such pair became one."""
        parent = list(range(len(self.memories)))

        def root(i: int) -> int:
            while parent[i] != i:
                parent[i] = parent[parent[i]]
                i = parent[i]
            return i

        merged = 0
        count = self.count(threshold)
        for a, b in zip(self.left[:count].tolist(), self.right[:count].tolist(), strict=True):
            one, other = root(a), root(b)
            if one != other:
                parent[one] = other
                merged += 1
        return len(self.memories) - merged


def alike_pairs(
    retriever: Retriever,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> AlikePairs:
    """Compare every served memory with every other. Raises `ComparingCancelled`."""
    ranker, thresholds = retriever.ranker(), retriever.thresholds()
    rows = np.array([i for i, m in enumerate(ranker.pool.memories) if m.status in SERVED], np.intp)

    def step(done: int, total: int) -> None:
        if cancelled is not None and cancelled():
            raise ComparingCancelled("Comparing was stopped.", "Nothing was changed.")
        if progress is not None:
            progress(done, total)

    found = close_pairs(ranker.vectors[rows], FLOOR, MOST, step, _BLOCK)
    memories = tuple(ranker.pool.memories[i] for i in rows.tolist())
    return AlikePairs(memories, found.left, found.right, found.cosines, found.floor, thresholds.flag, thresholds.review)
