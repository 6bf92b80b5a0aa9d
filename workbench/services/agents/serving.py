"""Retrieval for an agent: what it is given counts as read. A preview (`Tuning.rank`) never counts.

Text that gives orders to an agent, or hides characters, is held back unless a person allowed it; secrets are masked.
What no person wrote or approved is given with its source, and to some agents not at all. Where nothing is relevant,
nothing is given, and no memory that any question could have found.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from workbench.core.agents.provenance import UNKNOWN, Provenance
from workbench.core.agents.read import AgentRead
from workbench.core.record import InvalidRecord, StoreProblem
from workbench.core.runtime import may_stop
from workbench.core.stream.filter import Predicate
from workbench.core.stream.memory import Memory
from workbench.core.text import counted
from workbench.core.tuning.profile import Profile
from workbench.core.tuning.scoring import Scored
from workbench.retrieval.ranking.ranker import Ranking
from workbench.services.agents.aliases import served_name
from workbench.services.agents.reading_log import BY_COMMAND, Asked, keep, new_id
from workbench.services.context import Context
from workbench.services.health.upkeep import disputes
from workbench.services.safety.masking import masked
from workbench.services.safety.provenance import provenances
from workbench.services.safety.safety import Safety
from workbench.services.tuning.floors import AgainstFloor, against
from workbench.services.tuning.tuning import Tuning

Judge = Callable[[Sequence[Memory]], set[str]]
"""Returns the ids of those memories that must not be served."""


@dataclass(frozen=True, slots=True)
class Served:
    """What an agent was given, or would be, and why it could not be counted as read, when it could not.

    `top` holds it, the best first and with secrets masked; `ranking` says how it came about, and `floor` what was
    relevant at all: nothing is given for a query that is empty. `held` better ones were
    held back for what their text says, `unapproved` more because this agent gets only what a person approved, and
    `weak` of the best were left out.
    `provenance` and `names` go by the id in the store: where each text comes from, and the ids and sessions as the
    agent may see them.
    """

    ranking: Ranking
    top: tuple[Scored, ...]
    floor: AgainstFloor
    held: int = 0
    problem: str = ""
    unapproved: int = 0
    provenance: Mapping[str, Provenance] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    weak: int = 0

    @property
    def clock(self) -> str:
        """A sentence on memories that are dated after the moment of the question; empty where there are none."""
        later = self.ranking.pool.later(self.ranking.now)
        what = counted(later, "memory is", "memories are")
        moment = self.ranking.now.isoformat(timespec="minutes")
        return f"{what} dated after {moment}, this machine's clock, and left out." if later else ""

    @property
    def relevances(self) -> tuple[float, ...]:
        """How relevant each of what is given is, in its order."""
        return tuple(map(self.floor.relevance, self.ranking.ids))


def look(tuning: Tuning, query: str, k: int | None, profile: Profile, now: datetime) -> Served:
    """Rank the memories for a person, who only looks: nothing is held back, masked or counted."""
    ranking, floor = _ranked(tuning, query, k, profile, now)
    return Served(ranking, ranking.top, floor)


def serve(
    context: Context,
    tuning: Tuning,
    query: str,
    k: int | None,
    profile: Profile,
    safety: Safety | None = None,
    asked: Asked = BY_COMMAND,
) -> Served:
    """Rank the memories for the context's actor, an agent, and keep what it read in one journal line.

    A store that cannot be written still serves. Raises `InvalidRecord` when the actor is no agent.
    """
    safe = safety or Safety(context)
    served = give(context, tuning, query, k, profile, safe)
    try:
        keep(context, [read_of(context, served, query, asked, safe)])
    except StoreProblem as error:
        return replace(served, problem=f"The reads were not counted. {error}")
    return served


def give(
    context: Context,
    tuning: Tuning,
    query: str,
    k: int | None,
    profile: Profile,
    safe: Safety,
    wanted: Predicate | None = None,
) -> Served:
    """Rank the memories for the context's actor, an agent; what it read is kept by the caller.

    Only memories that are `wanted` are given. Raises `InvalidRecord` when the actor is no agent.
    """
    if not context.actor.startswith("agent:"):
        raise InvalidRecord("Only an agent is served; a person looks without being counted.")
    context.library.refresh()
    ranking, floor = _ranked(tuning, query, k, profile, context.now())
    if floor.empty:
        return Served(_only(ranking, ()), (), floor)
    ranking, (_, held, unapproved) = _without(ranking, judges_of(context, safe, wanted))
    strong = tuple(id for id in ranking.ids if not floor.is_weak(id))
    ranking, weak = _only(ranking, strong), len(ranking.ids) - len(strong)
    outward = as_served(context, [scored.memory for scored in ranking.top], safe)
    top = tuple(replace(s, memory=memory) for s, memory in zip(ranking.top, outward.memories, strict=True))
    return Served(ranking, top, floor, held, "", unapproved, outward.provenance, outward.names, weak)


@dataclass(frozen=True, slots=True)
class AsServed:
    """Memories as an agent may see them: without secrets, with names for their ids and sessions, and their origin."""

    memories: tuple[Memory, ...]
    provenance: Mapping[str, Provenance]
    names: Mapping[str, str]

    @property
    def named(self) -> tuple[Memory, ...]:
        """The memories, each called as the agent may see it."""
        return tuple(replace(memory, id=self.names.get(memory.id, memory.id)) for memory in self.memories)


def as_served(context: Context, memories: Sequence[Memory], safe: Safety) -> AsServed:
    """Return memories that are served as an agent may see them."""
    names = {name: served_name(name, safe.findings) for m in memories for name in (m.id, m.session_id)}
    shown = tuple(_masked(memory, safe) for memory in memories)
    known = provenances(context, memories)
    disputed = disputes(context, memories)
    origins = {
        id: replace(one, name=served_name(one.name, safe.findings), disputed=disputed.get(id, ""))
        for id, one in known.items()
    }
    # An id that is a secret is given masked, and asked about by that name.
    origins |= {outward.id: origins[memory.id] for outward, memory in zip(shown, memories, strict=True)}
    return AsServed(shown, origins, names)


def judges_of(context: Context, safe: Safety, wanted: Predicate | None = None) -> tuple[Judge, Judge, Judge]:
    """Return who tells what the context's agent is not given: it is not wanted, held back, or not approved."""
    only_approved = context.settings.agents.only_approved(context.actor)
    return (
        lambda memories: set() if wanted is None else {m.id for m in memories if not wanted(m)},
        lambda memories: {m.id for m in memories if safe.held_from_agents(m)},
        lambda memories: _unapproved(context, memories) if only_approved else set(),
    )


def read_of(context: Context, served: Served, query: str, asked: Asked, safe: Safety) -> AgentRead:
    """Return what is kept of an answer; the question is masked."""
    ranking = served.ranking
    agent = context.actor.removeprefix("agent:")
    return AgentRead(
        new_id(), agent, context.now(), safe.masked(query), asked.session, asked.door, ranking.profile.name,
        ranking.ids, tuple(round(scored.total, 6) for scored in ranking.top), served.floor.empty,
        served.held, served.unapproved, served.weak, parent=asked.parent,
        relevances=tuple(round(value, 6) for value in served.relevances),
    )  # fmt: skip


def _ranked(tuning: Tuning, query: str, k: int | None, profile: Profile, now: datetime) -> tuple[Ranking, AgainstFloor]:
    """Rank the memories and hold them against the floor, which is computed first where it is not known.

    Raises `Stopped`.
    """
    standard = tuning.floors.settled(query)
    ranker = tuning.retriever.ranker()  # one for both: others may change the store in between
    scores = ranker.relevance(query)
    may_stop()
    ranking = ranker.rank(scores, profile, now, k)
    return ranking, against(standard, scores, ranking)


def _unapproved(context: Context, memories: Sequence[Memory]) -> set[str]:
    found = provenances(context, memories)
    return {memory.id for memory in memories if not found.get(memory.id, UNKNOWN).approved}


def _without(ranking: Ranking, judges: Sequence[Judge]) -> tuple[Ranking, list[int]]:
    """Return a ranking without what must not be served, filled up from below, and how many each judge left out."""
    wanted, looked = ranking.k, ranking.k
    refused: list[set[str]] = [set() for _ in judges]
    judged = 0
    while True:
        best = ranking.top if looked == wanted else ranking.best(looked)
        fresh = [scored.memory for scored in best[judged:]]
        for judge, known in zip(judges, refused, strict=True):
            known |= judge(fresh)
            fresh = [memory for memory in fresh if memory.id not in known]
        judged = len(best)
        kept = [scored for scored in best if not any(scored.memory.id in known for known in refused)][:wanted]
        if len(kept) == wanted or len(best) < looked:
            break
        looked *= 4
    through = next((n for n, s in enumerate(best, 1) if len(kept) == wanted and s is kept[-1]), len(best))
    passed = {scored.memory.id for scored in best[:through]}
    left_out = [len(known & passed) for known in refused]
    if not any(left_out):
        return ranking, left_out
    return _only(ranking, [scored.memory.id for scored in kept]), left_out


def first_of(served: Served, count: int) -> Served:
    """Return an answer of which only the first ones are given."""
    return replace(served, ranking=_only(served.ranking, served.ranking.ids[:count]), top=served.top[:count])


def _only(ranking: Ranking, ids: Sequence[str]) -> Ranking:
    """Return a ranking of which only these memories are given, in this order."""
    if tuple(ids) == ranking.ids:
        return ranking
    place = ranking.candidates.position
    positions = [at for id in ids if (at := place(ranking.pool.row(id))) is not None]
    return replace(ranking, positions=np.array(positions, ranking.positions.dtype))


def _masked(memory: Memory, safety: Safety) -> Memory:
    """Return a memory without its secrets, unless a person allowed it as it is."""
    return memory if safety.override(memory) is not None else masked(memory, safety.masked)
