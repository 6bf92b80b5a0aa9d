"""Retrieval for an agent: what it is given counts as read. A preview (`Tuning.rank`) never counts.

Text that gives orders to an agent, or hides characters, is held back unless a person allowed it; secrets are masked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.bench.context import Context
from workbench.bench.masking import masked
from workbench.bench.safety import Safety
from workbench.bench.tuning import Tuning
from workbench.core.errors import InvalidRecord, StoreProblem
from workbench.core.memory import Memory
from workbench.core.profile import Profile
from workbench.core.scoring import Scored
from workbench.retrieval.ranking import Ranking


@dataclass(frozen=True, slots=True)
class Served:
    """What an agent was given, and why it could not be counted as read, when it could not.

    `top` holds it, the best first and with secrets masked; `ranking` says how it came about. `held` better ones were
    held back for what their text says.
    """

    ranking: Ranking
    top: tuple[Scored, ...]
    held: int = 0
    problem: str = ""


def serve(
    context: Context, tuning: Tuning, query: str, k: int | None, profile: Profile, safety: Safety | None = None
) -> Served:
    """Rank the memories for the context's actor, an agent, and count the best `k` as read, in one journal line.

    A store that cannot be written still serves. Raises `InvalidRecord` when the actor is no agent.
    """
    if not context.actor.startswith("agent:"):
        raise InvalidRecord("Only an agent is served; a person looks without being counted.")
    context.library.journal.refresh()
    ranking = tuning.rank(tuning.ask(query), profile, context.now(), k)
    safe = safety or Safety(context)
    ranking, held = _without_flagged(ranking, safe)
    served = Served(ranking, tuple(replace(s, memory=_masked(s.memory, safe)) for s in ranking.top), held)
    try:
        count_reads(context, ranking.ids)
    except StoreProblem as error:
        return replace(served, problem=f"The reads were not counted. {error}")
    return served


def _without_flagged(ranking: Ranking, safety: Safety) -> tuple[Ranking, int]:
    """Return a ranking without what must not be served, filled up from below, and how many were held back."""
    wanted, looked = ranking.k, ranking.k
    while True:
        best = ranking.best(looked)
        kept = [scored for scored in best if not safety.held_from_agents(scored.memory)][:wanted]
        if len(kept) == wanted or len(best) < looked:
            break
        looked *= 2
    through = next((n for n, s in enumerate(best, 1) if len(kept) == wanted and s is kept[-1]), len(best))
    held = through - len(kept)
    if not held:
        return ranking, 0
    place = ranking.candidates.position
    positions = [at for s in kept if (at := place(ranking.pool.row(s.memory.id))) is not None]
    return replace(ranking, positions=np.array(positions, ranking.positions.dtype)), held


def _masked(memory: Memory, safety: Safety) -> Memory:
    """Return a memory without its secrets, unless a person allowed it as it is."""
    return memory if safety.override(memory) is not None else masked(memory, safety.masked)


def count_reads(context: Context, ids: Sequence[str]) -> None:
    """Count one read of each memory; such a line is not in undo and not in the default history."""
    library, now = context.library, context.now()
    if not ids:
        return
    label = "read 1 memory" if len(ids) == 1 else f"read {len(ids):,} memories"
    with library.transaction(context.actor, label, kind="access") as tx:
        for id in ids:
            memory = library.memories.find(id)
            if memory is not None:
                later = max(now, memory.last_accessed_at)
                tx.put(replace(memory, last_accessed_at=later, access_count=memory.access_count + 1))
