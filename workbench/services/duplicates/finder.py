"""Looking for duplicates in the stream: the same text first, then what is near, then what only looks alike."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import combinations

import numpy as np

from workbench.core.duplicates.groups import Pair, by_age, complete_groups, same_text
from workbench.core.duplicates.thresholds import DedupThresholds
from workbench.core.served import is_served
from workbench.core.stream.memory import Memory
from workbench.retrieval.ranking.ranker import Ranker
from workbench.services.duplicates.comparison import LARGEST, MEMORIES, NEAR, Comparison, Judge, Place, Step, classes
from workbench.services.duplicates.plan import DedupPlan, Group, Settled, group_of

MOST = 20_000
"""Close pairs of one memory type that are judged at most: the closest ones."""

LARGEST_EXACT = 40
"""Members of a group with the same text at most: keeping them apart notes every two of them, 780, while a key waits."""

APART = 500
"""Pairs that are alike but say something else, listed at most."""


class Finder:
    """One comparison over the memories of a ranker."""

    def __init__(self, ranker: Ranker, limits: DedupThresholds, settled: Settled, step: Step) -> None:
        self._vectors = ranker.vectors
        self._pool = ranker.pool
        self._limits = limits
        self._settled = settled
        self._step = step
        self._held: set[frozenset[str]] = set()

    def plan(self, now: datetime) -> DedupPlan:
        """Return what is found among what an agent is served at `now`."""
        served = [memory for memory in self._pool.memories if is_served(memory, now)]
        exact, rest = self._same_texts(served)
        comparison = Comparison(
            rest, self._vectors[np.array([self._pool.row_of[m.id] for m in rest], np.intp)],
            Judge(MEMORIES, self._limits), self._settled.keeps_apart,
            floor=self._limits.flag, most=MOST, by_type=True, looks_up=True, enough=APART, step=self._step,
        )  # fmt: skip
        near = [_near(comparison, rows) for rows in comparison.groups(NEAR, self._limits.flag)]
        apart = tuple(_apart(comparison))
        kept = len(self._held | comparison.held)
        found = (*exact, *near)
        return DedupPlan(self._limits.flag, comparison.floor, len(served), found, apart, self._settled.open, kept)

    def _same_texts(self, served: Sequence[Memory]) -> tuple[list[Group], list[Memory]]:
        """Return the groups with one text about one thing, and the memories that are in none of them, in order."""
        form = MEMORIES.forms[0]
        free = [memory for memory in served if memory.id not in self._settled.waiting]
        about: Counter[tuple[str, str]] = Counter()
        groups, gone = [], set[str]()
        for same in classes(free, MEMORIES, form):
            taken: set[str] = set()
            for memories in self._free_parts(same):
                taken.update(memory.id for memory in memories)
                kept = group_of(memories, (), 1.0).members[-1]
                pairs = [same_text(kept, m) for m in memories if m is not kept]
                groups.append(group_of(memories, pairs, 1.0, exact=True))
            text = same[0].memory_type, form(same[0].content)
            # One text about very many things would leave no room for any other pair.
            gone.update(taken if about[text] < LARGEST else (memory.id for memory in same))
            about[text] += 1
        return groups, [memory for memory in free if memory.id not in gone]

    def _free_parts(self, same: Sequence[Memory]) -> Iterator[Sequence[Memory]]:
        """Yield the parts of a class of equal texts that a person does not keep apart."""
        first = same[:LARGEST_EXACT]
        if not any(self._settled.keeps_apart(a, b) for a, b in combinations(first, 2)):
            parts: Iterable[Sequence[Memory]] = (
                same[start : start + LARGEST_EXACT] for start in range(0, len(same), LARGEST_EXACT)
            )
            yield from (part for part in parts if len(part) > 1)
            return

        def fits(a: int, b: int) -> bool:
            """Tell whether nobody keeps two apart, and count it when somebody does."""
            apart = self._settled.keeps_apart(first[a], first[b])
            if apart:
                self._held.add(frozenset((first[a].id, first[b].id)))
            return not apart

        free = [(a, b) for a, b in combinations(range(len(first)), 2) if fits(a, b)]
        yield from ([first[row] for row in rows] for rows in complete_groups(free, fits, LARGEST_EXACT))


def _near(comparison: Comparison[Memory], rows: Sequence[int]) -> Group:
    pairs = [_pair(comparison, place) for place in combinations(rows, 2)]
    return group_of((comparison.records[row] for row in rows), pairs, min(pair.similarity for pair in pairs))


def _apart(comparison: Comparison[Memory]) -> Iterator[Group]:
    """Yield the closest pairs with much the same words that say something else."""
    places = comparison.cosines
    found = [place for place in places if comparison.relation(place) == "apart" and not comparison.is_kept(place)]
    # Why they do not say the same takes long to find out, and is asked of those only that are listed.
    for place in sorted(found, key=lambda place: -comparison.cosine(place))[:APART]:
        pair = _pair(comparison, place)
        yield group_of((comparison.records[row] for row in place), (pair,), pair.similarity)


def _pair(comparison: Comparison[Memory], place: Place) -> Pair:
    older, newer = by_age(comparison.records[row] for row in place)
    return Pair(older.id, newer.id, comparison.cosine(place), comparison.judge.verdict(older, newer))
