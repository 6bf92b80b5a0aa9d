"""The journal engine: the one write path of a store.

Every change is a transaction: staged, turned into one line, appended and fsynced under the
write lock, then applied in memory. Other processes' lines are read from the tail.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from workbench.core.errors import StoreProblem
from workbench.core.record import iso
from workbench.store import checkpoint, segments
from workbench.store.entry import Doc, DocChange, Entry, Kind, diff_docs, from_json, to_json
from workbench.store.lock import WriteLock, cannot_read, cannot_write
from workbench.store.segments import Damage, Position
from workbench.store.state import KeyOf, State, id_field

Clock = Callable[[], datetime]
Listener = Callable[[Entry], None]

CHECKPOINT_EVERY = 5000
"""Revisions after which a checkpoint is due."""


class Staged:
    """The documents a transaction has touched so far, over the state it started from.

    `keys` maps (table, record key) to the document id that a new record was given here.
    """

    def __init__(self, state: State, counters: frozenset[str]) -> None:
        self._state = state
        self._counters = counters
        self.docs: dict[tuple[str, str], Doc | None] = {}
        self.tables: dict[str, DocChange] = {}
        self.next_ids: dict[str, int] = {}
        self.keys: dict[tuple[str, str], str] = {}

    def get(self, table: str, doc_id: str) -> Doc | None:
        """Return a document as this transaction sees it."""
        key = (table, doc_id)
        return self.docs[key] if key in self.docs else self._state.get(table, doc_id)

    def put(self, table: str, doc_id: str, doc: Doc) -> None:
        """Insert or replace a document."""
        self.docs[table, doc_id] = doc
        self._raise_next_id(table, int(doc_id) + 1)

    def delete(self, table: str, doc_id: str) -> None:
        """Remove a document; one that is not there is no change."""
        self.docs[table, doc_id] = None

    def ensure_table(self, table: str) -> None:
        """Make an empty table."""
        if table not in self._state.tables:
            self.tables[table] = DocChange(table, "", "table")

    def drop_table(self, table: str) -> None:
        """Remove a table with all its documents."""
        for doc_id in self._state.tables.get(table, {}):
            self.delete(table, doc_id)
        self.tables[table] = DocChange(table, "", "drop")

    def allocate(self, table: str) -> int:
        """Take the next free document id."""
        taken = max(self._state.next_id(table), self.next_ids.get(table, 0))
        self.next_ids[table] = taken + 1
        return taken

    def changes(self) -> tuple[DocChange, ...]:
        """Return what really differs from the state, in the order it was first touched."""
        made = [c for c in self.tables.values() if c.op == "table"]
        dropped = [c for c in self.tables.values() if c.op == "drop"]
        diffs = (
            diff_docs(table, doc_id, self._state.get(table, doc_id), doc, self._counters)
            for (table, doc_id), doc in self.docs.items()
        )
        return (*made, *(d for d in diffs if d is not None), *dropped)

    def _raise_next_id(self, table: str, least: int) -> None:
        if least > max(self._state.next_id(table), self.next_ids.get(table, 0)):
            self.next_ids[table] = least


class Journal:
    """An open store folder. Reads are in memory; `transaction` is the only way to change anything."""

    def __init__(
        self, folder: Path, clock: Clock, counters: frozenset[str] = frozenset(), key_of: KeyOf = id_field
    ) -> None:
        self.folder = folder
        self.clock = clock
        self.damage: list[Damage] = []
        self.notices: list[str] = []
        self._counters = counters
        self._listeners: list[Listener] = []
        self._staged: Staged | None = None
        self._lock = WriteLock(folder / "lock")
        self._tail = threading.RLock()
        try:
            loaded = checkpoint.load(folder, key_of)
        except OSError as error:
            raise cannot_read(folder, error) from error
        self.state = loaded.state
        self._position = loaded.position
        self._saved_rev = loaded.state.rev
        self._check_header()
        self.refresh()
        if loaded.stranger is not None:
            self._meet_stranger(loaded.stranger)

    @property
    def path(self) -> Path:
        """The active journal segment."""
        return self.folder / segments.NAME

    @property
    def rev(self) -> int:
        """The revision of the last transaction applied."""
        return self.state.rev

    def listen(self, listener: Listener) -> None:
        """Call `listener` with every transaction from now on, this process's and others'."""
        self._listeners.append(listener)

    def refresh(self) -> int:
        """Apply what other processes appended since the last look; return how many transactions came."""
        try:
            if self.path.stat().st_size == self._position.offset:
                return 0
        except FileNotFoundError:
            return 0
        with self._tail:
            return sum(self._take(line) for line in segments.read_from(self.path, self._position))

    @contextmanager
    def transaction(
        self, actor: str, label: str, *, group: str = "", part: int = 1, kind: Kind = "edit", target: int = 0
    ) -> Iterator[Staged]:
        """Stage changes and commit them as one line when the block ends without an error.

        A block inside another one joins it. Raises `StoreProblem` when the line cannot be
        written; nothing is changed then.
        """
        with self._lock.held():
            if self._staged is not None:
                yield self._staged
                return
            self._read_tail()
            self._staged = staged = Staged(self.state, self._counters)
            try:
                yield staged
                changes = staged.changes()
                if changes:
                    head = Entry(self.rev + 1, iso(self.clock()), actor, label, changes, kind, group, part, target)
                    self._commit(head, staged.next_ids)
            finally:
                self._staged = None

    def entries_back(self) -> Iterator[Entry]:
        """Yield the transactions, newest first; damaged lines are passed over."""
        for value in segments.read_back(self.path):
            if "changes" in value:
                yield from_json(value)

    def save_checkpoint(self) -> None:
        """Write the checkpoint when there is anything new; raises `StoreProblem`."""
        if self.rev == self._saved_rev and (self.folder / checkpoint.DOCUMENTS).exists():
            return
        with self._lock.held():
            self._read_tail()
            try:
                checkpoint.save(self.folder, self.state, self._position)
            except OSError as error:
                raise cannot_write(self.folder, error) from error
            self._saved_rev = self.rev

    @property
    def revisions_since_checkpoint(self) -> int:
        """How many transactions a start would have to replay."""
        return self.rev - self._saved_rev

    def _take(self, line: segments.Line) -> bool:
        """Move past one line; apply it when it is a transaction, note it when it is damaged."""
        self._position = line.after
        if line.damage is not None:
            self.damage.append(line.damage)
        if line.value is None or "changes" not in line.value:
            return False
        self._apply(from_json(line.value))
        return True

    def _commit(self, head: Entry, next_ids: dict[str, int]) -> None:
        entry = replace(head, next_ids=next_ids)
        values = [to_json(entry)]
        if not self.path.exists():
            values.insert(0, segments.header(self.rev))
        with self._tail:
            try:
                size = segments.append(self.path, values)
            except OSError as error:
                raise cannot_write(self.folder, error) from error
            self._position = Position(size, self._position.line + len(values))
            self._apply(entry)

    def _apply(self, entry: Entry) -> None:
        self.state.apply(entry)
        for listener in self._listeners:
            listener(entry)

    def _read_tail(self) -> None:
        """Under the lock: take in other processes' lines and cut off what a crash left unfinished."""
        try:
            torn = segments.cut_torn_tail(self.path)
        except OSError as error:
            raise cannot_write(self.folder, error) from error
        if torn:
            self.notices.append(
                f"The last line of {segments.NAME} was unfinished ({len(torn)} bytes) and was dropped; "
                "it belongs to a change that was never confirmed."
            )
        self.refresh()

    def _check_header(self) -> None:
        first = next(segments.read_from(self.path, Position()), None)
        if first is not None and first.damage is None:
            segments.check_header(first.value, self.path)

    def _meet_stranger(self, data: bytes) -> None:
        """Take in a `memory.json` that this store did not write: adopt it if it is all there is, else set it aside."""
        tables = checkpoint.read_tables(data)
        if self.rev == 0 and tables is not None:
            with self.transaction("import:memory.json", "adopt a TinyDB file") as staged:
                for name, docs in tables.items():
                    staged.ensure_table(name)
                    for doc_id, doc in docs.items():
                        staged.put(name, doc_id, doc)
            return
        if self.rev == 0:
            file = self.folder / checkpoint.DOCUMENTS
            raise StoreProblem(f"{file} is not a TinyDB file.", "Nothing was changed; move it away to begin.")
        stamp = self.clock().strftime("%Y%m%dT%H%M%S")
        kept = self.folder / f"memory.edited-{stamp}.json"
        try:
            checkpoint.write_atomically(kept, data)
        except OSError as error:
            raise cannot_write(self.folder, error) from error
        self.notices.append(
            f"{checkpoint.DOCUMENTS} was changed by another program; its content was kept as {kept.name} "
            "and the journal's state stands."
        )
        self._saved_rev = -1
