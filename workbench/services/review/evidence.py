"""What a decision rests on: citations, what is most alike, what was rejected before, what contradicts."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.core.playbook.book import Bullet
from workbench.core.review.contradiction import Contradiction, contradictions
from workbench.core.review.lifecycle import Tombstone, resembling_rejections
from workbench.core.stream.memory import Memory
from workbench.services.review.citations import Branch, Cited

if TYPE_CHECKING:
    from workbench.services.review.impact import Impact
    from workbench.services.tuning.retriever import Retriever

REJECTIONS = 3
"""How many earlier rejections are shown at most."""

_LOOKED_AT = 30
"""How many of the nearest memories are looked through for rejections."""

_COMPARED = 8
"""How many of the nearest living memories, and of the bullets, are looked through for contradictions."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a decision rests on.

    `near` are the most similar other memories and `near_bullets` the most similar bullets, with their
    cosine; `rejections` what was rejected before and is much alike. They are empty, and `searched` false, while
    the model is still loading. `flag` is the cosine from which something is likely a duplicate. `impact` says what
    approving would do to the saved queries, if anybody asked. `messages` are how many messages of a session it was
    captured from, where it was.
    """

    cited: tuple[Cited, ...]
    tree: tuple[Branch, ...] = ()
    near: tuple[tuple[Memory, float], ...] = ()
    near_bullets: tuple[tuple[Bullet, float], ...] = ()
    rejections: tuple[Tombstone, ...] = ()
    against: tuple[Contradiction, ...] = ()
    searched: bool = False
    flag: float = 2.0
    impact: "Impact | None" = None
    messages: int = 0


def looked_up(known: Evidence, memory: Memory, retriever: "Retriever", exclude: Iterable[str], k: int) -> Evidence:
    """Return the evidence with what resembles and what contradicts a memory; `k` of each kind are named."""
    near = retriever.nearest_memories(memory.content, _LOOKED_AT, exclude=exclude)
    bullets = retriever.nearest_bullets(memory.content, _COMPARED)
    thresholds = retriever.thresholds()
    rejections = resembling_rejections(memory, near, thresholds.review)
    living = [(m, s) for m, s in near if m.status != "archived"]
    others = [(m.id, m.content) for m, _ in living[:_COMPARED]] + [(b.id, b.content) for b, _ in bullets]
    return replace(
        known,
        near=tuple(living[:k]),
        near_bullets=bullets[:k],
        rejections=rejections[:REJECTIONS],
        against=contradictions(memory.content, others),
        searched=True,
        flag=thresholds.flag,
    )
