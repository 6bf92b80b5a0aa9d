"""The files that drafts lie in: small JSON objects in one folder, each readable by its owner only."""

import contextlib
import json
import os
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

from workbench.core.files.atomic import write_file

KEPT = 50
"""Drafts of a store that are kept at most: those written last."""

KEPT_FOR = timedelta(days=30)
"""After which a draft that nobody came back to goes."""

_UNFINISHED = "."
"""How the names of files begin whose writing was broken off."""


def read(path: Path) -> dict[str, object]:
    """Return what a file holds; a missing or broken one holds nothing."""
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def write(path: Path, data: Mapping[str, object], at: datetime) -> None:
    """Write a file, dated `at`, in one step; raises `OSError`.

    Nothing waits for the disk: only a power failure would tell the difference, every second of typing would feel it.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        _make_room(path.parent, at)
    write_file(path, json.dumps(data).encode("ascii"), f"{_UNFINISHED}draft-", durable=False)
    os.utime(path, (at.timestamp(), at.timestamp()))


def files(folder: Path) -> list[tuple[float, Path]]:
    """Return the files of a folder with the times they were written at (POSIX), the latest first."""
    found: list[tuple[float, Path]] = []
    with contextlib.suppress(OSError):
        found.extend((entry.stat().st_mtime, Path(entry.path)) for entry in os.scandir(folder))
    return sorted(found, reverse=True)


def is_unfinished(path: Path) -> bool:
    """Tell whether the writing of a file was broken off."""
    return path.name.startswith(_UNFINISHED)


def _make_room(folder: Path, now: datetime) -> None:
    """Let go of what is too old, and of the oldest when there are too many."""
    since = (now - KEPT_FOR).timestamp()
    for place, (written, path) in enumerate(files(folder)):
        if place >= KEPT - 1 or written < since:
            path.unlink(missing_ok=True)
