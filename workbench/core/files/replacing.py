"""Reading and replacing a person's files: never half, never one that somebody changed meanwhile."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.core.errors import Conflict, StoreProblem, WorkbenchError
from workbench.core.files.atomic import draft_beside, fill, take_free_name
from workbench.core.files.handles import NotRegular, open_handle
from workbench.core.files.textbytes import bytes_of, text_in

NOTHING = "Nothing was written."

_FOLDER = getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_OPEN = Path("/proc/self/fd")


class _Anything:
    """Stands for bytes that nobody looked at."""


ANYTHING = _Anything()


def present(path: Path) -> str | None:
    """Return the file's text, `None` when there is none yet; raises for what cannot be replaced."""
    data = present_bytes(path)
    return None if data is None else text_of(path, data)


def text_of(path: Path, data: bytes) -> str:
    """Return the text that a file's bytes are; raises `WorkbenchError` when they are none."""
    text = text_in(data)
    if text is None:
        raise WorkbenchError(f"{path} exists and is not a text file.", NOTHING)
    return text


def present_bytes(path: Path) -> bytes | None:
    """Return what is in a file, `None` when there is none yet; raises for what cannot be replaced."""
    try:
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            _check_folder(path.resolve().parent)
            return None
        if stat.S_ISDIR(mode):
            raise WorkbenchError(f"{path} is a folder.", "Name a file in it.")
        if not stat.S_ISREG(mode):
            raise WorkbenchError(f"{path} is not an ordinary file.", NOTHING)
        if not mode & 0o444 or not os.access(path, os.R_OK):
            raise WorkbenchError(f"{path} cannot be read: its permissions forbid it.", NOTHING)
        if not mode & 0o222 or not os.access(path, os.W_OK):
            raise WorkbenchError(f"{path} is read-only.", "Name another file, or make it writable.")
        _check_folder(path.resolve().parent)
        return _bytes(path.resolve())
    except NotADirectoryError as error:
        raise WorkbenchError(f"A part of {path} is a file, not a folder.", NOTHING) from error
    except OSError as error:
        raise WorkbenchError(f"{path} cannot be read: {error.strerror}.", NOTHING) from error


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise WorkbenchError(f"The folder {folder} {what}.", "Make it first, or name another.")
    if not folder.stat().st_mode & 0o222 or not os.access(folder, os.W_OK | os.X_OK):
        raise WorkbenchError(f"The folder {folder} is read-only.", "Name a file elsewhere.")


def _mode_of_new_files(beside: Path) -> int:
    """Return the mode that a new file gets; the umask of a process can only be read by setting it, for all threads."""
    probe = beside.with_name(f"{beside.name}.mode.new")
    os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    try:
        return probe.stat().st_mode & 0o777
    finally:
        probe.unlink()


@contextmanager
def held(folder: Path) -> Iterator[Path]:
    """Give a path that leads into a folder as it is now, wherever the folder's own name leads by then.

    `folder` is absolute and holds no link; where one stands in it by now, `NotADirectoryError` is raised, or another
    `OSError`. Where the system has no such path, it is the folder's own.
    """
    if not hasattr(os, "O_PATH"):
        yield folder
        return
    handle = os.open(folder.anchor, _FOLDER)
    try:
        for part in folder.parts[1:]:
            inner = os.open(part, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        through = _OPEN / str(handle)
        yield through if through.is_dir() else folder
    finally:
        os.close(handle)


def replace_file(path: Path, text: str, before: bytes | _Anything | None = ANYTHING) -> None:
    """Write `text` as the bytes that it is; see `replace_bytes`."""
    replace_bytes(path, bytes_of(text), before)


def replace_bytes(
    path: Path, data: bytes, before: bytes | _Anything | None = ANYTHING, *, through_links: bool = True
) -> None:
    """Write a file in one step, keeping its mode; a new one may be read by whom the umask lets.

    `before` is what the file holds as far as the caller knows, `None` when there is none. Raises `Conflict` when it
    holds something else or is no file any more, and `StoreProblem` when it cannot be written; the file is as it was
    then. Not `through_links`, a path with a link in it is such a conflict. The folder is held from the look to the
    rename: whoever puts another in its place meanwhile gets nothing written there.
    """
    try:
        if not through_links and not _is_itself(path):
            raise changed_meanwhile(path)
        real = path.resolve()
        with held(real.parent) as folder:
            target = folder / real.name
            mode = target.stat().st_mode & 0o777 if target.exists() else None
            with draft_beside(target) as (file, new):
                fill(file, data)
                new.chmod(_mode_of_new_files(new) if mode is None else mode)
                _put_in_place(new, target, before)
    except (FileExistsError, NotADirectoryError) as error:
        raise changed_meanwhile(path) from error
    except OSError as error:
        raise StoreProblem(f"{path} cannot be written: {error.strerror}.", "The file is as it was.") from error


def remove_file(path: Path, before: bytes | None, *, through_links: bool = True) -> None:
    """Remove a file that holds `before`; one that is gone already is no matter. Held and checked as in `replace_bytes`.

    Raises `Conflict` when it is something else, and `StoreProblem` when it cannot be removed; it stays then.
    """
    try:
        if not through_links and not _is_itself(path):
            raise changed_meanwhile(path)
        real = path.resolve()
        with held(real.parent) as folder:
            target = folder / real.name
            if os.path.lexists(target) and (before is None or not _holds(target, before)):
                raise changed_meanwhile(path)
            target.unlink(missing_ok=True)
    except NotADirectoryError as error:
        raise changed_meanwhile(path) from error
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreProblem(f"{path} cannot be removed: {error.strerror}.", "It stays.") from error


def changed_meanwhile(path: Path) -> Conflict:
    """Return the error that says that a file is not what it was."""
    return Conflict(f"{path} was changed by another program meanwhile.", "Nothing was written; look again.")


def _put_in_place(new: Path, target: Path, before: bytes | _Anything | None) -> None:
    """Give a new file its name; raises `FileExistsError` when something unexpected has that name."""
    if before is None:
        take_free_name(new, target)
        return
    if isinstance(before, bytes) and not _holds(target, before):
        raise FileExistsError
    new.replace(target)


def _is_itself(path: Path) -> bool:
    """Tell whether no part of a path is a link."""
    return not path.is_symlink() and os.path.realpath(path) == str(path)


def _holds(path: Path, data: bytes) -> bool:
    """Tell whether an ordinary file holds just these bytes; no link is followed, and no pipe is waited for."""
    try:
        return _bytes(path) == data
    except (FileNotFoundError, NotRegular):
        return False


def _bytes(path: Path) -> bytes:
    """Return what is in an ordinary file; raises as `open_handle` does."""
    with os.fdopen(open_handle(path, os.O_RDONLY), "rb") as file:
        return file.read()
