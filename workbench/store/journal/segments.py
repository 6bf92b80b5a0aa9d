"""One journal file: append with fsync, read forward from a place, read backward from the end.

The first line of a segment is its header. It names the schema and the revision before its first
entry, and carries what a writer needs who reads nothing else: the next ids and the latest records.
A line is good when its checksum fits, also where its line end was lost or zeros stand before it.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from workbench.core.damage import Damage
from workbench.core.files.fresh import open_handle
from workbench.core.record import StoreProblem, UnknownOutcome
from workbench.store.files import DAMAGED, LONGEST, TooLarge, open_lines, open_regular
from workbench.store.journal.codec import BadLine, looks_whole, mark_of, sealed_in, unseal

NAME = "journal.jsonl"
SCHEMA = 3
"""The schema that is written. A header of a smaller one says only that its writer knew fewer kinds of records."""

MOST_DAMAGE = 100_000
"""Damaged places of a journal that are named; a file with more was never one."""

SHORTEST = 27
"""Bytes of a line with a checksum, at least."""

NEXT_IDS_EVERY = 64
_MANY = 50

_OPENING = b'{"journal":"memory-workbench"'
_BLOCK, _LARGE_BLOCK = 1 << 16, 1 << 22


class Position(NamedTuple):
    """A place between two lines: byte offset, how many lines stand before it, and which segment.

    A segment is known by `start`, the revision before its first entry.
    """

    offset: int = 0
    line: int = 0
    start: int = 0


class Line(NamedTuple):
    """One line read: its value, the damage found in its place, the position after it, the file and its checksum.

    A good line behind something damaged has both. `ended` is false for one that lost its line end. `raw` is a good
    line as it stands in the file, without its line end.
    """

    value: dict[str, Any] | None
    damage: Damage | None
    after: Position
    file: str
    mark: str = ""
    ended: bool = True
    raw: bytes = b""


def header(
    rev: int,
    next_ids: Mapping[str, int],
    recent: Mapping[str, Sequence[object]],
    edition: int,
    store: str,
) -> dict[str, object]:
    """Return the first line of a segment that starts after revision `rev`.

    `recent` holds the latest documents of some tables; `edition` counts how often the journal was rewritten;
    `store` is the store's own id (see `new_store_id`).
    """
    return {
        "journal": "memory-workbench", "schema": SCHEMA, "rev": rev, "edition": edition, "store": store,
        "next": dict(next_ids), "recent": dict(recent),
    }  # fmt: skip


def new_store_id() -> str:
    """Return a random id for a store, 32 hex digits; it tells a store that was moved from another one."""
    return os.urandom(16).hex()


def carries_all_ids(rev: int, changes: int) -> bool:
    """Tell whether a line carries the next ids of all tables, so that a writer who reads only the tail finds them.

    Every 64th does, and every long one: few bytes ever have to be read.
    """
    return rev % NEXT_IDS_EVERY == 0 or changes >= _MANY


def is_header(value: Mapping[str, Any] | None) -> bool:
    return value is not None and value.get("journal") == "memory-workbench"


def check_version(path: Path) -> None:
    """Raise `StoreProblem` for a journal that another version wrote."""
    first = next(read_from(path, Position()), None)
    if first is not None and first.value is not None and is_header(first.value):
        _check_schema(first.value, path)


def check_is_journal(path: Path) -> None:
    """Raise `StoreProblem` for a file that is no journal, or one of another version; a missing or empty one passes."""
    first = next(read_from(path, Position()), None)
    if first is None:
        try:
            with open_regular(path) as file:
                start = file.read(len(_OPENING))
        except FileNotFoundError:
            return
        if _OPENING.startswith(start):
            return
    elif is_header(first.value):
        _check_schema(first.value or {}, path)
        return
    elif first.damage is not None and any(
        line.value is not None for line in islice(read_from(path, first.after), MOST_DAMAGE)
    ):
        return
    raise StoreProblem(f"{path} is not a workbench journal.", "Nothing in it was changed; move it away to begin anew.")


class Uncertain(OSError):
    """Lines were written, making them durable failed, and they could not be taken back: they may be stored or not."""


def cannot_know(folder: Path, error: OSError) -> UnknownOutcome:
    """Say in one sentence that a change may be stored or not."""
    why = (error.strerror or str(error)).lower()
    return UnknownOutcome(
        f"The store {folder} failed while the change was being written ({why}), and what was written could not be "
        "taken back: whether the change is stored cannot be known.",
        "Look with `workbench history` before you do it again.",
    )


def append(path: Path, data: bytes) -> tuple[int, os.stat_result | None]:
    """Append sealed lines in one write and one fsync; return the file's new size, and what it then looks like.

    How it looks is `None` when that cannot be found out: the lines are stored all the same.

    When the write or the fsync fails, the file is cut back to its old size, so a failed
    transaction leaves no half line. Raises `OSError`, and `Uncertain` when it cannot be cut back either.
    """
    handle = open_handle(path, os.O_WRONLY | os.O_APPEND)
    try:
        size = os.fstat(handle).st_size
        try:
            _write_all(handle, data)
            os.fsync(handle)
        except OSError as error:
            _cut_back(handle, size, error)
            raise
        with contextlib.suppress(OSError):
            return size + len(data), os.fstat(handle)
        return size + len(data), None
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
                # What a writer adds at this very moment would come next, as if it began a line.
                yield from _read_end(raw, place, file)
                return
            for line in _read_line(raw, place, file):
                place = line.after
                yield line
    except (*DAMAGED, TooLarge) as error:
        why = (
            f"the rest is not read: {error.strerror}"
            if isinstance(error, TooLarge)
            else f"the rest cannot be unpacked ({error})"
        )
        damage = Damage(file, place.line + 1, place.offset, why)
        yield Line(None, damage, place, file)


def open_segment(path: Path) -> BinaryIO:
    """Open a segment for reading, packed or not."""
    return open_lines(path)


def lines_back(handle: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of an open segment from the last to the first, without reading more than is asked for."""
    place = handle.seek(0, os.SEEK_END)
    pieces: list[bytes] = []
    first = True
    while place > 0:
        # Of a long line as much again as there is of it: a line in many pieces is put together for long.
        step = min(max(_BLOCK, min(_LARGE_BLOCK, sum(map(len, pieces)))), place)
        place -= step
        handle.seek(place)
        block = handle.read(step)
        if first and block.endswith(b"\n"):
            block = block[:-1]
        first = False
        *rest, last = block.split(b"\n")
        pieces.append(last)
        if sum(map(len, pieces)) > LONGEST + _BLOCK:
            raise TooLarge("a line", LONGEST)
        if not rest:
            continue
        yield b"".join(reversed(pieces))
        yield from reversed(rest[1:])
        pieces = [rest[0]]
    if pieces:
        yield b"".join(reversed(pieces))


def mend_tail(path: Path) -> bytes:
    """Let a file end with a line end, and return what was cut off for that; call it under the write lock only.

    A line whose checksum fits gets the line end it lost, one that is damaged stays as damage; the beginning of
    a line and zeros, which a crash leaves, are cut off.
    """
    try:
        handle = os.fdopen(open_handle(path, os.O_RDWR), "r+b")
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
        kept = _worth_keeping(torn)
        handle.truncate(size - len(torn) + kept)
        if kept:
            handle.seek(0, os.SEEK_END)
            handle.write(b"\n")
        handle.flush()
        os.fsync(handle.fileno())
        return torn[kept:]


def mark_fits(handle: BinaryIO, position: Position, mark: str) -> bool:
    """Tell whether the line before `position` in an open segment ends with the checksum `mark`."""
    expected = b'"sum":"' + mark.encode() + b'"}'
    handle.seek(max(0, position.offset - len(expected) - 1))
    return handle.read(len(expected) + 1).rstrip(b"\n\0") == expected


def values_in(raw: bytes) -> list[dict[str, Any]]:
    """Return the values of a line (without its line end): one, none when it is damaged, or those it was joined from."""
    try:
        return [unseal(raw)]
    except BadLine:
        return [unseal(raw[start:end]) for start, end in sealed_in(raw)]


def _read_line(raw: bytes, place: Position, file: str) -> Iterator[Line]:
    after = Position(place.offset + len(raw), place.line + 1, place.start)
    line = raw[:-1]
    try:
        yield Line(unseal(line), None, after, file, mark_of(line), raw=line)
    except BadLine as bad:
        damage: Damage | None = Damage(file, after.line, place.offset, str(bad))
        pieces = sealed_in(raw)
        if not pieces:
            yield Line(None, damage, after, file)
        for start, end in pieces:
            is_last = (start, end) == pieces[-1]
            here = after if is_last else Position(place.offset + end, place.line, place.start)
            yield Line(unseal(piece := raw[start:end]), damage, here, file, mark_of(piece), raw=piece)
            damage = None


def _read_end(raw: bytes, place: Position, file: str) -> Iterator[Line]:
    """Yield what is whole of a last line without a line end; the place after it is where its line end will be."""
    done = 0
    for start, end in sealed_in(raw):
        here = Position(place.offset + end + 1, place.line + 1, place.start)
        lost = raw[done:start].strip(b"\0")
        damage = Damage(file, here.line, place.offset + done, "a line end was lost here") if start > done else None
        if damage is not None and len(lost) > 1:
            damage = Damage(file, here.line, place.offset + done, "something damaged stands before it")
        yield Line(unseal(piece := raw[start:end]), damage, here, file, mark_of(piece), ended=False, raw=piece)
        done = end


def _worth_keeping(torn: bytes) -> int:
    """Return how many bytes of an unended last line are no leftover of a crash."""
    stripped = torn.rstrip(b"\0")
    if looks_whole(stripped):
        return len(stripped)
    pieces = sealed_in(torn)
    return pieces[-1][1] if pieces else 0


def _cut_back(handle: int, size: int, error: OSError) -> None:
    """Cut a file back to the size it had before a write that failed with `error`."""
    try:
        os.ftruncate(handle, size)
    except OSError:
        with contextlib.suppress(OSError):
            if os.fstat(handle).st_size == size:
                return
        raise Uncertain(error.errno, error.strerror) from error


def _check_schema(value: Mapping[str, Any], path: Path) -> None:
    if value["schema"] > SCHEMA:
        raise StoreProblem(
            f"{path.parent} was written by a newer workbench (schema {value['schema']}, this one reads {SCHEMA}).",
            "Nothing was changed; upgrade memory-workbench to open it.",
        )
    if not value.get("store"):
        raise StoreProblem(
            f"{path.parent} was written by a development version before 1.0, which this one does not read.",
            "Nothing was changed; change something in it once with memory-workbench 0.1.0, which converts it.",
        )


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
