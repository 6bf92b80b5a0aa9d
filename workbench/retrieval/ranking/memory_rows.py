"""What a pool ranks; a memory is read from its document when it is first looked at."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, overload

from workbench.core.document import from_doc
from workbench.core.record import Doc
from workbench.core.stream.memory import Memory
from workbench.retrieval.text import content_and_summary


class MemoryRows(Sequence[Memory]):
    """Memories, or documents that are known to be readable, in row order; immutable but for what it has read.

    A store is opened to answer a question, and the answer shows ten memories of a hundred thousand.
    """

    def __init__(self, items: Iterable[Memory | Doc]) -> None:
        self._items = list(items)

    @classmethod
    def unread(cls, places: Sequence[str], read: Callable[[str], Doc]) -> "MemoryRows":
        """Return rows whose documents are read when they are looked at, by the places they are found by."""
        return _UnreadRows(places, read)

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, row: int) -> Memory: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Memory]: ...
    def __getitem__(self, row: int | slice) -> Memory | Sequence[Memory]:
        if isinstance(row, slice):
            return [self[at] for at in range(*row.indices(len(self)))]
        item = self._item(row)
        if isinstance(item, Memory):
            return item
        memory = self._items[row] = from_doc(Memory, item)
        return memory

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemoryRows) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def text(self, row: int) -> tuple[str, str]:
        """Return content and summary of a memory, without reading the rest."""
        item = self._item(row)
        if isinstance(item, Memory):
            return content_and_summary(item)
        return str(item["content"]), str(item.get("summary") or "")

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield content and summary of each memory."""
        return map(self.text, range(len(self._items)))

    def values(self, name: str) -> Iterator[object]:
        """Yield one field of each memory, `None` where it has none or its document leaves it out."""
        items = map(self._item, range(len(self._items)))
        return (m.get(name) if isinstance(m, dict) else getattr(m, name, None) for m in items)

    def replaced(self, memories: Mapping[int, Memory]) -> Self:
        """Return the rows with other memories in some places."""
        rows = self._with(self._items)
        for row, memory in memories.items():
            rows._items[row] = memory
        return rows

    def added(self, memories: Iterable[Memory]) -> Self:
        """Return the rows with more at the end."""
        return self._with([*self._items, *memories])

    def _item(self, row: int) -> Memory | Doc:
        return self._items[row]

    def _with(self, items: Iterable[Memory | Doc]) -> Self:
        return type(self)(items)


class _UnreadRows(MemoryRows):
    """Rows that stand for their documents until these are looked at."""

    def __init__(self, items: Iterable[Any], read: Callable[[str], Doc]) -> None:
        super().__init__(items)
        self._read = read

    def _item(self, row: int) -> Memory | Doc:
        item: Any = self._items[row]
        if isinstance(item, str):
            item = self._items[row] = self._read(item)
        found: Memory | Doc = item
        return found

    def _with(self, items: Iterable[Memory | Doc]) -> Self:
        return type(self)(items, self._read)
