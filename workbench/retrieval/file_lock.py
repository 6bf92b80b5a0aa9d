"""One writer at a time, across processes, without waiting."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TRIES = 10

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def writing(path: Path) -> Iterator[bool]:
    """Hold the lock file `path` for the block; gives `False` at once when somebody else holds it.

    The operating system releases the lock when the file is closed or the process ends, so none is left
    behind. A lock file that was replaced at that moment is locked anew. Raises `OSError` when it cannot be opened.
    """
    for _ in range(_TRIES):
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            taken = _taken(handle)
            if taken and not _names(path, handle):
                continue
            yield taken
            return
        finally:
            os.close(handle)
    yield False


def _taken(handle: int) -> bool:
    try:
        _take(handle)
    except OSError:
        return False
    return True


def _names(path: Path, handle: int) -> bool:
    """Tell whether a path still names the file that was opened through it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except OSError:
        return False
