"""The write lock of a store for a process that takes it once: the same lock as `WriteLock`, at a tenth of the cost.

Importing `filelock` takes longer than everything else a hook does. What it does on POSIX systems is one `flock` on
the lock file, so that is done here directly; elsewhere `WriteLock` does it.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import EACCES, EAGAIN, EINTR
from pathlib import Path

from workbench.store.lock import PATIENCE, WriteLock, busy, cannot_write

_POLL = 0.002


@contextmanager
def held(folder: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Hold the write lock of the store in `folder`; not re-entrant. Raises `StoreProblem` when it cannot be had."""
    try:
        import fcntl
    except ImportError:
        with WriteLock(folder / "lock", patience).held():
            yield
        return
    try:
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise cannot_write(folder, error) from error
    try:
        end = time.monotonic() + patience
        while not _locked(fcntl.flock, handle, fcntl.LOCK_EX | fcntl.LOCK_NB, folder):
            if time.monotonic() >= end:
                raise busy(folder, "Another process", patience)
            time.sleep(_POLL)
        yield
    finally:
        # Closing lets go of the lock.
        os.close(handle)


def _locked(flock: Callable[[int, int], None], handle: int, how: int, folder: Path) -> bool:
    try:
        flock(handle, how)
    except OSError as error:
        if error.errno in (EACCES, EAGAIN, EINTR):
            return False
        raise cannot_write(folder, error) from error
    return True
