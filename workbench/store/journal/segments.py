"""The journal's files: the active segment `journal.jsonl` and the closed ones before it.

A closed segment is `journal-NNNNNNNNNNNN.jsonl`, packed `….jsonl.gz`; the number is the revision
before its first entry. The first line of a segment is its header, which names the schema, that
revision and the store. Headers and transactions are one chain through all segments (see `codec`). A
line is good when its hash fits, also where its line end was lost or zeros stand before it.
"""

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from errno import EEXIST, EFBIG
from functools import partial
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

from workbench.core.files.atomic import draft_beside, fill, put_in_place, sync_folder, write_file
from workbench.core.files.fresh import open_handle
from workbench.core.health import Damage
from workbench.core.record import StoreProblem, UnknownOutcome, why_failed
from workbench.store import files
from workbench.store.entry import Transaction, from_json
from workbench.store.files import (
    CannotUnpack,
    Seen,
    TooLarge,
    look,
    open_lines,
    open_regular,
    read_lines_of,
)
from workbench.store.journal.codec import (
    START,
    BadLine,
    Seal,
    hash_of,
    loads,
    looks_whole,
    read_line,
    seal,
    sealed_in,
    unseal,
)

NAME = "journal.jsonl"
SCHEMA = 4
"""The schema that is written."""

MOST_DAMAGE = 100_000
"""Damaged places of a journal that are named; a file with more was never one."""

_SHORTEST = 75
"""Bytes of a sealed line, at least."""

_FIRST_LINES = 10_000
"""Lines at the beginning of a segment within which its heading is found."""

_FEW = 50
"""Needles that are looked for in one pass over a line; of more, one is mostly found soon."""

_OPENING = b'{"journal":"memory-workbench"'
_BEGIN = "journal-"
_CLOSED = re.compile(_BEGIN + r"(\d{12})\.jsonl(\.gz)?\Z")
_BLOCK, _LARGE_BLOCK = 1 << 16, 1 << 22


class Position(NamedTuple):
    """A place between two lines: byte offset, how many lines stand before it, and which segment.

    A segment is known by `start`, the revision before its first entry.
    """

    offset: int = 0
    line: int = 0
    start: int = 0


class Stamp(NamedTuple):
    """What a checkpoint file holds: its hash, the revision, and where the journal goes on from
    there; as it is, that of a store without a checkpoint.

    `mark` is the hash of the line before that place, `uid` that of the last transaction,
    `unfinished` the groups that were open.
    """

    hash: str = ""
    rev: int = 0
    offset: int = 0
    line: int = 0
    start: int = 0
    mark: str = ""
    uid: str = ""
    next_ids: Mapping[str, int] = MappingProxyType({})
    unfinished: Mapping[str, str] = MappingProxyType({})

    @property
    def position(self) -> Position:
        """Return the place in the journal after the checkpoint's last entry."""
        return Position(self.offset, self.line, self.start)


def json_of(stamp: Stamp) -> dict[str, object]:
    """Return a stamp as it is written."""
    return {
        **stamp._asdict(),
        "next_ids": dict(stamp.next_ids),
        "unfinished": dict(stamp.unfinished),
    }


class Line(NamedTuple):
    """One line read: its value or the damage found in its place, the position after it, the file
    and what seals it.

    `ended` is false for one that lost its line end.
    """

    value: dict[str, Any] | None
    seal: Seal | None
    after: Position
    file: str
    damage: Damage | None = None
    ended: bool = True


class Segment(NamedTuple):
    """A closed segment: the revision before its first entry, and where it is."""

    start: int
    path: Path


class Heading(NamedTuple):
    """What a segment says of itself: the revision it starts after, the id of its store.

    `store` is empty where its header is damaged.
    """

    start: int
    store: str = ""


# The header.


def header(rev: int, store: str) -> dict[str, object]:
    """Return the first line of a segment that starts after revision `rev` of the store with that id
    (see `new_store_id`).
    """
    return {"journal": "memory-workbench", "schema": SCHEMA, "rev": rev, "store": store}


def new_store_id() -> str:
    """Return a random id for a store, 32 hex digits; it tells a store that was moved from another
    one.
    """
    return os.urandom(16).hex()


_STORE_ID = re.compile(r"[0-9a-f]{32}\Z")


def store_in(header: Mapping[str, Any]) -> str:
    """Return the id that a header gives its store; empty for none, and for what is no such id: files
    on this machine are named by it.
    """
    said = header.get("store")
    return said if isinstance(said, str) and _STORE_ID.match(said) else ""


def is_header(value: Mapping[str, Any] | None) -> bool:
    return value is not None and value.get("journal") == "memory-workbench"


def check_version(path: Path, place: Path | None = None) -> Line | None:
    """Return the first line of the journal of a store, which lies at `place` for a person; raises
    `StoreProblem` for one that another version wrote.
    """
    place = place or path.parent
    first = next(read_from(path, Position()), None)
    said = {} if first is None or first.value is None or not is_header(first.value) else first.value
    if said and said["schema"] > SCHEMA:
        raise StoreProblem(
            f"{place} was written by a newer workbench (schema {said['schema']}, this one reads {SCHEMA}).",
            "Nothing was changed; upgrade memory-workbench to open it.",
        )
    if first is not None and first.damage is not None and (old := _old_header(path)):
        what = f"{place} was written by a development version before 1.0, which this one does not read."
        if old.get("store"):
            raise StoreProblem(
                what,
                f"Nothing was changed; `workbench migrate {place} NEW` makes the store NEW of it.",
            )
        raise StoreProblem(
            what,
            "Nothing was changed; change something in it once with memory-workbench 0.1.0, which converts it.",
        )
    return first


def _old_header(path: Path) -> dict[str, Any]:
    """Return what a journal of the format before this one begins with; nothing for any other."""
    with open_lines(path) as file:
        line = file.readline(files.LONGEST)
    try:
        value = loads(line)
    except ValueError:
        return {}
    old = isinstance(value, dict) and is_header(value) and value.get("schema", SCHEMA) < SCHEMA
    return value if old else {}


def check_is_journal(path: Path, place: Path | None = None) -> None:
    """Raise `StoreProblem` for a file that is no journal, or one of another version; a missing or
    empty one passes.
    """
    first = check_version(path, place)
    if first is None:
        try:
            with open_regular(path) as file:
                if _OPENING.startswith(file.read(len(_OPENING))):
                    return
        except FileNotFoundError:
            return
    elif is_header(first.value) or (first.damage is not None and _has_lines(path, first.after)):
        return
    raise StoreProblem(
        f"{path} is not a workbench journal.",
        "Nothing in it was changed; move it away to start over.",
    )


def _has_lines(path: Path, place: Position) -> bool:
    return any(line.value is not None for line in islice(read_from(path, place), MOST_DAMAGE))


# The segments.


def closed_name(start: int) -> str:
    """Name the closed segment that starts after revision `start`."""
    return f"{_BEGIN}{start:012d}.jsonl"


def closed(folder: Path) -> list[Segment]:
    """Return the closed segments, oldest first; one that stands there packed and unpacked is named
    once.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted(
                (entry.name for entry in entries if entry.name.startswith(_BEGIN)), reverse=True
            )
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []
    found = {int(match[1]): name for name in names if (match := _CLOSED.match(name))}
    return [Segment(start, folder / found[start]) for start in sorted(found)]


def open_closed(segment: Segment) -> BinaryIO:
    """Open a closed segment, also when it is packed or unpacked at this very moment; raises
    `OSError`.
    """
    try:
        return open_lines(segment.path)
    except FileNotFoundError:
        packed = segment.path.suffix == ".gz"
        return open_lines(segment.path.with_suffix("") if packed else Path(f"{segment.path}.gz"))


def open_active(folder: Path) -> tuple[BinaryIO, Heading] | None:
    """Open the active segment and read its heading, or return `None` when there is none.

    What is read through the handle stays one segment, even when it is closed and renamed meanwhile.
    """
    try:
        handle = open_lines(folder / NAME)
    except FileNotFoundError:
        return None
    heading = _heading(handle)
    if heading is None:
        handle.close()
        return None
    return handle, heading


def active_heading(folder: Path) -> Heading | None:
    """Return what the active segment says of itself, `None` when there is none. Raises `OSError`."""
    active = open_active(folder)
    if active is None:
        return None
    active[0].close()
    return active[1]


def headings(folder: Path) -> Iterator[Heading]:
    """Yield what the segments say of themselves, newest first; those whose heading is lost say
    nothing.

    Between two segments, and where a writer was killed there, the first one is a closed one's.
    Raises `OSError`.
    """
    if (active := active_heading(folder)) is not None:
        yield active
    for segment in reversed(closed(folder)):
        with open_closed(segment) as handle:
            heading = _heading(handle)
        if heading is not None:
            yield heading


def store_id(folder: Path) -> str:
    """Return the id of the store in `folder`, from the newest header that can be read. Raises
    `OSError`.
    """
    return next((heading.store for heading in headings(folder) if heading.store), "")


def _segments(
    folder: Path, *, back: bool = False, first: int = 0
) -> Iterator[tuple[BinaryIO, str, int]]:
    """Open the segments that start after revision `first` or later, oldest (or newest) first, each
    for its turn.

    Yields the file, its name and its start.
    """
    active = open_active(folder)
    with contextlib.ExitStack() as stack:
        turns: list[Segment | None] = [*closed(folder)]
        if active is not None:
            stack.enter_context(active[0])
            turns = [*_before(active[0], turns), None]
        for segment in reversed(turns) if back else turns:
            if segment is None:
                if active is not None and active[1].start >= first:
                    yield active[0], NAME, active[1].start
            elif segment.start >= first:
                with open_closed(segment) as handle:
                    yield handle, segment.path.name, segment.start


def _before(active: BinaryIO, segments: Sequence[Segment | None]) -> list[Segment | None]:
    """Return the closed segments that come before the open active one: all, but for those that are
    later because it was closed itself meanwhile.
    """
    opened = os.fstat(active.fileno())
    for at, segment in enumerate(segments):
        with contextlib.suppress(FileNotFoundError):
            if segment is not None and os.path.samestat(opened, segment.path.lstat()):
                return list(segments[:at])
    return list(segments)


def _heading(handle: BinaryIO) -> Heading | None:
    """Read the heading of an open segment; when its header is damaged, the first good entry tells."""
    for line in islice(read_lines(handle, NAME, Position()), _FIRST_LINES):
        if line.value is not None and is_header(line.value):
            return Heading(line.value["rev"], store_in(line.value))
        if line.value is not None and "rev" in line.value:
            return Heading(line.value["rev"] - 1)
    return None


# Reading forward.


def follow(folder: Path, position: Position) -> Iterator[Line]:
    """Yield the complete lines after `position`, through closed segments to the end of the active
    one.
    """
    for handle, name, start in _segments(folder, first=position.start):
        yield from read_lines(
            handle, name, position if start == position.start else Position(start=start)
        )


def read_from(path: Path, start: Position) -> Iterator[Line]:
    """Yield the complete lines of a file from `start` on; a missing file has none."""
    try:
        handle = open_lines(path)
    except FileNotFoundError:
        return
    with handle:
        yield from read_lines(handle, path.name, start)


def read_lines(handle: BinaryIO, file: str, start: Position) -> Iterator[Line]:
    """Yield the complete lines of an open segment from `start` on; an unfinished last line is left
    for later.
    """
    place = start
    try:
        handle.seek(start.offset)
        for raw in read_lines_of(handle):
            ended = raw[-1:] == b"\n"
            for line in _lines_in(raw.removesuffix(b"\n"), place, file, ended=ended):
                place = line.after
                yield line
            if not ended:
                # What a writer adds at this very moment would come next, as if it began a line.
                return
    except (CannotUnpack, TooLarge) as error:
        why = f"the rest is not read: {error.strerror}"
        yield Line(None, None, place, file, Damage(file, place.line + 1, place.offset, why))


def _lines_in(raw: bytes, place: Position, file: str, *, ended: bool) -> Iterator[Line]:
    """Yield what is whole of a line (without its line end), or its damage.

    Of one that has not ended, only what is whole; the place after it is where its line end will be.
    """
    after = Position(place.offset + len(raw) + 1, place.line + 1, place.start)
    try:
        yield Line(*read_line(raw), after, file, ended=ended)
        return
    except BadLine as bad:
        why = str(bad)
    pieces, done = sealed_in(raw), 0
    if ended and not pieces:
        yield Line(None, None, after, file, Damage(file, after.line, place.offset, why))
    for start, end in pieces:
        here = Position(place.offset + end + (not ended), place.line + (not ended), place.start)
        is_damaged = not done if ended else raw[done:start].strip(b"\0")
        damage = Damage(file, after.line, place.offset + done, why) if is_damaged else None
        here = after if ended and end == pieces[-1][1] else here
        yield Line(*read_line(raw[start:end]), here, file, damage, ended)
        done = end


# Reading backward.


def values_back(folder: Path, *needles: bytes) -> Iterator[dict[str, Any]]:
    """Yield the good lines of the whole journal, newest first; only those that contain one of
    `needles`, when given.
    """
    bad, holds = 0, _holding(needles)
    for handle, *_ in _segments(folder, back=True):
        try:
            for raw in lines_back(handle):
                values = _values_in(raw) if holds(raw) else []
                bad += not values and (not needles or len(raw) < _SHORTEST)
                if bad > MOST_DAMAGE:
                    return
                yield from reversed(values)
        except TooLarge:
            # A line that is too long is damage, and what stands before it is out of reach from
            # behind.
            continue


def _holding(needles: Sequence[bytes]) -> Callable[[bytes], object]:
    """Return what tells whether bytes hold one of some needles, or whatever when there are none:
    few in one pass.
    """
    if len(needles) <= _FEW:
        return re.compile(b"|".join(map(re.escape, needles))).search
    return lambda raw: any(needle in raw for needle in needles)


def lines_back(handle: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of an open segment from the last to the first, without reading more than is
    asked for.
    """
    place = handle.seek(0, os.SEEK_END)
    pieces: list[bytes] = []
    first = True
    while place > 0:
        # Of a long line as much again as there is of it: a line in many pieces is put together for
        # long.
        step = min(max(_BLOCK, min(_LARGE_BLOCK, sum(map(len, pieces)))), place)
        place -= step
        handle.seek(place)
        block = handle.read(step)
        if first and block.endswith(b"\n"):
            block = block[:-1]
        first = False
        *rest, last = block.split(b"\n")
        pieces.append(last)
        if sum(map(len, pieces)) > files.LONGEST + _BLOCK:
            raise TooLarge("a line", files.LONGEST)
        if not rest:
            continue
        yield b"".join(reversed(pieces))
        yield from reversed(rest[1:])
        pieces = [rest[0]]
    if pieces:
        yield b"".join(reversed(pieces))


def _values_in(raw: bytes) -> list[dict[str, Any]]:
    """Return the values of a line (without its line end): one, none when it is damaged, or those it
    was joined from.
    """
    try:
        return [unseal(raw)]
    except BadLine:
        return [unseal(raw[start:end]) for start, end in sealed_in(raw)]


def holds(folder: Path, mark: str, uid: str = "") -> bool:
    """Tell whether the journal has a good line with a hash, or a transaction with a uid, wherever
    it stands. Raises `OSError`.
    """
    needles = [f'"{name}":"{one}"'.encode() for name, one in (("hash", mark), ("uid", uid)) if one]
    return next(values_back(folder, *needles), None) is not None


def entry_at(folder: Path, rev: int) -> Transaction | None:
    """Return the entry of a revision, `None` for none. Raises `OSError`."""
    for value in values_back(folder, b'{"rev":%d,' % rev):
        if value.get("rev") == rev and not is_header(value):
            with contextlib.suppress(ValueError):
                return from_json(value)
    return None


def fits(folder: Path, position: Position, mark: str) -> bool:
    """Tell whether the journal goes on from `position` as it did when the line before it had
    the hash `mark`.
    """
    if not mark:
        return True
    for handle, _, start in _segments(folder, first=position.start):
        return start == position.start and _mark_fits(handle, position, mark)
    return False


def mark_fits(path: Path, position: Position, mark: str) -> bool:
    """Tell whether the line before `position` in a segment ends with the hash `mark`; raises
    `OSError`.
    """
    with open_lines(path) as handle:
        return _mark_fits(handle, position, mark)


def _mark_fits(handle: BinaryIO, position: Position, mark: str) -> bool:
    expected = b'"hash":"' + mark.encode() + b'"}'
    handle.seek(max(0, position.offset - len(expected) - 1))
    return handle.read(len(expected) + 1).rstrip(b"\n\0") == expected


# Writing.


class Uncertain(OSError):
    """Lines were written, making them durable failed, and they could not be taken back: they may be
    stored or not.
    """


def cannot_know(folder: Path, error: OSError) -> UnknownOutcome:
    """Say in one sentence that a change may be stored or not."""
    why = why_failed(error)
    return UnknownOutcome(
        f"The store {folder} failed while the change was being written ({why}), and what was written could not be "
        "taken back: it is unknown whether the change is stored.",
        "Check `workbench history` before you repeat it.",
    )


def append(path: Path, data: bytes) -> tuple[int, os.stat_result | None]:
    """Append sealed lines in one write and one fsync; return the file's new size, and what it then
    looks like.

    How it looks is `None` when that cannot be found out: the lines are stored all the same.

    When the write or the fsync fails, the file is cut back to its old size, so a failed transaction
    leaves no half line. Raises `OSError`, and `Uncertain` when it cannot be cut back either.
    """
    handle = open_handle(path, os.O_WRONLY | os.O_APPEND)
    try:
        size = os.fstat(handle).st_size
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        except OSError as error:
            _cut_back(handle, size, error)
            raise
        with contextlib.suppress(OSError):
            return size + len(data), os.fstat(handle)
        return size + len(data), None
    finally:
        os.close(handle)


def _cut_back(handle: int, size: int, error: OSError) -> None:
    """Cut a file back to the size it had before a write that failed with `error`."""
    try:
        os.ftruncate(handle, size)
    except OSError:
        with contextlib.suppress(OSError):
            if os.fstat(handle).st_size == size:
                return
        raise Uncertain(error.errno, error.strerror) from error


def mend_tail(path: Path) -> bytes:
    """Let a file end with a line end, and return what was cut off for that; call it under the write
    lock only.

    A line whose hash fits gets the line end it lost, one that is damaged stays as damage; the
    beginning of a line and zeros, which a crash leaves, are cut off.
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


def _worth_keeping(torn: bytes) -> int:
    """Return how many bytes of an unended last line are no leftover of a crash."""
    stripped = torn.rstrip(b"\0")
    if looks_whole(stripped):
        return len(stripped)
    pieces = sealed_in(torn)
    return pieces[-1][1] if pieces else 0


class Tail:
    """A place in the journal that moves forward from that of a checkpoint: how far one process has
    read, and where it appends.

    `rev` and `uid` are those of the last entry passed, `mark` is the hash of the last line, `damage`
    the lines that could not be trusted, of which `again` have the number of another one.
    `disordered` tells that a line does not follow the one before it, or that a revision stands a
    second time, or too late: only the whole journal says what holds (see `reorder`). `store` is the
    id of the store. Every line that somebody else wrote is told to `on_line`, once there is one.
    Methods raise `OSError`.
    """

    def __init__(self, folder: Path, stamp: Stamp | None = None) -> None:
        stamp = stamp or Stamp()
        self.path = folder / NAME
        self.place = stamp.position
        self.mark = stamp.mark
        self.rev = stamp.rev
        self.uid = stamp.uid
        self.damage: list[Damage] = []
        self.again = dict[Damage, int]()
        self.disordered = False
        self.on_line: Callable[[Line], object] | None = None
        self._before_header = ""
        self._ended = True
        self._folder = folder
        self._seen: Seen = None
        self.store = store_id(folder)

    @property
    def is_current(self) -> bool:
        """Tell, by one `stat`, that nothing was appended since the last look."""
        return look(self.path) == self._seen

    @property
    def is_removed(self) -> bool:
        """Tell that the active segment, which was there, is not: somebody took it away, perhaps
        with its folder.

        One that was closed, with the next one still to be made, was not taken away.
        """
        return self._seen is not None and look(self.path) is None and not self._was_closed()

    @property
    def is_missing(self) -> bool:
        """Tell that the active segment was removed, or may not be looked at any more; raises
        nothing.
        """
        try:
            return self.is_removed
        except OSError:
            return True

    @property
    def is_clean(self) -> bool:
        """Tell that nothing was appended and no unfinished line stands at the end."""
        return (
            self._ended
            and self._seen is not None
            and self._seen[1] == self.place.offset
            and self.is_current
        )

    def goes_on(self) -> bool:
        """Tell whether the files are still the ones that were read so far, only longer."""
        seen = look(self.path)
        if self._seen is None:
            return True
        if seen is None:
            return self._was_closed()
        return fits(self._folder, self.place, self.mark)

    def _was_closed(self) -> bool:
        """Whether the segment was closed, and the next one is about to be made; or somebody took
        the journal away.
        """
        return any(segment.start == self.place.start for segment in closed(self._folder))

    def entries(self) -> Iterator[Transaction]:
        """Yield the transactions after the present place and move past them; damage is noted on the
        way.
        """
        seen = look(self.path)
        for line in follow(self._folder, self.place):
            entry = self._pass(line)
            if entry is not None:
                yield entry
            if len(self.damage) > MOST_DAMAGE:
                raise OSError(EFBIG, f"more than {MOST_DAMAGE:,} places of the journal are damaged")
        self._seen = seen

    def append(self, line: bytes, entry: Transaction) -> os.stat_result | None:
        """Append a transaction as a sealed line durably; return what the segment then looks like,
        if that can be told.
        """
        size, seen = append(self.path, line)
        self._arrive(Position(size, self.place.line + 1, self.place.start), line, entry.rev)
        self.uid = entry.uid
        self._seen = None if seen is None else (seen.st_ino, seen.st_size, seen.st_mtime_ns)
        return seen

    def begin(self, head: Callable[[], dict[str, object]]) -> None:
        """Make the active segment when there is none, or an empty one."""
        seen = look(self.path)
        if seen is None or seen[1] == 0:
            self._write_header(head)

    def roll(self, head: Callable[[], dict[str, object]]) -> None:
        """Close the active segment and begin the next one; in one that holds no change, only the
        header is written.

        The next one is on the disk before the active one gives its name up: on a full disk nothing
        has changed.
        """
        if self.place.start == self.rev:
            if self.place.line <= 1:
                self.mark = self._before_header
                self._write_header(head)
            return
        value, place = head(), self._folder / closed_name(self.place.start)
        if any(one.start == self.place.start for one in closed(self._folder)):
            raise FileExistsError(EEXIST, "a segment of that name is there")  # of a merged branch
        line = seal(value, self.mark or START)
        with draft_beside(self.path) as (file, draft):
            fill(file, line)
            self.path.rename(place)
            sync_folder(self._folder)
            put_in_place(draft, self.path)
        self._began(value, line)

    def mend(self) -> bytes:
        """Let the active segment end with a line end, under the write lock only; return what was
        cut off.
        """
        self._ended = True
        return mend_tail(self.path)

    def _write_header(self, head: Callable[[], dict[str, object]]) -> None:
        value = head()
        line = seal(value, self.mark or START)
        write_file(self.path, line)
        self._began(value, line)

    def _began(self, value: dict[str, object], line: bytes) -> None:
        self._arrive(Position(len(line), 1, self.rev), line, self.rev)
        self._seen = look(self.path)
        self.store = str(value["store"])

    def _arrive(self, place: Position, line: bytes, rev: int) -> None:
        self.place, self.mark, self.rev = place, hash_of(line[:-1]), rev

    def _pass(self, line: Line) -> Transaction | None:
        before, mark = self.place, self.mark
        if line.after.line == 1:
            self._before_header = mark
        self.place, self._ended = line.after, line.ended
        self.mark = "" if line.seal is None else line.seal.hash
        if line.damage is not None:
            self.damage.append(line.damage)
        if line.value is None or line.seal is None:
            return None
        if self.on_line is not None:
            self.on_line(line)
        follows = mark in ("", line.seal.prev) or line.damage is not None
        where = (
            line.file,
            line.after.line,
            before.offset if before.start == line.after.start else 0,
        )
        if is_header(line.value):
            self.store = self.store or store_in(line.value)  # another process began it
            self.disordered = self.disordered or not follows
            return None
        try:
            entry = from_json(line.value, find=partial(entry_at, self._folder))
        except ValueError as error:
            self.damage.append(Damage(*where, str(error)))
            return None
        first, last = self.rev + 1, entry.rev - 1
        if entry.rev <= self.rev:
            self.damage.append(Damage(*where, f"revision {entry.rev} appears twice, or too late"))
            self.again[self.damage[-1]] = entry.rev
            self.disordered = True
            return None
        if first <= last:
            which = f"revision {first} is" if first == last else f"revisions {first} to {last} are"
            self.damage.append(Damage(*where, f"{which} missing", (first, last)))
        elif not follows:
            self.damage.append(Damage(*where, "it does not follow the line before it"))
            self.disordered = True
        self.rev, self.uid = entry.rev, entry.uid
        return entry
