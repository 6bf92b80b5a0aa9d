"""Duplicates in the stream (source 003): the same text first, then what is near, then what only
looks alike.

Reads only, until a person or `propose` acts on what was found. Every change can be undone.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from workbench.core.duplicates.dedup import PairVerdict
from workbench.core.duplicates.groups import (
    KeptApart,
    by_age,
    complete_groups,
    kept_pair,
    merge_memories,
    rule_of,
    two_sides,
)
from workbench.core.record import InvalidRecord, WorkbenchError, WorkStopped
from workbench.core.review.proposal import Proposal
from workbench.core.runtime import Cancelled, Progress
from workbench.core.stream.memory import Memory, is_served
from workbench.services.duplicates.comparing import (
    FLOOR,
    LARGEST,
    MEMORIES,
    Comparison,
    Group,
    Judge,
    Likeness,
    classes,
    equal_group,
)
from workbench.services.duplicates.plan import DedupPlan, Settled, merge_proposal, pair_group
from workbench.services.review.kinds import handler_of
from workbench.services.tuning.retriever import Comparing

MOST = 20_000
"""Close pairs of one memory type that are judged at most: the closest ones."""

_EVERY = 64
"""Pairs that are judged between two looks at whether to stop."""

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


class Deduplication(Comparing):
    """Finds duplicates among what an agent is served, and acts on them."""

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
        self._retriever().load(progress, cancelled)
        limit = threshold or self._retriever().thresholds().review
        found = self.likeness(limit, progress, cancelled)
        groups, apart = (
            (*found.same, *found.comparison.near(limit)),
            tuple(_apart(found.comparison)),
        )
        waiting = Settled.of(self._library).open
        return DedupPlan(limit, found.floor, found.compared, groups, apart, waiting, found.kept)

    def likeness(
        self,
        floor: float = FLOOR,
        progress: Progress | None = None,
        cancelled: Cancelled | None = None,
    ) -> Likeness[Memory]:
        """Compare every served memory with every other of its type, from the cosine `floor` on;
        what waits in a proposal takes no part. Raises `WorkStopped`.
        """

        def step(done: int, total: int) -> None:
            if cancelled is not None and cancelled():
                raise WorkStopped("The search for duplicates was stopped.", "Nothing was changed.")
            if progress is not None and total:
                progress(done, total)

        retriever, settled, now = (
            self._retriever(),
            Settled.of(self._library),
            self._context.now(),
        )
        ranker, limits = retriever.load(progress, cancelled), retriever.limits()
        served = [memory for memory in ranker.pool.memories if is_served(memory, now)]
        same, rest = _same_texts(served, settled)
        rows = np.array([ranker.pool.row_of[memory.id] for memory in rest], np.intp)
        found = Comparison(
            rest, ranker.vectors[rows], Judge(MEMORIES, limits), settled.keeps_apart,
            floor=floor, most=MOST, enough=APART, step=step,
        )  # fmt: skip
        for count, place in enumerate(found.cosines):
            if count % _EVERY == 0:
                step(0, 0)
            found.relation(place)
        return Likeness(
            tuple(same),
            found,
            retriever.thresholds(),
            len(served),
            settled.keeps_apart.count(served),
        )

    def standing(self, plan: DedupPlan) -> DedupPlan:
        """Return what of a plan still holds: nobody decided on it, and no text or status changed."""
        settled = Settled.of(self._library)
        groups, apart = (
            tuple(g for g in some if self._unchanged(g) and settled.is_open(g.members))
            for some in (plan.groups, plan.apart)
        )
        return plan._replace(groups=groups, apart=apart, waiting=settled.open)

    def propose(self, plan: DedupPlan) -> tuple[Proposal, ...]:
        """Put the groups of a plan that still hold into Review, as one transaction; return the
        proposals.
        """
        count = len(plan.groups)
        label = f"propose {count} {'merge' if count == 1 else 'merges'}"
        with self._context.transaction(label) as tx:
            now = self._context.now()
            made = tuple(merge_proposal(group, now) for group in self.standing(plan).groups)
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
                    "propose", (f"one wants {sides[0]}, the other excludes {sides[1]}",)
                )
                asked = merge_proposal(pair_group(memory, other, 0.0, verdict), now)
                text = f"{memory.content.rstrip(' .')}; {other.content}"
                found.append(replace(asked, similarity=None, operation={"content": text}))
        return tuple(found)

    def merge(self, group: Group[Memory]) -> Memory:
        """Merge a group, whether it was proposed or not; return what is left of it. Undo separates
        them.

        Raises `WorkbenchError` when one of them was archived or changed meanwhile.
        """
        kept, now = group.ids[0], self._context.now()
        label = f"merge {len(group.members) - 1} into {kept}"
        with self._context.transaction(label) as tx:
            self._require(group)
            present = [self._library.memories.get(id) for id in group.ids]
            merged, archived = merge_memories(present, now, keep=kept)
            for memory in (merged, *archived):
                tx.put(memory)
            for proposal in self._about(group):
                tx.put(replace(proposal, state="accepted", decided_at=now))
        return merged

    def keep_both(self, group: Group[Memory]) -> None:
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
                pair = group.between(one.id, other.id)
                similarity = group.similarity if pair is None else pair.similarity
                tx.put(kept_pair(one, other, similarity, actor, now))

    def _about(self, group: Group[Memory]) -> list[Proposal]:
        """Return the open proposals to merge exactly these memories."""
        merges = (
            p for p in self._library.proposals.all() if p.kind == "merge" and p.state == "open"
        )
        return [p for p in merges if set(p.evidence) == set(group.ids)]

    def _unchanged(self, group: Group[Memory]) -> bool:
        now = (self._library.memories.find(id) for id in group.ids)
        return all(
            memory is not None
            and (memory.content, memory.status, memory.memory_type)
            == (then.content, then.status, then.memory_type)
            for then, memory in zip(group.members, now, strict=True)
        )

    def _require(self, group: Group[Memory]) -> None:
        if not self._unchanged(group):
            raise WorkbenchError(
                "One of these changed since the comparison.",
                "Compare again; nothing was changed.",
            )


def _same_texts(
    served: Sequence[Memory], settled: Settled
) -> tuple[list[Group[Memory]], list[Memory]]:
    """Return the groups with one text about one thing, and the memories that are in none of them,
    in order.
    """
    form = MEMORIES.forms[0]
    free = [memory for memory in served if memory.id not in settled.waiting]
    about: Counter[tuple[str, str]] = Counter()
    groups, gone = list[Group[Memory]](), set[str]()
    for same in classes(free, MEMORIES, form):
        found = [equal_group("exact", part, MEMORIES) for part in _parts(same, settled.keeps_apart)]
        groups += found
        text = same[0].memory_type, form(same[0].content)
        # One text about very many things would leave no room for any other pair.
        if about[text] < LARGEST:
            gone.update(id for group in found for id in group.ids)
        else:
            gone.update(memory.id for memory in same)
        about[text] += 1
    return groups, [memory for memory in free if memory.id not in gone]


def _parts(same: Sequence[Memory], kept: KeptApart) -> Iterator[Sequence[Memory]]:
    """Yield the parts of a class of equal texts that a person does not keep apart."""
    first = same[:LARGEST_EXACT]
    places = list(combinations(range(len(first)), 2))
    free = {(a, b) for a, b in places if not kept(first[a], first[b])}
    if len(free) == len(places):
        for start in range(0, len(same) - 1, LARGEST_EXACT):
            yield same[start : start + LARGEST_EXACT]
        return
    for rows in complete_groups(
        filter(free.__contains__, places),
        lambda a, b: (min(a, b), max(a, b)) in free,
        LARGEST_EXACT,
    ):
        yield [first[row] for row in rows]


def _apart(found: Comparison[Memory]) -> Iterator[Group[Memory]]:
    """Yield the closest pairs with much the same words that say something else."""
    places = [
        place
        for place in found.cosines
        if found.relation(place) == "apart" and not found.is_kept(place)
    ]
    for place in sorted(places, key=lambda place: -found.cosines[place])[:APART]:
        group = found.group("apart", place)
        _ = group.conflicts  # worked out here, so that no key waits for it
        yield group
