"""Opening files: the only place of this package that does."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.core.files.formats import detect, format_named, format_names
from workbench.core.files.fresh import hash_of
from workbench.core.files.replacing import kind_of, text_in
from workbench.core.record import UnreadableFile

if TYPE_CHECKING:
    from workbench.core.files.format import Detection, Parsed, ReadContext

LARGEST = 1 << 30
"""Bytes of a file that is read as a whole at most."""

SESSION_HEAD = 1 << 18
"""Characters of a file that are looked at to tell a session of an agent, whose lines are long."""

_LARGEST_BESIDE = 4_000_000
"""Bytes of a file beside another that are read at most."""

_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read_file(path: str | Path, *, format: str | None = None, context: "ReadContext") -> "Parsed":
    """Read a file in the given format, or in the one it is detected to have.

    Raises `UnreadableFile` when it is missing, no regular file, empty, not UTF-8 or of no known
    format.
    """
    from workbench.formats.streams import agent_name

    full = Path(path)
    found = detected(path, read_text(path)) if format is None else None
    chosen = format_named(format or "" if found is None else found.format)
    place = _absolute(full)
    folder = Path(place).parent
    context = replace(
        context,
        path=place,
        agent=context.agent or agent_name(place),
        beside=beside(folder, _project(folder)),
    )
    if chosen.read_path is not None:
        _check(full)
        return replace(chosen.read_path(full, context), detected=found)
    data = _bytes(full)
    parsed = chosen.read(_text(path, data), context)
    return replace(parsed, digest=hash_of(data), detected=found)


def read_text(path: str | Path) -> str:
    """Return the exact text of a file, line ends and byte order mark included. Raises
    `UnreadableFile`.

    Of a database it is only the signature that it begins with, which is what tells its format.
    """
    from workbench.formats.claude_mem import SIGNATURE

    full = Path(path)
    if _begins_with(full, SIGNATURE.encode()):
        return SIGNATURE
    return _text(path, _bytes(full))


def _absolute(path: Path) -> str:
    try:
        return str(path.absolute())
    except OSError:
        return str(path)


def _project(folder: Path) -> Path:
    """Return the project that a folder belongs to, by its repository or its store; itself when
    there is none.
    """
    try:
        return next(
            p
            for p in (folder, *folder.parents)
            if (p / ".git").exists() or (p / ".workbench").exists()
        )
    except (OSError, StopIteration):
        return folder


def beside(folder: Path, root: Path | None = None) -> Callable[[str], str | None]:
    """Return a reader of text files by their path from `folder`, in and below `root` (default: the
    folder).

    `None` stands for one that is not there, or too long.
    """

    def read(name: str) -> str | None:
        try:
            full = (folder / name).resolve()
            if not full.is_relative_to((root or folder).resolve()) or not full.is_file():
                return None
            if full.stat().st_size > _LARGEST_BESIDE:
                return None
            return full.read_bytes().decode("utf-8", "replace")
        except (OSError, ValueError, RuntimeError):
            return None

    return read


def _begins_with(path: Path, signature: bytes) -> bool:
    _check(path)
    try:
        with path.open("rb") as file:
            return file.read(len(signature)) == signature
    except OSError as error:
        raise _closed(path, error) from error


def _check(path: Path) -> None:
    """Raise `UnreadableFile` unless `path` is a regular file."""
    try:
        if path.is_dir():
            raise UnreadableFile(f"{path} is a folder.", "Choose one of the files in it.")
        if not path.exists():
            raise UnreadableFile(f"File not found: {path}.", "Nothing was read; check the name.")
        if not path.is_file():
            raise UnreadableFile(
                f"{path} is not a regular file.", "Save its output to a file and read that."
            )
    except OSError as error:
        raise _closed(path, error) from error
    except ValueError:
        raise UnreadableFile(f"{str(path)!r} is not a file name.", "Nothing was read.") from None


def _bytes(path: Path) -> bytes:
    _check(path)
    try:
        with path.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            data = b"" if size > LARGEST else file.read()
    except OSError as error:
        raise _closed(path, error) from error
    if size > LARGEST:
        raise UnreadableFile(
            f"{path} has {size:,} bytes, more than the {LARGEST:,} that are read at once.",
            "Nothing was read; split it and read the parts.",
        )
    return data


def _closed(path: Path, error: OSError) -> UnreadableFile:
    reason = error.strerror or type(error).__name__
    return UnreadableFile(f"{path} cannot be opened: {reason}.", "Nothing was read from it.")


def _text(path: str | Path, data: bytes) -> str:
    text = text_in(data)
    if text is None:
        raise _no_text(path, data)
    if not text.strip("\ufeff \t\r\n"):
        raise UnreadableFile(f"{path} is empty.", "Nothing was read.")
    return text


def _no_text(path: str | Path, data: bytes) -> UnreadableFile:
    if what := kind_of(data):
        hint = (
            "Save it as UTF-8; nothing was read."
            if data.startswith(_UTF16)
            else "Nothing was read from it."
        )
        return UnreadableFile(f"{path} is not UTF-8 text: it is {what}.", hint)
    at = _first_wrong(data)
    what = f"byte 0x{data[at]:02x} at offset {at:,}, and more"
    return UnreadableFile(
        f"{path} is not UTF-8 text: {what}.", "Nothing was read; save it as UTF-8 text."
    )


def _first_wrong(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return 0


def detected(path: str | Path, text: str) -> "Detection":
    """Return the format a file most likely has. Raises `UnreadableFile` for none, and for a session
    of an agent.
    """
    from workbench.formats.transcripts import reader_of

    if reader_of(text[:SESSION_HEAD].encode(errors="replace")) is not None:
        raise UnreadableFile(
            f"{path} is a session; `workbench capture transcript` reads it.", "Nothing was read."
        )
    found = detect(path, text)
    if not found:
        from workbench.formats.nearest import nearest

        near, hint = nearest(text), f"Name its format if it has one: {format_names()}."
        raise UnreadableFile(f"{path} has no known format.", f"{near} {hint}" if near else hint)
    return found[0]
