"""Who asks: each client has a door of its own, with the name it gives itself, its session and its share of calls."""

import re
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.bench.agents.door import AgentDoor, DoorRules, DoorVotes
from workbench.bench.agents.reading_log import ReadingLog
from workbench.bench.open import Workbench

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

UNNAMED = "agent"
"""What a client is called that gives no name, or none that can be read."""

_LONGEST = 40
_MOST = 256
"""Clients that are known at once; the one that came first is forgotten then."""

_MINUTE_S = 60.0


@dataclass(slots=True)
class Client:
    """One client: its door, and when it called in the last minute."""

    door: AgentDoor
    calls: deque[float] = field(default_factory=deque)

    def wait(self, per_minute: int, now: float) -> float:
        """Count a call; return how many seconds to wait when there were too many in the last minute, else 0."""
        while self.calls and now - self.calls[0] >= _MINUTE_S:
            self.calls.popleft()
        if len(self.calls) >= per_minute:
            return _MINUTE_S - (now - self.calls[0])
        self.calls.append(now)
        return 0.0


class Clients:
    """The clients of one server. All of them hold one token, so that they have one vote on each memory."""

    def __init__(
        self,
        bench: Workbench,
        agent: str = "",
        rules: DoorRules = DoorRules(),  # noqa: B008 - a frozen value
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.bench = bench
        self.log = ReadingLog()
        self._agent, self._rules, self._clock = agent, rules, clock
        self._voted = DoorVotes()
        self._own = f"mcp-{uuid.uuid4().hex[:8]}"
        self._known: dict[tuple[str, str], Client] = {}

    def of(self, ctx: "Context[Any, Any]") -> Client:
        """Return the client that asks."""
        agent = self._agent or name_of(ctx)
        session = self._session(ctx)
        client = self._known.get((agent, session))
        if client is None:
            door = AgentDoor(self.bench, agent, session, self.log, self._rules, self._voted)
            client = self._known[agent, session] = Client(door)
            if len(self._known) > _MOST:
                del self._known[next(iter(self._known))]
        return client

    @property
    def anyone(self) -> AgentDoor:
        """The door of whoever asks where nobody says who does."""
        return AgentDoor(self.bench, self._agent or UNNAMED, self._own, self.log, self._rules, self._voted)

    def now(self) -> float:
        """Return the moment by which calls are counted, in seconds."""
        return self._clock()

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
