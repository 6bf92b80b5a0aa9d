"""Which memories would merge at a similarity: every close pair, judged and scored once. Reads only.

Closeness alone merges nothing: pairs that say something else are listed with the reason and counted apart, by the
same rules as the batch deduplication; so are pairs that a person keeps apart.
"""

from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np

from workbench.core.duplicates.groups import by_age
from workbench.core.duplicates.identity import Conflict
from workbench.core.duplicates.kept_pair import KeptApart
from workbench.core.record import WorkStopped
from workbench.core.runtime import Cancelled, Progress
from workbench.core.served import SERVED
from workbench.core.stream.memory import Memory
from workbench.retrieval.arrays import Column
from workbench.services.duplicates.bullet_groups import FLOOR, MEMORIES, NEAR, Comparison, Judge, Place
from workbench.services.tuning.retriever import Retriever

__all__ = ["FLOOR", "Apart", "MemoryPair", "MemoryPairs", "memory_pairs_of"]

MOST = 20_000
"""Pairs that are kept at most: the most similar ones."""

_EVERY = 256
"""Pairs that are judged between two looks at whether to stop."""


@dataclass(frozen=True, slots=True)
class Apart:
    """Why two memories would not merge: a person keeps them apart, their types, or what differs in their texts."""

    kind: Literal["kept", "types", "texts"]
    conflicts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return {"kept": "kept apart", "types": "different types", "texts": ", ".join(self.conflicts)}[self.kind]


@dataclass(frozen=True, slots=True)
class MemoryPair:
    """Two memories and their cosine (−1…1); `apart` says why they would not merge, or is `None`."""

    older: Memory
    newer: Memory
    cosine: float
    apart: Apart | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MemoryPairs:
    """Close pairs of memories by falling `cosines`.

    `apart` gives each pair's reason not to merge, or `None`. `flag` and `review` are the thresholds that hold.
    """

    comparison: Comparison[Memory]
    cosines: Column
    apart: tuple[Apart | None, ...]
    flag: float
    review: float

    @property
    def memories(self) -> tuple[Memory, ...]:
        """What was compared."""
        return self.comparison.records

    @property
    def floor(self) -> float:
        """The cosine from which on every pair is there."""
        return self.comparison.floor

    def count(self, threshold: float) -> int:
        """Return how many pairs are at least that alike."""
        return int(np.searchsorted(-self.cosines, -threshold, side="right"))

    def differing(self, threshold: float) -> int:
        """Return how many of those pairs say something else, so that they would not merge."""
        return sum(one is not None and one.kind != "kept" for one in self.apart[: self.count(threshold)])

    def kept(self, threshold: float) -> int:
        """Return how many of those pairs a person keeps apart, so that they would not merge either."""
        return sum(one is not None and one.kind == "kept" for one in self.apart[: self.count(threshold)])

    def pairs(self, threshold: float, limit: int) -> tuple[MemoryPair, ...]:
        """Return the first of those pairs, the older memory first."""
        found = []
        first = islice(self.comparison.cosines.items(), min(limit, self.count(threshold)))
        for (place, cosine), reason in zip(first, self.apart, strict=False):
            older, newer = by_age(self.memories[row] for row in place)
            found.append(MemoryPair(older, newer, cosine, reason))
        return tuple(found)

    def remaining(self, threshold: float) -> int:
        """Return how many memories would be left if every group, in which any two may merge, became one."""
        groups = self.comparison.groups(NEAR, threshold)
        return len(self.memories) - sum(len(group) - 1 for group in groups)


def memory_pairs_of(
    retriever: Retriever,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
    kept: KeptApart | None = None,
) -> MemoryPairs:
    """Compare every served memory with every other; `kept` knows the pairs that a person keeps apart.

    Raises `WorkStopped`.
    """
    ranker, limits = retriever.ranker(), retriever.limits()
    rows = [row for row, memory in enumerate(ranker.pool.memories) if memory.status in SERVED]

    def step(done: int, total: int) -> None:
        if cancelled is not None and cancelled():
            raise WorkStopped("Comparing was stopped.", "Nothing was changed.")
        if progress is not None and total:
            progress(done, total)

    comparison = Comparison(
        [ranker.pool.memories[row] for row in rows], ranker.vectors[np.array(rows, np.intp)],
        Judge(MEMORIES, limits), kept or KeptApart(()), most=MOST, step=step,
    )  # fmt: skip
    apart = []
    for done, place in enumerate(comparison.cosines):
        if done % _EVERY == 0:
            step(0, 0)
        apart.append(_reason(comparison, place))
    cosines = np.array(list(comparison.cosines.values()), np.float64)
    return MemoryPairs(comparison, cosines, tuple(apart), limits.flag, limits.review)


def _reason(comparison: Comparison[Memory], place: Place) -> Apart | None:
    """Return why two memories would not merge, or `None`."""
    one, other = (comparison.records[row] for row in place)
    # Counting at a threshold asks for every pair's relation, beside the keys.
    relation = comparison.relation(place)
    if comparison.is_kept(place):
        return Apart("kept")
    if one.memory_type != other.memory_type:
        return Apart("types")
    if relation == "related":
        return Apart("texts", (Conflict.FEW_WORDS,))
    conflicts = comparison.judge.verdict(one, other).conflicts
    return Apart("texts", conflicts) if conflicts else None
