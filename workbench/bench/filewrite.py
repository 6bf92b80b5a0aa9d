"""Reading and replacing a person's files: never half, never one that somebody changed meanwhile."""

import os
import stat
import tempfile
from pathlib import Path

from workbench.core.errors import StoreProblem, WorkbenchError

NOTHING = "Nothing was written."


def present(path: Path) -> str | None:
    """Return the file's text, `None` when there is none yet; raises for what cannot be replaced."""
    data = present_bytes(path)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WorkbenchError(f"{path} exists and is not a text file.", NOTHING) from error


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
        if not mode & 0o222 or not os.access(path, os.W_OK):
            raise WorkbenchError(f"{path} is read-only.", "Name another file, or make it writable.")
        _check_folder(path.resolve().parent)
        return path.read_bytes()
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


def replace_file(path: Path, text: str) -> None:
    """Write `text` as UTF-8 in one step, keeping the file's mode; raises `StoreProblem`, and the file is as it was."""
    replace_bytes(path, text.encode("utf-8"))


def replace_bytes(path: Path, data: bytes) -> None:
    """Write a file in one step, keeping its mode; raises `StoreProblem`, and the file is as it was."""
    try:
        target = path.resolve()
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
        handle, name = tempfile.mkstemp(prefix=".workbench-", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(mode)
            Path(name).replace(target)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StoreProblem(f"{path} cannot be written: {error.strerror}.", "The file is as it was.") from error
