"""Bringing a journal's file in order, after `settle` found out what holds."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from workbench.core.files.atomic import write_file
from workbench.store.entry import Transaction, from_json, to_json
from workbench.store.journal import chain
from workbench.store.journal.codec import seal
from workbench.store.journal.merge_branches import MergedLog
from workbench.store.journal.segments import NAME, Line, Position, is_header, read_from
from workbench.store.journal.tail import Tail


def read_marked(folder: Path) -> Iterator[tuple[str, Transaction]]:
    """Yield every good transaction of a journal in the order of its files, with its checksum; raises `OSError`."""
    for line in chain.follow(folder, Position()):
        entry = _entry(line)
        if entry is not None:
            yield line.mark, entry


def rewrite(folder: Path, settled: MergedLog, tail: Tail, expect: Callable[[Iterable[bytes]], None]) -> bool:
    """Write the active segment anew, in order, as the journal's next edition; under the write lock.

    `expect` is told the new lines before they are there. Returns whether that could be done: not where anything but
    the order is wrong, nor where a closed segment is out of order. Nothing is lost either way. Raises `OSError`.
    """
    path = folder / NAME
    active = list(read_from(path, Position()))
    head = next((line.value for line in active if is_header(line.value)), None)
    if head is None or any(line.damage is not None for line in active):
        return False
    before = [entry for line in _closed_lines(folder) if (entry := _entry(line)) is not None]
    if before != list(settled.entries[: len(before)]):
        return False
    bare = {name: value for name, value in head.items() if name != "sum"}
    header = {**bare, "edition": tail.edition + 1, "store": head.get("store") or tail.store}
    lines = (seal(header), *(seal(to_json(entry)) for entry in settled.entries[len(before) :]))
    expect(lines)
    write_file(path, lines)
    return True


def _closed_lines(folder: Path) -> Iterator[Line]:
    active = chain.open_active(folder)
    if active is not None:
        active[0].close()
    for segment in chain.closed(folder):
        if active is None or segment.start < active[1].start:
            yield from read_from(segment.path, Position(start=segment.start))


def _entry(line: Line) -> Transaction | None:
    if line.value is None or is_header(line.value):
        return None
    try:
        return from_json(line.value)
    except ValueError:
        return None
