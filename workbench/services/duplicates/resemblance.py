"""What one memory that came in resembles, and what follows from that; the same rules for every way
in.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from workbench.core.duplicates.dedup import Identity, PairVerdict, identity_of
from workbench.core.limits import DedupThresholds
from workbench.core.review import lifecycle as rules
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import UNWANTED, Memory
from workbench.retrieval.fulltext.fuzzy import order_similarity
from workbench.services.context import Context
from workbench.services.duplicates.comparing import MEMORIES, Judge
from workbench.services.duplicates.plan import WORKBENCH, merge_proposal, pair_group
from workbench.services.health.upkeep import contradicted_by, proposal_of
from workbench.store.library import Library

NEAREST = 5
"""How many of the most similar memories are looked at."""

Similar = tuple[Memory, float]
"""A memory and the cosine of its text with another one."""


def most_similar(library: Library, found: Iterable[tuple[str, float]]) -> list[Similar]:
    """Return the most similar memories as the open transaction has them."""
    best = sorted(found, key=lambda pair: -pair[1])[:NEAREST]
    now = ((library.memories.find(id), cosine) for id, cosine in best)
    return [(memory, cosine) for memory, cosine in now if memory is not None]


class Near(NamedTuple):
    """A memory that resembles a text, the cosine, and what speaks for and against their being the
    same.
    """

    memory: Memory
    cosine: float
    verdict: PairVerdict

    @property
    def is_same(self) -> bool:
        """Whether nothing but the form differs."""
        return self.verdict.action == "absorb"


class Resemblance:
    """Judges by the rules of the batch deduplication, so that both propose the same; one for each
    batch.
    """

    def __init__(self, context: Context, limits: DedupThresholds) -> None:
        self._context = context
        self._limits = limits
        self._judge = Judge(MEMORIES, limits)

    def nearest(
        self, text: str, memory_type: str, about: Identity, similar: Iterable[Similar]
    ) -> Near | None:
        """Return the living memory of a type that most surely says what a text does, of some that
        are `similar`.

        What is about somebody or something else is none, however alike it is.
        """
        living = [(memory, cosine) for memory, cosine in similar if memory.status != "archived"]
        return self._nearest(text, memory_type, about, living)

    def forgotten(
        self, text: str, memory_type: str, about: Identity, similar: Iterable[Similar]
    ) -> Memory | None:
        """Return the memory that says what a text does and that a person did not want, if there is
        one.
        """
        gone = [
            (memory, cosine) for memory, cosine in similar if memory.archived_reason in UNWANTED
        ]
        near = self._nearest(text, memory_type, about, gone)
        return None if near is None or near.verdict.conflicts else near.memory

    def _nearest(
        self, text: str, memory_type: str, about: Identity, similar: Sequence[Similar]
    ) -> Near | None:
        pairs = [
            (memory, cosine, order_similarity(text, memory.content))
            for memory, cosine in similar
            if memory.memory_type == memory_type and not identity_of(memory).parted(about)
        ]
        # Judging takes a hundred times as long as comparing the order, without which nothing is
        # absorbed.
        for memory, cosine, order in pairs:
            if order >= self._limits.order and (near := self._judged(text, memory, cosine)).is_same:
                return near
        parted = None
        for memory, cosine, _ in pairs:
            if self._judge.much_alike(text, memory.content):
                near = self._judged(text, memory, cosine)
                if not near.verdict.conflicts:
                    return near
                parted = parted or near
        return parted

    def asked(self, memory: Memory, near: Near, actor: str = WORKBENCH) -> Proposal | None:
        """Return what a person is to decide about a memory and one that it resembles, if anything:
        to merge them, as the batch deduplication asks, or whether one of them still holds.
        """
        if near.verdict.conflicts:
            return self.question(memory, near.memory)
        pair = pair_group(memory, near.memory, near.cosine, near.verdict)
        return merge_proposal(pair, self._context.now(), actor)

    def question(self, memory: Memory, other: Memory) -> Proposal | None:
        """Return the question whether a memory still is true, or which of two holds, as upkeep asks
        it; mostly none.
        """
        found = contradicted_by(other, [memory])
        kind = "replaces" if found is not None and found.replaces else "reconfirm"
        if found is None or any(p.kind == kind and p.evidence[0] == other.id for p in self._open()):
            return None
        now = self._context.now()
        finding = rules.finding(other, now, self._context.settings.lifecycle, contradicted=found)
        return None if finding is None else proposal_of(finding, other, now)

    def _judged(self, text: str, memory: Memory, cosine: float) -> Near:
        return Near(memory, cosine, self._judge.read(memory.content, text))

    def _open(self) -> Iterator[Proposal]:
        proposals = self._context.library.proposals.all()
        return (p for p in proposals if p.state == "open" and p.actor == WORKBENCH)
