"""Reading the files of a store, and what fails.

Git carries links, and a folder may hold anything: whatever is read from a store's folder is opened here, so that it
is a regular file that stands there itself, of a size that makes sense.
"""

import io
import os
import time
from errno import EACCES, EFBIG, EROFS
from pathlib import Path

from workbench.core.errors import StoreProblem
from workbench.core.files.handles import open_handle

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
