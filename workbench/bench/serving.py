"""Retrieval for an agent: what it is given counts as read. A preview (`Tuning.rank`) never counts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.bench.context import Context
from workbench.bench.tuning import Tuning
from workbench.core.errors import InvalidRecord, StoreProblem
from workbench.core.profile import Profile
from workbench.retrieval.ranking import Ranking


@dataclass(frozen=True, slots=True)
class Served:
    """What an agent was given, and why it could not be counted as read, when it could not."""

    ranking: Ranking
    problem: str = ""


def serve(context: Context, tuning: Tuning, query: str, k: int | None, profile: Profile) -> Served:
    """Rank the memories for the context's actor, an agent, and count the best `k` as read, in one journal line.

    A store that cannot be written still serves. Raises `InvalidRecord` when the actor is no agent.
    """
    if not context.actor.startswith("agent:"):
        raise InvalidRecord("Only an agent is served; a person looks without being counted.")
    context.library.journal.refresh()
    ranking = tuning.rank(tuning.ask(query), profile, context.now(), k)
    try:
        count_reads(context, ranking.ids)
    except StoreProblem as error:
        return Served(ranking, f"The reads were not counted. {error}")
    return Served(ranking)


def count_reads(context: Context, ids: Sequence[str]) -> None:
    """Count one read of each memory; such a line is not in undo and not in the default history."""
    library, now = context.library, context.now()
    if not ids:
        return
    with library.transaction(context.actor, f"read {len(ids)} memories", kind="access") as tx:
        for id in ids:
            memory = library.memories.find(id)
            if memory is not None:
                later = max(now, memory.last_accessed_at)
                tx.put(replace(memory, last_accessed_at=later, access_count=memory.access_count + 1))
