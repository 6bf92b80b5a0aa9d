"""Keeps what agents read without their waiting for it: several readings together, a moment later, on a thread."""

import contextlib
import threading
from collections.abc import Callable

from workbench.core.agents.read import AgentRead
from workbench.core.errors import WorkbenchError
from workbench.services.agents.reads import keep
from workbench.services.context import Context

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
