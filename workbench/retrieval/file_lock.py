"""One writer at a time, across processes, without waiting."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
    behind. Raises `OSError` when the file cannot be opened.
    """
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        try:
            _take(handle)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)
