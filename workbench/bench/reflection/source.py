"""What a reflection reads: the latest of what an agent would be served, reflections included."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace

from workbench.bench.context import Context
from workbench.core.served import is_served
from workbench.core.stream.memory import Memory

LOCAL_MEMORIES = 1_000
"""How many of the latest memories a reflection on this machine reads."""

Mask = Callable[[str], str]
"""Takes what must not travel out of a text."""


def latest(context: Context, count: int) -> tuple[Memory, ...]:
    """Return the latest served memories, oldest first. Candidates are not among them, whatever wrote them."""
    now = context.now()
    served = (m for m in context.library.memories.all() if is_served(m, now))
    return tuple(reversed(heapq.nlargest(count, served, key=_when)))


def known_texts(context: Context) -> list[str]:
    """Return what need not be proposed again: what was confirmed, waits for review, or was rejected."""
    kept = ("candidate", "confirmed", "promoted")
    return [
        m.content
        for m in context.library.memories.all()
        if m.status in kept or m.archived_reason == "rejected" or m.is_synthetic
    ]


def masked(memories: Sequence[Memory], mask: Mask) -> tuple[Memory, ...]:
    """Return memories with nothing in them that must not travel."""
    return tuple(replace(m, content=mask(m.content), summary=mask(m.summary)) for m in memories)


def _when(memory: Memory) -> tuple[object, str]:
    return memory.created_at, memory.id
