"""Temporary files, and half-made copies of the store, that a killed process left in it."""

import os
from pathlib import Path

from workbench.core.files.atomic import is_draft, remove_left

HALF_MADE = ".backup-"
"""How the name of a folder begins, under the write lock, in which a copy of the store is being made."""


def found(folder: Path) -> tuple[str, ...]:
    """Return the names of what is temporary in a store, what is being written included; raises `OSError`."""
    with os.scandir(folder) as entries:
        return tuple(sorted(entry.name for entry in entries if is_draft(entry.name)))


def sweep(folder: Path) -> bool:
    """Remove what a killed process left; under the write lock. Returns whether nothing temporary was there.

    What cannot be removed stays: that is no reason not to write.
    """
    try:
        names = found(folder)
        for path in (folder / name for name in names):
            if path.name.startswith(HALF_MADE) and path.is_dir() and not path.is_symlink():
                import shutil  # hooks hardly ever need it, and are not to wait for it

                shutil.rmtree(path)
            else:
                remove_left(path)
    except OSError:
        return False
    return not names
