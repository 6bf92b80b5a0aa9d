"""Changes to a person's files for promoted memories: what each file becomes, and making it so."""

import codecs
import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from workbench.core.files.replacing import present_bytes, remove_file, replace_bytes
from workbench.core.record import StoreProblem, WorkbenchError
from workbench.services.files.threeway import DiffLine, diff_texts

NOTHING = "Nothing was written."
_NEW = ".workbench-new"
_WIDE = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


@dataclass(frozen=True, slots=True)
class FileEdit:
    """One file before and after, in bytes (`None`: no file).

    `name` is how a person knows it. `folders` is how many folders are made for a new file, or go with one that is
    deleted when they are empty.
    """

    path: Path
    name: str
    before: bytes | None
    after: bytes | None
    folders: int = 0

    def lines(self, context: int = 2) -> tuple[DiffLine, ...]:
        return diff_texts(_shown(self.before), _shown(self.after), context)


def read(path: Path) -> bytes | None:
    """Return what is in a file, `None` when there is none; raises `WorkbenchError` for what cannot be replaced.

    Folders that are missing above it are no obstacle: they are made when it is written.
    """
    missing = missing_folders(path)
    if missing:
        present_bytes(path.parents[missing] / _NEW)  # raises unless something could be made there
        return None
    return present_bytes(path)


def missing_folders(path: Path) -> int:
    """Return how many of the folders above a file are not there yet."""
    return sum(not folder.exists() for folder in path.parents)


def decoded(data: bytes, name: str) -> tuple[str, str]:
    """Return a file's text and its encoding; bytes that are no UTF-8 are carried along. Raises `WorkbenchError`."""
    for mark, encoding in _WIDE:
        if data.startswith(mark):
            try:
                return data.decode(encoding, "surrogatepass"), encoding
            except UnicodeDecodeError as error:
                raise WorkbenchError(f"{name} is not a text file.", NOTHING) from error
    if b"\0" in data:
        raise WorkbenchError(f"{name} is not a text file.", NOTHING)
    return data.decode("utf-8", "surrogateescape"), "utf-8"


def encoded(text: str, encoding: str) -> bytes:
    """Return the bytes of a text that `decoded` returned, or of what became of it."""
    return text.encode(encoding, "surrogateescape" if encoding == "utf-8" else "surrogatepass")


def carry_out(edits: Iterable[FileEdit], *, through_links: bool = True) -> None:
    """Make the files what they are to become, each in one step; raises `StoreProblem`.

    Not `through_links`, a path with a link in it by now is a conflict: nothing is written where it leads.
    """
    for edit in edits:
        try:
            if edit.after is None:
                _delete(edit, through_links)
            else:
                edit.path.parent.mkdir(parents=True, exist_ok=True)
                replace_bytes(edit.path, edit.after, edit.before, through_links=through_links)
        except OSError as error:
            raise StoreProblem(f"{edit.name} cannot be written: {error.strerror}.", NOTHING) from error


def _delete(edit: FileEdit, through_links: bool) -> None:
    remove_file(edit.path, edit.before, through_links=through_links)
    folder = edit.path.parent
    for _ in range(edit.folders):
        # A folder that holds something else by now stays, and so do those above it.
        with contextlib.suppress(OSError):
            folder.rmdir()
        folder = folder.parent


def _shown(data: bytes | None) -> str:
    return "" if data is None else decoded(data, "the file")[0]
