"""Batch deduplication of the stream (source 003): finds groups that say the same, and proposes to merge them.

Reads only, until a person or `propose` acts on what was found. Every change can be undone.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

from workbench.core.duplicates.kept_pair import kept_pair
from workbench.core.duplicates.merge import merge_memories
from workbench.core.errors import InvalidRecord, WorkbenchError, WorkStopped
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.context import Context
from workbench.services.duplicates.finder import Finder
from workbench.services.duplicates.plan import DedupPlan, Group, Settled
from workbench.services.review.kinds.handler import handler_of
from workbench.services.tuning.retriever import Retriever

Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]


class Deduplication:
    """Finds duplicates among what an agent is served, and acts on them."""

    def __init__(self, context: Context, retriever: Callable[[], Retriever]) -> None:
        self._context = context
        self._library = context.library
        self._retriever = retriever

    def plan(
        self, threshold: float | None = None, progress: Progress | None = None, cancelled: Cancelled | None = None
    ) -> DedupPlan:
        """Compare every served memory with every other of its type; `threshold` is the model's review threshold.

        Raises `InvalidRecord` for a threshold that is none, `UnreadableFile` when there is no model, and
        `WorkStopped`.
        """
        if threshold is not None and not 0 < threshold <= 1:
            raise InvalidRecord(f"A similarity of {threshold:g} is not between 0 and 1.", "Nothing was compared.")
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
            tuple(g for g in some if self._unchanged(g) and settled.is_open(g)) for some in (plan.groups, plan.apart)
        )
        return replace(plan, groups=groups, apart=apart, waiting=settled.open)

    def propose(self, plan: DedupPlan) -> tuple[Proposal, ...]:
        """Put the groups of a plan that still hold into Review, as one transaction; return the proposals."""
        count = len(plan.groups)
        label = f"propose {count} {'merge' if count == 1 else 'merges'}"
        with self._library.transaction(self._context.actor, label) as tx:
            made = tuple(group.proposal(self._context.now()) for group in self.standing(plan).groups)
            for proposal in made:
                tx.put(proposal)
        return made

    def merge(self, group: Group) -> Memory:
        """Merge a group, whether it was proposed or not; return what is left of it. Undo parts them again.

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
        """Remember that all of a group stay, with the similarity they have: asked again only when a text changes.

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
        merges = (p for p in self._library.proposals.all() if p.kind == "merge" and p.state == "open")
        return [p for p in merges if frozenset(p.evidence) == ids]

    def _present(self, group: Group) -> list[Memory]:
        return [self._library.memories.get(id) for id in group.ids]

    def _unchanged(self, group: Group) -> bool:
        return all(_stands(m, self._library.memories.find(m.id)) for m in group.members)

    def _require(self, group: Group) -> None:
        if not self._unchanged(group):
            raise WorkbenchError(
                "One of these was changed since they were compared.", "Compare again; nothing was done."
            )


def _stands(then: Memory, now: Memory | None) -> bool:
    return now is not None and (now.content, now.status, now.memory_type) == (
        then.content, then.status, then.memory_type,
    )  # fmt: skip


def _never() -> bool:
    return False
