"""Files that are written beside the one they replace; a killed process leaves none for good."""

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from workbench.core.files.handles import open_handle, try_lock

_FRESH = ".new"
"""How the names of such files end."""


@contextmanager
def fresh_file(target: Path, begin: str = "") -> Iterator[tuple[BinaryIO, Path]]:
    """Give an empty file (0600) beside `target`, to be given its name; whatever has not taken it goes at the end.

    What a killed process left of the same kind is removed: whose name begins with `begin`, or else the target's.
    A file that is being written is locked, and the lock goes with its process: process ids would not tell, they lie
    across containers. Raises `OSError`.
    """
    import tempfile  # what only reads is not to wait for it

    begin = begin or f".{target.name}."
    _remove_left(target.parent, begin)
    while True:
        handle, name = tempfile.mkstemp(prefix=begin, suffix=_FRESH, dir=target.parent)
        with os.fdopen(handle, "w+b") as file:
            try:
                # Somebody who tidies up may have come first.
                if try_lock(handle) and _names(Path(name), handle):
                    yield file, Path(name)
                    return
            finally:
                Path(name).unlink(missing_ok=True)


def left_in(folder: Path) -> tuple[Path, ...]:
    """Return the files below a folder that a killed process left; those that are being written are none of them.

    They go with the next file of their kind. A folder that cannot be looked at has none.
    """
    found = (Path(place) / name for place, _, names in os.walk(folder) for name in names)
    return tuple(
        sorted(path for path in found if path.name.startswith(".") and path.name.endswith(_FRESH) and is_left(path))
    )


def is_left(path: Path) -> bool:
    """Tell whether nobody writes a fresh file any more."""
    try:
        handle = open_handle(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return try_lock(handle)
    finally:
        os.close(handle)


def _remove_left(folder: Path, begin: str) -> None:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for name in [e.name for e in entries if e.name.startswith(begin) and e.name.endswith(_FRESH)]:
            with contextlib.suppress(OSError):
                handle = open_handle(folder / name, os.O_RDWR)
                try:
                    if try_lock(handle):
                        (folder / name).unlink(missing_ok=True)
                finally:
                    os.close(handle)


def _names(path: Path, handle: int) -> bool:
    """Tell whether a path still names the file that was opened through it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except OSError:
        return False
