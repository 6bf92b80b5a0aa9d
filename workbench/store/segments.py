"""One journal file: append with fsync, read forward from a place, read backward from the end.

The first line of a segment is its header. It names the schema and the revision before its first
entry, and carries what a writer needs who reads nothing else: the next ids and the latest records.
A line is good when it ends with a line end and its checksum fits.
"""

import gzip
import io
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from workbench.core.errors import StoreProblem
from workbench.store.codec import BadLine, mark_of, unseal

NAME = "journal.jsonl"
SCHEMA = 1

NEXT_IDS_EVERY = 64
_MANY = 50

_OPENING = b'{"journal":"memory-workbench"'
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Damage:
    """A line that could not be trusted: file, line number (from 1), byte offset and why."""

    file: str
    line: int
    offset: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: byte {self.offset}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Position:
    """A place between two lines: byte offset, how many lines stand before it, and which segment.

    A segment is known by `start`, the revision before its first entry.
    """

    offset: int = 0
    line: int = 0
    start: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """One line read: its value, or the damage found in its place, the position after it, the file and its checksum."""

    value: dict[str, Any] | None
    damage: Damage | None
    after: Position
    file: str
    mark: str = ""


def header(
    rev: int, next_ids: Mapping[str, int], recent: Mapping[str, Sequence[object]], edition: int
) -> dict[str, object]:
    """Return the first line of a segment that starts after revision `rev`.

    `recent` holds the latest documents of some tables; `edition` counts the purges that rewrote the journal.
    """
    return {
        "journal": "memory-workbench", "schema": SCHEMA, "rev": rev, "edition": edition,
        "next": dict(next_ids), "recent": dict(recent),
    }  # fmt: skip


def carries_all_ids(rev: int, changes: int) -> bool:
    """Tell whether a line carries the next ids of all tables, so that a writer who reads only the tail finds them.

    Every 64th does, and every long one: few bytes ever have to be read.
    """
    return rev % NEXT_IDS_EVERY == 0 or changes >= _MANY


def is_header(value: Mapping[str, Any] | None) -> bool:
    """Tell a header from a transaction."""
    return value is not None and value.get("journal") == "memory-workbench"


def check_is_journal(path: Path) -> None:
    """Raise `StoreProblem` for a file that is no journal, or one of a newer schema; a missing or empty one passes."""
    first = next(read_from(path, Position()), None)
    if first is None:
        try:
            with path.open("rb") as file:
                start = file.read(len(_OPENING))
        except FileNotFoundError:
            return
        if _OPENING.startswith(start):
            return
    elif first.damage is None and is_header(first.value):
        _check_schema(first.value or {}, path)
        return
    elif first.damage is not None and any(line.damage is None for line in read_from(path, first.after)):
        return
    raise StoreProblem(f"{path} is not a workbench journal.", "Nothing in it was changed; move it away to begin anew.")


def append(path: Path, data: bytes) -> os.stat_result:
    """Append sealed lines in one write and one fsync; return what the file then looks like.

    When the write or the fsync fails, the file is cut back to its old size, so a failed
    transaction leaves no half line. Raises `OSError`.
    """
    handle = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        size = os.fstat(handle).st_size
        try:
            _write_all(handle, data)
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
        return os.fstat(handle)
    finally:
        os.close(handle)


def read_from(path: Path, start: Position) -> Iterator[Line]:
    """Yield the complete lines of a file from `start` on; a missing file has none."""
    try:
        handle = open_segment(path)
    except FileNotFoundError:
        return
    with handle:
        yield from read_lines(handle, path.name, start)


def read_lines(handle: BinaryIO, file: str, start: Position) -> Iterator[Line]:
    """Yield the complete lines of an open segment from `start` on; an unfinished last line is left for later."""
    place = start
    try:
        handle.seek(start.offset)
        for raw in handle:
            if not raw.endswith(b"\n"):
                return
            line = _read_line(raw, place, file)
            place = line.after
            yield line
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        damage = Damage(file, place.line + 1, place.offset, f"the rest cannot be unpacked ({error})")
        yield Line(None, damage, place, file)


def open_segment(path: Path) -> BinaryIO:
    """Open a segment for reading, packed or not."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def lines_back(handle: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of an open segment from the last to the first, without reading more than is asked for."""
    if isinstance(handle, gzip.GzipFile):
        handle = io.BytesIO(_unpacked(handle))
    place = handle.seek(0, os.SEEK_END)
    pieces: list[bytes] = []
    first = True
    while place > 0:
        step = min(_BLOCK, place)
        place -= step
        handle.seek(place)
        block = handle.read(step)
        if first and block.endswith(b"\n"):
            block = block[:-1]
        first = False
        *rest, last = block.split(b"\n")
        pieces.append(last)
        if not rest:
            continue
        yield b"".join(reversed(pieces))
        yield from reversed(rest[1:])
        pieces = [rest[0]]
    if pieces:
        yield b"".join(reversed(pieces))


def cut_torn_tail(path: Path) -> bytes:
    """Cut an unfinished last line off and return its bytes; call it under the write lock only."""
    try:
        handle = path.open("r+b")
    except FileNotFoundError:
        return b""
    with handle:
        size = handle.seek(0, os.SEEK_END)
        if size == 0:
            return b""
        handle.seek(size - 1)
        if handle.read(1) == b"\n":
            return b""
        torn = next(lines_back(handle), b"")
        handle.truncate(size - len(torn))
        handle.flush()
        os.fsync(handle.fileno())
        return torn


def mark_fits(handle: BinaryIO, position: Position, mark: str) -> bool:
    """Tell whether the line before `position` in an open segment ends with the checksum `mark`."""
    expected = b'"sum":"' + mark.encode() + b'"}\n'
    handle.seek(max(0, position.offset - len(expected)))
    return handle.read(len(expected)) == expected


def _read_line(raw: bytes, place: Position, file: str) -> Line:
    after = Position(place.offset + len(raw), place.line + 1, place.start)
    try:
        return Line(unseal(raw[:-1]), None, after, file, mark_of(raw[:-1]))
    except BadLine as bad:
        return Line(None, Damage(file, after.line, place.offset, str(bad)), after, file)


def _check_schema(value: Mapping[str, Any], path: Path) -> None:
    if value["schema"] > SCHEMA:
        raise StoreProblem(
            f"{path.parent} was written by a newer workbench (schema {value['schema']}, this one reads {SCHEMA}).",
            "Nothing was changed; upgrade memory-workbench to open it.",
        )


def _unpacked(handle: gzip.GzipFile) -> bytes:
    """Read a packed segment as far as it can be read."""
    data = bytearray()
    try:
        for line in handle:
            data += line
    except (EOFError, zlib.error, gzip.BadGzipFile):
        pass
    return bytes(data)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
