"""Which memories would merge at a similarity: every close pair, from scores computed once. Reads only."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from workbench.bench.retriever import Retriever
from workbench.core.errors import WorkbenchError
from workbench.core.memory import Memory
from workbench.core.served import SERVED
from workbench.retrieval.arrays import Column, Rows, Vectors

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
    vectors: Vectors = ranker.vectors[rows]
    left, right, cosines = np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0)
    floor = FLOOR
    for start in range(0, len(rows), _BLOCK):
        if cancelled is not None and cancelled():
            raise ComparingCancelled("Comparing was stopped.", "Nothing was changed.")
        a, b, close = _block(vectors, start, floor)
        left, right, cosines = np.concatenate([left, a]), np.concatenate([right, b]), np.concatenate([cosines, close])
        if len(cosines) > MOST:
            kept = np.argpartition(-cosines, MOST)[:MOST]
            left, right, cosines = left[kept], right[kept], cosines[kept]
            floor = float(cosines.min())
        if progress is not None:
            progress(min(start + _BLOCK, len(rows)), len(rows))
    order = np.lexsort((right, left, -cosines))
    memories = tuple(ranker.pool.memories[i] for i in rows.tolist())
    return AlikePairs(memories, left[order], right[order], cosines[order], floor, thresholds.flag, thresholds.review)


def _block(vectors: Vectors, start: int, floor: float) -> tuple[Rows, Rows, Column]:
    """Return the close pairs of some rows with all later ones."""
    product = vectors[start : start + _BLOCK] @ vectors[start:].T
    a, b = np.nonzero(np.triu(product >= floor, 1))
    return a + start, b + start, np.minimum(product[a, b].astype(np.float64), 1.0)
