"""Looking for duplicates: the same text first, then close pairs that are judged word by word."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import combinations

import numpy as np

from workbench.bench.duplicates.plan import DedupPlan, Group, Settled, group_of
from workbench.core.duplicates.dedup import DedupThresholds, PairVerdict
from workbench.core.duplicates.groups import Pair, complete_groups, facts_of, much_alike, read_pair, same_text, word_set
from workbench.core.duplicates.identity import identity_of
from workbench.core.served import is_served
from workbench.retrieval.embedding.close_pairs import close_pairs, reaches
from workbench.retrieval.fulltext.fuzzy import order_similarity
from workbench.retrieval.ranking.ranker import Ranker

MOST = 20_000
"""Close pairs of one memory type that are judged at most: the closest ones."""

LARGEST = 12
"""Members of a group of near-duplicates at most; what is left over forms the next group."""

LARGEST_EXACT = 100
"""Members of a group with the same text at most."""

APART = 500
"""Pairs that are alike but say something else, listed at most."""

OTHER_FACTS = PairVerdict("propose", conflicts=("numbers, negations or symbols differ",))
"""Of a pair that is not judged any further."""

_EVERY = 64
"""Pairs that are judged between two looks at whether to stop."""

Step = Callable[[int, int], None]
"""Told how many of how many memories are compared (0 of 0: only asked whether to go on); raises to stop."""


class Finder:
    """One comparison over the memories of a ranker."""

    def __init__(self, ranker: Ranker, limits: DedupThresholds, settled: Settled, step: Step) -> None:
        self._vectors = ranker.vectors
        self._memories = ranker.pool.memories
        self._limits = limits
        self._settled = settled
        self._step = step
        self._pairs: dict[tuple[int, int], Pair | None] = {}
        self._words: dict[int, frozenset[str]] = {}
        self._facts: dict[int, tuple[object, ...]] = {}
        self._differing = 0
        self._kept: set[frozenset[int]] = set()

    def plan(self, now: datetime) -> DedupPlan:
        """Return what is found among what an agent is served at `now`."""
        rows = [row for row, memory in enumerate(self._memories) if is_served(memory, now)]
        exact, rest = self._same_texts(rows)
        groups: list[Group] = []
        apart: list[Group] = []
        floor, done = self._limits.flag, 0
        for some in _by(rest, lambda row: self._memories[row].memory_type):
            found = close_pairs(
                self._vectors[np.array(some, np.intp)], self._limits.flag, MOST,
                lambda through, _, before=done: self._step(before + through, len(rest)),  # type: ignore[misc]
            )  # fmt: skip
            done += len(some)
            floor = max(floor, found.floor)
            close = [(some[a], some[b]) for a, b in zip(found.left.tolist(), found.right.tolist(), strict=True)]
            groups += self._near(close)
            apart += self._apart(close)
        apart.sort(key=lambda g: -g.similarity)
        return DedupPlan(
            self._limits.flag,
            floor,
            len(rows),
            (*exact, *groups),
            tuple(apart[:APART]),
            self._settled.open,
            len(self._kept),
        )

    def _same_texts(self, rows: Sequence[int]) -> tuple[list[Group], list[int]]:
        """Return the groups with one text about one thing, and the rows that are in none of them."""

        def text(row: int) -> tuple[str, str]:
            return self._memories[row].memory_type, " ".join(self._memories[row].content.split())

        def key(row: int) -> object:
            return text(row), identity_of(self._memories[row])

        free = [row for row in rows if self._memories[row].id not in self._settled.waiting]
        about: Counter[tuple[str, str]] = Counter()
        groups, rest = [], []
        for same in _by(free, key):
            taken: set[int] = set()
            for members in self._classes(same):
                taken.update(members)
                memories = [self._memories[row] for row in members]
                kept = group_of(memories, (), 1.0).members[-1]
                pairs = [same_text(kept, m) for m in memories if m is not kept]
                groups.append(group_of(memories, pairs, 1.0, exact=True))
            # One text about very many things would leave no room for any other pair.
            left = [row for row in same if row not in taken] if about[text(same[0])] < LARGEST else []
            about[text(same[0])] += 1
            rest += left
        return groups, sorted(rest)

    def _classes(self, same: Sequence[int]) -> Iterator[Sequence[int]]:
        """Yield the parts of a class of equal texts that a person does not keep apart."""
        memories = [self._memories[row] for row in same]
        if not any(self._settled.keeps_apart(a, b) for a, b in combinations(memories[:LARGEST_EXACT], 2)):
            for start in range(0, len(same), LARGEST_EXACT):
                part = same[start : start + LARGEST_EXACT]
                if len(part) > 1:
                    yield part
            return
        fits = [(a, b) for a, b in combinations(same[:LARGEST_EXACT], 2) if self._free(a, b)]
        yield from complete_groups(fits, self._free, LARGEST_EXACT)

    def _free(self, one: int, other: int) -> bool:
        """Tell whether nobody keeps two memories apart, and count it when somebody does."""
        apart = self._settled.keeps_apart(self._memories[one], self._memories[other])
        if apart:
            self._kept.add(frozenset((one, other)))
        return not apart

    def _near(self, close: Iterable[tuple[int, int]]) -> Iterator[Group]:
        fitting = []
        for count, (one, other) in enumerate(close):
            if count % _EVERY == 0:
                self._step(0, 0)
            pair = self._pair(one, other)
            if pair is not None and pair.kind != "apart" and self._free(one, other):
                fitting.append((one, other))
        for members in complete_groups(fitting, self._fits, LARGEST):
            every = [p for a, b in combinations(members, 2) if (p := self._pair(a, b)) is not None]
            similarity = min(pair.similarity for pair in every)
            yield group_of((self._memories[row] for row in members), every, similarity)

    def _apart(self, close: Iterable[tuple[int, int]]) -> Iterator[Group]:
        """Yield pairs with much the same words that say something else."""
        for one, other in close:
            pair = self._pairs.get((one, other))
            if pair is not None and pair.kind == "apart" and pair.verdict is not OTHER_FACTS:
                members = (self._memories[one], self._memories[other])
                if not self._settled.keeps_apart(*members):
                    yield group_of(members, (pair,), pair.similarity)

    def _fits(self, one: int, other: int) -> bool:
        pair = self._pair(*sorted((one, other)))
        return pair is not None and pair.kind != "apart" and self._free(one, other)

    def _pair(self, one: int, other: int) -> Pair | None:
        """Judge two rows, once; `None` when they are only related."""
        key = (one, other)
        if key not in self._pairs:
            self._pairs[key] = self._judged(one, other)
        return self._pairs[key]

    def _judged(self, one: int, other: int) -> Pair | None:
        cosine = min(1.0, float(self._vectors[one] @ self._vectors[other]))
        a, b = self._memories[one], self._memories[other]
        near = reaches(cosine, self._limits.flag)
        if not near or not much_alike(a.content, b.content, self._stems(one), self._stems(other)):
            return None
        # Judging takes long, and only some of those that differ are shown with their reasons.
        if self._differing >= APART and self._fact(one) != self._fact(other):
            return Pair(a.id, b.id, cosine, OTHER_FACTS)
        pair = read_pair(a, b, cosine, order_similarity(a.content, b.content), self._limits)
        if pair.kind == "apart":
            self._differing += 1
        return pair

    def _fact(self, row: int) -> tuple[object, ...]:
        if row not in self._facts:
            self._facts[row] = facts_of(self._memories[row].content)
        return self._facts[row]

    def _stems(self, row: int) -> frozenset[str]:
        if row not in self._words:
            self._words[row] = word_set(self._memories[row].content)
        return self._words[row]


def _by(rows: Iterable[int], key: Callable[[int], object]) -> Iterable[list[int]]:
    found: defaultdict[object, list[int]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found.values()
