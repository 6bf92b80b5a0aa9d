"""Trusted memories that a newer one contradicts, as far as cheap rules see it. Reads only."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from workbench.bench.tuning.retriever import Retriever
from workbench.core.duplicates.groups import text_mark
from workbench.core.review.contradiction import contradictions
from workbench.core.review.upkeep import Contradicted
from workbench.core.served import is_served
from workbench.core.stream.memory import Memory

TRUSTED = ("confirmed", "promoted")
"""Statuses of memories that a person stands for, and that lose by being contradicted."""


def contradicted_memories(retriever: Retriever, now: datetime) -> dict[str, Contradicted]:
    """Return for each trusted memory the newest one that contradicts it, of those alike enough to be flagged.

    Only what an agent is served counts. Raises `UnreadableFile` when there is no model.
    """
    ranker = retriever.load()
    memories = ranker.pool.memories
    rows = [row for row, status in enumerate(memories.values("status")) if status in TRUSTED]
    near = retriever.near_memories(ranker.vectors[np.array(rows, np.intp)], retriever.thresholds().flag)
    found = {}
    for row, others in zip(rows, near, strict=True):
        memory = memories[row]
        newer = [o for o, _ in others if o.created_at > memory.created_at and is_served(o, now)]
        newer.sort(key=lambda o: (o.created_at, o.id), reverse=True)
        if (contradicted := contradicted_by(memory, newer)) is not None:
            found[memory.id] = contradicted
    return found


def contradicted_by(memory: Memory, newer: Sequence[Memory]) -> Contradicted | None:
    """Return the first of some newer memories that says the opposite of `memory`, if any does."""
    first = next(iter(contradictions(memory.content, [(o.id, o.content) for o in newer])), None)
    if first is None:
        return None
    text = next(o.content for o in newer if o.id == first.other)
    return Contradicted(first.other, text_mark(f"{memory.content}\0{text}"), first.reason)
