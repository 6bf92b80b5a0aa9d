"""The journal as a chain of segments: the active `journal.jsonl` and the closed ones before it.

A closed segment is `journal-NNNNNNNNNNNN.jsonl`, packed `….jsonl.gz`; the number is the revision
before its first entry.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from workbench.store.files import DAMAGED, TooLarge
from workbench.store.journal.codec import is_sealed, sealed_in
from workbench.store.journal.segments import (  # fmt: skip
    MOST_DAMAGE,
    NAME,
    SHORTEST,
    Line,
    Position,
    is_header,
    lines_back,
    mark_fits,
    open_segment,
    read_lines,
    values_in,
)

_FIRST_LINES = 10_000
"""Lines at the beginning of a segment within which its heading is found."""

_FEW = 50
"""Needles that are looked for in one pass over a line; of more, one is mostly found soon."""

_OPENING = b'{"journal":'
_REV = re.compile(rb'\{"rev":(\d+),')
_BEGIN = "journal-"
_CLOSED = re.compile(_BEGIN + r"(\d{12})\.jsonl(\.gz)?\Z")


class Segment(NamedTuple):
    """A closed segment: the revision before its first entry, and where it is."""

    start: int
    path: Path


class Heading(NamedTuple):
    """What a segment says of itself: the revision it starts after, its edition, the id of its store.

    `store` is empty where its header is damaged.
    """

    start: int
    edition: int = 0
    store: str = ""


def closed_name(start: int) -> str:
    """Name the closed segment that starts after revision `start`."""
    return f"{_BEGIN}{start:012d}.jsonl"


def closed(folder: Path) -> list[Segment]:
    """Return the closed segments, oldest first; one that stands there packed and unpacked is named once."""
    try:
        with os.scandir(folder) as entries:
            names = sorted((entry.name for entry in entries if entry.name.startswith(_BEGIN)), reverse=True)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []
    found = {int(match[1]): name for name in names if (match := _CLOSED.match(name))}
    return [Segment(start, folder / found[start]) for start in sorted(found)]


def open_active(folder: Path) -> tuple[BinaryIO, Heading] | None:
    """Open the active segment and read its heading, or return `None` when there is none.

    What is read through the handle stays one segment, even when it is closed and renamed meanwhile.
    """
    try:
        handle = open_segment(folder / NAME)
    except FileNotFoundError:
        return None
    heading = _heading(handle)
    if heading is None:
        handle.close()
        return None
    return handle, heading


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


def store_id(folder: Path) -> str:
    """Return the id of the store in `folder`, from the newest header that can be read. Raises `OSError`."""
    return next((heading.store for heading in headings_back(folder) if heading.store), "")


def headings_back(folder: Path) -> Iterator[Heading]:
    """Yield what the segments say of themselves, newest first; those whose heading is lost say nothing.

    Between two segments, and where a writer was killed there, the first one is a closed one's. Raises `OSError`.
    """
    active = open_active(folder)
    if active is not None:
        active[0].close()
        yield active[1]
    for segment in reversed(closed(folder)):
        with open_closed(segment) as handle:
            heading = _heading(handle)
        if heading is not None:
            yield heading


def sealed_lines(folder: Path) -> Iterator[bytes]:
    """Yield all sealed lines but headers, without line ends, in the order of the files. Raises `OSError`."""
    active = open_active(folder)
    end = active[1].start if active else None
    for segment in closed(folder):
        if end is None or segment.start < end:
            with open_closed(segment) as handle:
                yield from _sealed(handle)
    if active:
        with active[0] as handle:
            handle.seek(0)
            yield from _sealed(handle)


def _sealed(handle: BinaryIO) -> Iterator[bytes]:
    bad = 0
    try:
        for raw in handle:
            line = raw.rstrip(b"\n")
            pieces = [line] if is_sealed(line) else [line[start:end] for start, end in sealed_in(line)]
            bad += pieces != [line]
            if bad > MOST_DAMAGE:
                return
            for piece in pieces:
                # What only begins like a header is none.
                if not (piece.startswith(_OPENING) and all(is_header(value) for value in values_in(piece))):
                    yield piece
    except (*DAMAGED, TooLarge):
        return


def is_sound(folder: Path, until: Position, accepted: frozenset[tuple[int, int]] = frozenset()) -> bool:
    """Tell whether every line before `until` fits its checksum and follows the one before it.

    Values are not read, so this takes a small part of a replay; what exactly is wrong, a `Tail` tells. Gaps that
    were `accepted`, as first and last revision, are none. Raises `OSError`.
    """
    rev = 0
    for handle, start in _segments(folder, until.start):
        with handle:
            try:
                for raw in _before(handle, until.offset if start == until.start else None):
                    after = _follows(raw, rev, accepted)
                    if after is None:
                        return False
                    rev = after
            except (*DAMAGED, TooLarge):
                return False
    return True


def _segments(folder: Path, last: int) -> Iterator[tuple[BinaryIO, int]]:
    """Open the segments one after the other, up to the one that starts after revision `last`."""
    active = open_active(folder)
    end = active[1].start if active else None
    for segment in closed(folder):
        if segment.start <= last and (end is None or segment.start < end):
            yield open_closed(segment), segment.start
    if active:
        if active[1].start <= last:
            yield active[0], active[1].start
        else:
            active[0].close()


def _before(handle: BinaryIO, offset: int | None) -> Iterator[bytes]:
    place = handle.seek(0)
    for raw in handle:
        if offset is not None and place >= offset:
            return
        place += len(raw)
        yield raw


def _follows(raw: bytes, rev: int, accepted: frozenset[tuple[int, int]]) -> int | None:
    """Return the revision after a line, `None` when it is damaged or does not follow revision `rev`."""
    if raw[-1:] != b"\n" or not is_sealed(raw[:-1]):
        return None
    found = _REV.match(raw)
    if found is None:
        return rev
    here = int(found[1])
    return here if here == rev + 1 or (rev + 1, here - 1) in accepted else None


def values_back(folder: Path, *needles: bytes) -> Iterator[dict[str, Any]]:
    """Yield the good lines of the whole chain, newest first; only those that contain one of `needles`, when given."""
    bad, holds = 0, _holding(needles)
    for handle in _handles_back(folder):
        try:
            with handle:
                for raw in lines_back(handle):
                    values = values_in(raw) if holds(raw) else []
                    bad += not values and (not needles or len(raw) < SHORTEST)
                    if bad > MOST_DAMAGE:
                        return
                    yield from reversed(values)
        except TooLarge:
            # A line that is too long is damage, and what stands before it is out of reach from behind.
            continue


def _holding(needles: Sequence[bytes]) -> Callable[[bytes], object]:
    """Return what tells whether bytes hold one of some needles, or whatever when there are none: few in one pass."""
    if len(needles) <= _FEW:
        return re.compile(b"|".join(map(re.escape, needles))).search
    return lambda raw: any(needle in raw for needle in needles)


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
        return segment.path.suffix == ".gz" or mark_fits(handle, position, mark)


def holds(folder: Path, mark: str, edition: int) -> bool:
    """Tell whether the journal has a good line with checksum `mark`, wherever it stands.

    A change that was given another number says the checksum it had. In a journal that was rewritten since `edition`
    this cannot be told, and is taken for granted. Raises `OSError`.
    """
    needles = [f'"{name}":"{mark}"'.encode() for name in ("sum", "was")]
    for handle in _handles_back(folder):
        with handle:
            for raw in lines_back(handle):
                if any(needle in raw for needle in needles) and values_in(raw):
                    return True
                if raw.startswith(b'{"journal":') and any(v.get("edition", 0) > edition for v in values_in(raw)):
                    return True
    return False


def open_closed(segment: Segment) -> BinaryIO:
    """Open a closed segment, also when it is packed or unpacked at this very moment; raises `OSError`."""
    try:
        return open_segment(segment.path)
    except FileNotFoundError:
        packed = segment.path.suffix == ".gz"
        return open_segment(segment.path.with_suffix("") if packed else Path(f"{segment.path}.gz"))


def _place(position: Position, start: int) -> Position:
    return position if position.start == start else Position(start=start)


def _heading(handle: BinaryIO) -> Heading | None:
    """Read the heading of an open segment; when its header is damaged, the first good entry tells."""
    for line in islice(read_lines(handle, NAME, Position()), _FIRST_LINES):
        if line.value is not None and is_header(line.value):
            said = line.value
            return Heading(said["rev"], said.get("edition", 0), said.get("store", ""))
        if line.value is not None and "rev" in line.value:
            return Heading(line.value["rev"] - 1)
    return None


def _handles_back(folder: Path) -> Iterator[BinaryIO]:
    """Open the segments one after the other, newest first."""
    active = open_active(folder)
    if active:
        yield active[0]
    for segment in reversed(closed(folder)):
        if active is None or segment.start < active[1].start:
            yield open_closed(segment)
