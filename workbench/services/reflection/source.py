"""What a reflection reads: the latest of what an agent would be served, reflections included."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace

from workbench.core.served import is_served
from workbench.core.stream.memory import Memory
from workbench.services.context import Context

LOCAL_MEMORIES = 1_000
"""How many of the latest memories a reflection on this machine reads."""

_KEPT = ("candidate", "confirmed", "promoted")

Mask = Callable[[str], str]
"""Takes what must not travel out of a text."""


def latest(context: Context, count: int) -> tuple[Memory, ...]:
    """Return the latest served memories, oldest first. Candidates are not among them, whatever wrote them."""
    now = context.now()
    served = (m for m in context.library.memories.all() if is_served(m, now))
    return tuple(reversed(heapq.nlargest(count, served, key=_when)))


def known_texts(context: Context) -> list[str]:
    """Return what need not be proposed again: what was confirmed, waits for review, or was rejected."""
    return [
        m.content
        for m in context.library.memories.all()
        if m.status in _KEPT or m.archived_reason == "rejected" or m.is_synthetic
    ]


def parted(context: Context, drafts: Sequence[Memory]) -> tuple[tuple[Memory, ...], tuple[Memory, ...]]:
    """Return the drafts that are new, and the memories that say the others already.

    One that waits or was approved is seen again: what is cited beyond its citations counts. What was rejected is new
    only with evidence that it had not.
    """
    from workbench.reflect.extractive.everyday import KnownTexts  # only what Claude found needs it

    memories: dict[str, list[Memory]] = {}
    for m in context.library.memories.all() if drafts else ():
        if m.status in _KEPT or m.archived_reason == "rejected":
            memories.setdefault(m.content, []).append(m)
    known, fresh, again = KnownTexts(memories), list[Memory](), dict[str, Memory]()
    for draft in drafts:
        same = [again.get(m.id, m) for text in known.same(draft.content) for m in memories[text]]
        before = next((m for m in same if m.status != "archived"), same[-1] if same else None)
        more = [id for id in draft.citations if all(id != m.id and id not in m.citations for m in same)]
        if before is None or (before.status == "archived" and more):
            fresh.append(draft)
        elif more:
            seen = before.helpful_absorbed + 1
            again[before.id] = replace(before, citations=(*before.citations, *more), helpful_absorbed=seen)
        else:
            again[before.id] = before
    return tuple(fresh), tuple(again.values())


def masked(memories: Sequence[Memory], mask: Mask) -> tuple[Memory, ...]:
    """Return memories with nothing in them that must not travel."""
    return tuple(replace(m, content=mask(m.content), summary=mask(m.summary)) for m in memories)


def _when(memory: Memory) -> tuple[object, str]:
    return memory.created_at, memory.id
