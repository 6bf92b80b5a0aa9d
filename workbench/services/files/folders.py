"""Folders of notes: how their files are read, and writing back into them what the store says of
their records.
"""

import os
import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Literal

from workbench.core.file_state import FileState
from workbench.core.files.format import Format, Parsed, ReadContext
from workbench.core.files.formats import detect, format_named
from workbench.core.files.fresh import hash_of, open_handle
from workbench.core.files.lint import BLANKS
from workbench.core.files.replacing import mended, restored, text_in, tolerant
from workbench.core.record import UnreadableFile
from workbench.core.stream.memory import ARCHIVED_FROM, Memory
from workbench.core.text import clean_for_store
from workbench.formats import claude_memory, notes, opening
from workbench.formats import notes as note
from workbench.formats.claude_memory import Link
from workbench.formats.shared.values import flat
from workbench.formats.update_file import Stored, Unplaced, differing
from workbench.services.agents.documents.documents import guarded, stage
from workbench.services.agents.documents.instructions import (
    DEEPEST,
    LARGEST,
    DocumentFolder,
    Entry,
    open_folder,
    read_document,
)
from workbench.services.context import Context
from workbench.services.files.exporting import masked_parsed
from workbench.services.files.overwriting import FileStates
from workbench.services.files.replaced import Replaced
from workbench.services.promotion.placements import FileEdit
from workbench.services.safety.texts import name_of
from workbench.store.library import Library
from workbench.store.records import place_of as record_place

SURE_OF_ANOTHER = 0.8
"""From this confidence on a file of a folder is read as what it is, and not as a note."""

_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class FolderFile:
    """A file of a folder that was opened: its bytes, its text and its format.

    `link` is how an index calls the file of one topic. Of an index, `topics` are its lines by the
    path of the file that each names, and `elsewhere` the files that have their own records.
    """

    entry: Entry
    data: bytes
    sha256: str
    text: str
    encoding: str
    kind: Format
    context: ReadContext
    link: Link | None = None
    topics: Mapping[str, Link] | None = None
    elsewhere: frozenset[str] = frozenset()

    @property
    def is_whole(self) -> bool:
        """Whether the file is one record."""
        return self.link is not None or (
            self.kind.name == note.NAME and not note.is_day(self.entry.path)
        )

    @property
    def is_titled(self) -> bool:
        """Whether the file is one record and says what that is called."""
        return not self.link.hook if self.link is not None else self.is_whole

    def read(self) -> Parsed:
        """Return what it holds. Raises `UnreadableFile`."""
        if not self.text.strip("\ufeff \t\r\n"):
            return Parsed(self.kind.name)
        return tolerant(replace(self.kind, read=self._read)).read(self.text, self.context)

    def _read(self, text: str, context: ReadContext) -> Parsed:
        if self.topics is not None:
            return claude_memory.read(text, context, self.elsewhere)
        if self.link is not None:
            return claude_memory.read_topic(text, self.link, context)
        if self.kind.name == note.NAME:
            return note.read_note(text, context, self.entry.path, self.entry.changed_at)
        return self.kind.read(text, context)

    def woven(self, stored: Stored) -> bytes:
        """Return its bytes with what a store says of its records. Raises `Unplaced` when they have
        no place there.
        """
        text = restored(self._woven(mended(self.text), stored), self.text)
        try:
            return text.encode(
                self.encoding, "surrogateescape" if self.encoding == "utf-8" else "strict"
            )
        except UnicodeEncodeError:
            raise Unplaced(
                f"it cannot be written in {self.encoding}, the file's encoding"
            ) from None

    def _woven(self, text: str, stored: Stored) -> str:
        from workbench.formats import update_file

        if self.topics is not None:
            return update_file.weave_index(text, self.context, stored)
        if self.link is not None:
            return update_file.weave_topic(text, self.context, self.link, stored)
        if self.kind.name == note.NAME:
            return update_file.weave(text, self.context, self.entry.path, stored)
        if not self.kind.writes:
            raise Unplaced("this format can only be read")
        parsed = self.kind.read(text, self.context)
        kept = tuple(
            stored.memories.get(m.id, m) for m in parsed.memories if m.id not in stored.gone
        )
        return self.kind.write(replace(parsed, memories=kept), text)

    def retitled(self, linked: Mapping[str, Memory]) -> dict[str, bool]:
        """Return which lines of an index change as `linked` calls their files, and whether each has
        a place for it.
        """
        if self.topics is None or not linked:
            return {}
        from workbench.formats import update_file

        return update_file.retitled(mended(self.text), linked)

    def again(self, data: bytes) -> "FolderFile":
        text = data.decode(
            self.encoding, "surrogateescape" if self.encoding == "utf-8" else "strict"
        )
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
        text, encoding = (
            (found.document.content, found.encoding) if exact is None else (exact, "utf-8")
        )
        best = next(iter(detect(entry.file, text)), None)
        other = (
            best.format if best is not None and best.confidence >= SURE_OF_ANOTHER else note.NAME
        )
        here = replace(
            self._context, file=entry.path, path=str(entry.file), beside=opening.beside(entry.file.parent)
        )  # fmt: skip
        file = FolderFile(
            entry, found.data, found.sha256, text, encoding, claude_memory.FORMAT, here
        )
        if other not in (note.NAME, claude_memory.NAME):
            return replace(file, kind=format_named(other))
        if entry.path in self._links:
            index, link = self._links[entry.path]
            return replace(file, context=replace(here, path=str(index.file)), link=link)
        if claude_memory.is_index(entry.path):
            mine = {path: link for path, (index, link) in self._links.items() if index == entry}
            named = (
                link
                for link in claude_memory.links(mended(text))
                if _named(entry, link) in self._links
            )
            return replace(file, topics=mine, elsewhere=frozenset(link.target for link in named))
        if other == claude_memory.NAME:
            return replace(file, link=Link(0, PurePosixPath(entry.path).name, "", ""))
        # Notes of one folder are named after it, wherever below it they lie.
        return replace(
            file, kind=note.FORMAT, context=replace(here, path=str(self.folder.root / "x.md"))
        )

    def _take_links(self, entry: Entry) -> None:
        try:
            text = mended(text_in(read_document(entry).data) or "")
        except UnreadableFile:
            return
        for link in claude_memory.links(text):
            named = _named(entry, link)
            if self.folder.find(named) is not None and not claude_memory.is_index(named):
                self._links.setdefault(named, (entry, link))


def _named(index: Entry, link: Link) -> str:
    """Return the path in its folder of the file that a line of an index names."""
    return posixpath.normpath(str(PurePosixPath(index.path).parent / link.target))


def root_of(file: Path, format: str, library: Library) -> Path | None:
    """Return the folder that a file was read with as one of its notes; `None` where it was read
    alone.
    """
    parents = list(file.parents)[: DEEPEST + 1]
    if format == claude_memory.NAME:
        return next((parent for parent in parents if _has_index(parent)), file.parent)
    if format != note.NAME:
        return None
    text = _text(file) if note.is_day(file.name) else ""
    for parent in parents:
        here = ReadContext(now=_ANY_TIME, file=file.name, path=str(parent / "x.md"))
        if any(
            id in library.memories for id in _ids(file.relative_to(parent).as_posix(), text, here)
        ):
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
    """Return what is imported to take over what a file says now: the folder that a note was read
    with, else itself.
    """
    return (root_of(file, format, library) if format == note.NAME else None) or file


def _ids(name: str, text: str, context: ReadContext) -> Iterable[str]:
    """Return the ids that the records of a note have; only those of a day depend on what it says."""
    if not note.is_day(name):
        return (note.id_of(name, context),)
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


# Only files that were read here are touched. One that somebody else changed since is left as it is
# and named, as is one in which a record has no place, and the file of a note that was forgotten: it
# goes only on a person's word.


Why = Literal["changed", "unplaced", "forgotten", "unreadable"]
"""Somebody else changed it since; a record has no place in it; its note was forgotten; it cannot be
read any more.
"""


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A file that stays as it is although the store says something else, and why; `reason` is more
    of it, in words.
    """

    name: str
    why: Why
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FolderPlan:
    """What writing back into a folder changes, or has changed.

    `known` is how many files of it the store knows. `unplaced` counts, by what it is (title, type,
    tags, votes), what was changed in the store and has no place in its file. `parsed` are the
    records that go out with another text; `noted` are stored ones that get a further name, as their
    file knows them by their text, or whose line in an index says something else from now on.
    `masked` are records with secrets that only the store holds; `copies` are of what was replaced,
    by its name.
    """

    root: Path
    known: int
    edits: tuple[FileEdit, ...] = ()
    left: tuple[LeftAlone, ...] = ()
    unplaced: Mapping[str, int] = field(default_factory=dict)
    parsed: Parsed = field(default_factory=Parsed)
    noted: tuple[Memory, ...] = ()
    masked: int = 0
    copies: tuple[tuple[str, Path], ...] = ()


class FolderExporter:
    """Writes records back into the folders that they were read from; `replaced` keeps what goes on
    a person's word.
    """

    def __init__(self, context: Context, replaced: Replaced) -> None:
        self._context = context
        self._library = context.library
        self._replaced = replaced

    def plan(
        self,
        path: Path,
        *,
        force: bool = False,
        without: frozenset[tuple[str, str]] = frozenset(),
        only: Path | None = None,
        makes_front: bool = False,
    ) -> FolderPlan:
        """Return what writing back would change; writes nothing. Raises `UnreadableFile`, and for
        an untrusted store.

        Of the folder `only` one file is looked at, where it is given. With `force` files that were
        changed since are changed, too, and those of forgotten notes go. Records at the places of
        `without` keep the text that their files have. With `makes_front` notes without front matter
        get some where titles, types, tags or votes differ.
        """
        self._library.require_trust()
        folder = open_folder(path)
        opener = FolderFiles(folder, ReadContext(now=self._context.now(), file=folder.name))
        known = {state.id: state for state in self._library.files.all()}
        memories = self._library.memories.all()
        records = {alias: memory for memory in memories for alias in memory.aliases}
        records |= {memory.id: memory for memory in memories}
        made = _Plan(self._context, records, force, without, makes_front)
        last: list[tuple[FolderFile, FileState]] = []
        for entry in folder.documents:
            state = known.get(name_of(entry.file))
            if state is None or (only is not None and entry.file != only):
                continue
            made.known += 1
            try:
                file = opener.open(entry)
                if file.topics is not None:
                    last.append((file, state))
                else:
                    made.add(file, state)
            except UnreadableFile as error:
                made.left.append(LeftAlone(entry.path, "unreadable", error.message))
        for file, state in last:
            made.add(file, state)
        return made.whole(folder.root)

    def write(self, plan: FolderPlan) -> FolderPlan:
        """Write what a plan shows, as one change that undo takes back; files that changed since
        stay and are told.

        Raises `WorkbenchError` when what a file holds cannot be kept, or a file or the store cannot
        be written: all is as it was then.
        """
        self._library.require_trust()
        with self._library.exclusive():
            done, left, copies = list[FileEdit](), list(plan.left), list[tuple[str, Path]]()
            for edit in plan.edits:
                place = _place(plan.root, edit)
                if isinstance(place, LeftAlone):
                    left.append(place)
                    continue
                if self._goes(edit):
                    copies.append((edit.name, self._replaced.keep(edit.path, edit.before or b"")))
                done.append(replace(edit, path=place))
            if done:
                self._carry_out(plan, done)
        return replace(plan, edits=tuple(done), left=tuple(left), copies=tuple(copies))

    def _goes(self, edit: FileEdit) -> bool:
        """Tell whether what a file holds was not the store's to replace."""
        state = self._library.files.find(name_of(edit.path))
        return edit.after is None or state is None or state.sha256 != hash_of(edit.before or b"")

    def _carry_out(self, plan: FolderPlan, done: list[FileEdit]) -> None:
        states, label = FileStates(self._library), f"write {name_of(Path(plan.root.name))}"
        with (
            guarded(self._context) as follow,
            self._library.transaction(self._context.actor, label) as tx,
        ):
            stage(self._context, tx, done)
            for edit in done:
                if edit.after is not None:
                    states.agree(tx, edit.path, edit.format, hash_of(edit.after), "read")
            for memory in filter(None, map(self._noted, plan.noted)):
                tx.put(memory)
            follow()

    def _noted(self, planned: Memory) -> Memory | None:
        """Return a record as it is by now, with the names that were planned for it; `None` for one
        that is gone.

        A person looks at a plan for as long as they like, and whatever else was changed meanwhile
        stays.
        """
        now = self._library.memories.find(planned.id)
        if now is None:
            return None
        hook = {"hook": planned.metadata["hook"]} if "hook" in planned.metadata else {}
        aliases = tuple(dict.fromkeys((*now.aliases, *planned.aliases)))
        return replace(now, aliases=aliases, metadata={**now.metadata, **hook})


def _place(root: Path, edit: FileEdit) -> Path | LeftAlone:
    """Return where a file is to be written, or why it is not: it is another one by now, or cannot
    be replaced.
    """
    try:
        place = edit.path.resolve()
        with os.fdopen(open_handle(edit.path, os.O_RDONLY), "rb") as file:
            is_seen = file.read() == edit.before and place.is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError):
        is_seen = False
    if not is_seen:
        return LeftAlone(edit.name, "changed")
    if not (os.access(place, os.W_OK) and os.access(place.parent, os.W_OK)):
        return LeftAlone(edit.name, "unreadable", "it may not be written")
    return place


class _Plan:
    """What is found out about one file after the other."""

    def __init__(
        self,
        context: Context,
        records: Mapping[str, Memory],
        force: bool,
        without: frozenset[tuple[str, str]],
        makes_front: bool,
    ) -> None:
        self._context = context
        self._makes_front = makes_front
        self._records = records
        self._force = force
        self._without = without
        self.known = 0
        self.edits, self.left = list[FileEdit](), list[LeftAlone]()
        self._unplaced, self._noted = Counter[str](), dict[str, Memory]()
        self._parsed, self._masked = dict[tuple[str, str], list[Memory]](), set[tuple[str, str]]()
        self._topics = dict[str, Memory | None]()

    def whole(self, root: Path) -> FolderPlan:
        parsed = Parsed(notes.NAME, tuple(chain.from_iterable(self._parsed.values())))
        return FolderPlan(
            root, self.known, tuple(self.edits), tuple(self.left), dict(self._unplaced), parsed,
            tuple(self._noted.values()),
            len(self._masked),
        )  # fmt: skip

    def add(self, file: FolderFile, state: FileState) -> None:
        """Find out what of a file changes. Raises `UnreadableFile`."""
        held = file.read().memories
        stored = self._stored(file, held)
        is_gone = file.is_whole and bool(held) and all(memory.id in stored.gone for memory in held)
        if file.is_whole and held:
            self._topics[file.entry.path] = (
                None if is_gone and self._force else self._records.get(held[0].id)
            )
        if is_gone:
            self._forget(file)
            return
        if not stored:
            return
        try:
            after = file.woven(stored)
            now = file if after == file.data else file.again(after)
            read = held if now is file else now.read().memories
            _require_read_back(held, stored, read)
        except Unplaced as error:
            self.left.append(LeftAlone(file.entry.path, "unplaced", str(error)))
            return
        self._count(file, held, stored, read)
        if now is file:
            return
        if state.sha256 != file.sha256 and not self._force:
            self.left.append(LeftAlone(file.entry.path, "changed"))
            return
        self._take(file, now, held, read, stored)

    def _stored(self, file: FolderFile, held: tuple[Memory, ...]) -> Stored:
        """Return what the store says of the records of a file, secrets masked that the file does
        not hold.
        """
        gone, found = set[str](), dict[str, Memory]()
        for memory in held:
            now = self._records.get(memory.id)
            if now is None or (record_place(now) in self._without):
                continue
            if now.status == "archived" and ARCHIVED_FROM in now.metadata:
                gone.add(memory.id)
            elif differing(memory, now):
                found[memory.id] = now
        return Stored(
            self._shown(file, found), frozenset(gone), self._linked(file), self._makes_front
        )

    def _linked(self, file: FolderFile) -> dict[str, Memory | None]:
        """Return the records of the files that an index names where its line says otherwise, by how
        it names them.
        """
        named = {
            link.target: self._topics[path]
            for path, link in (file.topics or {}).items()
            if path in self._topics
        }
        there = {
            t: m for t, m in named.items() if m is not None and record_place(m) not in self._without
        }
        changed = file.retitled(there)
        shown = self._shown(
            file, {target: memory for target, memory in there.items() if target in changed}
        )
        places = file.retitled(shown)
        self._unplaced.update("title" for has_place in places.values() if not has_place)
        gone = {target: None for target, memory in named.items() if memory is None}
        return gone | {target: memory for target, memory in shown.items() if places.get(target)}

    def _shown(self, file: FolderFile, found: dict[str, Memory]) -> dict[str, Memory]:
        """Return records with the secrets masked that a file does not hold."""
        if not found:
            return found
        shown, _ = masked_parsed(
            self._context, Parsed(notes.NAME, tuple(found.values())), file.text
        )
        masked = dict(zip(found, shown.memories, strict=True))
        self._masked.update(
            record_place(found[id]) for id, memory in masked.items() if memory != found[id]
        )
        return masked

    def _forget(self, file: FolderFile) -> None:
        if self._force:
            self._edit(file, None, "", 1)
        else:
            self.left.append(LeftAlone(file.entry.path, "forgotten"))

    def _count(
        self, file: FolderFile, held: tuple[Memory, ...], stored: Stored, read: tuple[Memory, ...]
    ) -> None:
        """Count what of the changed records the file has no place for."""
        by_id, by_text = {m.id: m for m in read}, {_said(m): m for m in read}
        for memory in held:
            now = stored.memories.get(memory.id)
            there = None if now is None else by_id.get(memory.id) or by_text.get(_said(now))
            if now is not None and there is not None:
                elsewhere = {"text"} if file.is_titled else {"text", "title"}
                self._unplaced.update(
                    what for what in differing(there, now) if what not in elsewhere
                )

    def _take(
        self,
        file: FolderFile,
        now: FolderFile,
        held: tuple[Memory, ...],
        read: tuple[Memory, ...],
        stored: Stored,
    ) -> None:
        """Note that a file becomes what it says `now`, `read` instead of `held`."""
        # A topic that changes itself was counted there.
        lines = [memory for memory in stored.linked.values() if memory is not None]
        count = (
            len(stored.memories)
            + len(stored.gone)
            + sum(record_place(m) not in self._parsed for m in lines)
        )
        self._edit(file, now.data, now.text, count)
        for memory in lines:
            self._goes_out(memory)
            self._note(memory, hook=flat(memory.summary))
        by_text = {_said(m): m.id for m in read}
        for memory in held:
            changed = stored.memories.get(memory.id)
            if changed is None:
                continue
            self._goes_out(changed)
            name = by_text.get(_said(changed), memory.id)
            known = self._records.get(memory.id)
            if known is not None and name not in self._records:
                self._note(known, alias=name)

    def _edit(self, file: FolderFile, after: bytes | None, text: str, records: int) -> None:
        self.edits.append(FileEdit(
            file.entry.file, file.entry.path, file.data, after, format=file.kind.name, records=records,
            texts=(file.text, text),
        ))  # fmt: skip

    def _note(self, memory: Memory, *, alias: str = "", hook: str = "") -> None:
        """Let the store know by what else a record is known, or what the line of an index says of
        it from now on.
        """
        stored = self._noted.get(memory.id) or self._records.get(memory.id)
        if stored is not None:
            aliases = (*stored.aliases, alias) if alias else stored.aliases
            metadata = {**stored.metadata, "hook": hook} if hook else stored.metadata
            self._noted[stored.id] = replace(stored, aliases=aliases, metadata=metadata)

    def _goes_out(self, memory: Memory) -> None:
        same = self._parsed.setdefault(record_place(memory), [])
        if memory not in same:
            same.append(memory)


def _require_read_back(held: tuple[Memory, ...], stored: Stored, read: tuple[Memory, ...]) -> None:
    """Raise `Unplaced` unless a new text says just what it should when it is read."""
    wanted = Counter(_said(stored.memories.get(m.id, m)) for m in held if m.id not in stored.gone)
    if Counter(map(_said, read)) != wanted:
        raise Unplaced("it could not be read back")


def _said(memory: Memory) -> str:
    """Return a record's text as a file holds it."""
    return clean_for_store(memory.content.replace("\r\n", "\n")).strip(BLANKS)
