"""Which agents were given a memory lately, and where it would stand for their last question once it
is corrected.
"""

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from workbench.core.agents.read import AgentRead
from workbench.core.stream.memory import Memory
from workbench.core.tuning.judgment import SavedQuery
from workbench.services.agents.sessions import AgentSessions
from workbench.services.context import Context
from workbench.services.review.queue import ImpactPreview
from workbench.services.tuning.profiles import Profiles

LATELY = timedelta(days=7)
"""How far back it is told which sessions had a memory."""


class Given(NamedTuple):
    """One agent that was given a memory lately: in how many `sessions`, and the last question that
    found it.

    `query` is masked, and empty where it only looked the memory up; `place` is where the memory
    stood, from 1.
    """

    agent: str
    sessions: int
    at: datetime
    query: str = ""
    place: int = 0


class Shift(NamedTuple):
    """Where a memory stands for a question now and would stand corrected (from 1); `None` where it
    is not served.
    """

    before: int | None
    after: int | None


class ServedLately:
    """Looks up who had a memory, and ranks their questions again."""

    def __init__(
        self,
        context: Context,
        sessions: AgentSessions,
        impact: Callable[[], ImpactPreview],
        profiles: Callable[[], Profiles],
    ) -> None:
        self._context = context
        self._sessions = sessions
        self._impact = impact
        self._profiles = profiles

    def of(self, id: str) -> tuple[Given, ...]:
        """Return the agents that were given a memory within a week, the one with most sessions
        first.
        """
        since = self._context.now() - LATELY
        held: defaultdict[str, list[list[AgentRead]]] = defaultdict(list)
        for session in self._sessions.readings():
            reads = [read for read in session.reads if read.at >= since and id in read.memories]
            if reads:
                held[session.agent].append(reads)
        found = (_given(agent, id, sessions) for agent, sessions in held.items())
        return tuple(sorted(found, key=lambda given: (-given.sessions, given.agent)))

    def shift(self, given: Given, after: Memory) -> Shift | None:
        """Return where a memory would go for the last question, under the profile of the settings;
        on any thread.

        `None` where no question is known. Raises `InvalidRecord` or `UnknownRecord` for the
        profile.
        """
        if not given.query:
            return None
        query = SavedQuery("", given.query, given.at)
        profile = self._profiles().used(self._context.profile)
        found = self._impact().of_memories((after,), (query,), profile, lambda: False).queries[0]
        return Shift(
            *(
                place if place is not None and place <= found.k else None
                for place in (found.before, found.place)
            )
        )


def _given(agent: str, id: str, sessions: list[list[AgentRead]]) -> Given:
    reads = sorted(
        (read for one in sessions for read in one), key=lambda read: read.at, reverse=True
    )
    asked = next((read for read in reads if read.is_question and read.query), None)
    if asked is None:
        return Given(agent, len(sessions), reads[0].at)
    return Given(agent, len(sessions), reads[0].at, asked.query, asked.memories.index(id) + 1)
