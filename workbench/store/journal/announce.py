"""Telling listeners what was committed, in order and without holding any lock."""

import threading
from collections import deque
from collections.abc import Callable

from workbench.store.entry import Transaction
from workbench.store.journal.state import Keys

Listener = Callable[[Transaction, Keys], None]


class Announcer:
    """A queue of applied transactions and those who want to hear of them."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._pending: deque[tuple[Transaction, Keys]] = deque()
        self._delivering = threading.Lock()

    def listen(self, listener: Listener) -> None:
        """Add a listener."""
        self._listeners.append(listener)

    def add(self, entry: Transaction, keys: Keys) -> None:
        """Queue a transaction; nobody is called yet."""
        if self._listeners:
            self._pending.append((entry, keys))

    def deliver(self) -> None:
        """Call the listeners with what is queued; while another thread does so, it takes these along."""
        while self._pending and self._delivering.acquire(blocking=False):
            try:
                while self._pending:
                    entry, keys = self._pending.popleft()
                    for listener in self._listeners:
                        listener(entry, keys)
            finally:
                self._delivering.release()
