"""The files of a store as they are read, and what fails: regular files in bounds, and segments line
by line.

Git carries links, and a folder may hold anything: whatever is read from a store's folder is opened
here, so that it is a regular file that stands there itself, of a size that makes sense.
"""

import io
import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from errno import EACCES, EFBIG, EIO, EROFS
from pathlib import Path
from typing import BinaryIO, cast

from workbench.core.files.atomic import is_draft, remove_left
from workbench.core.files.fresh import open_handle
from workbench.core.record import StoreProblem, UnknownOutcome

DOCUMENTS = "memory.json"
"""The checkpoint of a store: its documents, as a TinyDB file."""

LOCK = "lock"
"""The lock file that every writer of a store holds."""

CHECKPOINT_LOCK = "checkpoint.lock"
"""The lock file that whoever writes a checkpoint holds, taken before the other one."""

LARGEST = 1 << 30
"""Bytes of a file that is read as a whole, at most."""


def sweep(folder: Path) -> None:
    """Remove what killed processes left of a store's files; under the write lock. What cannot be
    removed stays.
    """
    with suppress(OSError), os.scandir(folder) as entries:
        for name in [entry.name for entry in entries if is_draft(entry.name)]:
            remove_left(folder / name)


class TooLarge(OSError):
    """Something in a store's folder is larger than it ever is; `what` it is, and the limit in
    bytes.
    """

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(EFBIG, f"{what} is larger than {limit >> 20:,} MiB")


def open_regular(path: Path) -> io.FileIO:
    """Open a regular file of a store for reading, unbuffered; raises as `open_handle` does."""
    return io.FileIO(open_handle(path, os.O_RDONLY), "rb")


def read_regular(path: Path, most: int = LARGEST) -> bytes:
    """Return what is in a regular file of a store; raises as `open_handle` does, and `TooLarge`
    above `most` bytes.
    """
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise TooLarge(path.name, most)
        data = file.readall()
    if len(data) > most:
        raise TooLarge(path.name, most)
    return data


def closed(folder: Path, *names: str) -> OSError | None:
    """Return why nothing can be written to a folder, or to those of its files that are there;
    `None` when it can.
    """
    there = [folder, *(path for name in names if (path := folder / name).exists())]
    if not folder.exists() or all(os.access(path, os.W_OK) for path in there):
        return None
    fixed = hasattr(os, "statvfs") and os.statvfs(folder).f_flag & os.ST_RDONLY
    number = EROFS if fixed else EACCES
    return OSError(number, os.strerror(number))


def taken_away(folder: Path) -> StoreProblem:
    """Say in one sentence that the journal that was open is not there any more."""
    message = f"The journal of {folder} is missing: it was removed or renamed."
    return StoreProblem(message, "Nothing was changed; restore it, or open the store again.")


def overtaken(folder: Path) -> StoreProblem:
    """Say in one sentence that somebody else wrote, without the lock, what was about to be written."""
    message = f"Another program wrote to {folder} while its lock file was replaced."
    return StoreProblem(message, "Nothing was changed; try again.")


def changed_meanwhile(actor: str) -> StoreProblem:
    """Say in one sentence that somebody else changed what was about to be changed."""
    message = f"{actor or 'Somebody else'} changed the same meanwhile."
    return StoreProblem(message, "Nothing was changed; look at it again and repeat what you did.")


def stored_elsewhere(folder: Path, why: str) -> UnknownOutcome:
    """Say in one sentence that a change is stored, and this machine's copy does not have it yet."""
    why = why.rstrip(".")
    return UnknownOutcome(
        f"The change is stored, but the copy of the store in {folder} does not have it yet ({why}).",
        "Do not repeat it; open the store again.",
    )


# Segments as they are read: a file of a store may come from anybody, so each is read within bounds.


LONGEST = 64 << 20
"""Bytes of a line at most."""

LARGEST_PACKED = 128 << 20
"""Bytes of a packed segment at most, unpacked; it is closed before it comes near that."""

_CHUNK = 1 << 16


class CannotUnpack(OSError):
    """A packed segment is damaged or cut off."""


class _Unpacked(io.BytesIO):
    """A packed segment, as far as it can be unpacked; `error` is what stopped that."""

    error: OSError | None = None


def open_lines(path: Path) -> BinaryIO:
    """Open a segment for reading, packed or not. Raises `OSError`; for what cannot be unpacked see
    `read_lines_of`.
    """
    if path.suffix != ".gz":
        return cast(BinaryIO, io.BufferedReader(open_regular(path), _CHUNK))
    import gzip  # few segments are packed

    file = _Unpacked()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(read_regular(path))) as packed:
            while block := packed.read1(_CHUNK):
                file.write(block)
                if file.tell() > LARGEST_PACKED:
                    raise TooLarge("a packed segment", LARGEST_PACKED)
    except TooLarge as error:
        file.error = error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        file.error = CannotUnpack(EIO, f"it cannot be unpacked ({error})")
    file.seek(0)
    return file


def read_lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of an open segment from where it stands; raises `TooLarge` for a line, and
    `CannotUnpack`.
    """
    error = file.error if isinstance(file, _Unpacked) else None
    while line := file.readline(LONGEST + 1):
        if len(line) > LONGEST:
            raise TooLarge("a line", LONGEST)
        if error is not None and line[-1:] != b"\n":
            break
        yield line
    if error is not None:
        raise error


# How a file looks.


Seen = tuple[int, int, int] | None


def look(path: Path) -> Seen:
    """Return what tells one state of a file from another (inode, size, time), or `None` when it is
    missing.
    """
    try:
        seen = path.lstat()
    except FileNotFoundError:
        return None
    return seen.st_ino, seen.st_size, seen.st_mtime_ns
