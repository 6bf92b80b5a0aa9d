"""Who asks: each client has a door of its own, with the name it gives itself, its session and its share of calls."""

import re
import time
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.bench.agents.rules import DoorRules, DoorVotes
from workbench.bench.open import Workbench
from workbench.core.errors import WorkbenchError

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

    from workbench.bench.agents.door import AgentDoor
    from workbench.bench.agents.reading_log import ReadingLog

UNNAMED = "agent"
"""What a client is called that gives no name, or none that can be read."""

_LONGEST = 40
_MOST = 256
"""Clients that are known at once; the one that came first is forgotten then."""

_MINUTE_S = 60.0

PER_MINUTE = 120
"""Calls that one client may make in a minute."""

Key = TypeVar("Key")
Value = TypeVar("Value")


CLIENT = "workbench.client"
"""Where in what a web server knows of a request the id stands that it gave the client, and the client gave back."""

_WITHOUT_SESSIONS = "2026-07-28"
"""The protocol from which HTTP knows no sessions: what a request says of one is the client's word."""


@dataclass(slots=True)
class Share:
    """When a client called in the last minute, whatever it calls itself."""

    calls: deque[float] = field(default_factory=deque)

    def wait(self, per_minute: int, now: float) -> float:
        """Count a call; return how many seconds to wait when there were too many in the last minute, else 0."""
        while self.calls and now - self.calls[0] >= _MINUTE_S:
            self.calls.popleft()
        if len(self.calls) >= per_minute:
            return _MINUTE_S - (now - self.calls[0])
        self.calls.append(now)
        return 0.0


@dataclass(frozen=True, slots=True)
class Client:
    """One client: its door, its share of calls, and for a first call the share of all who are not known yet."""

    door: "AgentDoor"
    share: Share
    newcomers: Share | None = None


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
        self._doors: dict[tuple[str, str], AgentDoor] = {}
        self._shares: dict[str, Share] = {}
        self._newcomers = Share()

    @cached_property
    def log(self) -> "ReadingLog":
        """What they read, to be kept."""
        from workbench.bench.agents.reading_log import ReadingLog

        return ReadingLog(self.bench.follow)

    def of(self, ctx: "Context[Any, Any]") -> Client:
        """Return the client that asks."""
        agent = self._agent or name_of(ctx)
        session = self._session(ctx)
        door = self._doors.get((agent, session))
        if door is None:
            from workbench.bench.agents.door import AgentDoor  # a client that only lists the tools waits for none

            door = AgentDoor(self.bench, agent, session, self.log, self._rules, self._voted, parent=self._parent)
            _remember(self._doors, (agent, session), door)
        whose = _connection(ctx)
        share = self._shares.pop(whose, None)
        newcomers = self._newcomers if share is None and not _issued(ctx) else None
        share = share or Share()
        _remember(self._shares, whose, share)
        return Client(door, share, newcomers)

    def admit(self, client: Client) -> None:
        """Count a call of a client. Raises `WorkbenchError` when it made too many in the last minute.

        Who keeps no id and takes a new connection for each call is a newcomer each time: newcomers have one share.
        """
        now = self._clock()
        wait = client.share.wait(PER_MINUTE, now)
        if not wait and client.newcomers is not None:
            wait = client.newcomers.wait(PER_MINUTE, now)
        if wait:
            message = f"That were more than {PER_MINUTE} calls in a minute."
            raise WorkbenchError(message, f"Wait {wait:.0f} seconds.")

    def _session(self, ctx: "Context[Any, Any]") -> str:
        """Return the session: of the process, or the one that the server gave an HTTP client."""
        given = _issued(ctx)
        return f"{self._own}-{given[:12]}" if given else self._own


def _issued(ctx: "Context[Any, Any]") -> str:
    """Return what the server gave an HTTP client: a session, or an id where the protocol knows no sessions.

    Empty over stdio, and for a client that keeps no id.
    """
    given = (ctx.headers or {}).get("mcp-session-id", "")
    is_checked = (ctx.protocol_version or "") < _WITHOUT_SESSIONS
    if is_checked and re.fullmatch(r"[A-Za-z0-9-]{8,64}", given):
        return given
    return str(getattr(ctx.request_context.request, "scope", {}).get(CLIENT, ""))


def _connection(ctx: "Context[Any, Any]") -> str:
    """Return what tells one client's calls from another's: its session, or else its connection; empty over stdio."""
    peer = getattr(ctx.request_context.request, "client", None)
    return _issued(ctx) or ("" if peer is None else f"{peer.host}:{peer.port}")


def _remember(known: dict[Key, Value], key: Key, value: Value) -> None:
    """Keep something of a client, and forget what belongs to the one that came first when there are too many."""
    known[key] = value
    if len(known) > _MOST:
        del known[next(iter(known))]


def name_of(ctx: "Context[Any, Any]") -> str:
    """Return what a client calls itself, as a name that is a label and nothing more."""
    params = getattr(ctx.session, "client_params", None)
    info = getattr(params, "client_info", None)
    return cleaned_name(str(getattr(info, "name", "") or ""))


def cleaned_name(name: str) -> str:
    """Return letters, digits and dashes of a name, in lower case; `UNNAMED` where none are left."""
    kept = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._")
    return kept[:_LONGEST].strip("-._") or UNNAMED
