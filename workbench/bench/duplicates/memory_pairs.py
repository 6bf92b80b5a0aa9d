"""Which memories would merge at a similarity: every close pair, judged and scored once. Reads only.

Closeness alone merges nothing: pairs that say something else are listed with the reason and counted apart, by the
same rules as the batch deduplication; so are pairs that a person keeps apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.bench.duplicates.plan import Settled
from workbench.bench.tuning.retriever import Retriever
from workbench.core.duplicates.dedup import DedupThresholds
from workbench.core.duplicates.groups import FEW_WORDS, by_age, complete_groups, much_alike, read_pair, word_set
from workbench.core.errors import WorkbenchError
from workbench.core.served import SERVED
from workbench.core.stream.memory import Memory
from workbench.retrieval.arrays import Column, Rows
from workbench.retrieval.embedding.close_pairs import close_pairs
from workbench.retrieval.fulltext.fuzzy import order_similarity

FLOOR = 0.6
"""Pairs less alike than this are of no interest at any threshold."""

MOST = 20_000
"""Pairs that are kept at most: the most similar ones."""

LARGEST = 12
"""Members of a group at most, as in the batch deduplication."""

OTHER_TYPES = "different types"
KEPT = "kept apart"

_BLOCK = 512
_EVERY = 256
"""Pairs that are judged between two looks at whether to stop."""

Step = Callable[[int, int], None]


class ComparingCancelled(WorkbenchError):
    """The comparison was stopped before it was through."""


@dataclass(frozen=True, slots=True)
class AlikePair:
    """Two memories and their cosine (−1…1); `apart` says in short words why they would not merge, or is empty."""

    older: Memory
    newer: Memory
    cosine: float
    apart: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class AlikePairs:
    """Close pairs by falling cosine; `floor` is the cosine from which on every pair is there.

    `left` and `right` index `memories`; `apart` gives each pair's reason not to merge, or an empty text. `flag` and
    `review` are the thresholds that hold.
    """

    memories: tuple[Memory, ...]
    left: Rows
    right: Rows
    cosines: Column
    apart: tuple[str, ...]
    floor: float
    flag: float
    review: float

    def count(self, threshold: float) -> int:
        """Return how many pairs are at least that alike."""
        return int(np.searchsorted(-self.cosines, -threshold, side="right"))

    def differing(self, threshold: float) -> int:
        """Return how many of those pairs say something else, so that they would not merge."""
        return sum(1 for reason in self.apart[: self.count(threshold)] if reason and reason != KEPT)

    def kept(self, threshold: float) -> int:
        """Return how many of those pairs a person keeps apart, so that they would not merge either."""
        return self.apart[: self.count(threshold)].count(KEPT)

    def pairs(self, threshold: float, limit: int) -> tuple[AlikePair, ...]:
        """Return the first of those pairs, the older memory first."""
        found = []
        for i in range(min(limit, self.count(threshold))):
            older, newer = by_age((self.memories[int(self.left[i])], self.memories[int(self.right[i])]))
            found.append(AlikePair(older, newer, float(self.cosines[i]), self.apart[i]))
        return tuple(found)

    def remaining(self, threshold: float) -> int:
        """Return how many memories would be left if every group, in which any two may merge, became one."""
        count = self.count(threshold)
        every = zip(self.left[:count].tolist(), self.right[:count].tolist(), self.apart[:count], strict=True)
        merging = [(min(a, b), max(a, b)) for a, b, reason in every if not reason]
        fitting = frozenset(merging)
        groups = complete_groups(merging, lambda a, b: (min(a, b), max(a, b)) in fitting, LARGEST)
        return len(self.memories) - sum(len(group) - 1 for group in groups)


def alike_pairs(
    retriever: Retriever,
    progress: Callable[[int, int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    settled: Settled | None = None,
) -> AlikePairs:
    """Compare every served memory with every other; `settled` knows the pairs that a person keeps apart.

    Raises `ComparingCancelled`.
    """
    ranker, thresholds = retriever.ranker(), retriever.thresholds()
    rows = np.array([i for i, m in enumerate(ranker.pool.memories) if m.status in SERVED], np.intp)

    def step(done: int, total: int) -> None:
        if cancelled is not None and cancelled():
            raise ComparingCancelled("Comparing was stopped.", "Nothing was changed.")
        if progress is not None and total:
            progress(done, total)

    found = close_pairs(ranker.vectors[rows], FLOOR, MOST, step, _BLOCK)
    memories = tuple(ranker.pool.memories[i] for i in rows.tolist())
    close = list(zip(found.left.tolist(), found.right.tolist(), found.cosines.tolist(), strict=True))
    limits = DedupThresholds(thresholds.flag, thresholds.review)
    apart = _reasons(memories, close, limits, settled or Settled(()), step)
    return AlikePairs(
        memories, found.left, found.right, found.cosines, apart, found.floor, thresholds.flag, thresholds.review
    )


def _reasons(
    memories: Sequence[Memory],
    close: Sequence[tuple[int, int, float]],
    limits: DedupThresholds,
    settled: Settled,
    step: Step,
) -> tuple[str, ...]:
    """Return for each pair why it would not merge, or an empty text."""
    stems: dict[int, frozenset[str]] = {}

    def words(row: int) -> frozenset[str]:
        if row not in stems:
            stems[row] = word_set(memories[row].content)
        return stems[row]

    def reason(a: int, b: int, cosine: float) -> str:
        one, other = memories[a], memories[b]
        if settled.keeps_apart(one, other):
            return KEPT
        if one.memory_type != other.memory_type:
            return OTHER_TYPES
        if not much_alike(one.content, other.content, words(a), words(b)):
            return FEW_WORDS
        order = order_similarity(one.content, other.content)
        return ", ".join(read_pair(one, other, cosine, order, limits).verdict.conflicts)

    found = []
    for done, (a, b, cosine) in enumerate(close):
        if done % _EVERY == 0:
            step(0, 0)
        found.append(reason(a, b, cosine))
    return tuple(found)
