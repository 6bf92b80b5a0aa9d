"""Memories of one's own that are proposed to a team: they wait in its Review, and what became of
them is told where they came from.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from typing import Literal, NamedTuple

from workbench.config import paths
from workbench.core import team
from workbench.core.stream.memory import Memory
from workbench.core.text import counted
from workbench.services.safety.secret_filter import SecretFilter
from workbench.services.team.reach import addresses, log_of
from workbench.store.library import Library


def propose(
    address: str, memories: Sequence[Memory], of: str, clock: Callable[[], datetime]
) -> None:
    """Add memories of the store with the id `of` to a team's store, where they wait in Review. Said
    again, they are there once. Raises `StoreProblem`, also when the team's store cannot be reached.
    """
    library = _opened(address, clock)
    if library.away is not None:
        raise library.away
    said = repr([(memory.id, memory.content) for memory in memories])
    uid = blake2b(f"{of} {said}".encode(), digest_size=16).hexdigest()
    label = f"propose {counted(len(memories), 'memory', 'memories')}"
    by = library.actor_named("human").partition(":")[2]
    with library.transaction("human", label, uid=uid) as tx:
        for memory in memories:
            tx.put(_proposed(memory, tx.new_memory_id(library.now()), of, by))


def _proposed(memory: Memory, id: str, of: str, by: str) -> Memory:
    """Return a memory as the team gets it: its text and where it is from, without one's own marks."""
    kept = Memory(
        id, memory.content, memory.created_at, memory.created_at, memory.summary,
        session_id=memory.session_id, memory_type=memory.memory_type,
        observation_type=memory.observation_type, section=memory.section, category=memory.category,
        tags=memory.tags, importance_score=memory.importance_score, source=memory.source,
    )  # fmt: skip
    said = {"by": by, "store": of, "id": memory.id}
    return replace(kept, status="candidate", metadata={team.PROPOSED: said})


class Answered(NamedTuple):
    """What became of a memory that was proposed: whether it waits, or what was decided, and the
    words that the decision was stored with.
    """

    id: str
    place: str
    state: Literal["waiting", "approved", "rejected", "gone"]
    said: str = ""


def answers(library: Library, clock: Callable[[], datetime]) -> Iterator[Answered]:
    """Yield what became of the memories of a store that were proposed to teams, as far as this
    machine knows.
    """
    asked: dict[str, list[Memory]] = {}
    for memory in library.memories.all():
        if (memory.promoted_to or "").startswith(team.PLACE):
            asked.setdefault(str(memory.promoted_to), []).append(memory)
    of = library.id
    for address in addresses() if asked else ():
        place = team.place_of(address)
        if place not in asked:
            continue
        there = _opened(address, clock)
        known = {
            proposed.get("id"): memory
            for memory in there.memories.all()
            if isinstance(proposed := memory.metadata.get(team.PROPOSED), dict)
            and proposed.get("store") == of
        }
        for memory in asked.pop(place):
            yield _answered(there, memory.id, place, known.get(memory.id))


def _answered(there: Library, id: str, place: str, memory: Memory | None) -> Answered:
    if memory is None:
        return Answered(id, place, "gone")
    if memory.status == "candidate":
        return Answered(id, place, "waiting")
    last = next(iter(there.past.events(("memories", memory.id))), None)
    said = "" if last is None else f"{last.label} ({last.actor})"
    rejected = memory.status == "archived"
    return Answered(id, place, "rejected" if rejected else "approved", said)


def _opened(address: str, clock: Callable[[], datetime]) -> Library:
    folder = paths.team_copy(address)
    return Library(folder, clock, gate=SecretFilter(), shared=log_of(folder))
