"""Exporting files: the exact text first, a diff against what is on disk, then one atomic write."""

import os
import stat
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.bench.context import Context
from workbench.bench.filediff import DiffLine, diff_texts
from workbench.bench.playbook import Playbooks
from workbench.core.errors import Conflict, StoreProblem, UnknownRecord, WorkbenchError
from workbench.core.memory import Memory
from workbench.core.playbook import Bullet, Dialect, Playbook
from workbench.formats import ace, ace_lines, lifecycle
from workbench.formats.model import Parsed

DEFAULT_NAME = "playbook.txt"
NOTHING = "Nothing was written."


@dataclass(frozen=True, slots=True)
class ExportPreview:
    """Exactly what would be written to `path`, and what is there now (`None`: nothing).

    `remarks` are sentences about what the format cannot carry.
    """

    path: Path
    text: str
    present: str | None
    remarks: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether writing would change the file."""
        return self.text != self.present

    def lines(self, context: int = 2) -> tuple[DiffLine, ...]:
        """Return what differs between the file on disk and the new text, byte by byte and line by line."""
        return diff_texts(self.present or "", self.text, context)

    def diff(self, context: int = 2) -> tuple[str, ...]:
        """Return the differences as text: two lines that name the sides, then each line with its sign."""
        lines = tuple(str(line) for line in self.lines(context))
        return ("--- on disk", "+++ new", *lines) if lines else ()


class Exporter:
    """Writes the store's content as files of other tools."""

    def __init__(self, context: Context, playbooks: Playbooks) -> None:
        self._context = context
        self._playbooks = playbooks

    def the_book(self, name: str | None) -> str:
        """Return the playbook meant: the named one, or the only one there is; raises `UnknownRecord` otherwise."""
        books = [line.book.id for line in self._playbooks.books()]
        if name is not None and name not in books:
            raise UnknownRecord(f"There is no playbook {name}.", f"Known ones: {', '.join(books) or 'none'}.")
        if name is None and len(books) != 1:
            known = f"Name one with --book: {', '.join(books)}." if books else "Import one first, or add a bullet."
            raise UnknownRecord(f"The store has {len(books) or 'no'} playbooks.", known)
        return name or books[0]

    def target(self, book: str) -> Path:
        """Return where a playbook goes unless told otherwise: the file it came from, or one in the working folder."""
        source = Path(self._context.library.books.get(book).source)
        try:
            known = source.is_absolute() and source.is_file()
        except (OSError, ValueError):
            known = False
        return source if known else Path(DEFAULT_NAME)

    def ace(self, book: str, dialect: Dialect | None = None) -> tuple[str, tuple[str, ...]]:
        """Return a playbook as ACE text, in the dialect it was read in or in another one, with remarks."""
        playbook = self._playbooks.open(book)
        text = ace.write_playbook(playbook, dialect=dialect)
        return text, tuple(_remarks(playbook, dialect))

    def jsonl(self, memories: Sequence[Memory] | None = None) -> str:
        """Return memories (all of them, unless told which) as LIFECYCLE JSONL."""
        chosen = self._context.library.memories.all() if memories is None else memories
        return lifecycle.write(Parsed(lifecycle.NAME, memories=tuple(chosen)))

    def preview(self, path: Path, text: str, remarks: tuple[str, ...] = ()) -> ExportPreview:
        """Compare a text with the file it would replace; raises `WorkbenchError` when it could not be written."""
        return ExportPreview(path, text, _present(path), remarks)

    def write(self, preview: ExportPreview) -> None:
        """Replace the file in one step; raises `Conflict` when somebody changed it since the preview."""
        if _present(preview.path) != preview.present:
            message = f"{preview.path} was changed by another program meanwhile."
            raise Conflict(message, "Nothing was written; look again.")
        if preview.changed:
            _replace(preview.path, preview.text)


def _present(path: Path) -> str | None:
    """Return the file's text, `None` when there is none yet; raises for what cannot be replaced."""
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
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise WorkbenchError(f"{path} exists and is not a text file.", NOTHING) from error
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


def _replace(path: Path, text: str) -> None:
    try:
        target = path.resolve()
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
        handle, name = tempfile.mkstemp(prefix=".workbench-", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(mode)
            Path(name).replace(target)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StoreProblem(f"{path} cannot be written: {error.strerror}.", "The file is as it was.") from error


def _remarks(playbook: Playbook, dialect: Dialect | None) -> list[str]:
    """Say what of the playbook the file will not hold."""
    counted = sum(
        b.helpful_count + b.harmful_count > 0 and not _has_counts(b, playbook, dialect) for b in _kept(playbook)
    )
    broken = sum("\n" in b.content and (b.raw is None or dialect is not None) for b in _kept(playbook))
    left_out = len(playbook.bullets) - len(_kept(playbook))
    remarks = []
    if counted:
        of = "1 bullet stay" if counted == 1 else f"{counted} bullets stay"
        remarks.append(f"The bare dialect has no counts: the votes on {of} in the store and are not in the file.")
    if broken:
        remarks.append(f"Line breaks in {_bullets(broken)} are written as \\n.")
    if left_out:
        remarks.append(f"{_bullets(left_out)} marked deprecated {'is' if left_out == 1 else 'are'} left out.")
    return remarks


def _has_counts(bullet: Bullet, playbook: Playbook, dialect: Dialect | None) -> bool:
    """Whether a bullet's line will carry its counts."""
    said = ace_lines.bullet(bullet.raw) if bullet.raw is not None and dialect is None else None
    return (said.form if said else dialect or playbook.book.dialect) == "counts"


def _kept(playbook: Playbook) -> list[Bullet]:
    return [b for b in playbook.bullets if b.state != "deprecated"]


def _bullets(count: int) -> str:
    return "1 bullet" if count == 1 else f"{count} bullets"
