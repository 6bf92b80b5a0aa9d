"""Batch deduplication of the stream (source 003): finds groups that say the same, and proposes to
merge them.

Reads only, until a person or `propose` acts on what was found. Every change can be undone.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations, islice
from typing import Literal

import numpy as np

from workbench.core.duplicates.dedup import Conflict, PairVerdict
from workbench.core.duplicates.groups import (
    KeptApart,
    Pair,
    by_age,
    complete_groups,
    kept_pair,
    merge_memories,
    rule_of,
    same_text,
    two_sides,
)
from workbench.core.limits import DedupThresholds
from workbench.core.record import InvalidRecord, WorkbenchError, WorkStopped
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled, Progress
from workbench.core.stream.memory import SERVED, Memory, is_served
from workbench.retrieval.arrays import Column
from workbench.retrieval.ranking.ranker import Ranker
from workbench.services.context import Context
from workbench.services.duplicates.bullet_groups import (
    FLOOR,
    LARGEST,
    MEMORIES,
    NEAR,
    Comparison,
    Judge,
    Place,
    Step,
    classes,
)
from workbench.services.duplicates.plan import DedupPlan, Group, Settled, group_of
from workbench.services.review.kinds import handler_of
from workbench.services.tuning.retriever import Retriever

# Looking for duplicates in the stream: the same text first, then what is near, then what only looks
# alike.


MOST = 20_000
"""Close pairs of one memory type that are judged at most: the closest ones."""

LARGEST_EXACT = 40
"""Members of a group with the same text at most: keeping them apart notes every two of them, 780,
while a key waits.
"""

SHORT, SIGNALS = 200, 2_000
"""Characters of a signal that is compared by what it rules out, and how many of them are compared,
the latest.
"""

APART = 500
"""Pairs that are alike but say something else, listed at most."""


class Finder:
    """One comparison over the memories of a ranker."""

    def __init__(
        self, ranker: Ranker, limits: DedupThresholds, settled: Settled, step: Step
    ) -> None:
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
        return DedupPlan(
            self._limits.flag, comparison.floor, len(served), found, apart, self._settled.open, kept
        )

    def _same_texts(self, served: Sequence[Memory]) -> tuple[list[Group], list[Memory]]:
        """Return the groups with one text about one thing, and the memories that are in none of
        them, in order.
        """
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
        yield from (
            [first[row] for row in rows] for rows in complete_groups(free, fits, LARGEST_EXACT)
        )


def _near(comparison: Comparison[Memory], rows: Sequence[int]) -> Group:
    pairs = [_pair(comparison, place) for place in combinations(rows, 2)]
    return group_of(
        (comparison.records[row] for row in rows), pairs, min(pair.similarity for pair in pairs)
    )


def _apart(comparison: Comparison[Memory]) -> Iterator[Group]:
    """Yield the closest pairs with much the same words that say something else."""
    places = comparison.cosines
    found = [
        place
        for place in places
        if comparison.relation(place) == "apart" and not comparison.is_kept(place)
    ]
    # Why they do not say the same takes long to find out, and is asked of those only that are
    # listed.
    for place in sorted(found, key=lambda place: -comparison.cosine(place))[:APART]:
        pair = _pair(comparison, place)
        yield group_of((comparison.records[row] for row in place), (pair,), pair.similarity)


def _pair(comparison: Comparison[Memory], place: Place) -> Pair:
    older, newer = by_age(comparison.records[row] for row in place)
    return Pair(
        older.id, newer.id, comparison.cosine(place), comparison.judge.verdict(older, newer)
    )


class Deduplication:
    """Finds duplicates among what an agent is served, and acts on them."""

    def __init__(self, context: Context, retriever: Callable[[], Retriever]) -> None:
        self._context = context
        self._library = context.library
        self._retriever = retriever

    def plan(
        self,
        threshold: float | None = None,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> DedupPlan:
        """Compare every served memory with every other of its type; `threshold` is the model's
        review threshold.

        Raises `InvalidRecord` for a threshold that is none, `UnreadableFile` when there is no
        model, and `WorkStopped`.
        """
        if threshold is not None and not 0 < threshold <= 1:
            raise InvalidRecord(
                f"A similarity of {threshold:g} is not between 0 and 1.", "Nothing was compared."
            )
        stop = cancelled or _never

        def step(done: int, total: int) -> None:
            if stop():
                raise WorkStopped("Looking for duplicates was stopped.", "Nothing was changed.")
            if progress is not None and total:
                progress(done, total)

        retriever = self._retriever()
        ranker = retriever.load(progress, stop)
        limits = retriever.limits()
        limits = limits._replace(flag=threshold or limits.review)
        finder = Finder(ranker, limits, Settled.of(self._library), step)
        return finder.plan(self._context.now())

    def standing(self, plan: DedupPlan) -> DedupPlan:
        """Return what of a plan still holds: nobody decided on it, and no text or status changed."""
        settled = Settled.of(self._library)
        groups, apart = (
            tuple(g for g in some if self._unchanged(g) and settled.is_open(g))
            for some in (plan.groups, plan.apart)
        )
        return replace(plan, groups=groups, apart=apart, waiting=settled.open)

    def propose(self, plan: DedupPlan) -> tuple[Proposal, ...]:
        """Put the groups of a plan that still hold into Review, as one transaction; return the
        proposals.
        """
        count = len(plan.groups)
        label = f"propose {count} {'merge' if count == 1 else 'merges'}"
        with self._library.transaction(self._context.actor, label) as tx:
            made = tuple(
                group.proposal(self._context.now()) for group in self.standing(plan).groups
            )
            for proposal in made:
                tx.put(proposal)
        return made

    def two_sided(self, plan: DedupPlan) -> tuple[Proposal, ...]:
        """Return what merging signals would ask of which one rules out what another replaces, both
        texts kept.
        """
        now, settled, related = (
            self._context.now(),
            Settled.of(self._library),
            self._retriever().related,
        )
        taken = settled.waiting.union(id for group in plan.groups for id in group.ids)
        signals = [
            m for m in self._library.memories.all() if m.status == "signal" and m.id not in taken
        ]
        short = [m for m in by_age(signals) if len(m.content) <= SHORT and is_served(m, now)][
            -SIGNALS:
        ]
        rules = [(memory, rule_of(memory.content)) for memory in short]
        found = list[Proposal]()
        for other, ruling in rules:
            for memory, rule in rules if ruling.ruled_out else ():
                sides = two_sides(
                    rule, ruling, lambda one, out: any(stem == out for stem, _ in related(one))
                )
                if (
                    sides is None
                    or memory.id in taken
                    or other.id in taken
                    or settled.keeps_apart(memory, other)
                ):
                    continue
                taken |= {memory.id, other.id}
                verdict = PairVerdict(
                    "propose", (f"one wants {sides[0]}, the other rules out {sides[1]}",)
                )
                older, newer = by_age((memory, other))
                group = group_of((memory, other), (Pair(older.id, newer.id, 0.0, verdict),), 0.0)
                text = f"{memory.content.rstrip(' .')}; {other.content}"
                found.append(
                    replace(group.proposal(now), similarity=None, operation={"content": text})
                )
        return tuple(found)

    def merge(self, group: Group) -> Memory:
        """Merge a group, whether it was proposed or not; return what is left of it. Undo separates
        them.

        Raises `WorkbenchError` when one of them was archived or changed meanwhile.
        """
        kept, now = group.members[-1], self._context.now()
        label = f"merge {len(group.members) - 1} into {kept.id}"
        with self._library.transaction(self._context.actor, label) as tx:
            self._require(group)
            merged, archived = merge_memories(self._present(group), now, keep=kept.id)
            for memory in (merged, *archived):
                tx.put(memory)
            for proposal in self._about(group):
                tx.put(replace(proposal, state="accepted", decided_at=now))
        return merged

    def keep_both(self, group: Group) -> None:
        """Remember that all of a group stay, with the similarity they have: asked again only when a
        text changes.

        Raises `WorkbenchError` when one of them was archived or changed meanwhile.
        """
        now, actor = self._context.now(), self._context.actor
        with self._library.transaction(actor, f"keep {' and '.join(group.ids[:3])} apart") as tx:
            self._require(group)
            merges = handler_of(self._context, "merge")
            for proposal in self._about(group):
                for record in merges.turn_down(proposal, "", now):
                    tx.put(record)
            for one, other in combinations(group.members, 2):
                tx.put(kept_pair(one, other, group.between(one.id, other.id), actor, now))

    def _about(self, group: Group) -> list[Proposal]:
        """Return the open proposals to merge exactly these memories."""
        ids = frozenset(group.ids)
        merges = (
            p for p in self._library.proposals.all() if p.kind == "merge" and p.state == "open"
        )
        return [p for p in merges if frozenset(p.evidence) == ids]

    def _present(self, group: Group) -> list[Memory]:
        return [self._library.memories.get(id) for id in group.ids]

    def _unchanged(self, group: Group) -> bool:
        return all(_stands(m, self._library.memories.find(m.id)) for m in group.members)

    def _require(self, group: Group) -> None:
        if not self._unchanged(group):
            raise WorkbenchError(
                "One of these was changed since they were compared.",
                "Compare again; nothing was done.",
            )


def _stands(then: Memory, now: Memory | None) -> bool:
    return now is not None and (now.content, now.status, now.memory_type) == (
        then.content, then.status, then.memory_type,
    )  # fmt: skip


def _never() -> bool:
    return False


# Which memories would merge at a similarity: every close pair, judged and scored once. Reads only.


__all__ = ["FLOOR", "Apart", "MemoryPair", "MemoryPairs", "memory_pairs_of"]

MOST_PAIRS = 20_000
"""Pairs that are kept at most: the most similar ones."""

_EVERY = 256
"""Pairs that are judged between two looks at whether to stop."""


@dataclass(frozen=True, slots=True)
class Apart:
    """Why two memories would not merge: a person keeps them apart, their types, or what differs in
    their texts.
    """

    kind: Literal["kept", "types", "texts"]
    conflicts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return {
            "kept": "kept apart",
            "types": "different types",
            "texts": ", ".join(self.conflicts),
        }[self.kind]


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

    `apart` gives each pair's reason not to merge, or `None`. `flag` and `review` are the thresholds
    that hold.
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
        return sum(
            one is not None and one.kind != "kept" for one in self.apart[: self.count(threshold)]
        )

    def kept(self, threshold: float) -> int:
        """Return how many of those pairs a person keeps apart, so that they would not merge either."""
        return sum(
            one is not None and one.kind == "kept" for one in self.apart[: self.count(threshold)]
        )

    def pairs(self, threshold: float, limit: int) -> tuple[MemoryPair, ...]:
        """Return the first of those pairs, the older memory first."""
        found = []
        first = islice(self.comparison.cosines.items(), min(limit, self.count(threshold)))
        for (place, cosine), reason in zip(first, self.apart, strict=False):
            older, newer = by_age(self.memories[row] for row in place)
            found.append(MemoryPair(older, newer, cosine, reason))
        return tuple(found)

    def remaining(self, threshold: float) -> int:
        """Return how many memories would be left if every group, in which any two may merge, became
        one.
        """
        groups = self.comparison.groups(NEAR, threshold)
        return len(self.memories) - sum(len(group) - 1 for group in groups)


def memory_pairs_of(
    retriever: Retriever,
    progress: Progress | None = None,
    cancelled: Cancelled | None = None,
    kept: KeptApart | None = None,
) -> MemoryPairs:
    """Compare every served memory with every other; `kept` knows the pairs that a person keeps
    apart.

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
        Judge(MEMORIES, limits), kept or KeptApart(()), most=MOST_PAIRS, step=step,
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
