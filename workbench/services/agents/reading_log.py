"""Keeps what agents read without their waiting for it: several readings together, a moment later,
on a thread.
"""

import contextlib
import json
import os
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from workbench.config import loading, paths
from workbench.core.agents.actors import AgentSettings, agent_name
from workbench.core.agents.hook_event import HookEvent
from workbench.core.agents.read import AgentRead
from workbench.core.files.locks import Patience, waiting
from workbench.core.record import InvalidQuery, StoreProblem, WorkbenchError
from workbench.core.runtime import process
from workbench.services import caches
from workbench.services.agents.capture.progress import Place
from workbench.services.context import Context
from workbench.services.safety.secret_filter import SecretFilter
from workbench.store.library import STANDARD, Library, Tx

# The briefs that are kept of a store in the user's cache folder, one for each agent.
#
# Each holds for one state of the store, one agent and one way of serving. What is kept of another
# state is never given: a purge, a mask or a store that is not trusted any more takes it along. A
# reading of an agent changes nothing that a brief says, so that it is carried over to the state
# after one.


_FOLDER = "briefs"

State = tuple[str, int, str]
"""What names a store as it is at one moment (see `Library.named_state`)."""


Basis = tuple[str, int, str, str, str, str]
"""What a brief was made of: the store's state, who is told, under which profile, and how agents are
served.
"""


class Brief(NamedTuple):
    """What an agent is told, and the ids of the memories in it."""

    text: str
    memories: tuple[str, ...] = ()


def basis_of(library: "Library", actor: str, profile: str, agents: AgentSettings) -> Basis:
    """Return what a brief of a store as it is now would be made of."""
    serving = "approved" if agents.only_approved(actor) else "all"
    return (*library.named_state, actor, profile, serving)


def kept(cache: Path, basis: Basis) -> Brief | None:
    """Return the brief that is kept, `None` where there is none that was made of just this."""
    try:
        doc = json.loads(_file(cache, basis).read_bytes())
        if doc["basis"] != list(basis):
            return None
        return Brief(str(doc["text"]), tuple(map(str, doc["memories"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def put(cache: Path, basis: Basis, brief: Brief) -> None:
    """Keep a brief that was made; where that cannot be done there is none."""
    doc = {"basis": list(basis), "text": brief.text, "memories": brief.memories}
    caches.keep(_file(cache, basis), json.dumps(doc).encode("ascii"))


def carry_over(cache: Path, before: State, after: State) -> None:
    """Let what is kept of one state of a store hold for the next one, which notes a reading and no
    more.
    """
    for path in (cache / _FOLDER).glob("*.json"):
        try:
            doc = json.loads(path.read_bytes())
            if doc["basis"][: len(before)] == list(before):
                doc["basis"][: len(before)] = after
                caches.keep(path, json.dumps(doc).encode("ascii"))
        except (OSError, ValueError, KeyError, TypeError):
            continue


def discard(cache: Path) -> None:
    """Let what is kept for a store go, for whichever agent. Raises `OSError`."""
    for path in (cache / _FOLDER).glob("*.json"):
        path.unlink(missing_ok=True)


def _file(cache: Path, basis: Basis) -> Path:
    agent = basis[3].encode("utf-8", "surrogatepass")
    return cache / _FOLDER / f"{blake2b(agent, digest_size=8).hexdigest()}.json"


# Which process started this one: an agent's hooks and its server have it in common, whatever they
# call a session.


def parent_process() -> str:
    """Return the name of the process that started this one; empty where it ended already."""
    number = os.getppid()
    return process(number) if number > 1 else ""


# What agents read: kept as records of their own, and counted on the memories, in one journal line
# for several.
#
# Such a line is neither in undo nor in the default history: a reading cannot be taken back.


_PATIENCE_S = 1.0
"""Seconds that a hook waits for the store to note a reading; without them there is none."""

KEPT = 2_000
"""Readings that a store keeps; the oldest go when there are a tenth more."""


class Asked(NamedTuple):
    """By which door a question came, in which session of the agent, and what process started that
    (see `AgentRead`).
    """

    door: str
    session: str = ""
    parent: str = ""


BY_COMMAND = Asked("cli")


def checked_query(query: str, longest: int) -> str:
    """Return a query that can be looked for. Raises `InvalidQuery`."""
    text = query.strip()
    if not text:
        raise InvalidQuery("The query is empty.", "Say what you want to know, in a few words.")
    if len(text) > longest:
        raise InvalidQuery(
            f"The query has {len(text):,} characters; at most {longest:,} are searched.",
            "Shorten it.",
        )
    return text


def new_id() -> str:
    return f"read-{uuid.uuid4().hex[:12]}"


def reading(context: Context, asked: Asked, query: str, **given: Any) -> AgentRead:
    """Return what is kept of an answer to the context's agent: the question, masked, and what was
    `given`.
    """
    agent = agent_name(context.actor)
    return AgentRead(
        new_id(),
        agent,
        context.now(),
        query,
        asked.session,
        asked.door,
        parent=asked.parent,
        **given,
    )


def looked_up(context: Context, what: str, ids: Sequence[str], asked: Asked) -> AgentRead:
    """Return what is kept of memories that the context's agent had by their ids, or of `what` it
    read as a whole.
    """
    return reading(context, asked, what, memories=tuple(dict.fromkeys(ids)), is_question=False)


def keep(context: Context, reads: Sequence[AgentRead]) -> None:
    """Keep what an agent read, and count it on the memories. Raises `StoreProblem`."""
    library = context.library
    if not reads:
        return
    given = Counter(id for read in reads for id in read.memories)
    latest = {id: read.at for read in reads for id in read.memories}
    with library.turn():
        with context.transaction(_label(len(given)), kind="access") as tx:
            for id, times in given.items():
                memory = library.memories.find(id)
                if memory is not None:
                    later = max(latest[id], memory.last_accessed_at)
                    tx.put(
                        replace(
                            memory, last_accessed_at=later, access_count=memory.access_count + times
                        )
                    )
            _count_episodes(tx, context, reads)
            for read in reads:
                tx.put(read)
            for old in _too_old(context):
                tx.delete(old)
            before = library.named_state
        # Nobody erases meanwhile what a brief says.
        carry_over(context.caches, before, library.named_state)


def keep_soon_or_never(context: Context, read: AgentRead) -> None:
    """Keep what an agent is given by a hook, where the store can be written at once."""
    with contextlib.suppress(StoreProblem), waiting(Patience(_PATIENCE_S)):
        keep(context, [read])


def _count_episodes(tx: Tx, context: Context, reads: Sequence[AgentRead]) -> None:
    """Count on episodes that they were given; nothing of them is loaded where none was."""
    given = Counter(id for read in reads for id in read.episodes)
    if not given:
        return
    from workbench.core.agents.episodes.episode import EpisodeUse, unused, uses_id

    uses, latest = (
        context.library.table(EpisodeUse),
        {id: read.at for read in reads for id in read.episodes},
    )
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


# What an agent's door goes by: light values, so that a server that only says what it can do need
# not have a door.


class DoorRules(NamedTuple):
    """What an agent may do beside reading: `reads_only` nothing; `forgets` its own signals at once;
    ask Claude.
    """

    reads_only: bool = False
    forgets: bool = False
    asks_claude: bool = False


@dataclass(slots=True)
class DoorVotes:
    """What one process or token did, whatever it calls itself later: who of it voted first on a
    memory, so that it has that one vote, and which memories it saved, of which it has none.
    """

    cast: dict[str, tuple[str, str]] = field(default_factory=dict)
    saved: set[str] = field(default_factory=set)


_TOGETHER_S = 0.5
"""How long a reading waits for others that are kept with it."""

_MOST = 500
"""Readings that wait at the most while the store cannot be written; the oldest go then."""


class ReadingLog:
    """Readings that are to be kept. A store that cannot be written, or is held by others, loses no
    answer.

    `afterwards` is called on the thread that kept some: what follows from them is done by then, and
    no answer waits.
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
        """Keep what waits now, in one journal line for each agent. Raises `StoreProblem`; it goes
        on waiting then.
        """
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


# The brief that a session begins with, where it is kept of the store as it is now, and that it was
# given.


def given(event: HookEvent, place: Place) -> str | None:
    """Return the brief of the store as it is now, `None` when it has to be made; of what is not
    trusted, nothing.

    What is given is kept as a reading, where the store can be written. Raises `StoreProblem`.
    """
    settings = loading.load(paths.config_dir() / loading.FILE_NAME).settings
    cache = caches.place(paths.cache_dir(), place.store)
    # Who waits for a session to begin is not to wait for a checkpoint.
    library = Library(
        place.store, place.clock, STANDARD._replace(checkpoint_every=0), place.heads, SecretFilter(),
        believed=paths.is_believed(place.store), cache=cache, shared=place.shared,
    )  # fmt: skip
    if not library.standing.trusted:
        discard(cache)
        return ""
    context = Context(library, place.clock, settings, cache, place.actor)
    found = kept(cache, basis_of(library, place.actor, context.profile.name, settings.agents))
    if found is not None and found.text:
        read = looked_up(
            context, "brief", found.memories, Asked("hook", event.session, parent_process())
        )
        keep_soon_or_never(context, read)
    return None if found is None else found.text
