"""Where documents lie on this machine, and where it remembers which of them a person has looked at."""

from pathlib import Path
from typing import NamedTuple


class DocumentPlaces(NamedTuple):
    """The folders around documents; `None` where there is none.

    `seen` is where this machine remembers what a person looked at, outside every store; without one, all is trusted.
    `replaced` keeps the bytes of files that are edited. Below `sessions` agents keep their external memory, by the
    folder they work in; `cwd` is that folder here.
    """

    seen: Path | None = None
    replaced: Path | None = None
    sessions: Path | None = None
    cwd: Path | None = None


NOWHERE = DocumentPlaces()


def encoded(folder: Path) -> str:
    """Return the name of a working directory's folder of sessions: `--home-me-project--` (source 002, section 3.1)."""
    name = str(folder).lstrip("/\\")
    for mark in "/\\:":
        name = name.replace(mark, "-")
    return f"--{name}--"
