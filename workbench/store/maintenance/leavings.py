"""Temporary files, and half-made copies of the store, that a killed process left in it.

Each is written under a lock, so whoever holds that lock knows that nobody writes it any more. Process ids would not
tell: they lie across containers.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from workbench.core.waiting import Patience, StoreBusy, waiting
from workbench.store.journal.lock import CHECKPOINT_LOCK, WriteLock

_CHECKPOINTS = (".memory.json.", ".checkpoint.json.", ".memory.edited-")
"""How the names of those begin that are written under the lock of checkpoints; all others are under the write lock."""

HALF_MADE = ".backup-"
"""How the name of a folder begins, under the write lock, in which a copy of the store is being made."""


def found(folder: Path) -> tuple[str, ...]:
    """Return the names of what is temporary in a store, what is being written included; raises `OSError`."""
    with os.scandir(folder) as entries:
        return tuple(sorted(entry.name for entry in entries if _is_temporary(entry.name)))


def sweep(folder: Path, *, exclusive: bool = False) -> bool:
    """Remove what a killed process left; under the write lock. A checkpoint that is being written stays.

    With `exclusive` the lock of checkpoints is held as well, so none is. A file that cannot be removed
    stays, too: that is no reason not to write. Returns whether nothing temporary was there.
    """
    try:
        names = found(folder)
        if not names:
            return True
        _remove(folder, (name for name in names if exclusive or not name.startswith(_CHECKPOINTS)))
        if not exclusive and any(name.startswith(_CHECKPOINTS) for name in names):
            with waiting(Patience(0)), WriteLock(folder / CHECKPOINT_LOCK).held():
                sweep_checkpoints(folder)
    except (OSError, StoreBusy):
        return False
    return False


def sweep_checkpoints(folder: Path) -> None:
    """Remove what a killed process left of checkpoints; under their lock. Raises `OSError`."""
    _remove(folder, (name for name in found(folder) if name.startswith(_CHECKPOINTS)))


def _is_temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(".tmp")


def _remove(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        path = folder / name
        if name.startswith(HALF_MADE) and path.is_dir() and not path.is_symlink():
            import shutil  # hooks hardly ever need it, and are not to wait for it

            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
