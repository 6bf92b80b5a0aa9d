"""Edits made to `memory.json` by another program, offered as changes instead of being overwritten."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench.core.files.handles import NotRegular
from workbench.store.entry import DocChange
from workbench.store.files import TooLarge, read_regular
from workbench.store.journal.difference import diff_tables
from workbench.store.journal.state import Tables
from workbench.store.maintenance import checkpoint
from workbench.store.maintenance.checkpoint import ForeignCheckpoint

EDITED = "memory.edited-*.json"


@dataclass(frozen=True, slots=True)
class OutsideEdit:
    """What another program changed in `file`, against revision `base` of the journal."""

    file: Path
    base: int
    changes: tuple[DocChange, ...]


@dataclass(frozen=True, slots=True)
class Present:
    """The store that an edit is held against: its latest revision, and its documents `at` any other.

    `stranger` is a `memory.json` that the journal did not write.
    """

    folder: Path
    rev: int
    at: Callable[[int], Tables]
    stranger: ForeignCheckpoint | None


@dataclass(frozen=True, slots=True)
class ForeignFile:
    """Tells that `memory.json` is not what the journal says: seen only, or replaced and `kept` under that name.

    One that is `unplaced` is of a revision that nothing tells; any other was changed by another program.
    """

    kept: str = ""
    unplaced: bool = False

    def __str__(self) -> str:
        what = f"of an unknown revision ({checkpoint.NOTE} says nothing of it)"
        said = f"{checkpoint.DOCUMENTS} was {what if self.unplaced else 'changed by another program'}; "
        if not self.kept:
            return f"{said}the journal's state stands and the other content is kept."
        return f"{said}its content was kept as {self.kept} and the journal's state stands."


Notice = str | ForeignFile
"""What a person should be told: a sentence, or the fact where something is decided by it."""


def find(present: Present) -> OutsideEdit | None:
    """Return the oldest outside edit that waits for a decision: a file set aside earlier, or `memory.json` itself."""
    for file in sorted(present.folder.glob(EDITED)):
        base = file.name.split("-")[1]
        if base.isdigit():
            edit = _set_aside(present, file, int(base))
            if edit is not None:
                return edit
    stranger = present.stranger
    if stranger is None or stranger.base is None:
        return None
    return _edit(present, present.folder / checkpoint.DOCUMENTS, stranger.data, stranger.base)


def _set_aside(present: Present, file: Path, base: int) -> OutsideEdit | None:
    """Read a file that was set aside; nothing of ours is a link or larger than a store."""
    try:
        return _edit(present, file, read_regular(file), base)
    except (NotRegular, TooLarge):
        return None


def _edit(present: Present, file: Path, data: bytes, base: int) -> OutsideEdit | None:
    tables = checkpoint.read_tables(data)
    if tables is None:
        return None
    rev = min(base, present.rev)
    changes = tuple(diff_tables(present.at(rev), tables))
    return OutsideEdit(file, rev, changes) if any(c.doc for c in changes) else None
