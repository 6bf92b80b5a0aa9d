"""Exporting files: the exact text first, a diff against what is on disk, then one atomic write."""

from dataclasses import dataclass, replace
from pathlib import Path

from workbench.bench.ace_remarks import ace_remarks
from workbench.bench.context import Context
from workbench.bench.filebase import FileBases
from workbench.bench.filediff import DiffLine, diff_texts
from workbench.bench.filewrite import present, replace_file
from workbench.bench.outgoing import Choice, Rendered, render
from workbench.bench.playbook import Playbooks
from workbench.bench.threeway import ThreeWay, three_way
from workbench.core.errors import Conflict, UnknownRecord, UnreadableFile
from workbench.core.playbook import Dialect
from workbench.formats import ace, registry
from workbench.formats.outlets import OUTLETS, outlet

DEFAULT_NAME = "playbook.txt"


@dataclass(frozen=True, slots=True)
class ExportPreview:
    """Exactly what would be written to `path`, and what is there now (`None`: nothing).

    `remarks` are sentences about what the format cannot carry. `base` is the file's text when this store last read
    or wrote it, `None` when it never did.
    """

    path: Path
    text: str
    present: str | None
    remarks: tuple[str, ...] = ()
    base: str | None = None

    @property
    def changed(self) -> bool:
        """Whether writing would change the file."""
        return self.text != self.present

    @property
    def diverged(self) -> bool:
        """Whether somebody else changed the file since the store last read or wrote it; writing would undo that."""
        return self.base is not None and self.present is not None and self.present not in (self.base, self.text)

    def three_way(self) -> ThreeWay:
        """Return both sides' changes since the text they have in common, put together where they do not collide."""
        return three_way(self.base or "", self.text, self.present or "")

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
        self._bases = FileBases(context.library.folder)

    def the_book(self, name: str | None) -> str:
        """Return the playbook meant: the named one, or the only one there is; raises `UnknownRecord` otherwise."""
        books = self.books()
        if name is not None and name not in books:
            raise UnknownRecord(f"There is no playbook {name}.", f"Known ones: {', '.join(books) or 'none'}.")
        if name is None and len(books) != 1:
            known = f"Name one with --book: {', '.join(books)}." if books else "Import one first, or add a bullet."
            raise UnknownRecord(f"The store has {len(books) or 'no'} playbooks.", known)
        return name or books[0]

    def books(self) -> tuple[str, ...]:
        """Return the names of the store's playbooks."""
        return tuple(line.book.id for line in self._playbooks.books())

    def target(self, book: str, format: str = ace.NAME) -> Path:
        """Return where a playbook goes unless told otherwise: the file it came from, or one in the working folder."""
        source = Path(self._context.library.books.get(book).source)
        try:
            known = source.is_absolute() and source.is_file()
        except (OSError, ValueError):
            known = False
        kind = outlet(format)
        own = kind.name == ace.NAME if source.suffix in (".txt", ".md", "") else kind.suffix == source.suffix
        return source if known and kind.reads and own else Path(DEFAULT_NAME).with_suffix(kind.suffix)

    def format_of(self, book: str) -> str:
        """Return the format of the file that a playbook came from, if it can be changed in place; otherwise ACE."""
        source = Path(self._context.library.books.get(book).source)
        try:
            found = registry.detect(source, registry.read_text(source)) if source.is_absolute() else ()
        except UnreadableFile:
            found = ()
        own = {kind.name for kind in OUTLETS if kind.holds == "playbook"}
        return found[0].format if found and found[0].format in own else ace.NAME

    def render(self, format: str, choice: Choice, path: Path | None = None) -> Rendered:
        """Return the text of a file in a format; what is in the file at `path` already stays where it can."""
        original = present(path) if path is not None else None
        return render(self._context, self._playbooks, format, choice, original, path)

    def ace(self, book: str, dialect: Dialect | None = None) -> tuple[str, tuple[str, ...]]:
        """Return a playbook as ACE text, in the dialect it was read in or in another one, with remarks."""
        playbook = self._playbooks.open(book)
        text = ace.write_playbook(playbook, dialect=dialect)
        return text, tuple(ace_remarks(playbook, dialect))

    def preview(self, path: Path, text: str, remarks: tuple[str, ...] = (), *, inside: bool = False) -> ExportPreview:
        """Compare a text with the file it would replace; raises `WorkbenchError` when it could not be written.

        With `inside` the text holds what somebody else has in the file, so that it never takes their changes back.
        """
        return ExportPreview(path, text, present(path), remarks, None if inside else self._bases.text(path))

    def write(self, preview: ExportPreview) -> None:
        """Replace the file in one step; raises `Conflict` when somebody changed it since the preview."""
        if present(preview.path) != preview.present:
            message = f"{preview.path} was changed by another program meanwhile."
            raise Conflict(message, "Nothing was written; look again.")
        if preview.changed:
            replace_file(preview.path, preview.text)
        self._bases.keep(preview.path, preview.text)

    def write_merged(self, preview: ExportPreview, merged: str) -> None:
        """Replace a file by both sides' changes; theirs stay known as not being the store's."""
        self.write(replace(preview, text=merged))
        self._bases.keep(preview.path, preview.text)
