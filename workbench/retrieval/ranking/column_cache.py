"""A bounded memory of columns that were computed before."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import RLock
from typing import Any, TypeVar

V = TypeVar("V")


class ColumnCache:
    """Keeps the most recently used values up to `limit` bytes; safe to share between threads."""

    def __init__(self, limit: int = 512 << 20) -> None:
        self._limit = limit
        self._size = 0
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = RLock()

    def get(self, key: Hashable, make: Callable[[], V], size: Callable[[V], int]) -> V:
        """Return the value kept under `key`, making it first when needed; `size` tells its bytes."""
        with self._lock:
            kept = self._values.get(key)
            if kept is not None:
                self._values.move_to_end(key)
                value: V = kept[0]
                return value
            value = make()
            self._keep(key, value, size(value))
            return value

    def _keep(self, key: Hashable, value: object, size: int) -> None:
        self._values[key] = (value, size)
        self._size += size
        while self._size > self._limit and len(self._values) > 1:
            _, (_, freed) = self._values.popitem(last=False)
            self._size -= freed
