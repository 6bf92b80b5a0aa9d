"""Bringing a journal's file in order, after `settle` found out what holds."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from workbench.store.journal.codec import seal
from workbench.store.journal.segments import (
    NAME,
    Line,
    Position,
    Tail,
    follow,
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
# undone as if they had always stood there.


_DIGITS = re.compile(r"(\d+)\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class MergedLog:
    """A journal in order, and the state it leads to; `repeated` counts lines that stand there
    twice, word for word.
    """

    entries: tuple[Transaction, ...]
    renumbered: tuple[Renumbered, ...]
    repeated: int
    state: State


def merge_branches(read: Iterable[tuple[str, Transaction]]) -> MergedLog:
    """Put the transactions of a journal in order; each comes with the checksum of its line, as the
    file has them.
    """
    kept, branches, repeated = _sorted(list(read))
    work = _Work()
    for rev in sorted(kept):
        place, entry = kept[rev]
        # Somebody who had put a branch in order wrote on from there.
        while (
            branches and branches[0].place < place and work.state.rev + len(branches[0].lines) < rev
        ):
            work.move_all(branches.pop(0))
        work.take(entry)
    for branch in branches:
        work.move_all(branch)
    return MergedLog(tuple(work.entries), tuple(work.renumbered), repeated, work.state)


@dataclass(frozen=True, slots=True)
class _Branch:
    """Transactions whose numbers others have: where in the file the first one stands, and all with
    their checksums.
    """

    place: int
    lines: list[tuple[str, Transaction]]


def _sorted(
    read: list[tuple[str, Transaction]],
) -> tuple[dict[int, tuple[int, Transaction]], list[_Branch], int]:
    """Part the transactions into one (with its place) for each revision, and branches; leave
    repetitions out.

    A branch begins with a revision that is taken and goes on as long as the numbers do.
    """
    known = {entry.was for _, entry in read if entry.was}
    kept: dict[int, tuple[int, Transaction]] = {}
    branches: list[_Branch] = []
    repeated, before, moving = 0, 0, False
    for place, (mark, entry) in enumerate(read):
        if mark in known:
            repeated += 1
            continue
        known.add(mark)
        goes_on = moving and entry.rev == before + 1
        moving, before = goes_on or entry.rev in kept, entry.rev
        if not moving:
            kept[entry.rev] = (place, entry)
        elif goes_on:
            branches[-1].lines.append((mark, entry))
        else:
            branches.append(_Branch(place, [(mark, entry)]))
    return kept, branches, repeated


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
        for mark, entry in branch.lines:
            self._move(entry, mark, names)

    def _move(self, entry: Transaction, mark: str, names: _Names) -> None:
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
            was=entry.was or mark,
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


def read_marked(folder: Path) -> Iterator[tuple[str, Transaction]]:
    """Yield every good transaction of a journal in the order of its files, with its checksum;
    raises `OSError`.
    """
    for line in follow(folder, Position()):
        entry = _entry(line)
        if entry is not None:
            yield line.mark, entry


def rewrite(
    folder: Path, settled: MergedLog, tail: Tail, expect: Callable[[Iterable[bytes]], None]
) -> bool:
    """Write the active segment anew, in order, as the journal's next edition; under the write lock.

    `expect` is told the new lines before they are there. Returns whether that could be done: not
    where anything but the order is wrong, nor where a closed segment is out of order. Nothing is
    lost either way. Raises `OSError`.
    """
    path = folder / NAME
    active = list(read_from(path, Position()))
    head = next((line.value for line in active if is_header(line.value)), None)
    if head is None or any(line.damage is not None for line in active):
        return False
    closed = (line for line in follow(folder, Position()) if line.file != NAME)
    before = [entry for line in closed if (entry := _entry(line)) is not None]
    if before != list(settled.entries[: len(before)]):
        return False
    header = {**head, "edition": tail.edition + 1, "store": head.get("store") or tail.store}
    lines = (seal(header), *(seal(to_json(entry)) for entry in settled.entries[len(before) :]))
    expect(lines)
    write_file(path, lines)
    return True


def _entry(line: Line) -> Transaction | None:
    if line.value is None or is_header(line.value):
        return None
    try:
        return from_json(line.value)
    except ValueError:
        return None
