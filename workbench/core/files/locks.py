"""Locks on files: one holder at a time, across threads and processes, with waiting for it or
without.

The operating system frees a lock when its process dies. A lock file can be unlinked while somebody
holds it (a branch switch in git does that), and then a second process could lock a new one of the
same name. So a lock whose path names another file is none, and the folder can be locked as well
where the system can do that.
"""

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from errno import EACCES, EAGAIN, EINTR
from pathlib import Path
from typing import NamedTuple

from workbench.core.files.fresh import open_handle
from workbench.core.record import StoreProblem, cannot_write

_BUSY = (EACCES, EAGAIN, EINTR)
_FOLDER = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)
_POLL = 0.002
_ASK_AGAIN = 0.25
_LOCKS = Path("/proc/locks")
_LONGEST = 200
_TELLS = sys.platform == "linux"

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def try_lock(handle: int) -> bool:
    """Lock an open file without waiting; return `False` when somebody else has. Closing it lets go."""
    try:
        _take(handle)
    except OSError as error:
        if error.errno in _BUSY:
            return False
        raise
    return True


@contextmanager
def locked(path: Path, *, make: bool = False, folder: bool = False) -> Iterator[bool]:
    """Lock a file (which is made where it is to `make`) or a `folder` for the block, without
    waiting.

    Gives `False` when somebody else has it. No link is followed. Raises `OSError`.
    """
    if folder:
        opened = os.open(
            path, _FOLDER | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
        )
    else:
        opened = open_handle(path, os.O_RDWR | (os.O_CREAT if make else 0))
    handle = _locked(path, opened)
    try:
        yield handle >= 0
    finally:
        _closed(handle)


def is_free(path: Path, *, folder: bool = False) -> bool:
    """Tell whether a file or `folder` is there that nobody has locked."""
    try:
        with locked(path, folder=folder) as alone:
            return alone
    except OSError:
        return False


def _locked(path: Path, handle: int) -> int:
    """Lock the file of a handle if `path` still names it, and return the handle; close it
    otherwise, and return -1.
    """
    try:
        if try_lock(handle) and names(path, handle):
            return handle
    except BaseException:
        os.close(handle)
        raise
    return _closed(handle)


def _closed(handle: int) -> int:
    """Close a handle if it is one, which lets go of its lock, and return what stands for none."""
    if handle >= 0:
        os.close(handle)
    return -1


def names(path: Path, handle: int) -> bool:
    """Tell whether a path still names the file that was opened through it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except OSError:
        return False


class Holder(NamedTuple):
    """Who holds a lock: the process id, the command's name (empty when unknown), and whether it is
    this process.
    """

    pid: int
    command: str = ""
    own: bool = False


class Patience(NamedTuple):
    """How long to wait for a lock that somebody else holds.

    `seconds`: 0 does not wait at all, infinity waits without end; `gives_up` is asked again and
    again and ends the waiting when it says so; `waits_for` is told whom the waiting is for (`None`:
    it cannot be known), when it begins and whenever that changes. `abandons` is asked in place of
    `gives_up` where something is stored that cannot be had again (see `irreplaceable`). All are
    called on the thread that waits.
    """

    seconds: float = 10.0
    gives_up: Callable[[], bool] | None = None
    waits_for: Callable[[Holder | None], None] | None = None
    abandons: Callable[[], bool] | None = None


_patience: ContextVar[Patience] = ContextVar("patience", default=Patience())  # noqa: B039 (frozen)


def patience() -> Patience:
    """Return how long this thread or task is willing to wait."""
    return _patience.get()


def be_patient(how: Patience) -> None:
    """Let every write from now on wait as `how` says (this task's, and what it starts)."""
    _patience.set(how)


@contextmanager
def waiting(how: Patience) -> Iterator[None]:
    """Let every write within the block wait for a busy store as `how` says (this thread's or task's
    writes only).
    """
    token = _patience.set(how)
    try:
        yield
    finally:
        _patience.reset(token)


@contextmanager
def irreplaceable() -> Iterator[None]:
    """Let every write within the block wait without end: what it stores was paid for, and cannot be
    had again.
    """
    how = patience()
    with waiting(how._replace(seconds=math.inf, gives_up=how.abandons)):
        yield


class StoreBusy(StoreProblem):
    """Somebody else does not let go of a store's lock; nothing was changed.

    `folder` is the store, `holder` who holds it (`None` when that cannot be known), `seconds` how
    long was waited.
    """

    def __init__(
        self,
        folder: Path,
        holder: Holder | None,
        seconds: float,
        hint: str = "Nothing was changed; try again.",
    ) -> None:
        self.folder = folder
        self.holder = holder
        self.seconds = seconds
        since = (
            f"has been writing to {folder} for {seconds:.0f} seconds"
            if seconds >= 1
            else f"is writing to {folder}"
        )
        super().__init__(f"{who(holder)} {since}.", hint)


def who(holder: Holder | None) -> str:
    """Name the holder of a lock, as the beginning of a sentence."""
    if holder is None:
        return "Another process"
    if holder.own:
        return "Another thread"
    return (
        f"Another process ({holder.command}, {holder.pid})"
        if holder.command
        else f"Another process ({holder.pid})"
    )


class FileLock:
    """A lock file plus a thread lock; re-entrant within a thread.

    `with_folder` locks the folder of the file, too. How long is waited says `patience`, and what is
    said of a disk that refuses, `refused`.
    """

    def __init__(
        self,
        path: Path,
        *,
        with_folder: bool = False,
        refused: Callable[[Path, OSError], StoreProblem] = cannot_write,
    ) -> None:
        self._path = path
        self._with_folder = with_folder
        self._refused = refused
        self._threads = threading.RLock()
        self._depth = 0
        self._handle = self._folder = -1

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock for the block. Raises `StoreBusy` when somebody else holds it,
        `StoreProblem` for the disk.
        """
        waiting = _Waiting(self._path.parent)
        waiting.until(
            lambda: self._threads.acquire(timeout=_POLL),
            lambda: Holder(os.getpid(), own=True),
            pause=0,
        )
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
        """Take a lock that is held again when its path names another file by now, and tell whether
        that was so.

        Somebody may have written since, then. Call it before what must not be written twice. Raises
        as `held` does.
        """
        if self._folder >= 0 and not names(self._path.parent, self._folder):
            self._let_go()
        elif names(self._path, self._handle):
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
            self._handle = _locked(self._path, open_handle(self._path, os.O_RDWR | os.O_CREAT))
        except OSError as error:
            raise self._refused(self._path.parent, error) from error
        if self._handle >= 0:
            _note(self._handle)
        return self._handle >= 0

    def _lock_folder(self) -> bool:
        """Lock the folder; return `False` when somebody else has. Where folders cannot be locked,
        go without.
        """
        try:
            self._folder = _locked(self._path.parent, os.open(self._path.parent, _FOLDER))
        except OSError:
            return True
        return self._folder >= 0

    def _let_go(self) -> None:
        self._handle, self._folder = _closed(self._handle), _closed(self._folder)

    def _holder(self) -> Holder | None:
        return holder_of(self._path, *([self._path.parent] if self._with_folder else []))


class _Waiting:
    """Tries again and again as long as the patience of the caller lasts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._how = patience()
        self._begun = time.monotonic()
        self._asked = 0.0
        self._told: Holder | bool | None = False

    def until(
        self, attempt: Callable[[], bool], whom: Callable[[], Holder | None], pause: float = _POLL
    ) -> None:
        while not attempt():
            waited = time.monotonic() - self._begun
            if waited >= self._how.seconds or (
                self._how.gives_up is not None and self._how.gives_up()
            ):
                raise StoreBusy(self._folder, whom(), waited)
            self._tell(waited, whom)
            time.sleep(pause)

    def _tell(self, waited: float, whom: Callable[[], Holder | None]) -> None:
        if self._how.waits_for is None or (
            self._told is not False and waited < self._asked + _ASK_AGAIN
        ):
            return
        self._asked = waited
        if (now := whom()) != self._told:
            self._told = now
            self._how.waits_for(now)


def _note(handle: int) -> None:
    """Write into a lock file that is held who holds it, where the system does not tell; a failure
    is no harm.

    Linux tells; there a write would only make the journal's fsync dearer.
    """
    if _TELLS:
        return
    try:
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()} {Path(sys.argv[0]).name}\n".encode(errors="replace"))
    except OSError:
        return


def holder_of(*paths: Path) -> Holder | None:
    """Return who holds a lock on the first of `paths` that is locked, or `None` when that cannot be
    known.
    """
    for path in paths:
        pid, command = _locked_by(path) if _TELLS else _noted(path)
        if pid:
            return Holder(pid, command, own=pid == os.getpid())
    return None


def _locked_by(path: Path) -> tuple[int, str]:
    """Ask the kernel: a line is `1: FLOCK ADVISORY WRITE <pid> <major>:<minor>:<inode> 0 EOF`,
    hexadecimal devices.
    """
    try:
        seen = path.stat()
        lines = [line.split() for line in _LOCKS.read_text("ascii").splitlines()]
        held = [
            words
            for words in lines
            if len(words) > 5 and words[1] == "FLOCK" and _inode(words[5]) == seen.st_ino
        ]
        device = f"{os.major(seen.st_dev):02x}:{os.minor(seen.st_dev):02x}:"
        # Some file systems show another device there than `stat` does; then the inode alone tells.
        best = next(
            (words for words in held if words[5].startswith(device)), held[0] if held else None
        )
        pid = int(best[4]) if best else 0
    except (OSError, ValueError):
        return 0, ""
    return (pid, _command(pid)) if pid > 0 else (0, "")


def _inode(place: str) -> int:
    return int(place.rpartition(":")[2])


def _command(pid: int) -> str:
    try:
        return _plain(Path(f"/proc/{pid}/comm").read_text("utf-8", "replace"))
    except OSError:
        return ""


def _noted(path: Path) -> tuple[int, str]:
    try:
        with path.open("rb") as file:
            pid, _, command = file.read(_LONGEST).decode("utf-8", "replace").partition(" ")
        return int(pid), _plain(command)
    except (OSError, ValueError):
        return 0, ""


def _plain(name: str) -> str:
    return "".join(letter for letter in name.strip() if letter.isprintable())
