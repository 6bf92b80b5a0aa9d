"""A bounded memory of columns that were computed before."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

V = TypeVar("V")


class ColumnCache:
    """Keeps the most recently used values up to `limit` bytes; safe to share between threads."""

    def __init__(self, limit: int = 512 << 20) -> None:
        self._limit = limit
        self._size = 0
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._making: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], V], size: Callable[[V], int]) -> V:
        """Return the value kept under `key`, making it first when needed; `size` tells its bytes.

        Who asks for what another thread is making waits for that, and for nothing else. `make` may ask for other keys.
        """
        found = self._found(key)
        if found is None:
            with self._lock:
                making = self._making.setdefault(key, Lock())
            with making:
                found = self._found(key) or self._made(key, make, size, making)
        value: V = found[0]
        return value

    def _found(self, key: Hashable) -> tuple[Any, int] | None:
        with self._lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
            return found

    def _made(self, key: Hashable, make: Callable[[], V], size: Callable[[V], int], making: Lock) -> tuple[V, int]:
        try:
            value = make()
            found = value, size(value)
            with self._lock:
                self._keep(key, *found)
            return found
        finally:
            with self._lock:
                if self._making.get(key) is making:
                    del self._making[key]

    def _keep(self, key: Hashable, value: object, size: int) -> None:
        _, before = self._values.pop(key, (None, 0))
        self._values[key] = (value, size)
        self._size += size - before
        while self._size > self._limit and len(self._values) > 1:
            _, (_, freed) = self._values.popitem(last=False)
            self._size -= freed
