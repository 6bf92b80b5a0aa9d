"""The write lock of a store: one writer at a time, across threads and processes.

The operating system frees it when its process dies. A lock file can be unlinked while somebody holds it (a branch
switch in git does that), and then a second process could lock a new one of the same name. So the store's folder is
locked as well where the system can do that, and a lock whose path names another file is taken again.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.core.errors import StoreProblem
from workbench.core.files.handles import open_handle, try_lock
from workbench.core.waiting import Holder, StoreBusy, patience
from workbench.store.files import cannot_write
from workbench.store.journal import holder

LOCK = "lock"
"""The lock file that every writer of a store holds."""

CHECKPOINT_LOCK = "checkpoint.lock"
"""The lock file that whoever writes a checkpoint holds, taken before the other one."""

_POLL = 0.002
_ASK_AGAIN = 0.25


class WriteLock:
    """A lock file plus a thread lock; re-entrant within a thread.

    `with_folder` locks the folder of the file, too. How long is waited says `workbench.core.waiting`.
    """

    def __init__(self, path: Path, *, with_folder: bool = False) -> None:
        self._path = path
        self._with_folder = with_folder
        self._threads = threading.RLock()
        self._depth = 0
        self._handle = self._folder = -1

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock for the block. Raises `StoreBusy` when somebody else holds it, `StoreProblem` for the disk."""
        waiting = _Waiting(self._path.parent)
        waiting.until(lambda: self._threads.acquire(timeout=_POLL), lambda: Holder(os.getpid(), own=True), pause=0)
        try:
            if self._depth == 0:
                waiting.until(self._attempt, self._holder)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
        finally:
            if self._depth == 0:
                self._let_go()
            self._threads.release()

    def renew(self) -> bool:
        """Take a lock that is held again when its path names another file by now, and tell whether that was so.

        Somebody may have written since, then. Call it before what must not be written twice. Raises as `held` does.
        """
        if self._folder >= 0 and not _names(self._path.parent, self._folder):
            self._let_go()
        elif _names(self._path, self._handle):
            return False
        else:
            self._handle = _closed(self._handle)
        _Waiting(self._path.parent).until(self._attempt, self._holder)
        return True

    def _attempt(self) -> bool:
        """Try once, on the files that the paths name now; a folder that is locked stays so."""
        try:
            if self._with_folder and self._folder < 0 and not self._lock_folder():
                return False
            self._handle = open_handle(self._path, os.O_RDWR | os.O_CREAT)
            if try_lock(self._handle) and _names(self._path, self._handle):
                holder.note(self._handle)
                return True
        except OSError as error:
            raise cannot_write(self._path.parent, error) from error
        self._handle = _closed(self._handle)
        return False

    def _lock_folder(self) -> bool:
        """Lock the folder; return `False` when somebody else has. Where folders cannot be locked, go without."""
        try:
            self._folder = os.open(self._path.parent, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            if try_lock(self._folder) and _names(self._path.parent, self._folder):
                return True
        except OSError:
            self._folder = _closed(self._folder)
            return True
        self._folder = _closed(self._folder)
        return False

    def _let_go(self) -> None:
        self._handle, self._folder = _closed(self._handle), _closed(self._folder)

    def _holder(self) -> Holder | None:
        return holder.holder_of(self._path, *([self._path.parent] if self._with_folder else []))


class _Waiting:
    """Tries again and again as long as the patience of the caller lasts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._how = patience()
        self._begun = time.monotonic()
        self._asked = 0.0
        self._told: Holder | bool | None = False

    def until(self, attempt: Callable[[], bool], whom: Callable[[], Holder | None], pause: float = _POLL) -> None:
        while not attempt():
            waited = time.monotonic() - self._begun
            if waited >= self._how.seconds or (self._how.gives_up is not None and self._how.gives_up()):
                raise StoreBusy(self._folder, whom(), waited)
            self._tell(waited, whom)
            time.sleep(pause)

    def _tell(self, waited: float, whom: Callable[[], Holder | None]) -> None:
        if self._how.waits_for is None or (self._told is not False and waited < self._asked + _ASK_AGAIN):
            return
        self._asked = waited
        if (now := whom()) != self._told:
            self._told = now
            self._how.waits_for(now)


def _closed(handle: int) -> int:
    """Close a handle if it is one, which lets go of its lock, and return what stands for none."""
    if handle >= 0:
        os.close(handle)
    return -1


def _names(path: Path, handle: int) -> bool:
    """Tell whether a path still names the file that was opened through it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except OSError:
        return False


def taken_away(folder: Path) -> StoreProblem:
    """Say in one sentence that the journal that was open is not there any more."""
    message = f"The journal of {folder} is gone: somebody removed or renamed it."
    return StoreProblem(message, "Nothing was changed; put it back, or open the store again.")


def overtaken(folder: Path) -> StoreProblem:
    """Say in one sentence that somebody else wrote, without the lock, what was about to be written."""
    message = f"Another program wrote to {folder} while its lock file was replaced."
    return StoreProblem(message, "Nothing was changed; try again.")
