"""What became, on disk, of the files that a store was read from or written to."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from workbench.core.errors import UnreadableFile
from workbench.core.file_state import FileState
from workbench.core.files.handles import open_handle
from workbench.formats.notes.note import is_note
from workbench.services.agents.documents.reading import open_folder
from workbench.services.context import Context
from workbench.services.files.states import real_name

What = Literal["changed", "gone", "new"]
"""What became of a file: it holds something else, is not there any more, or lies new in a folder that was read."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that is not as the store knows it, what became of it, and the format it was read or written as."""

    path: Path
    what: What
    format: str = ""


def changes(context: Context, under: Sequence[Path] = ()) -> tuple[FileChange, ...]:
    """Return what became of the files that a store knows, or of those at and below some places; reads only.

    In a place that is a folder, notes that the store does not know are new. Raises `UnreadableFile` for a place that
    is not there and that the store knows nothing of.
    """
    places = [Path(real_name(place)) for place in under]
    known = {state.id: state for state in context.library.files.all()}
    chosen = [s for s in known.values() if not places or any(Path(s.id).is_relative_to(place) for place in places)]
    for place in places:
        if not place.exists() and not any(Path(state.id).is_relative_to(place) for state in chosen):
            raise UnreadableFile(f"There is no file {place}.", "Nothing was read; check the name.")
    found = [
        FileChange(Path(state.id), what, state.format)
        for state in chosen
        if (what := what_became(Path(state.id), state.sha256)) is not None
    ]
    found += [FileChange(path, "new") for place in places if place.is_dir() for path in _new(place, known)]
    return tuple(sorted(found, key=lambda one: str(one.path)))


def what_became(path: Path, digest: str) -> What | None:
    """Tell what became of a file that had bytes with a SHA-256; `None` when it has them still."""
    try:
        with os.fdopen(open_handle(path, os.O_RDONLY), "rb") as file:
            return None if sha256(file.read()).hexdigest() == digest else "changed"
    except FileNotFoundError:
        return "gone"
    except (OSError, ValueError):
        return "changed"  # a pipe, a link or a closed file stands in its place


def _new(place: Path, known: Mapping[str, FileState]) -> Iterator[Path]:
    notes = (entry.file for entry in open_folder(place).documents if is_note(entry.file))
    yield from (file for file in notes if real_name(file) not in known)
