"""What each agent did here, session by session: what it asked and was given, what it wrote, what it
voted.

A session is one id of one agent. A server's session is the one of the hooks that the same process
started, and of no others: without that they stand apart. What was done without an id is parted
where the agent paused for long: a day would cut work at midnight in two, and join a morning and an
evening that have nothing to do with each other.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from typing import NamedTuple

from workbench.core.agents.read import AgentRead
from workbench.core.record import parse_time
from workbench.core.stream.memory import Vote
from workbench.services.context import Context
from workbench.store.entry import Transaction

PAUSE = timedelta(minutes=30)
"""A longer pause ends a session that has no id."""

LISTED = 2_000
"""Memories and changes by agents that are looked up in the journal, the newest: as many as readings
are kept.
"""

_HOOK = "hook"
"""The door of what an agent is given by its hooks."""

Place = tuple[str, str]
"""An agent, and what it calls its session."""

_ACTOR = "agent:"
_BY_AGENTS = b'"actor":"agent:'


class Write(NamedTuple):
    """One change of the store by an agent, or a memory of its session that came in by another hand.

    `memories` are the ids of those it added; for a change that added none, `label` says what it
    was. `rev` is 0 where no change by the agent is known.
    """

    agent: str
    at: datetime
    session: str = ""
    rev: int = 0
    label: str = ""
    memories: tuple[str, ...] = ()


Act = AgentRead | Write | Vote
"""Something that an agent did."""


class AgentSession(NamedTuple):
    """What one agent did in one session: its `acts`, the newest first, and there is at least one.

    `id` is the agent's own name for the session, empty where it gave none.
    """

    agent: str
    id: str
    acts: tuple[Act, ...]

    @property
    def key(self) -> tuple[str, str, str]:
        """What names the session as long as it grows: a session without an id is known by its first
        act.
        """
        return (self.agent, self.id, "" if self.id else self.begin.isoformat())

    @property
    def begin(self) -> datetime:
        """When the first thing was done in it."""
        return self.acts[-1].at

    @property
    def end(self) -> datetime:
        """When the latest thing was done in it."""
        return self.acts[0].at

    @property
    def reads(self) -> tuple[AgentRead, ...]:
        """What it asked and was given, the newest first."""
        return tuple(act for act in self.acts if isinstance(act, AgentRead))

    @property
    def written(self) -> int:
        """How many memories it added, and other changes it made."""
        return sum(max(1, len(act.memories)) for act in self.acts if isinstance(act, Write))

    @property
    def votes(self) -> int:
        return sum(isinstance(act, Vote) for act in self.acts)


class AgentSessions:
    """The sessions of all agents, read from the readings, the votes and the journal; it writes
    nothing.

    The journal is read once, and after that only what is new in it. Any thread may look.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library
        self._lock = threading.Lock()
        self._writes: tuple[Write, ...] = ()
        self._until = -1

    @property
    def has_looked(self) -> bool:
        """Whether the journal was read already, which for a large store is what takes long."""
        return self._until >= 0

    def look(self, *, journal: bool = True) -> tuple[AgentSession, ...]:
        """Return every session, the one in which something was done last first. Raises
        `StoreProblem`.

        Without the `journal`, what was written is known only of sessions with an id, and of no
        other change.
        """
        writes: tuple[Write, ...] = ()
        if journal:
            with self._lock:
                writes = self._look_up()
        library = self._library
        acts: list[Act] = [*library.table(AgentRead).all(), *writes]
        acts += [vote for vote in library.votes.all() if vote.actor.startswith(_ACTOR)]
        acts += self._brought(acts)
        joined = _joined(act for act in acts if isinstance(act, AgentRead))
        return tuple(
            sorted(
                _parted(acts, joined), key=lambda session: (session.end, session.key), reverse=True
            )
        )

    def readings(self) -> tuple[AgentSession, ...]:
        """Return the sessions with nothing but what was read in them, in no order; the journal is
        not looked at.
        """
        reads = self._library.table(AgentRead).all()
        return tuple(_parted(reads, _joined(reads)))

    def _look_up(self) -> tuple[Write, ...]:
        """Return what agents wrote, the newest first; what is known already is not read again."""
        library, now = self._library, self._library.revision
        if now == self._until:
            return self._writes
        fresh = (
            list(takewhile(lambda e: e.rev > self._until, library.changes_back()))
            if self._until >= 0
            else []
        )
        if self._until < 0 or any(entry.kind == "purge" for entry in fresh):
            found = _newest(self._told(library.changes_back(_BY_AGENTS)))
        else:
            found = _newest((*self._told(fresh), *self._writes))
        self._writes, self._until = tuple(found), now
        return self._writes

    def _told(self, entries: Iterable[Transaction]) -> Iterator[Write]:
        for entry in entries:
            tables = {change.table for change in entry.changes}
            if entry.kind != "edit" or not entry.actor.startswith(_ACTOR):
                continue
            made = [c for c in entry.changes if c.table == "memories" and c.op == "insert"]
            added = [change for change in made if not change.redacted]
            if made and not added:
                continue  # purged since
            if not made and tables <= {"votes", "memories", "bullets"} and "votes" in tables:
                continue  # a vote, which the table of votes knows
            names = tuple(self._library.key_of(change) for change in added)
            _, session = added[0].fields.get("session_id", ("", "")) if added else ("", "")
            agent, said = (
                entry.actor.removeprefix(_ACTOR),
                session if isinstance(session, str) else "",
            )
            yield Write(agent, parse_time(entry.at), said, entry.rev, entry.label, names)

    def _brought(self, acts: Sequence[Act]) -> Iterator[Write]:
        """Yield the memories of the named sessions that no change by their agent is known for."""
        known = {id for act in acts if isinstance(act, Write) for id in act.memories}
        agents = {_session(act): _agent(act) for act in acts if _session(act)}
        if not agents:
            return
        for memory in self._library.memories.all():
            agent = agents.get(memory.session_id)
            if agent is not None and memory.id not in known and not memory.is_synthetic:
                yield Write(agent, memory.created_at, memory.session_id, memories=(memory.id,))


def _newest(writes: Iterable[Write]) -> Iterator[Write]:
    """Yield the first of them, until they added as much as is listed."""
    added = 0
    for write in writes:
        yield write
        added += max(1, len(write.memories))
        if added >= LISTED:
            return


def _joined(reads: Iterable[AgentRead]) -> dict[Place, Place]:
    """Return the session of hooks, by each server's session that has the same parent process: the
    only one there is.
    """
    hooks: defaultdict[str, set[Place]] = defaultdict(set)
    others: defaultdict[str, set[Place]] = defaultdict(set)
    for read in reads:
        if read.parent and read.session:
            (hooks if read.door == _HOOK else others)[read.parent].add((read.agent, read.session))
    alone = {parent: next(iter(found)) for parent, found in hooks.items() if len(found) == 1}
    return {
        place: alone[parent]
        for parent, found in others.items()
        if parent in alone
        for place in found
    }


def _parted(acts: Iterable[Act], joined: Mapping[Place, Place]) -> Iterator[AgentSession]:
    """Yield the sessions that acts belong to, in no order."""
    held: defaultdict[Place, list[Act]] = defaultdict(list)
    for act in acts:
        place = (_agent(act), _session(act))
        held[joined.get(place, place)].append(act)
    for (agent, id), found in held.items():
        found.sort(key=lambda act: (act.at, isinstance(act, AgentRead), _name(act)), reverse=True)
        for part in [found] if id else _by_pauses(found):
            yield AgentSession(agent, id, tuple(part))


def _by_pauses(acts: Sequence[Act]) -> Iterator[list[Act]]:
    """Yield runs of acts, which are the newest first, without a long pause in them."""
    run: list[Act] = []
    for act in acts:
        if run and run[-1].at - act.at > PAUSE:
            yield run
            run = []
        run.append(act)
    yield run


def _agent(act: Act) -> str:
    return act.actor.removeprefix(_ACTOR) if isinstance(act, Vote) else act.agent


def _session(act: Act) -> str:
    return act.session


def _name(act: Act) -> str:
    return f"{act.rev:012d}" if isinstance(act, Write) else act.id
