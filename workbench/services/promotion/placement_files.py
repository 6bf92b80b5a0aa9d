"""Changes to a person's files for promoted memories: what each file becomes, and making it so."""

import codecs
import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from workbench.config.paths import PROJECT_STORE
from workbench.core.files.replacing import present_bytes, remove_file, replace_bytes
from workbench.core.promotion import Placement
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


# Which files a store may write promoted memories to, and how their places are stored.


SUFFIXES = (".md", ".markdown", ".mdc")
_CLOSED = (PROJECT_STORE, ".git")
_SCRATCH = "scratch-project"


class UnsafePath(WorkbenchError):
    """A file that promoted memories may not be written to."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file: where it really is, the path that is stored, and whether it lies outside the project."""

    path: Path
    stored: str
    outside: bool


@dataclass(frozen=True, slots=True)
class Places:
    """The files of one store. `project` is `None` for a store that belongs to none; `is_scratch` says that it is there
    to try things on.
    """

    project: Path | None
    is_scratch: bool = False

    def named(self, path: Path) -> Place:
        """Return the place that a person names; a relative path counts from the project.

        Raises `UnsafePath`, or `WorkbenchError` when it is relative and there is no project.
        """
        if not path.is_absolute() and self.project is None:
            raise WorkbenchError(f"This store belongs to no project, so {path} may be anywhere.", "Give a full path.")
        try:
            real = ((self.project or path) / path).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise UnsafePath(f"{path} is not a valid path.", NOTHING) from error
        _require_markdown(real)
        if self.project is None or not real.is_relative_to(self.project):
            return Place(real, str(real), True)
        inside = real.relative_to(self.project)
        _require_open(inside.parts, path)
        return Place(real, inside.as_posix(), False)

    def stored(self, placement: Placement) -> Path:
        """Return the file that a stored placement means; raises `UnsafePath` when that is not what it was."""
        if placement.outside:
            path = Path(placement.path)
            sound = path.is_absolute() and ".." not in path.parts
        else:
            inside = PurePosixPath(placement.path)
            if self.project is None:
                raise UnsafePath(f"{placement.path} cannot be found: this store belongs to no project.", NOTHING)
            sound = not inside.is_absolute() and ".." not in inside.parts and bool(inside.parts)
            path = self.project / inside
            _require_open(inside.parts, path)
        _require_markdown(path)
        try:
            real = path.resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise UnsafePath(f"{placement.path} is not a valid path.", NOTHING) from error
        if not sound or real != path:
            raise UnsafePath(f"{placement.path} now leads to another place.", f"{NOTHING} Look at {real}.")
        return path


def places_of(store: Path) -> Places:
    real = store.resolve()
    if real.name == PROJECT_STORE:
        return Places(real.parent)
    scratch = scratch_of(real)
    is_there = scratch.is_dir() and not scratch.is_symlink()
    return Places(scratch if is_there else None, is_there)


def scratch_of(store: Path) -> Path:
    """Return where a store folder has a scratch project, if it has one."""
    return store / _SCRATCH


def _require_markdown(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise UnsafePath(f"{path.name or path} is not a Markdown file.", f"Name one that ends in .md. {NOTHING}")


def _require_open(parts: tuple[str, ...], path: Path) -> None:
    if parts and parts[0] in _CLOSED:
        raise UnsafePath(f"{path} lies in {parts[0]}, which is not for notes.", NOTHING)
