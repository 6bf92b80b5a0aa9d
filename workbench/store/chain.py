"""The journal as a chain of segments: the active `journal.jsonl` and the closed ones before it.

A closed segment is `journal-NNNNNNNNNNNN.jsonl`, packed `….jsonl.gz`; the number is the revision
before its first entry.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from gzip import GzipFile
from pathlib import Path
from typing import Any, BinaryIO

from workbench.store.codec import BadLine, unseal
from workbench.store.segments import (
    NAME,
    Line,
    Position,
    is_header,
    lines_back,
    mark_fits,
    open_segment,
    read_lines,
)  # fmt: skip

_CLOSED = re.compile(r"journal-(\d{12})\.jsonl(\.gz)?\Z")


@dataclass(frozen=True, slots=True)
class Segment:
    """A closed segment: the revision before its first entry, and where it is."""

    start: int
    path: Path


@dataclass(frozen=True, slots=True)
class Head:
    """What the active segment says of itself: the revision it starts after, and its edition."""

    start: int
    edition: int = 0


def closed_name(start: int) -> str:
    """Name the closed segment that starts after revision `start`."""
    return f"journal-{start:012d}.jsonl"


def closed(folder: Path) -> list[Segment]:
    """Return the closed segments, oldest first; one that stands there packed and unpacked is named once."""
    found: dict[int, Path] = {}
    for path in sorted(folder.glob("journal-*.jsonl*"), reverse=True):
        match = _CLOSED.match(path.name)
        if match:
            found[int(match[1])] = path
    return [Segment(start, found[start]) for start in sorted(found)]


def open_active(folder: Path) -> tuple[BinaryIO, Head] | None:
    """Open the active segment and read its head, or return `None` when there is none.

    What is read through the handle stays one segment, even when it is closed and renamed meanwhile.
    """
    try:
        handle = (folder / NAME).open("rb")
    except FileNotFoundError:
        return None
    head = _head(handle)
    if head is None:
        handle.close()
        return None
    return handle, head


def follow(folder: Path, position: Position) -> Iterator[Line]:
    """Yield the complete lines after `position`, through closed segments to the end of the active one."""
    active = open_active(folder)
    end = active[1].start if active else None
    for segment in closed(folder):
        if position.start <= segment.start and (end is None or segment.start < end):
            with open_closed(segment) as handle:
                yield from read_lines(handle, segment.path.name, _place(position, segment.start))
    if active:
        with active[0] as handle:
            if active[1].start >= position.start:
                yield from read_lines(handle, NAME, _place(position, active[1].start))


def values_back(folder: Path, needle: bytes | None = None) -> Iterator[dict[str, Any]]:
    """Yield the good lines of the whole chain, newest first; only those that contain `needle`, when given."""
    active = open_active(folder)
    end = active[1].start if active else None
    if active:
        with active[0] as handle:
            yield from _good_lines(handle, needle)
    for segment in reversed(closed(folder)):
        if end is None or segment.start < end:
            with open_closed(segment) as handle:
                yield from _good_lines(handle, needle)


def fits(folder: Path, position: Position, mark: str) -> bool:
    """Tell whether the journal goes on from `position` as it did when the line before it had checksum `mark`.

    A packed segment is taken at its word.
    """
    if not mark:
        return True
    active = open_active(folder)
    if active:
        with active[0] as handle:
            if active[1].start == position.start:
                return mark_fits(handle, position, mark)
    segment = next((s for s in closed(folder) if s.start == position.start), None)
    if segment is None:
        return False
    with open_closed(segment) as handle:
        return isinstance(handle, GzipFile) or mark_fits(handle, position, mark)


def open_closed(segment: Segment) -> BinaryIO:
    """Open a closed segment, also when it is packed or unpacked at this very moment; raises `OSError`."""
    try:
        return open_segment(segment.path)
    except FileNotFoundError:
        packed = segment.path.suffix == ".gz"
        return open_segment(segment.path.with_suffix("") if packed else Path(f"{segment.path}.gz"))


def _place(position: Position, start: int) -> Position:
    return position if position.start == start else Position(start=start)


def _head(handle: BinaryIO) -> Head | None:
    """Read the head of an open segment; when its header is damaged, the first good entry tells."""
    for line in read_lines(handle, NAME, Position()):
        if line.value is not None and is_header(line.value):
            return Head(line.value["rev"], line.value.get("edition", 0))
        if line.value is not None and "rev" in line.value:
            return Head(line.value["rev"] - 1)
    return None


def _good_lines(handle: BinaryIO, needle: bytes | None) -> Iterator[dict[str, Any]]:
    for raw in lines_back(handle):
        if needle is not None and needle not in raw:
            continue
        try:
            yield unseal(raw)
        except BadLine:
            continue
