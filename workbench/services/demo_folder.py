"""The folder of a demo that is not kept: it goes with its process, or with the next demo when that
was killed.

The process holds a lock in it as long as it runs, and while it removes it: what a removal that was
broken off left has its lock file still, which nobody holds. A folder without one, or somebody
else's, is left alone.
"""

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.core.files.fresh import open_handle
from workbench.core.files.locks import locked, try_lock

PREFIX = "workbench-demo-"
LOCK = "running"
"""The file in the folder that the demo's process has locked; it is removed last."""


@contextmanager
def demo_folder() -> Iterator[Path]:
    """Make an empty folder for a demo, and take it away at the end; before that, those that killed
    demos left.
    """
    sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        handle = _locked(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    try:
        yield folder
    finally:
        try:
            _remove(folder)
        finally:
            os.close(handle)


def sweep(place: Path) -> tuple[Path, ...]:
    """Remove the folders of this user's demos below `place` whose processes are gone; return them."""
    return tuple(folder for folder in sorted(place.glob(f"{PREFIX}*")) if _swept(folder))


def _locked(folder: Path) -> int:
    """Make the lock file, which has its name once it is locked: nobody ever finds it without a
    holder that lives.
    """
    new = folder / f"{LOCK}.new"
    handle = open_handle(new, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    try_lock(handle)
    new.rename(folder / LOCK)
    return handle


def _swept(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            return False
        with locked(folder / LOCK) as alone:
            if alone:
                _remove(folder)
                return not folder.exists()
    return False


def _remove(folder: Path) -> None:
    """Remove a folder whose lock this process holds; what cannot be removed now is found by the
    next demo's sweep.
    """
    with contextlib.suppress(OSError):
        for one in folder.iterdir():
            if one.name == LOCK:
                continue
            if one.is_dir() and not one.is_symlink():
                shutil.rmtree(one, ignore_errors=True)
            else:
                one.unlink()
        if list(folder.iterdir()) == [folder / LOCK]:
            (folder / LOCK).unlink()
            folder.rmdir()
