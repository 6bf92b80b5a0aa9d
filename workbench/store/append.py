"""Adding memories without loading the store, for hooks that live for a tenth of a second.

Only the tail of the active segment is read: the last revision, the next free id and the latest
memories stand there or in the segment's header. Where a line of it is damaged or out of order, or the file is not as
this machine left it, the store is opened in full instead.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.core.document import from_doc, to_doc
from workbench.core.files.locks import FileLock
from workbench.core.record import ABSENT, InvalidRecord, cannot_read, cannot_write, iso
from workbench.core.reflection.trigger import ReflectionState, record_observation
from workbench.core.stream.memory import Memory, check_memory
from workbench.store import identity
from workbench.store.entry import Doc, DocChange, Transaction, apply_change, diff_docs, to_json
from workbench.store.files import LOCK, overtaken, sweep
from workbench.store.identity import Head
from workbench.store.journal import segments
from workbench.store.journal.codec import BadLine, mark_of, seal, unseal
from workbench.store.journal.segments import NAME
from workbench.store.naming import memory_id, memory_number
from workbench.store.records import COUNTERS, table_of

if TYPE_CHECKING:
    from workbench.store.journal.state import Staged

Clock = Callable[[], datetime]
Gate = Callable[[Transaction, Mapping[str, Mapping[str, Doc]]], Transaction]

_TABLE, _GAUGE = table_of(Memory), table_of(ReflectionState)
_RECENT = 10
_REACH = 1 << 20
"""Bytes of the tail that are searched for the latest memories before the header's are taken."""


@dataclass(slots=True)
class _Tail:
    heading: segments.Heading = field(default_factory=lambda: segments.Heading(0))
    head: Head | None = None
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
        self.rev = tail.rev + 1
        """The number of the change that this becomes."""
        self.label = ""
        """Says what is done better than what was said when it began, when it is set."""
        gone = tail.head.gone if tail.head is not None else ()
        self.notices: tuple[str, ...] = tuple(map(str, gone))
        """What a person should be told about the store."""

    def changes(self) -> tuple[DocChange, ...]:
        """Return what was added so far."""
        diffs = (diff_docs(_TABLE, doc_id, None, doc, COUNTERS) for doc_id, doc in self._added.items())
        return (*(change for change in diffs if change is not None), *self._moved_gauge())

    def stage(self, staged: "Staged") -> None:
        """Hand what was added so far to the transaction of a store that is open in full."""
        staged.label = self.label
        for doc_id, doc in self._added.items():
            staged.put(_TABLE, doc_id, doc)
        for moved in self._moved_gauge():
            gauge = apply_change(staged.get(_GAUGE, moved.doc), moved)
            if gauge is not None:
                staged.put(_GAUGE, moved.doc, gauge)

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
        self._added[str(number)] = to_doc(memory)

    def count(self, importance: float, at: datetime) -> None:
        """Let the reflection gauge count one observation."""
        self._counted = record_observation(self._counted, importance, at)

    def _moved_gauge(self) -> Iterator[DocChange]:
        """Move the gauge by what was counted; where it stands need not be known, only whether there is one."""
        counted = self._counted
        if not counted.observations_since_last:
            return
        if self._next_gauge == 1:
            sides = {name: (ABSENT, value) for name, value in to_doc(counted).items()}
            yield DocChange(_GAUGE, "1", "insert", sides)
            return
        steps = {
            "accumulated_importance": counted.accumulated_importance,
            "observations_since_last": counted.observations_since_last,
        }
        yield DocChange(_GAUGE, str(self._next_gauge - 1), inc=steps)


@contextmanager
def appending(
    folder: Path,
    actor: str,
    label: str,
    clock: Clock,
    heads_folder: Path | None = None,
    gate: Gate | None = None,
) -> Iterator[Appending]:
    """Open a transaction that can only add memories; it is committed when the block ends without an error.

    A folder that has no journal yet is opened in full once, and so is one whose tail cannot be trusted.
    `heads_folder` is where this machine remembers what it stored (see `heads`). The transaction passes the `gate`
    first, which is shown no documents where none were loaded. Raises `StoreProblem`.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    lock = FileLock(folder / LOCK, with_folder=True)
    with lock.held():
        sweep(folder)
        tail = _read_tail(folder, heads_folder)
        if tail is not None:
            block = Appending(tail)
            yield block
            if changes := block.changes():
                if lock.renew() and ((now := _read_tail(folder, heads_folder)) is None or now.rev != tail.rev):
                    raise overtaken(folder)
                entry = Transaction(tail.rev + 1, iso(clock()), actor, block.label or label, changes)
                entry = entry if gate is None else gate(entry, {})
                _commit(folder, block, tail, entry, heads_folder)
            return
    with _in_full(folder, actor, label, clock, heads_folder, gate) as block:
        yield block


def append(
    folder: Path,
    actor: str,
    label: str,
    clock: Clock,
    make: Callable[[Appending], None],
    heads_folder: Path | None = None,
) -> None:
    """Let `make` add memories as one transaction (see `appending`)."""
    with appending(folder, actor, label, clock, heads_folder) as block:
        make(block)


@contextmanager
def _in_full(
    folder: Path, actor: str, label: str, clock: Clock, heads_folder: Path | None, gate: Gate | None
) -> Iterator[Appending]:
    """Open the store in full, which is only loaded here, and add to it there."""
    from workbench.store.journal.engine import Journal, Options

    options = Options(checkpoint_every=0, recent_of=(_TABLE,), adds=True)
    journal = Journal(folder, clock, COUNTERS, options, heads_folder)
    journal.begin()
    journal.gate = gate
    with journal.transaction(actor, label) as staged:
        state = journal.state
        docs = [doc for _, doc in state.latest(_TABLE, _RECENT)]
        gauges = state.docs(_GAUGE)
        next_ids = {_TABLE: state.next_id(_TABLE), **({_GAUGE: int(next(reversed(gauges))) + 1} if gauges else {})}
        block = Appending(_Tail(rev=journal.rev, next_ids=next_ids, recent=docs))
        block.notices = (*dict.fromkeys(map(str, (*journal.notices, *journal.damage))),)
        yield block
        block.stage(staged)


def _commit(folder: Path, block: Appending, tail: _Tail, entry: Transaction, heads_folder: Path | None) -> None:
    own = block.next_ids
    everything = segments.carries_all_ids(entry.rev, len(entry.changes))
    next_ids = {**tail.next_ids, **own} if everything else own
    line = seal({**to_json(entry), "next": next_ids})
    identity.note_lines(heads_folder, tail.heading.store, [identity.fingerprint_of(line)])
    try:
        _, seen = segments.append(folder / NAME, line)
    except segments.Uncertain as error:
        if tail.head is not None:
            identity.note(heads_folder, tail.head._replace(unsure=entry.rev))
        raise segments.cannot_know(folder, error) from error
    except OSError as error:
        raise cannot_write(folder, error) from error
    if heads_folder is not None:
        identity.note(heads_folder, _head_after(folder, tail, entry.rev, mark_of(line[:-1]), identity.look_of(seen)))


def _head_after(folder: Path, tail: _Tail, rev: int, mark: str, look: str) -> Head:
    """Return the head that says what was just written."""
    before, heading = tail.head, tail.heading
    known = before or Head(os.path.realpath(folder), heading.store, 0, "")
    return known._replace(rev=rev, mark=mark, edition=heading.edition, look=look)


def _read_tail(folder: Path, heads_folder: Path | None) -> _Tail | None:
    """Read back from the end until everything is known, or to the header; `None` when the tail cannot be trusted."""
    path = folder / NAME
    try:
        active = segments.open_active(folder)
        if active is None:
            return None
        with active[0] as handle:
            segments.check_is_journal(path)
            store = active[1].store or segments.store_id(folder)
            head = identity.read(heads_folder, store, folder) if store else None
            if not store or (head is not None and (head.unsure or head.look != identity.look_at(folder))):
                return None
            segments.mend_tail(path)
            tail = _Tail(active[1] if active[1].store else active[1]._replace(store=store), head)
            return _collect(segments.lines_back(handle), tail)
    except OSError as error:
        raise cannot_read(folder, error) from error


def _collect(lines: Iterator[bytes], tail: _Tail) -> _Tail | None:
    reach, complete = 0, False
    last = 0
    for raw in lines:
        reach += len(raw)
        if complete and (len(tail.recent) >= _RECENT or reach > _REACH):
            break
        try:
            value = unseal(raw)
        except BadLine:
            return None
        rev = value.get("rev", 0)
        if last and rev >= last + segments.is_header(value):
            return None
        last, tail.rev = rev, max(tail.rev, rev)
        for table, number in value.get("next", {}).items():
            tail.next_ids.setdefault(table, number)
        if segments.is_header(value):
            complete = True
            _take_header(tail, value)
            break
        has_all = segments.carries_all_ids(rev, len(value.get("changes", [])))
        complete = complete or (has_all and _TABLE in tail.next_ids)
        _take_entry(tail, value)
    if not complete:
        return None
    tail.recent = list(reversed(tail.recent[:_RECENT]))
    return tail


def _take_entry(tail: _Tail, value: dict[str, Any]) -> None:
    """Take over the memories that an entry added, the last ones first, until there are enough.

    An import is one entry, of thousands. What it changed before those that are taken no longer matters then.
    """
    for change in reversed(value.get("changes", [])):
        if len(tail.recent) >= _RECENT:
            return
        if change.get("table") != _TABLE or "id" not in change:
            continue
        doc_id, op = change["id"], change.get("op", "update")
        now = change.get("doc") or {name: sides[1] for name, sides in change.get("fields", {}).items()}
        if op == "delete":
            tail.later.setdefault(doc_id, None)
        elif op == "update" and (known := tail.later.setdefault(doc_id, {})) is not None:
            tail.later[doc_id] = {**now, **known}
        elif op == "insert" and (known := tail.later.setdefault(doc_id, {})) is not None:
            tail.recent.append({name: v for name, v in {**now, **known}.items() if v is not None and v is not ABSENT})


def _take_header(tail: _Tail, value: dict[str, Any]) -> None:
    """Fill up with the memories that stood in the header, as they are since."""
    known = {doc.get("id") for doc in tail.recent}
    older = reversed(value.get("recent", {}).get(_TABLE, []))
    since = ((doc, _later(tail, doc)) for doc in older if doc.get("id") not in known)
    tail.recent += [{**doc, **later} for doc, later in since if later is not None]


def _later(tail: _Tail, doc: Doc) -> dict[str, Any] | None:
    """Return what was changed of a memory of the header, `None` of a deleted one; a foreign id's is not known."""
    number = memory_number(str(doc.get("id")))
    return tail.later.get(str(number), {})


def _readable(docs: list[Doc]) -> Iterator[Memory]:
    for doc in docs:
        try:
            yield from_doc(Memory, doc)
        except InvalidRecord:
            continue
