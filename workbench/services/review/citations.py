"""What citations mean: the memory behind an id, also after a merge, and the tree down to raw events."""

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workbench.core.stream.memory import Memory
from workbench.store.library import Library, Touched

MAX_DEPTH = 8
"""Levels of citations that a tree shows."""

MAX_CITED = 80
"""Citations that a tree shows."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation: the id as written, and the memory it means (`None` when it is not in the store).

    After a merge that is the memory which the cited one became.
    """

    id: str
    memory: Memory | None

    @property
    def merged(self) -> bool:
        """Whether the cited memory was merged into another, which stands for it now."""
        return self.memory is not None and self.memory.id != self.id

    @property
    def gone(self) -> str:
        """Why the citation no longer supports anything, or an empty text."""
        if self.memory is None:
            return "not in this store"
        return self.memory.archived_reason or "archived" if self.memory.status == "archived" else ""


@dataclass(frozen=True, slots=True)
class Branch:
    """A citation in a tree: its depth (0: cited by the item itself), and whether it stands above already."""

    cited: Cited
    depth: int
    again: bool = False


class Citations:
    """Looks citations up; callable from any thread."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._lock = threading.Lock()
        self._became: dict[str, str] | None = None
        self._dirty: set[str] = set()
        # A lock of its own: a change must never wait for a look through a large store.
        self._dirty_lock = threading.Lock()
        library.listen(self._note)

    def cited(self, ids: Iterable[str]) -> tuple[Cited, ...]:
        """Return the memories that ids mean."""
        return tuple(Cited(id, self.meant(id)) for id in ids)

    def meant(self, id: str) -> Memory | None:
        """Return the memory with an id, or the one it was merged into."""
        seen: set[str] = set()
        while id not in seen:
            seen.add(id)
            memory = self._library.memories.find(id)
            if memory is not None and memory.archived_reason != "merged":
                return memory
            into = None if memory is None else memory.metadata.get("merged_into")
            id = into if isinstance(into, str) else self._alias(id)
            if not id:
                return memory
        return None

    def tree(self, ids: Iterable[str], root: str = "") -> tuple[Branch, ...]:
        """Return citations with what they cite in turn, each right above its own; `root` is what cites them.

        What was shown already is not opened again, so a circle ends. At most `MAX_CITED` are returned.
        """
        found: list[Branch] = []
        for branch in self._walk(ids, 0, {root}):
            found.append(branch)
            if len(found) == MAX_CITED:
                break
        return tuple(found)

    def _walk(self, ids: Iterable[str], depth: int, seen: set[str]) -> Iterator[Branch]:
        for cited in self.cited(ids):
            name = cited.id if cited.memory is None else cited.memory.id
            yield Branch(cited, depth, name in seen)
            if cited.memory is None or name in seen:
                continue
            seen.add(name)
            if depth + 1 < MAX_DEPTH:
                yield from self._walk(cited.memory.citations, depth + 1, seen)

    def _note(self, touched: Touched) -> None:
        with self._dirty_lock:
            self._dirty.update(key for table, key in touched.keys if table == "memories")

    def _alias(self, id: str) -> str:
        """Return the id of a memory that carries another as its alias; the store is read through once."""
        memories = self._library.memories
        with self._lock:
            with self._dirty_lock:
                dirty, self._dirty = self._dirty, set()
            if self._became is None:
                self._became, fresh = {}, memories.all()
            else:
                fresh = [m for key in dirty if (m := memories.find(key)) is not None]
            self._became.update((alias, m.id) for m in fresh for alias in m.aliases)
            into = self._became.get(id, "")
        holder = memories.find(into) if into else None
        return into if holder is not None and id in holder.aliases else ""
