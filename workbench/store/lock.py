"""The write lock of a store: one writer at a time, across threads and processes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.core.errors import StoreProblem

PATIENCE = 10.0
"""Seconds a writer waits for another one before it gives up."""

_POLL = 0.002


class WriteLock:
    """A lock file plus a thread lock; the operating system frees it when its process dies."""

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        from filelock import FileLock  # a hook takes the lock without it, see `quick_lock`

        self._path = path
        self._patience = patience
        self._file = FileLock(path, timeout=patience, thread_local=False, mode=0o600, poll_interval=_POLL)
        self._threads = threading.RLock()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock; re-entrant within a thread. Raises `StoreProblem` when it cannot be had."""
        if not self._threads.acquire(timeout=self._patience):
            raise self._busy("Another thread")
        try:
            self._acquire_file()
            try:
                yield
            finally:
                self._file.release()
        finally:
            self._threads.release()

    def _acquire_file(self) -> None:
        from filelock import Timeout

        try:
            self._file.acquire()
        except Timeout as error:
            raise self._busy("Another process") from error
        except OSError as error:
            raise cannot_write(self._path.parent, error) from error

    def _busy(self, who: str) -> StoreProblem:
        return busy(self._path.parent, who, self._patience)


def busy(folder: Path, who: str, patience: float) -> StoreProblem:
    """Say in one sentence that somebody else does not let go of the write lock."""
    message = f"{who} has been writing to {folder} for {patience:.0f} seconds."
    return StoreProblem(message, "Nothing was changed; try again.")


def cannot_write(folder: Path, error: OSError) -> StoreProblem:
    """Say in one sentence that the store cannot be written and what that means."""
    message = f"The store {folder} cannot be written: {_why(error)}."
    return StoreProblem(message, "Nothing was changed and nothing stored is lost.")


def cannot_read(folder: Path, error: OSError) -> StoreProblem:
    """Say in one sentence that the store cannot be read."""
    return StoreProblem(f"The store {folder} cannot be read: {_why(error)}.", "Nothing was changed.")


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
