"""Durable file steps: whole-file replacement, folder sync."""

import os
from collections.abc import Iterable
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file in one step: temporary file beside it, fsync, rename; raises `OSError`."""
    temporary = write_temporary(path, (data,))
    put_in_place(temporary, path)


def write_temporary(path: Path, pieces: Iterable[bytes]) -> Path:
    """Write a durable temporary file (0600) beside `path` and return where it is; raises `OSError`."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def put_in_place(temporary: Path, path: Path) -> None:
    """Rename a temporary file to `path` and make the rename durable; raises `OSError`."""
    try:
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a new or renamed file in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_leftovers(folder: Path, name: str) -> None:
    """Remove temporary files of a killed process for files called `name…`; under the lock that guards them."""
    for path in folder.glob(f".{name}*.tmp"):
        path.unlink(missing_ok=True)
