"""Reading and replacing a person's files: never half, never one that somebody changed meanwhile."""

import os
import re
import stat
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from workbench.core.files.atomic import draft_beside, fill, take_free_name
from workbench.core.files.format import (
    Format,
    Issue,
    Parsed,
    ReadContext,
    ReadText,
    Reason,
    WriteText,
)
from workbench.core.files.fresh import NotRegular, open_handle
from workbench.core.record import Conflict, StoreProblem, WorkbenchError

# A file's bytes as text and back, also where some are no UTF-8: they stay what they are until their
# line changes.
#
# Such a byte is a lone surrogate in the text (PEP 383), so that text and bytes are the same in both
# directions. Readers and writers of formats never see one: they are given the character that the
# byte is in Windows-1252.


BOM = "\ufeff"
_ESCAPED = re.compile("[\udc80-\udcff]")
_FEW, _ONE_IN = 5, 50
"""So many bytes that are no UTF-8 a text may have, or one in so many."""

_SIGNATURES = (
    (b"\x89PNG", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"), (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"), (b"PK\x03\x04", "a ZIP archive or an office document"), (b"\x1f\x8b", "a gzip file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"), (b"\x7fELF", "a program"), (b"SQLite format 3\0", "a SQLite database"),
    (b"PAR1", "a Parquet table"), (b"\x93NUMPY", "a NumPy array"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"),
)  # fmt: skip


def text_in(data: bytes) -> str | None:
    """Return the text that bytes are; `None` where they are none, or in another encoding
    throughout.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    if kind_of(data):
        return None
    text = data.decode("utf-8", "surrogateescape")
    return text if len(_ESCAPED.findall(text)) <= max(_FEW, len(data) // _ONE_IN) else None


def bytes_of(text: str) -> bytes:
    """Return the bytes that a text is in a file. Raises `UnicodeEncodeError` for a half character
    in it.
    """
    return text.encode("utf-8", "surrogateescape")


def kind_of(data: bytes) -> str:
    """Say what bytes that are no text are, as part of a sentence; empty for what may be text."""
    known = next((what for sign, what in _SIGNATURES if data.startswith(sign)), "")
    return known or ("a binary file" if b"\0" in data else "")


def tolerant(format: Format) -> Format:
    """Return a format whose reader and writer can do with bytes that are no UTF-8; a byte order mark
    is kept from them, and stays in its file.
    """
    write = _writing(format.write) if format.writes else format.write
    return replace(format, read=_reading(format.read), write=write)


def _reading(read: ReadText) -> ReadText:
    def tolerated(text: str, context: ReadContext) -> Parsed:
        text = text.removeprefix(BOM)
        if not _has_escaped(text):
            return read(text, context)
        parsed = read(mended(text), context)
        issues = (*parsed.issues, *_said(text, context.file))
        return replace(parsed, issues=tuple(sorted(issues, key=lambda issue: issue.line)))

    return tolerated


def _writing(write: WriteText) -> WriteText:
    def tolerated(parsed: Parsed, original: str | None = None) -> str:
        if original is None:
            return write(parsed, None)
        mark = original[: original.startswith(BOM)]
        bare = original[len(mark) :]
        given = mended(bare) if _has_escaped(bare) else bare
        return mark + restored(write(parsed, given), bare)

    return tolerated


def _has_escaped(text: str) -> bool:
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return _ESCAPED.search(text) is not None
    return False


def mended(text: str) -> str:
    """Return a text as readers are given it: with the characters that such bytes are in
    Windows-1252.
    """
    return _ESCAPED.sub(lambda found: _character(found.group()), text)


def _character(escaped: str) -> str:
    return bytes_of(escaped).decode("cp1252", "replace")


def _said(text: str, file: str) -> Iterator[Issue]:
    """Yield an issue for every line with such a byte."""
    for number, line in enumerate(text.split("\n"), 1):
        found = _ESCAPED.search(line)
        if found is not None:
            byte = bytes_of(found.group())[0]
            what = Reason(
                "byte 0x{} is not UTF-8: read as “{}”", (f"{byte:02x}", _character(found.group()))
            )
            yield Issue(file, number, what, 0, "kept")


def restored(text: str, original: str | None) -> str:
    """Return a text that is to replace another one, with the bytes of those lines that did not
    change.
    """
    if original is None or not _has_escaped(original):
        return text
    lines: defaultdict[str, deque[str]] = defaultdict(deque)
    for line in original.split("\n"):
        if _ESCAPED.search(line):
            lines[mended(line)].append(line)
    return "\n".join(
        lines[line].popleft() if lines.get(line) else line for line in text.split("\n")
    )


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
            raise WorkbenchError(f"{path} is a folder.", "Choose a file in it.")
        if not stat.S_ISREG(mode):
            raise WorkbenchError(f"{path} is not an ordinary file.", NOTHING)
        if not mode & 0o444 or not os.access(path, os.R_OK):
            raise WorkbenchError(f"{path} cannot be read: its permissions forbid it.", NOTHING)
        if not mode & 0o222 or not os.access(path, os.W_OK):
            raise WorkbenchError(
                f"{path} is read-only.", "Choose another file, or make it writable."
            )
        _check_folder(path.resolve().parent)
        return _bytes(path.resolve())
    except NotADirectoryError as error:
        raise WorkbenchError(f"A part of {path} is a file, not a folder.", NOTHING) from error
    except OSError as error:
        raise WorkbenchError(f"{path} cannot be read: {error.strerror}.", NOTHING) from error


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise WorkbenchError(f"The folder {folder} {what}.", "Create it first, or choose another.")
    if not folder.stat().st_mode & 0o222 or not os.access(folder, os.W_OK | os.X_OK):
        raise WorkbenchError(f"The folder {folder} is read-only.", "Choose a file elsewhere.")


def _mode_of_new_files(beside: Path) -> int:
    """Return the mode that a new file gets; the umask of a process can only be read by setting it,
    for all threads.
    """
    probe = beside.with_name(f"{beside.name}.mode.new")
    os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    try:
        return probe.stat().st_mode & 0o777
    finally:
        probe.unlink()


@contextmanager
def held(folder: Path) -> Iterator[Path]:
    """Give a path that leads into a folder as it is now, wherever the folder's own name leads by
    then.

    `folder` is absolute and holds no link; where one stands in it by now, `NotADirectoryError` is
    raised, or another `OSError`. Where the system has no such path, it is the folder's own.
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
    path: Path,
    data: bytes,
    before: bytes | _Anything | None = ANYTHING,
    *,
    through_links: bool = True,
) -> None:
    """Write a file in one step, keeping its mode; a new one may be read by whom the umask lets.

    `before` is what the file holds as far as the caller knows, `None` when there is none. Raises
    `Conflict` when it holds something else or is no file any more, and `StoreProblem` when it
    cannot be written; the file is as it was then. Not `through_links`, a path with a link in it is
    such a conflict. The folder is held from the look to the rename: whoever puts another in its
    place meanwhile gets nothing written there.
    """
    with _place_of(path, "written", "The file is unchanged.", through_links) as target:
        mode = target.stat().st_mode & 0o777 if target.exists() else None
        with draft_beside(target) as (file, new):
            fill(file, data)
            new.chmod(_mode_of_new_files(new) if mode is None else mode)
            if before is None:
                take_free_name(new, target)
            elif isinstance(before, bytes) and not _holds(target, before):
                raise FileExistsError
            else:
                new.replace(target)


def remove_file(path: Path, before: bytes | None, *, through_links: bool = True) -> None:
    """Remove a file that holds `before`; one that is gone already is no matter. Held and checked as
    in `replace_bytes`.

    Raises `Conflict` when it is something else, and `StoreProblem` when it cannot be removed; it
    stays then.
    """
    place = _place_of(path, "removed", "It stays.", through_links, missing_ok=True)
    with suppress(FileNotFoundError), place as target:
        if os.path.lexists(target) and (before is None or not _holds(target, before)):
            raise FileExistsError
        target.unlink(missing_ok=True)


@contextmanager
def _place_of(
    path: Path, done: str, kept: str, through_links: bool, *, missing_ok: bool = False
) -> Iterator[Path]:
    """Give the place of a file in its folder, which is held; say what goes wrong there."""
    try:
        if not through_links and (path.is_symlink() or os.path.realpath(path) != str(path)):
            raise FileExistsError
        real = path.resolve()
        with held(real.parent) as folder:
            yield folder / real.name
    except (FileExistsError, NotADirectoryError) as error:
        raise changed_meanwhile(path) from error
    except OSError as error:
        if missing_ok and isinstance(error, FileNotFoundError):
            raise
        raise StoreProblem(f"{path} cannot be {done}: {error.strerror}.", kept) from error


def changed_meanwhile(path: Path) -> Conflict:
    """Return the error that says that a file is not what it was."""
    return Conflict(
        f"{path} was changed by another program meanwhile.", "Nothing was written; check it again."
    )


def _holds(path: Path, data: bytes) -> bool:
    """Tell whether an ordinary file holds just these bytes; no link is followed, and no pipe is
    waited for.
    """
    try:
        return _bytes(path) == data
    except (FileNotFoundError, NotRegular):
        return False


def _bytes(path: Path) -> bytes:
    """Return what is in an ordinary file; raises as `open_handle` does."""
    with os.fdopen(open_handle(path, os.O_RDONLY), "rb") as file:
        return file.read()
