"""Groups of transactions: numbering their parts, and which ones never came to their end."""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping

from workbench.store.entry import Transaction
from workbench.store.journal.state import Keys

# Telling listeners what was committed, in order and without holding any lock.


Listener = Callable[[Transaction, Keys], None]


class Announcer:
    """A queue of applied transactions and those who want to hear of them."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._pending: deque[tuple[Transaction, Keys]] = deque()
        self._delivering = threading.Lock()

    def listen(self, listener: Listener) -> None:
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


_KNOWN = 256


class Groups:
    """What is known of the latest groups. `unfinished` maps a group to its label."""

    def __init__(self, unfinished: Mapping[str, str]) -> None:
        self.unfinished = dict(unfinished)
        self._parts: OrderedDict[str, int] = OrderedDict()

    def part(self, entry: Transaction) -> int:
        """Return the number of a new part: the one it has, or the next one when that is taken."""
        known = self._parts.get(entry.group, 0) if entry.group and entry.kind == "edit" else 0
        return max(entry.part, known + 1)

    def apply(self, entry: Transaction) -> None:
        """Take a committed transaction into account."""
        if not entry.group:
            return
        if entry.kind == "edit":
            self._parts[entry.group] = max(entry.part, self._parts.pop(entry.group, 0))
            while len(self._parts) > _KNOWN:
                self._parts.popitem(last=False)
        if entry.kind == "edit" and entry.more:
            self.unfinished[entry.group] = entry.label
        else:
            self.unfinished.pop(entry.group, None)
