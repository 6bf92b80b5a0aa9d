"""Adding memories without loading the store, for hooks that live for a tenth of a second.

Only the tail of the active segment is read: the last revision, the next free id and the latest
memories stand there or in the segment's header.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.core.errors import InvalidRecord, StoreProblem
from workbench.core.memory import Memory, check_memory
from workbench.core.record import from_doc, iso
from workbench.core.trigger import ReflectionState, record_observation
from workbench.store import chain, quick_lock, segments
from workbench.store.codec import BadLine, seal, unseal
from workbench.store.entry import ABSENT, Doc, DocChange, Entry, diff_docs, to_json
from workbench.store.lock import cannot_read, cannot_write
from workbench.store.naming import COUNTERS, key_of, memory_id, memory_number, to_document
from workbench.store.segments import NAME

Clock = Callable[[], datetime]

_TABLE = "memories"
_GAUGE = "reflection"
_RECENT = 10
_REACH = 1 << 20
"""Bytes of the tail that are searched for the latest memories before the header's are taken."""


@dataclass(slots=True)
class _Tail:
    rev: int = 0
    next_ids: dict[str, int] = field(default_factory=dict)
    recent: list[Doc] = field(default_factory=list)
    later: dict[str, dict[str, Any] | None] = field(default_factory=dict)


class Appending:
    """Memories about to be added as one transaction. `recent` holds up to ten latest ones, newest last."""

    def __init__(self, tail: _Tail) -> None:
        self.recent = tuple(_readable(tail.recent))
        self._next = tail.next_ids.get(_TABLE, 1)
        self._next_gauge = tail.next_ids.get(_GAUGE, 1)
        self._added: dict[str, Doc] = {}
        self._counted = ReflectionState()
        self.label = ""
        """Says what is done better than what was said when it began, when it is set."""

    @property
    def changes(self) -> tuple[DocChange, ...]:
        """What was added so far."""
        diffs = (diff_docs(_TABLE, doc_id, None, doc, COUNTERS) for doc_id, doc in self._added.items())
        return (*(change for change in diffs if change is not None), *self._moved_gauge())

    @property
    def next_ids(self) -> dict[str, int]:
        """The next free document ids of the tables that are written to."""
        first = self._counted.observations_since_last and self._next_gauge == 1
        return {_TABLE: self._next, **({_GAUGE: 2} if first else {})}

    def new_memory_id(self, at: datetime) -> str:
        """Take a fresh memory id; no two processes ever get the same one."""
        self._next += 1
        return memory_id(at, self._next - 1)

    def add(self, memory: Memory) -> None:
        """Add a memory with an id from `new_memory_id`; raises `InvalidRecord`."""
        check_memory(memory)
        number = memory_number(memory.id)
        if number is None or number >= self._next:
            raise InvalidRecord(f"{memory.id} was not handed out here.", "Nothing was written.")
        self._added[str(number)] = to_document(memory)

    def count(self, importance: float, at: datetime) -> None:
        """Let the reflection gauge count one observation."""
        self._counted = record_observation(self._counted, importance, at)

    def _moved_gauge(self) -> Iterator[DocChange]:
        """Move the gauge by what was counted; where it stands need not be known, only whether there is one."""
        counted = self._counted
        if not counted.observations_since_last:
            return
        if self._next_gauge == 1:
            first = diff_docs(_GAUGE, "1", None, to_document(counted), COUNTERS)
            assert first is not None
            yield first
            return
        steps = {
            "accumulated_importance": counted.accumulated_importance,
            "observations_since_last": counted.observations_since_last,
        }
        yield DocChange(_GAUGE, str(self._next_gauge - 1), inc=steps)


@contextmanager
def appending(folder: Path, actor: str, label: str, clock: Clock) -> Iterator[Appending]:
    """Open a transaction that can only add memories; it is committed when the block ends without an error.

    A folder that has no journal yet is opened in full once. Raises `StoreProblem`.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    if not (folder / NAME).exists():
        _begin(folder, clock)
    with quick_lock.held(folder):
        tail = _read_tail(folder)
        if tail is None:
            raise StoreProblem(f"{folder} has no journal that can be added to.", "Nothing was changed.")
        block = Appending(tail)
        yield block
        if block.changes:
            _commit(folder, block, tail, Entry(tail.rev + 1, iso(clock()), actor, block.label or label, block.changes))


def append(folder: Path, actor: str, label: str, clock: Clock, make: Callable[[Appending], None]) -> None:
    """Let `make` add memories as one transaction (see `appending`)."""
    with appending(folder, actor, label, clock) as block:
        make(block)


def _begin(folder: Path, clock: Clock) -> None:
    """Open the store in full, which is only loaded here, so that it has a segment to add to."""
    from workbench.store.engine import Journal

    Journal(folder, clock, COUNTERS, key_of).begin()


def _commit(folder: Path, block: Appending, tail: _Tail, entry: Entry) -> None:
    own = block.next_ids
    everything = segments.carries_all_ids(entry.rev, len(entry.changes))
    next_ids = {**tail.next_ids, **own} if everything else own
    line = seal({**to_json(entry), "next": next_ids})
    try:
        segments.append(folder / NAME, line)
    except OSError as error:
        raise cannot_write(folder, error) from error


def _read_tail(folder: Path) -> _Tail | None:
    """Read back from the end until everything is known, or to the header; `None` when there is no segment."""
    try:
        segments.check_is_journal(folder / NAME)
        segments.cut_torn_tail(folder / NAME)
        active = chain.open_active(folder)
        if active is None:
            return None
        with active[0] as handle:
            return _collect(segments.lines_back(handle))
    except OSError as error:
        raise cannot_read(folder, error) from error


def _collect(lines: Iterator[bytes]) -> _Tail | None:
    tail, reach, complete = _Tail(), 0, False
    for raw in lines:
        reach += len(raw)
        if complete and (len(tail.recent) >= _RECENT or reach > _REACH):
            break
        try:
            value = unseal(raw)
        except BadLine:
            continue
        tail.rev = max(tail.rev, value.get("rev", 0))
        for table, number in value.get("next", {}).items():
            tail.next_ids.setdefault(table, number)
        if segments.is_header(value):
            complete = True
            _take_header(tail, value)
            break
        has_all = segments.carries_all_ids(value.get("rev", 1), len(value.get("changes", [])))
        complete = complete or (has_all and _TABLE in tail.next_ids)
        _take_entry(tail, value)
    if not complete:
        return None
    tail.recent = list(reversed(tail.recent[:_RECENT]))
    return tail


def _take_entry(tail: _Tail, value: dict[str, Any]) -> None:
    for change in reversed(value.get("changes", [])):
        if change.get("table") != _TABLE or "id" not in change:
            continue
        doc_id, op = change["id"], change.get("op", "update")
        now = {name: sides[1] for name, sides in change.get("fields", {}).items()}
        if op == "delete":
            tail.later.setdefault(doc_id, None)
        elif op == "update" and (known := tail.later.setdefault(doc_id, {})) is not None:
            tail.later[doc_id] = {**now, **known}
        elif op == "insert" and (known := tail.later.setdefault(doc_id, {})) is not None:
            tail.recent.append({name: v for name, v in {**now, **known}.items() if v is not None and v is not ABSENT})


def _take_header(tail: _Tail, value: dict[str, Any]) -> None:
    """Fill up with the memories that stood in the header; they may have been changed since, which is no harm here."""
    known = {doc.get("id") for doc in tail.recent}
    older = reversed(value.get("recent", {}).get(_TABLE, []))
    tail.recent += [doc for doc in older if doc.get("id") not in known]


def _readable(docs: list[Doc]) -> Iterator[Memory]:
    for doc in docs:
        try:
            yield from_doc(Memory, doc)
        except InvalidRecord:
            continue
