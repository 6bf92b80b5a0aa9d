"""Writing a journal's files anew as one chain: in order, when branches were merged, and from the
first line on that is changed.
"""

import gzip
import re
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from workbench.core.files.atomic import write_file
from workbench.core.health import Renumbered
from workbench.core.record import ABSENT
from workbench.store.entry import (
    Doc,
    DocChange,
    Transaction,
    apply_change,
    diff_docs,
    from_json,
    memory_number,
    to_json,
)
from workbench.store.files import CannotUnpack, TooLarge, open_lines, read_lines_of
from workbench.store.journal.codec import (
    START,
    BadLine,
    Seal,
    hash_of,
    read_line,
    read_seal,
    seal,
    sealed_in,
)
from workbench.store.journal.segments import (
    NAME,
    Line,
    Position,
    closed,
    follow,
    header,
    is_header,
    read_from,
)
from workbench.store.journal.state import State
from workbench.store.records import COUNTERS, NUMBERED, TOTALS, key_of

# Changes that stand under one number, or make a record where another lives: both are kept, the
# later gets a new one.
#
# Two branches of a journal that were merged line by line hold such changes. The ones that come
# later in the file keep their order among themselves and are put after all others; what they made
# gets the next free number where its own is taken, and they are rewritten so that they can be
# undone as if they had always stood there. Each keeps its uid.


_DIGITS = re.compile(r"(\d+)\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class MergedLog:
    """A journal in order, and the state it leads to."""

    entries: tuple[Transaction, ...]
    renumbered: tuple[Renumbered, ...]
    state: State


def merge_branches(read: Iterable[Transaction]) -> MergedLog:
    """Put the transactions of a journal, as the file has them, in order."""
    kept, branches = _sorted(list(read))
    work = _Work()
    for rev in sorted(kept):
        place, entry = kept[rev]
        # Somebody who had put a branch in order wrote on from there.
        while (
            branches
            and branches[0].place < place
            and work.state.rev + len(branches[0].entries) < rev
        ):
            work.move_all(branches.pop(0))
        work.take(entry)
    for branch in branches:
        work.move_all(branch)
    return MergedLog(tuple(work.entries), tuple(work.renumbered), work.state)


@dataclass(frozen=True, slots=True)
class _Branch:
    """Transactions whose numbers others have, and where in the file the first one stands."""

    place: int
    entries: list[Transaction]


def _sorted(
    read: list[Transaction],
) -> tuple[dict[int, tuple[int, Transaction]], list[_Branch]]:
    """Part the transactions into one (with its place) for each revision, and branches; of one that
    is said again, the one that was given another number stays.

    A branch begins with a revision that is taken and goes on as long as the numbers do.
    """
    latest = {entry.uid: entry for entry in sorted(read, key=lambda entry: entry.rev)}
    kept: dict[int, tuple[int, Transaction]] = {}
    branches: list[_Branch] = []
    before, moving = 0, False
    for place, entry in enumerate(read):
        if latest[entry.uid] is not entry:
            continue
        goes_on = moving and entry.rev == before + 1
        moving, before = goes_on or entry.rev in kept, entry.rev
        if not moving:
            kept[entry.rev] = (place, entry)
        elif goes_on:
            branches[-1].entries.append(entry)
        else:
            branches.append(_Branch(place, [entry]))
    return kept, branches


@dataclass(slots=True)
class _Names:
    """What the revisions, documents and records of one branch are called now."""

    revs: dict[int, int] = field(default_factory=dict)
    docs: dict[tuple[str, str], str] = field(default_factory=dict)
    records: dict[str, str] = field(default_factory=dict)

    def value(self, value: Any) -> Any:
        """Return a JSON value that speaks of the records by their present names."""
        if isinstance(value, str):
            return self.records.get(value, value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {name: self.value(item) for name, item in value.items()}
        return value

    def field(self, name: str, value: Any) -> Any:
        """Return the value of a field; the id of a record may be made up of those of others."""
        return self.text(value) if name == "id" and isinstance(value, str) else self.value(value)

    def text(self, text: str) -> str:
        """Return a text in which the records have their present names."""
        for old, new in self.records.items():
            text = re.sub(rf"{re.escape(old)}(?!\d)", lambda _, new=new: new, text)  # type: ignore[misc]
        return text


class _Work:
    """Applies one transaction after the other and rewrites those that need it."""

    def __init__(self) -> None:
        self.state = State()
        self.entries: list[Transaction] = []
        self.renumbered: list[Renumbered] = []
        self._floor: dict[str, int] = {}

    def take(self, entry: Transaction) -> None:
        """Apply a transaction under its own number; a record it makes where another one lives gets
        a new one.
        """
        if any(
            c.op == "insert" and self.state.get(c.table, c.doc) is not None for c in entry.changes
        ):
            names = _Names()
            fitted = self._fitted(entry, names)
            if fitted.changes != entry.changes:
                self.renumbered.append(
                    Renumbered(entry.rev, entry.rev, entry.label, tuple(names.records.items()))
                )
            entry = fitted
        self._apply(entry)

    def move_all(self, branch: _Branch) -> None:
        """Apply the transactions of a branch under the next numbers."""
        names = _Names()
        for entry in branch.entries:
            self._move(entry, names)

    def _move(self, entry: Transaction, names: _Names) -> None:
        rev = self.state.rev + 1
        known = dict(names.records)
        fitted = self._fitted(entry, names)
        new = tuple(pair for pair in names.records.items() if pair[0] not in known)
        self.renumbered.append(Renumbered(entry.rev, rev, entry.label, new))
        names.revs[entry.rev] = rev
        target = names.revs.get(entry.target, entry.target)
        takes = tuple(str(names.revs.get(int(k), k)) if k.isdigit() else k for k in entry.takes)
        moved = fitted._replace(
            rev=rev,
            target=target,
            takes=takes,
            label=names.text(entry.label),
        )
        self._apply(moved)

    def _apply(self, entry: Transaction) -> None:
        self.state.apply(entry)
        self.entries.append(entry)

    def _fitted(self, entry: Transaction, names: _Names) -> Transaction:
        """Return a transaction whose changes start from what is there now."""
        self._floor = {}
        for change in entry.changes:
            if change.op == "insert":
                self._floor[change.table] = max(
                    self._floor.get(change.table, 0), int(change.doc) + 1
                )
        changes = tuple(fit for change in entry.changes for fit in self._fit(change, names))
        ids = {
            table: max(number, self.state.next_id(table))
            for table, number in entry.next_ids.items()
        }
        for change in changes:
            if change.doc:
                ids[change.table] = max(
                    ids.get(change.table, self.state.next_id(change.table)), int(change.doc) + 1
                )
        return entry._replace(changes=changes, next_ids=ids)

    def _fit(self, change: DocChange, names: _Names) -> Iterator[DocChange]:
        if not change.doc or change.redacted:
            yield change
            return
        doc = names.docs.get((change.table, change.doc), change.doc)
        sides = {
            name: tuple(names.field(name, side) for side in both)
            for name, both in change.fields.items()
        }
        change = change._replace(doc=doc, fields=cast(dict[str, tuple[Any, Any]], sides))
        present = self.state.get(change.table, doc)
        new = apply_change(present, change)
        if change.op == "insert" and new is not None:
            yield from self._fit_new(change, new, names)
        elif (found := diff_docs(change.table, doc, present, new, COUNTERS)) is not None:
            yield found

    def _fit_new(self, change: DocChange, new: Doc, names: _Names) -> Iterator[DocChange]:
        """Fit in a new record: under another number where its own is taken, onto the one of its
        name if that is one.
        """
        table = change.table
        lives = self.state.doc_id_of(table, key_of(table, new) or "")
        present = None if lives is None else self.state.get(table, lives)
        if lives is None or present is None:
            taken = self.state.get(table, change.doc) is not None
            yield self._under_new_number(change, new, names) if taken else change
        elif new != present and table in NUMBERED:
            yield self._under_new_number(change, self._renamed(table, new, names), names)
        else:
            names.docs[table, change.doc] = lives
            new = _summed(present, new) if table in TOTALS else new
            found = diff_docs(table, lives, present, new, COUNTERS)
            if found is not None:
                yield found

    def _under_new_number(self, change: DocChange, new: Doc, names: _Names) -> DocChange:
        number = self._next(change.table)
        self._floor[change.table] = number + 1
        names.docs[change.table, change.doc] = str(number)
        fields: Mapping[str, tuple[Any, Any]] = {
            name: (ABSENT, value) for name, value in new.items()
        }
        return DocChange(change.table, str(number), "insert", fields)

    def _next(self, table: str) -> int:
        """Return the next number that is free, also behind a counter that is wrong."""
        number = max(self.state.next_id(table), self._floor.get(table, 0))
        while self.state.get(table, str(number)) is not None:
            number += 1
        return number

    def _renamed(self, table: str, new: Doc, names: _Names) -> Doc:
        """Give a record another id, as like its own as can be."""
        name = str(new["id"])
        names.records[name] = self._free(table, new, name)
        return {**new, "id": names.records[name]}

    def _free(self, table: str, doc: Doc, name: str) -> str:
        """Return a name like `name` that no record of the table has; a memory's carries its number."""
        if memory_number(name) is not None:
            return f"{name[:13]}{self._next(table):07d}"
        digits = _DIGITS.search(name)
        count, width = (int(digits[1]), len(digits[1])) if digits else (1, 0)
        stem = name[: digits.start()] if digits else f"{name}-"
        while True:
            count += 1
            fresh = f"{stem}{count:0{width}d}"
            if self.state.doc_id_of(table, key_of(table, {**doc, "id": fresh}) or "") is None:
                return fresh


def _summed(present: Doc, new: Doc) -> Doc:
    """Return running totals to which those of another beginning were added."""
    return {**present, **{name: present.get(name, 0) + new[name] for name in COUNTERS & new.keys()}}


def entries_in(folder: Path) -> Iterator[Transaction]:
    """Yield every good transaction of a journal in the order of its files; raises `OSError`."""
    return filter(None, map(_entry, follow(folder, Position())))


def new_journal(store: str, entries: Iterable[Transaction], key: bytes = b"") -> Iterator[bytes]:
    """Yield the lines of a new journal of the store with that id, signed with a machine's key."""
    line = seal(header(0, store), START)
    yield line
    for entry in entries:
        line = seal(to_json(entry), hash_of(line[:-1]), key)
        yield line


NewLine = bytes | tuple[dict[str, Any], Seal]
"""A line with its line end, as it is, or another value and what sealed the line until now."""

Sealing = Callable[[Mapping[str, object] | bytes, str, Seal | None, bool], bytes]
"""Seals a value after the line with a hash, in place of another one (see `Identity.seal`)."""


def relink(
    folder: Path,
    change: Callable[[str, list[bytes]], Iterable[NewLine]],
    sealing: Sealing,
    strange: Container[str],
) -> Iterator[str]:
    """Write the segments anew as one chain, oldest first, from the first line on that `change`
    changes; yield the names of those that were.

    `change` is given the name and the lines of each segment, and returns what it is to hold.
    `strange` are the hashes of lines that are not known here. Under the write lock; raises
    `OSError`.
    """
    prev, is_behind_strange = START, False
    names = [segment.path.name for segment in closed(folder)]
    for name in (*names, NAME):
        try:
            with open_lines(folder / name) as source:
                old = list(read_lines_of(source))
        except FileNotFoundError:  # the active one, where a writer was killed
            continue
        new = list[bytes]()
        for line in change(name, old):
            linked, prev, is_strange = _linked(line, prev, sealing, strange, is_behind_strange)
            is_behind_strange = is_behind_strange or is_strange
            new.append(linked)
        if new != old:
            data = b"".join(new)
            path = folder / name
            write_file(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
            yield name


def _linked(
    line: NewLine, prev: str, sealing: Sealing, strange: Container[str], is_behind_strange: bool
) -> tuple[bytes, str, bool]:
    """Return a line as it follows the one with hash `prev`, its hash, and whether it is strange; a
    damaged one stays.
    """
    if isinstance(line, tuple):
        value, old = line
        new = sealing(value, prev, old, is_behind_strange)
    else:
        try:
            old, end = read_seal(line[:-1])
        except BadLine:
            pieces = sealed_in(line)
            return line, hash_of(line[slice(*pieces[-1])]) if pieces else prev, bool(pieces)
        follows = old.prev == prev
        new = line if follows else sealing(line[:end] + b"}", prev, old, is_behind_strange)
    return new, hash_of(new[:-1]), old.hash in strange


def rewrite(folder: Path, settled: MergedLog, sealing: Sealing, strange: Container[str]) -> bool:
    """Write the files anew in order; under the write lock.

    Returns whether that could be done: not where anything but the order is wrong in the active
    segment, nor where a closed segment is out of order or cannot be unpacked. Nothing is lost
    either way. Raises `OSError`.
    """
    for segment in closed(folder):
        with open_lines(segment.path) as source:
            try:
                deque(read_lines_of(source), maxlen=0)
            except (CannotUnpack, TooLarge):
                return False
    active = list(read_from(folder / NAME, Position()))
    if not any(is_header(line.value) for line in active) or any(line.damage for line in active):
        return False
    lines = (line for line in follow(folder, Position()) if line.file != NAME)
    before = list(filter(None, map(_entry, lines)))
    if before != list(settled.entries[: len(before)]):
        return False

    def in_order(name: str, lines: list[bytes]) -> Iterator[NewLine]:
        """Give the active segment what is left, and leave what stays as it is."""
        if name != NAME:
            yield from lines
            return
        read = [(line, *read_line(line[:-1])) for line in lines]
        yield next(line for line, value, _ in read if is_header(value))
        there = {value["uid"]: one for one in read if not is_header(value := one[1])}
        for entry in settled.entries[len(before) :]:
            line, value, sealed = there[entry.uid]
            yield line if from_json(value) == entry else (to_json(entry), sealed)

    for _ in relink(folder, in_order, sealing, strange):
        pass
    return True


def _entry(line: Line) -> Transaction | None:
    if line.value is None or is_header(line.value):
        return None
    try:
        return from_json(line.value)
    except ValueError:
        return None
