"""Files that a playbook was exported to, with a corrected bullet in them: one record moves, every other byte stays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from workbench.core.errors import UnreadableFile, WorkbenchError
from workbench.core.file_state import FileState
from workbench.core.files.format import ExportFormat, Parsed, ReadContext
from workbench.core.files.formats import format_named
from workbench.core.files.replacing import present_bytes, text_of
from workbench.core.files.textbytes import bytes_of, restored
from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.stream.memory import Memory
from workbench.formats.exports import OUTLETS
from workbench.services.context import Context
from workbench.services.files.states import hash_of
from workbench.services.promotion.placement_files import FileEdit

Corrections = Sequence[tuple[Memory | Bullet, Memory | Bullet]]

LEAST = 12
"""Characters of the shortest text that is looked for in files that are only written as a whole."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A file of this store that holds the old text: what it becomes, or the `obstacle` to that.

    `changed`: somebody else changed the file; `whole`: such a file is only ever written as a whole.
    """

    path: Path
    edit: FileEdit | None = None
    obstacle: Literal["", "changed", "whole"] = ""


def exported(context: Context, corrected: Corrections) -> list[Exported]:
    """Return the files that the store wrote and that hold what is corrected; reads files, writes none."""
    written = [state for state in context.library.files.all() if state.origin == "written"]
    kinds = {kind.name: kind for kind in OUTLETS}
    found = (_in_file(context, state, kinds.get(state.format), corrected) for state in written)
    return [one for one in found if one is not None]


def _in_file(context: Context, state: FileState, kind: ExportFormat | None, corrected: Corrections) -> Exported | None:
    path = Path(state.id)
    try:
        data = present_bytes(path) if path.is_absolute() and path.is_file() else None
        text = None if data is None else text_of(path, data)
    except (OSError, ValueError, WorkbenchError):
        return None
    if kind is None or data is None or text is None:
        return None
    if not (kind.reads and kind.holds == "playbook"):
        olds = [before.content.strip() for before, after in corrected if before.content != after.content]
        return Exported(path, None, "whole") if any(len(old) >= LEAST and old in text for old in olds) else None
    after = _rewritten(context, kind, path, text, [pair for pair in corrected if isinstance(pair[0], Bullet)])
    if after is None:
        return None
    if hash_of(data) != state.sha256:
        return Exported(path, None, "changed")
    return Exported(path, FileEdit(path, str(path), data, bytes_of(after)))


def _rewritten(context: Context, kind: ExportFormat, path: Path, text: str, corrected: Corrections) -> str | None:
    """Return a file's text with corrected bullets; `None` where it holds none of them, or would not only change so."""
    reader = format_named(kind.name)
    place = ReadContext(now=context.now(), file=str(path), path=str(path))
    try:
        parsed = reader.read(text, place)
        wanted = _replaced(parsed, corrected)
        if wanted is None:
            return None
        written = _written(kind, wanted, text)
        again = reader.read(written, place)
    except (UnreadableFile, WorkbenchError):
        return None
    return written if list(_said(again)) == list(_said(wanted)) else None


def _replaced(parsed: Parsed, corrected: Corrections) -> Parsed | None:
    """Return what a file holds with the new texts in place; `None` when none of the old ones is there."""
    new = {(before.id, before.content): after.content for before, after in corrected}
    held = {(bullet.id, bullet.content) for book in parsed.playbooks for bullet in book.bullets}
    if held.isdisjoint(new):
        return None

    def fresh(bullet: Bullet) -> Bullet:
        content = new.get((bullet.id, bullet.content))
        return bullet if content is None else replace(bullet, content=content, raw=None)

    books = tuple(Playbook(book.book, book.sections, tuple(map(fresh, book.bullets))) for book in parsed.playbooks)
    return replace(parsed, playbooks=books)


def _written(kind: ExportFormat, parsed: Parsed, own: str) -> str:
    if kind.dialects is not None:
        return restored(kind.dialects.write(parsed.playbooks[0], None), own)
    return kind.write(parsed, own)


def _said(parsed: Parsed) -> Iterator[tuple[str, str, str]]:
    return ((bullet.id, bullet.section, bullet.content) for book in parsed.playbooks for bullet in book.bullets)
