"""Keeps what agents read without their waiting for it: several readings together, a moment later, on a thread."""

import contextlib
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from workbench.core.agents.read import AgentRead
from workbench.core.record import WorkbenchError
from workbench.services.agents.briefs.kept import carry_over
from workbench.services.context import Context
from workbench.store.library import Tx

# What agents read: kept as records of their own, and counted on the memories, in one journal line for several.
#
# Such a line is neither in undo nor in the default history: a reading cannot be taken back.


KEPT = 2_000
"""Readings that a store keeps; the oldest go when there are a tenth more."""


@dataclass(frozen=True, slots=True)
class Asked:
    """By which door a question came, in which session of the agent, and what process started that (see `AgentRead`)."""

    door: str
    session: str = ""
    parent: str = ""


BY_COMMAND = Asked("cli")


def new_id() -> str:
    return f"read-{uuid.uuid4().hex[:12]}"


def looked_up(context: Context, what: str, ids: Sequence[str], asked: Asked) -> AgentRead:
    """Return what is kept of memories that the context's agent had by their ids, or of `what` it read as a whole."""
    agent, given = context.actor.removeprefix("agent:"), tuple(dict.fromkeys(ids))
    return AgentRead(
        new_id(), agent, context.now(), what, asked.session, asked.door, memories=given, is_question=False,
        parent=asked.parent,
    )  # fmt: skip


def keep(context: Context, reads: Sequence[AgentRead]) -> None:
    """Keep what an agent read, and count it on the memories. Raises `StoreProblem`."""
    library = context.library
    if not reads:
        return
    given = Counter(id for read in reads for id in read.memories)
    latest = {id: read.at for read in reads for id in read.memories}
    with library.turn():
        with library.transaction(context.actor, _label(len(given)), kind="access") as tx:
            for id, times in given.items():
                memory = library.memories.find(id)
                if memory is not None:
                    later = max(latest[id], memory.last_accessed_at)
                    tx.put(replace(memory, last_accessed_at=later, access_count=memory.access_count + times))
            _count_episodes(tx, context, reads)
            for read in reads:
                tx.put(read)
            for old in _too_old(context):
                tx.delete(old)
            before = library.named_state
        # Nobody erases meanwhile what a brief says.
        carry_over(context.caches, before, library.named_state)


def _count_episodes(tx: Tx, context: Context, reads: Sequence[AgentRead]) -> None:
    """Count on episodes that they were given; nothing of them is loaded where none was."""
    given = Counter(id for read in reads for id in read.episodes)
    if not given:
        return
    from workbench.core.agents.episodes.episode import EpisodeUse, unused, uses_id

    uses, latest = context.library.table(EpisodeUse), {id: read.at for read in reads for id in read.episodes}
    for id, times in given.items():
        use = uses.find(uses_id(id)) or unused(id)
        tx.put(replace(use, access_count=use.access_count + times, last_accessed_at=latest[id]))


def _label(memories: int) -> str:
    if not memories:
        return "asked, and was served nothing"
    return "read 1 memory" if memories == 1 else f"read {memories:,} memories"


def _too_old(context: Context) -> list[AgentRead]:
    """Return the readings that go, the oldest; mostly none."""
    table = context.library.table(AgentRead)
    if len(table) <= KEPT * 11 // 10:
        return []
    every = sorted(table.all(), key=lambda read: (read.at, read.id))
    return every[: len(every) - KEPT]


# What an agent's door goes by: light values, so that a server that only says what it can do need not have a door.


@dataclass(frozen=True, slots=True)
class DoorRules:
    """What an agent may do beside reading: `reads_only` nothing; `forgets` its own signals at once."""

    reads_only: bool = False
    forgets: bool = False


@dataclass(slots=True)
class DoorVotes:
    """What one process or token did, whatever it calls itself later: who of it voted first on a memory, so that it has
    that one vote, and which memories it saved, of which it has none.
    """

    cast: dict[str, tuple[str, str]] = field(default_factory=dict)
    saved: set[str] = field(default_factory=set)


_TOGETHER_S = 0.5
"""How long a reading waits for others that are kept with it."""

_MOST = 500
"""Readings that wait at the most while the store cannot be written; the oldest go then."""


class ReadingLog:
    """Readings that are to be kept. A store that cannot be written, or is held by others, loses no answer.

    `afterwards` is called on the thread that kept some: what follows from them is done by then, and no answer waits.
    """

    def __init__(self, afterwards: Callable[[], object] = lambda: None) -> None:
        self._afterwards = afterwards
        self._waiting: list[tuple[Context, AgentRead]] = []
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._timer: threading.Timer | None = None

    def add(self, context: Context, read: AgentRead) -> None:
        """Keep a reading of the context's agent soon."""
        with self._lock:
            self._waiting = [*self._waiting, (context, read)][-_MOST:]
            if self._timer is None:
                self._timer = threading.Timer(_TOGETHER_S, self._soon)
                self._timer.daemon = True
                self._timer.start()

    def _soon(self) -> None:
        with self._lock:
            self._timer = None
        with contextlib.suppress(WorkbenchError):  # tried again with the next one, and at the end
            self.flush()
            self._afterwards()

    def flush(self) -> None:
        """Keep what waits now, in one journal line for each agent. Raises `StoreProblem`; it goes on waiting then."""
        with self._flushing:
            with self._lock:
                waiting, self._waiting = self._waiting, []
            by_agent: dict[str, list[tuple[Context, AgentRead]]] = {}
            for context, read in waiting:
                by_agent.setdefault(context.actor, []).append((context, read))
            try:
                while by_agent:
                    actor = next(iter(by_agent))
                    keep(by_agent[actor][0][0], [read for _, read in by_agent[actor]])
                    del by_agent[actor]
            finally:
                left = [one for each in by_agent.values() for one in each]
                with self._lock:
                    self._waiting = [*left, *self._waiting][-_MOST:]
