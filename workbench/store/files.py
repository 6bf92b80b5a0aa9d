"""The files of a store as they are read, and what fails: regular files in bounds, and segments line by line.

Git carries links, and a folder may hold anything: whatever is read from a store's folder is opened here, so that it
is a regular file that stands there itself, of a size that makes sense.
"""

import io
import os
import time
import zlib
from errno import EACCES, EFBIG, EROFS
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from workbench.core.files.fresh import open_handle
from workbench.core.record import StoreProblem

if TYPE_CHECKING:
    from zlib import _Decompress


LOCK = "lock"
"""The lock file that every writer of a store holds."""

CHECKPOINT_LOCK = "checkpoint.lock"
"""The lock file that whoever writes a checkpoint holds, taken before the other one."""

LARGEST = 1 << 30
"""Bytes of a file that is read as a whole, at most."""

_SETTLED_NS = 100_000_000
"""Nanoseconds after which a folder's time tells of whatever comes next: it is rounded to ticks of a clock."""


class Standstill:
    """Tells by one look at a folder that nothing came into it or went since its names were read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._since = -1

    def holds(self) -> bool:
        """Whether the names are still those of the moment that was noted."""
        return self._since >= 0 and self.moment() == self._since

    def moment(self) -> int:
        """Return what tells this moment from others, before the names are read; -1 where it does not tell yet."""
        try:
            at = self._folder.stat().st_mtime_ns
        except OSError:
            return -1
        return at if time.time_ns() - at > _SETTLED_NS else -1

    def note(self, moment: int) -> None:
        """Remember the moment before the names were read."""
        self._since = moment


class TooLarge(OSError):
    """Something in a store's folder is larger than it ever is; `what` it is, and the limit in bytes."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(EFBIG, f"{what} is larger than {limit >> 20:,} MiB")


def open_regular(path: Path) -> io.FileIO:
    """Open a regular file of a store for reading, unbuffered; raises as `open_handle` does."""
    return io.FileIO(open_handle(path, os.O_RDONLY), "rb")


def read_regular(path: Path, most: int = LARGEST) -> bytes:
    """Return what is in a regular file of a store; raises as `open_handle` does, and `TooLarge` above `most` bytes."""
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise TooLarge(path.name, most)
        data = file.readall()
    if len(data) > most:
        raise TooLarge(path.name, most)
    return data


def closed(folder: Path, *names: str) -> OSError | None:
    """Return why nothing can be written to a folder, or to those of its files that are there; `None` when it can."""
    there = [folder, *(path for name in names if (path := folder / name).exists())]
    if not folder.exists() or all(os.access(path, os.W_OK) for path in there):
        return None
    fixed = hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY
    number = EROFS if fixed else EACCES
    return OSError(number, os.strerror(number))


def taken_away(folder: Path) -> StoreProblem:
    """Say in one sentence that the journal that was open is not there any more."""
    message = f"The journal of {folder} is gone: somebody removed or renamed it."
    return StoreProblem(message, "Nothing was changed; put it back, or open the store again.")


def overtaken(folder: Path) -> StoreProblem:
    """Say in one sentence that somebody else wrote, without the lock, what was about to be written."""
    message = f"Another program wrote to {folder} while its lock file was replaced."
    return StoreProblem(message, "Nothing was changed; try again.")


# Segments as they are read: one line at a time, packed ones unpacked piece by piece, both within bounds.
#
# A file of a store may come from anybody. A line is at most `LONGEST` bytes and a packed segment at most `LARGEST`
# unpacked; three megabytes of gzip can hold three gigabytes, and none of it is ever in memory as a whole.


LONGEST = 64 << 20
"""Bytes of a line at most."""

"""Bytes of a packed segment at most, unpacked."""

_STRIDE = 4 << 20
"""Bytes unpacked between two places that can be gone back to."""

_CHUNK = 1 << 16
_GZIP = 31


class NotPacked(OSError):
    """What stands behind a packed part is neither another one nor padding."""


DAMAGED = (EOFError, zlib.error, NotPacked)
"""What reading a packed segment raises where it is damaged or cut off."""


class Lines(io.BufferedReader):
    """An open file whose lines are read one by one; raises `TooLarge` for one that is too long."""

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return the next line, or what is left of the last one."""
        most = LONGEST + 1 if size is None or size < 0 else min(size, LONGEST + 1)
        line = super().readline(most)
        if len(line) > LONGEST:
            raise TooLarge("a line", LONGEST)
        return line


def open_lines(path: Path) -> BinaryIO:
    """Open a segment for reading, packed or not. Raises `OSError`.

    Reading it raises `TooLarge`, and of a packed one what `DAMAGED` names.
    """
    file = open_regular(path)
    return cast(BinaryIO, Lines(_Unpacked(file) if path.suffix == ".gz" else file, _CHUNK))


class _Place(NamedTuple):
    """Where unpacking goes on: the offset in the packed file, bytes that were read before it, and the unpacker."""

    offset: int
    pending: bytes
    unpacker: "_Decompress"


class _Unpacked(io.RawIOBase):
    """A packed file as it is unpacked. Going back starts at the nearest place that was noted on the way."""

    def __init__(self, file: io.FileIO) -> None:
        super().__init__()
        self._file = file
        self._at = 0
        self._places = [_Place(0, b"", zlib.decompressobj(_GZIP))]
        self._block: tuple[int, bytes] = (-1, b"")
        self._end: int | None = None
        self._error: Exception | None = None

    def close(self) -> None:
        """Close the packed file, too."""
        self._file.close()
        super().close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        """Return the place, in unpacked bytes."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a place; the end is where nothing more can be unpacked."""
        base = 0 if whence == io.SEEK_SET else self._at if whence == io.SEEK_CUR else self._size()
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: "memoryview | bytearray", /) -> int:  # type: ignore[override]
        """Read unpacked bytes; raises what stopped the unpacking when nothing is left before it."""
        number, within = divmod(self._at, _STRIDE)
        piece = self._read(number)[within : within + len(buffer)]
        if not piece and self._error is not None:
            raise self._error
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def _size(self) -> int:
        number = len(self._places) - 1
        while self._end is None:
            self._read(number)
            number += 1
        return self._end

    def _read(self, number: int) -> bytes:
        """Return one stride of unpacked bytes, fewer at the end."""
        if self._block[0] != number:
            for step in range(min(number, len(self._places) - 1), number + 1):
                if self._end is not None and step * _STRIDE >= self._end:
                    return b""
                self._block = (step, self._unpack(step))
        return self._block[1]

    def _unpack(self, number: int) -> bytes:
        place = self._places[number]
        data, error = bytearray(), None
        try:
            if number * _STRIDE >= LARGEST:
                raise TooLarge("a packed segment", LARGEST)
            place = self._on(place, data)
        except (EOFError, zlib.error, OSError) as stopped:
            error = stopped
        if len(data) < _STRIDE or error is not None:
            self._end, self._error = number * _STRIDE + len(data), error
        elif number + 1 == len(self._places):
            self._places.append(place)
        return bytes(data)

    def _on(self, place: _Place, data: bytearray) -> _Place:
        """Unpack a stride from a place into `data`; return the place after it."""
        offset, pending, unpacker = place.offset, place.pending, place.unpacker.copy()
        self._file.seek(offset)
        while (room := _STRIDE - len(data)) > 0:
            pending = pending or self._file.read(_CHUNK)
            if not pending:
                data += unpacker.decompress(b"", room)
                if unpacker.eof or self._file.tell() == 0:
                    break
                if len(data) < _STRIDE:
                    raise EOFError("Compressed file ended before the end-of-stream marker was reached")
                continue
            if unpacker.eof:
                # Zeros may stand behind the end, or another packed part.
                pending = pending.lstrip(b"\0")
                if pending[:1] not in (b"", b"\x1f"):
                    raise NotPacked("Not a gzipped file")
                unpacker = zlib.decompressobj(_GZIP) if pending else unpacker
                continue
            data += unpacker.decompress(pending, room)
            pending = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
        return _Place(self._file.tell(), pending, unpacker)
