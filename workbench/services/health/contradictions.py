"""Memories that a newer one contradicts, as far as cheap rules see it. Reads only."""

from collections.abc import Sequence
from datetime import datetime
from itertools import combinations

from workbench.core.duplicates.dedup import opposites
from workbench.core.duplicates.differing import differing
from workbench.core.duplicates.groups import text_mark
from workbench.core.duplicates.identity import parted
from workbench.core.record import minute
from workbench.core.review.contradiction import Contradiction, contradictions
from workbench.core.review.proposal import Proposal
from workbench.core.review.upkeep import Contradicted
from workbench.core.served import is_served
from workbench.core.stream.memory import Memory
from workbench.services.agents.aliases import served_name
from workbench.services.context import Context
from workbench.services.safety.safety import Safety
from workbench.services.tuning.retriever import Retriever

TRUSTED = ("confirmed", "promoted")
"""Statuses of memories that a person stands for, and that lose by being contradicted."""

SETTLES = frozenset(
    ("instruction", "convention", "decision", "architectural_decision", "gotcha", "discovery", "configuration_change")
)
"""What a memory is of that says how things are: of two that contradict each other one holds. Events all happened."""


def contradicted_memories(retriever: Retriever, now: datetime) -> dict[str, Contradicted]:
    """Return for each memory the newest one that contradicts it, of those alike enough to be flagged.

    Only what an agent is served counts, and of what nobody stands for only what `SETTLES` something. Raises
    `UnreadableFile` when there is no model.
    """
    ranker = retriever.load()
    memories = ranker.pool.memories
    kinds = enumerate(zip(memories.values("status"), memories.values("observation_type"), strict=True))
    # A status that goes without saying is none.
    rows = [row for row, (status, of) in kinds if status in TRUSTED or (status in (None, "signal") and of in SETTLES)]
    limits = retriever.thresholds()
    least = (limits.flag + limits.review) / 2  # what settles the same thing may say it in other words
    near = retriever.near_memories(retriever.comparable_memories(rows), least)
    found = {}
    for row, others in zip(rows, near, strict=True):
        memory = memories[row]
        alike = (o for o, cosine in others if cosine >= limits.flag or o.observation_type in SETTLES)
        newer = [o for o in alike if o.created_at > memory.created_at and is_served(o, now)]
        newer.sort(key=lambda o: (o.created_at, o.id), reverse=True)
        if (contradicted := contradicted_by(memory, newer)) is not None:
            found[memory.id] = contradicted
    return found


def contradicted_by(memory: Memory, newer: Sequence[Memory]) -> Contradicted | None:
    """Return the first of some newer memories that says the opposite of `memory`, if any does."""
    for other in newer:
        for found in contradictions(memory.content, [(other.id, other.content)]):
            replaces = _is_replaced(memory, other, found)
            if replaces or memory.status in TRUSTED:
                mark = text_mark(f"{memory.content}\0{other.content}")
                return Contradicted(other.id, mark, found.reason, replaces)
    return None


def disputes(context: Context, memories: Sequence[Memory]) -> dict[str, str]:
    """Return what is said of memories that are contradicted, or contradict one that a person stands for, by their ids.

    Of two that contradict each other the one with less standing says so, of two with the same the older one.
    """
    library = context.library
    waiting = (p.evidence[:2] for p in library.waiting(Proposal, "open") if p.kind == "replaces")
    pairs = ([m for m in library.memories.among(ids) if m.status != "archived"] for ids in waiting)
    found = [pair for pair in pairs if len(pair) == 2]
    settling = sorted((m for m in memories if m.observation_type in SETTLES), key=lambda m: (m.created_at, m.id))
    apart = library.kept_apart() if len(settling) > 1 else None
    for older, newer in combinations(settling, 2):
        said = contradicted_by(older, [newer])
        if said is not None and said.replaces and apart is not None and not apart(older, newer):
            found.append([older, newer])
    told, look = {}, Safety(context).findings
    for older, newer in found:
        if newer.status in TRUSTED or older.status not in TRUSTED:
            told[older.id] = f"contradicted on {minute(newer.created_at)[:10]}"
        else:
            told[newer.id] = f"contradicts {served_name(older.id, look)} ({older.status})"
    return told


def _is_replaced(older: Memory, newer: Memory, found: Contradiction) -> bool:
    """Tell whether two memories that contradict each other settle the same thing: only one names another subject."""
    if not SETTLES.issuperset((older.observation_type, newer.observation_type)) or parted(older, newer):
        return False
    opposed = {word for pair in opposites(found.mine, found.theirs) for word in pair}
    mine, theirs = (set(words) - opposed for words in differing(found.mine, found.theirs))
    return not (mine and theirs)
