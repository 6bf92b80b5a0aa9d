"""Who asks: each client has a door of its own, with the name it gives itself and its session."""

import re
import time
import uuid
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.core.record import WorkbenchError
from workbench.services.agents.api import AgentApi
from workbench.services.agents.reading_log import DoorRules, DoorVotes, ReadingLog
from workbench.services.open import Workbench

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

UNNAMED = "agent"
"""What a client is called that gives no name, or none that can be read."""

_LONGEST = 40
_MOST = 256
"""Clients that are known at once; the one that came first is forgotten then."""

_MINUTE_S = 60.0

PER_MINUTE = 600
"""Calls that all clients of a server may make in a minute: more come from a loop."""


class Clients:
    """The clients of one server. All of them hold one token, so that they have one vote on each memory."""

    def __init__(
        self,
        bench: Workbench,
        agent: str = "",
        rules: DoorRules = DoorRules(),  # noqa: B008 - a frozen value
        clock: Callable[[], float] = time.monotonic,
        parent: str = "",
    ) -> None:
        self.bench = bench
        self._agent, self._rules, self._clock = agent, rules, clock
        self._voted = DoorVotes()
        self._own = f"mcp-{uuid.uuid4().hex[:8]}"
        self._parent = parent
        self._doors: dict[tuple[str, str], AgentApi] = {}
        self._calls: deque[float] = deque()
        self.log = ReadingLog(bench.follow)

    def of(self, ctx: "Context[Any, Any]") -> AgentApi:
        """Return what the client that asks may do, in its session."""
        agent, session = self._agent or name_of(ctx), self._session(ctx)
        door = self._doors.get((agent, session))
        if door is None:
            door = AgentApi(self.bench, agent, session, self.log, self._rules, self._voted, parent=self._parent)
            self._doors[agent, session] = door
            if len(self._doors) > _MOST:
                del self._doors[next(iter(self._doors))]
        return door

    def end_sessions(self) -> None:
        """End the memories of type `working` that were saved here: they last as long as their session."""
        from workbench.services.agents.working import end_memories

        for door in list(self._doors.values())[:1]:
            found = map(self.bench.library.memories.find, self._voted.saved)
            end_memories(door.context, [memory for memory in found if memory is not None])

    def admit(self) -> None:
        """Count a call. Raises `WorkbenchError` after too many in a minute: a client runs in a loop."""
        now = self._clock()
        while self._calls and now - self._calls[0] >= _MINUTE_S:
            self._calls.popleft()
        if len(self._calls) >= PER_MINUTE:
            wait = _MINUTE_S - (now - self._calls[0])
            raise WorkbenchError(f"More than {PER_MINUTE} calls in a minute.", f"Wait {wait:.0f} seconds.")
        self._calls.append(now)

    def _session(self, ctx: "Context[Any, Any]") -> str:
        """Return the session: of the process, or the one that the server gave an HTTP client."""
        given = (ctx.headers or {}).get("mcp-session-id", "")
        return f"{self._own}-{given[:12]}" if re.fullmatch(r"[A-Za-z0-9-]{8,64}", given) else self._own


def name_of(ctx: "Context[Any, Any]") -> str:
    """Return what a client calls itself, as a name that is a label and nothing more."""
    params = getattr(ctx.session, "client_params", None)
    info = getattr(params, "client_info", None)
    return cleaned_name(str(getattr(info, "name", "") or ""))


def cleaned_name(name: str) -> str:
    """Return letters, digits and dashes of a name, in lower case; `UNNAMED` where none are left."""
    kept = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._")
    return kept[:_LONGEST].strip("-._") or UNNAMED
