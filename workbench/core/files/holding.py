"""A folder that is held while something is done in it, so that nobody puts another one in its place meanwhile."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDER = getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_OPEN = Path("/proc/self/fd")


@contextmanager
def held(folder: Path) -> Iterator[Path]:
    """Give a path that leads into a folder as it is now, wherever the folder's own name leads by then.

    `folder` is absolute and holds no link; where one stands in it by now, `NotADirectoryError` is raised, or another
    `OSError`. Where the system has no such path, it is the folder's own.
    """
    if not hasattr(os, "O_PATH"):
        yield folder
        return
    handle = os.open(folder.anchor, _FOLDER)
    try:
        for part in folder.parts[1:]:
            inner = os.open(part, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        through = _OPEN / str(handle)
        yield through if through.is_dir() else folder
    finally:
        os.close(handle)
