"""The files of a folder of notes: what each is, how it is read, and how what a store says is put into it."""

import os
import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath

from workbench.core.files.format import Format, Parsed, ReadContext
from workbench.core.files.formats import detect, format_named
from workbench.core.files.fresh import open_handle
from workbench.core.files.replacing import mended, restored, text_in, tolerant
from workbench.core.record import UnreadableFile
from workbench.core.stream.memory import Memory
from workbench.formats import claude_memory, opening
from workbench.formats import notes as note
from workbench.formats.claude_memory import Link
from workbench.formats.update_file.merge_lines import Stored, Unplaced
from workbench.services.agents.documents.instructions import DEEPEST, LARGEST, DocumentFolder, Entry, read_document
from workbench.store.library import Library

SURE_OF_ANOTHER = 0.8
"""From this confidence on a file of a folder is read as what it is, and not as a note."""

_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)

Weave = Callable[[str, Stored], str]


@dataclass(frozen=True, slots=True)
class FolderFile:
    """A file of a folder that was opened: its bytes, its text, its format, and what reads and changes it.

    `weave` is `None` where a file is only read. `is_whole` tells that the file is one record, `is_titled` that it also
    says what that is called. `topics` are the lines of an index by the path of the file that each names.
    """

    entry: Entry
    data: bytes
    sha256: str
    text: str
    encoding: str
    kind: Format
    context: ReadContext
    weave: Weave | None = None
    is_whole: bool = False
    is_titled: bool = False
    topics: Mapping[str, Link] | None = None

    def read(self) -> Parsed:
        """Return what it holds. Raises `UnreadableFile`."""
        if not self.text.strip("\ufeff \t\r\n"):
            return Parsed(self.kind.name)
        return self.kind.read(self.text, self.context)

    def woven(self, stored: Stored) -> bytes:
        """Return its bytes with what a store says of its records. Raises `Unplaced` when they have no place there."""
        if self.weave is None:
            raise Unplaced("files of its format are only read")
        text = restored(self.weave(mended(self.text), stored), self.text)
        try:
            return text.encode(self.encoding, "surrogateescape" if self.encoding == "utf-8" else "strict")
        except UnicodeEncodeError:
            raise Unplaced(f"it is no {self.encoding}, which the file is written in") from None

    def retitled(self, linked: Mapping[str, Memory]) -> dict[str, bool]:
        """Return which lines of an index change as `linked` calls their files, and whether each has a place for it."""
        if self.topics is None or not linked:
            return {}
        from workbench.formats.update_file import claude

        return claude.retitled(mended(self.text), linked)

    def again(self, data: bytes) -> "FolderFile":
        text = data.decode(self.encoding, "surrogateescape" if self.encoding == "utf-8" else "strict")
        return replace(self, data=data, text=text)


class FolderFiles:
    """Opens the files of one folder; those that an index of topics names are read as it calls them."""

    def __init__(self, folder: DocumentFolder, context: ReadContext) -> None:
        self.folder = folder
        self._context = context
        self._links = dict[str, tuple[Entry, Link]]()
        for entry in folder.documents:
            if claude_memory.is_index(entry.path):
                self._take_links(entry)

    def open(self, entry: Entry) -> FolderFile:
        """Open a file. Raises `UnreadableFile`."""
        found = read_document(entry)
        exact = text_in(found.data)
        text, encoding = (found.document.content, found.encoding) if exact is None else (exact, "utf-8")
        here = replace(
            self._context, file=entry.path, path=str(entry.file), beside=opening.beside(entry.file.parent)
        )  # fmt: skip
        file = FolderFile(entry, found.data, found.sha256, text, encoding, note.FORMAT, here)
        best = next(iter(detect(entry.file, text)), None)
        other = best.format if best is not None and best.confidence >= SURE_OF_ANOTHER else note.NAME
        if other not in (note.NAME, claude_memory.NAME):
            return _of_format(file, format_named(other))
        if entry.path in self._links:
            return self._topic(file, *self._links[entry.path])
        if claude_memory.is_index(entry.path):
            return self._index(file)
        alone = Link(0, PurePosixPath(entry.path).name, "", "")
        return self._note(file) if other == note.NAME else self._topic(file, entry, alone)

    def _take_links(self, entry: Entry) -> None:
        try:
            text = mended(text_in(read_document(entry).data) or "")
        except UnreadableFile:
            return
        for link in claude_memory.links(text):
            named = _named(entry, link)
            if self.folder.find(named) is not None and not claude_memory.is_index(named):
                self._links.setdefault(named, (entry, link))

    def _note(self, file: FolderFile) -> FolderFile:
        # Notes of one folder are named after it, wherever below it they lie.
        name, changed = file.entry.path, file.entry.changed_at
        context = replace(file.context, path=str(self.folder.root / "x.md"))
        reads = partial(note.read_note, name=name, changed=changed)

        def weave(text: str, stored: Stored) -> str:
            from workbench.formats.update_file import claude as notes

            return notes.weave(text, context, name, stored)

        return replace(
            file, kind=tolerant(replace(note.FORMAT, read=reads)), context=context,
            is_whole=not note.is_day(name), is_titled=not note.is_day(name), weave=weave,
        )  # fmt: skip

    def _topic(self, file: FolderFile, index: Entry, link: Link) -> FolderFile:
        context = replace(file.context, path=str(index.file))

        def reads(text: str, context: ReadContext) -> Parsed:
            return claude_memory.read_topic(text, link, context)

        def weave(text: str, stored: Stored) -> str:
            from workbench.formats.update_file import claude

            return claude.weave_topic(text, context, link, stored)

        return replace(
            file, kind=tolerant(replace(claude_memory.FORMAT, read=reads)), context=context,
            is_whole=True, is_titled=not link.hook, weave=weave,
        )  # fmt: skip

    def _index(self, file: FolderFile) -> FolderFile:
        mine = {path: link for path, (index, link) in self._links.items() if index == file.entry}
        elsewhere = frozenset(link.target for link in claude_memory.links(mended(file.text))
                              if _named(file.entry, link) in self._links)  # fmt: skip

        def reads(text: str, context: ReadContext) -> Parsed:
            return claude_memory.read_index(text, context, elsewhere)

        def weave(text: str, stored: Stored) -> str:
            from workbench.formats.update_file import claude

            return claude.weave_index(text, file.context, stored)

        return replace(
            file, kind=tolerant(replace(claude_memory.FORMAT, read=reads)), topics=mine, weave=weave,
        )  # fmt: skip


def _of_format(file: FolderFile, kind: Format) -> FolderFile:
    """Return a file of another format, changed by its own writer where it has one."""
    write = kind.write
    if write is None:
        return replace(file, kind=kind)

    def weave(text: str, stored: Stored) -> str:
        parsed = kind.read(text, file.context)
        kept = (stored.memories.get(m.id, m) for m in parsed.memories if m.id not in stored.gone)
        return write(replace(parsed, memories=tuple(kept)), text)

    return replace(file, kind=kind, weave=weave)


def _named(index: Entry, link: Link) -> str:
    """Return the path in its folder of the file that a line of an index names."""
    return posixpath.normpath(str(PurePosixPath(index.path).parent / link.target))


def root_of(file: Path, format: str, library: Library) -> Path | None:
    """Return the folder that a file was read with as one of its notes; `None` where it was read alone."""
    parents = list(file.parents)[: DEEPEST + 1]
    if format == claude_memory.NAME:
        return next((parent for parent in parents if _has_index(parent)), file.parent)
    if format != note.NAME:
        return None
    text = _text(file) if note.is_day(file.name) else ""
    for parent in parents:
        here = ReadContext(now=_ANY_TIME, file=file.name, path=str(parent / "x.md"))
        if any(id in library.memories for id in _ids(file.relative_to(parent).as_posix(), text, here)):
            return parent
    return None


def folders_of(library: Library) -> tuple[Path, ...]:
    """Return the folders of notes that a store was read from, the outermost of each."""
    found = list[Path]()
    for state in sorted(library.files.all(), key=lambda state: state.id):
        file = Path(state.id)
        if not any(file.is_relative_to(root) for root in found):
            root = root_of(file, state.format, library)
            found += [root] if root is not None else []
    return tuple(found)


def place_of(file: Path, format: str, library: Library) -> Path:
    """Return what is imported to take over what a file says now: the folder that a note was read with, else itself."""
    return (root_of(file, format, library) if format == note.NAME else None) or file


def _ids(name: str, text: str, context: ReadContext) -> Iterable[str]:
    """Return the ids that the records of a note have; only those of a day depend on what it says."""
    if not note.is_day(name):
        return (note.whole_id(name, context),)
    return (memory.id for memory in note.read_note(text, context, name).memories)


def _text(file: Path) -> str:
    """Return what a file says, nothing where it is not to be read."""
    try:
        with os.fdopen(open_handle(file, os.O_RDONLY), "rb") as handle:
            return mended(text_in(handle.read(LARGEST)) or "")
    except (OSError, ValueError):
        return ""


def _has_index(folder: Path) -> bool:
    return (folder / "MEMORY.md").is_file()
