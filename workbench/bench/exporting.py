"""Exporting files: the exact text first, a diff against what is on disk, then one atomic write."""

import difflib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.bench.context import Context
from workbench.bench.playbook import Playbooks
from workbench.core.errors import Conflict, StoreProblem, UnknownRecord, WorkbenchError
from workbench.core.memory import Memory
from workbench.core.playbook import Dialect, Playbook
from workbench.formats import ace, lifecycle
from workbench.formats.model import Parsed


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

    def diff(self, context: int = 2) -> tuple[str, ...]:
        """Return a unified diff from the file on disk to the new text, line by line."""
        old = [] if self.present is None else self.present.splitlines()
        lines = difflib.unified_diff(old, self.text.splitlines(), "on disk", "new", n=context, lineterm="")
        return tuple(lines)


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

    def ace(self, book: str, dialect: Dialect | None = None) -> tuple[str, tuple[str, ...]]:
        """Return a playbook as ACE text, in the dialect it was read in or in another one, with remarks."""
        playbook = self._playbooks.open(book)
        text = ace.write_playbook(playbook, dialect=dialect)
        return text, tuple(_remarks(playbook, dialect or playbook.book.dialect))

    def jsonl(self, memories: Sequence[Memory] | None = None) -> str:
        """Return memories (all of them, unless told which) as LIFECYCLE JSONL."""
        chosen = self._context.library.memories.all() if memories is None else memories
        return lifecycle.write(Parsed(lifecycle.NAME, memories=tuple(chosen)))

    def preview(self, path: Path, text: str, remarks: tuple[str, ...] = ()) -> ExportPreview:
        """Compare a text with the file it would replace; raises `WorkbenchError` when that cannot be read."""
        return ExportPreview(path, text, _present(path), remarks)

    def write(self, preview: ExportPreview) -> None:
        """Replace the file in one step; raises `Conflict` when somebody changed it since the preview."""
        if _present(preview.path) != preview.present:
            message = f"{preview.path} was changed by another program meanwhile."
            raise Conflict(message, "Nothing was written; look again.")
        if preview.changed:
            _replace(preview.path, preview.text)


def _present(path: Path) -> str | None:
    try:
        if path.is_dir():
            raise WorkbenchError(f"{path} is a folder.", "Name a file in it; nothing was written.")
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise WorkbenchError(f"{path} exists and is not a text file.", "Nothing was written.") from error
    except OSError as error:
        raise WorkbenchError(f"{path} cannot be read: {error.strerror}.", "Nothing was written.") from error


def _replace(path: Path, text: str) -> None:
    try:
        target = path.resolve()
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
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


def _remarks(playbook: Playbook, dialect: Dialect) -> list[str]:
    voted = sum(b.helpful_votes + b.harmful_votes > 0 for b in playbook.bullets)
    left_out = sum(b.state == "deprecated" for b in playbook.bullets)
    remarks = []
    if dialect == "bare" and voted:
        remarks.append(f"The bare dialect has no counts: votes on {voted} bullets are not in the file.")
    if left_out:
        remarks.append(f"{left_out} deprecated bullets are left out.")
    return remarks
