"""Temporary files that a killed process left in a store."""

import os
from pathlib import Path

from workbench.core.files.atomic import is_draft, remove_left


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
        for name in names:
            remove_left(folder / name)
    except OSError:
        return False
    return not names
