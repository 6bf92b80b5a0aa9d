"""The journal's files: append with fsync, read forward from an offset, read backward from the end.

The active segment is `journal.jsonl`; its first line is a header that names the schema and the
revision before its first entry. A line is good when it ends with a line end and its checksum fits.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from workbench.core.errors import StoreProblem
from workbench.store.codec import BadLine, seal, unseal

NAME = "journal.jsonl"
SCHEMA = 1
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
    """A place between two lines of the active segment: byte offset and how many lines stand before it."""

    offset: int = 0
    line: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """One line read: its value, or the damage found in its place, and the position after it."""

    value: dict[str, Any] | None
    damage: Damage | None
    after: Position


def header(rev: int) -> dict[str, object]:
    """Return the first line of a segment that starts after revision `rev`."""
    return {"journal": "memory-workbench", "schema": SCHEMA, "rev": rev}


def check_header(value: dict[str, Any] | None, path: Path) -> None:
    """Raise `StoreProblem` for a journal of a newer schema, or a file that is no journal."""
    if value is None or value.get("journal") != "memory-workbench":
        raise StoreProblem(f"{path} is not a workbench journal.", "Nothing in it was changed.")
    if value["schema"] > SCHEMA:
        raise StoreProblem(
            f"{path.parent} was written by a newer workbench (schema {value['schema']}, this one reads {SCHEMA}).",
            "Nothing was changed; upgrade memory-workbench to open it.",
        )


def append(path: Path, values: list[dict[str, object]]) -> int:
    """Append sealed lines in one write and one fsync; return the file's new size.

    When the write or the fsync fails, the file is cut back to its old size, so a failed
    transaction leaves no half line. Raises `OSError`.
    """
    data = b"".join(seal(value) for value in values)
    new = not path.exists()
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        size = os.fstat(handle).st_size
        try:
            _write_all(handle, data)
            os.fsync(handle)
        except OSError:
            os.ftruncate(handle, size)
            raise
        if new:
            sync_folder(path.parent)
        return size + len(data)
    finally:
        os.close(handle)


def read_from(path: Path, start: Position) -> Iterator[Line]:
    """Yield the complete lines from `start` on; an unfinished last line is left for later."""
    try:
        handle = path.open("rb")
    except FileNotFoundError:
        return
    with handle:
        handle.seek(start.offset)
        place = start
        for raw in handle:
            if not raw.endswith(b"\n"):
                return
            after = Position(place.offset + len(raw), place.line + 1)
            try:
                yield Line(unseal(raw[:-1]), None, after)
            except BadLine as bad:
                yield Line(None, Damage(path.name, after.line, place.offset, str(bad)), after)
            place = after


def read_back(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the good lines of a segment, newest first, without reading more of the file than asked for."""
    try:
        handle = path.open("rb")
    except FileNotFoundError:
        return
    with handle:
        for raw in _lines_back(handle):
            try:
                yield unseal(raw)
            except BadLine:
                continue


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
        torn = next(_lines_back(handle), b"")
        handle.truncate(size - len(torn))
        handle.flush()
        os.fsync(handle.fileno())
        return torn


def sync_folder(folder: Path) -> None:
    """Make a new or renamed file in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _lines_back(handle: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of an open file from the last to the first, without line ends."""
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
        if not rest:
            pieces.append(last)
            continue
        yield last + b"".join(reversed(pieces))
        pieces = []
        yield from reversed(rest[1:])
        pieces.append(rest[0])
    if pieces:
        yield b"".join(reversed(pieces))
