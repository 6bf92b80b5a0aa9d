"""Exporting files: the exact text first, a diff against what is on disk, then one atomic write."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from workbench.core.agents.actors import require_person
from workbench.core.files.format import ExportFormat
from workbench.core.files.locks import StoreBusy
from workbench.core.files.replacing import bytes_of, changed_meanwhile, present_bytes, replace_bytes, text_of
from workbench.core.playbook.book import Dialect
from workbench.core.record import StoreProblem, UnknownRecord, UnreadableFile
from workbench.formats import opening
from workbench.formats.ace import ace
from workbench.formats.ace.ace import remarks
from workbench.formats.exports import OUTLETS, export_format
from workbench.services.agents.documents.instructions import is_loaded
from workbench.services.context import Context
from workbench.services.files.exports.contents import Choice, Rendered, render
from workbench.services.files.overwriting import FileStates, NotReplaced, Obstacle, Overwriting, hash_of
from workbench.services.files.replaced import Replaced
from workbench.services.files.threeway import DiffLine, ThreeWay, diff_texts, three_way
from workbench.services.playbook.playbook import Playbooks

DEFAULT_NAME = "playbook.txt"
ACE = export_format(ace.NAME)


@dataclass(frozen=True)
class ExportPreview:
    """Exactly what would be written to `path`, and what is there now (`None`: nothing).

    `remarks` are sentences about what the format cannot carry. `obstacle` says why the file may not be replaced
    unasked. `base` is the text that file and store had in common last, `None` when it is not known; `judge` puts
    both sides together.
    """

    path: Path
    text: str
    present: str | None
    kind: ExportFormat
    judge: Overwriting = field(repr=False, compare=False)
    remarks: tuple[str, ...] = ()
    base: str | None = None
    obstacle: Obstacle | None = None

    @property
    def changed(self) -> bool:
        """Whether writing would change the file."""
        return self.text != self.present

    @property
    def diverged(self) -> bool:
        """Whether somebody else changed the file since the store last read or wrote it, and both changes are known."""
        return self.base is not None and self.obstacle is not None and self.obstacle.why == "changed"

    @cached_property
    def three_way(self) -> ThreeWay:
        """Both sides' changes since the text they have in common, put together where they do not collide."""
        return three_way(self.base or "", self.text, self.present or "")

    @cached_property
    def merged(self) -> str | None:
        """The file with the changes of both sides; `None` where they collide or cannot be told apart."""
        if self.obstacle is None or self.obstacle.why != "changed" or self.present is None or self.kind.inside:
            return None
        if self.base is None:
            return self.judge.joined(self.path, self.present, self.text, self.kind)
        merged = self.three_way.merged
        sides = (self.text, self.present)
        return merged if merged is not None and self.judge.is_sound(self.path, merged, sides, self.kind) else None

    def lines(self, context: int = 2) -> tuple[DiffLine, ...]:
        """Return what differs between the file on disk and the new text, byte by byte and line by line."""
        return diff_texts(self.present or "", self.text, context)

    def diff(self, context: int = 2) -> tuple[str, ...]:
        """Return the differences as text: two lines that name the sides, then each line with its sign."""
        lines = tuple(str(line) for line in self.lines(context))
        return ("--- on disk", "+++ new", *lines) if lines else ()


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written, its format by name, and its size in bytes.

    `copy` is one of what it held, if that was not the store's to replace. `problem` says why the store could not note
    that the file is its own; the next export will ask then.
    """

    path: Path
    format: str
    size: int
    copy: Path | None = None
    problem: str = ""


class Exporter:
    """Writes the store's content as files of other tools; `replaced` keeps what goes on a person's word."""

    def __init__(self, context: Context, playbooks: Playbooks, replaced: Replaced) -> None:
        self._context = context
        self._playbooks = playbooks
        self._replaced = replaced
        self._states = FileStates(context.library)

    @property
    def outlets(self) -> tuple[ExportFormat, ...]:
        """Everything that can be written."""
        return OUTLETS

    def kind(self, format: str) -> ExportFormat:
        """Return what is written under the name of a format. Raises `UnreadableFile` when there is nothing."""
        return export_format(format)

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

    def is_for_agents(self, format: str) -> bool:
        """Tell whether agents read files of a format, as opposed to programs that keep what the store holds."""
        kind = self.kind(format)
        return not kind.carries_status and kind.holds != "queries"

    def target(self, book: str, format: str = ace.NAME) -> Path:
        """Return where a playbook goes unless told otherwise: the file it came from, or one in the working folder."""
        source = Path(self._context.library.books.get(book).source)
        try:
            known = source.is_absolute() and source.is_file()
        except (OSError, ValueError):
            known = False
        kind = self.kind(format)
        own = kind.name == ace.NAME if source.suffix in (".txt", ".md", "") else kind.suffix == source.suffix
        return source if known and kind.reads and own else Path(DEFAULT_NAME).with_suffix(kind.suffix)

    def format_of(self, book: str) -> str:
        """Return the format of the file that a playbook came from, if it can be changed in place; otherwise ACE."""
        source = Path(self._context.library.books.get(book).source)
        own = {kind.name for kind in OUTLETS if kind.holds == "playbook"}
        try:
            text = opening.read_text(source) if source.is_absolute() else None
        except UnreadableFile:
            text = None
        known = None if text is None else self._states.known(source, text)
        return known.format if known is not None and known.format in own else ace.NAME

    def render(self, format: str, choice: Choice, path: Path | None = None) -> Rendered:
        """Return the text of a file in a format; what is in the file at `path` already stays where it can.

        Of a file that somebody else changed meanwhile, that is the text that it and the store had in common.
        """
        data = present_bytes(path) if path is not None else None
        if data is None or path is None:
            return render(self._context, self._playbooks, format, choice, None, path)
        original, known = text_of(path, data), self._states.known(path)
        if known is not None and known.sha256 != hash_of(data) and not self.kind(format).inside:
            original = self._states.base(path) or original
        return render(self._context, self._playbooks, format, choice, original, path)

    def ace(self, book: str, dialect: Dialect | None = None) -> tuple[str, tuple[str, ...]]:
        """Return a playbook as ACE text, in the dialect it was read in or in another one, with remarks."""
        playbook = self._playbooks.open(book)
        text = ace.write_playbook(playbook, dialect=dialect)
        return text, tuple(remarks(playbook, dialect))

    def preview(
        self, path: Path, text: str, remarks: tuple[str, ...] = (), *, kind: ExportFormat = ACE
    ) -> ExportPreview:
        """Compare a text of some kind with the file it would replace; raises `WorkbenchError` for what cannot be."""
        data = present_bytes(path)
        present = None if data is None else text_of(path, data)
        judge = Overwriting(self._states, self._context.now())
        obstacle = judge.obstacle(path, present, text, kind)
        base = self._states.base(path) if obstacle is not None else None
        return ExportPreview(path, text, present, kind, judge, remarks, base, obstacle)

    def write(self, preview: ExportPreview, *, force: bool = False) -> Written:
        """Replace the file in one step; with `force` also one that holds what the store cannot write back.

        Raises `NotReplaced` without `force`, `Conflict` when somebody changed the file since the preview, and
        `WorkbenchError` when it cannot be written, or not kept.
        """
        if preview.obstacle is not None and not force:
            raise NotReplaced(preview.obstacle, "It goes only on your word.")
        return self._write(preview, preview.text)

    def write_merged(self, preview: ExportPreview) -> Written:
        """Replace a file by both sides' changes; theirs stay known as not being the store's."""
        if preview.merged is None:
            raise changed_meanwhile(preview.path)
        return self._write(replace(preview, obstacle=None), preview.merged)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Keep other writers out while a file is written, so that it is noted at once; raises `StoreBusy`.

        A store that cannot be written at all keeps no file from being written.
        """
        with ExitStack() as stack:
            try:
                stack.enter_context(self._context.library.turn())
            except StoreBusy:
                raise
            except StoreProblem:
                pass
            yield

    def _write(self, preview: ExportPreview, text: str) -> Written:
        if preview.kind.inside or is_loaded(preview.path):
            require_person(self._context.actor, "write into a file that agents load", "Nothing was written")
        # What came from elsewhere and nobody has looked at goes into no file.
        self._context.library.require_trust()
        before = None if preview.present is None else bytes_of(preview.present)
        if present_bytes(preview.path) != before:
            raise changed_meanwhile(preview.path)
        copy = self._replaced.keep(preview.path, before) if preview.obstacle is not None and before else None
        if text != preview.present:
            replace_bytes(preview.path, bytes_of(text), before)
        written = Written(preview.path, preview.kind.name, len(bytes_of(text)), copy)
        try:
            self._states.wrote(preview.path, preview.kind, preview.text, before, self._context.actor)
        except StoreProblem as error:
            return replace(written, problem=str(error))
        return written
