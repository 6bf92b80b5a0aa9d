"""Folders of notes: every file read by what it is, links among them resolved, unchanged ones passed over."""

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath

from workbench.core.errors import UnreadableFile
from workbench.core.files.format import Issue, Parsed, ReadContext
from workbench.core.files.handles import open_handle
from workbench.core.stream.memory import Memory
from workbench.formats.notes import note
from workbench.services.agents.documents.reading import LARGEST, Entry, Skipped, Why, open_folder
from workbench.services.files.folder_files import FolderFile, FolderFiles
from workbench.services.safety.texts import name_of
from workbench.store.library import Library

_WHY: dict[Why, str] = {
    "link": "links", "special": "no ordinary files", "large": "larger than 4 MB", "unreadable": "not to be read",
    "deep": "too deep in the folder", "many": "beyond the first 10,000 files", "hidden": "hidden",
    "session": "no part of the session",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file of a folder that was read: where it is, as what, the SHA-256 of its bytes, and the ids in it."""

    path: Path
    format: str
    digest: str
    ids: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FolderRead:
    """What a folder holds: its records together, the files that were read, how many are as they were, and what else."""

    parsed: Parsed
    files: tuple[ReadFile, ...]
    unchanged: int = 0
    passed: tuple[Skipped, ...] = ()


def passed_over(passed: Iterable[Skipped]) -> dict[str, tuple[str, ...]]:
    """Return the names of what is not read of a folder by the reason, files that are no notes by their suffix."""
    found: dict[str, list[str]] = {}
    for one in passed:
        why = _WHY.get(one.why) or f"{PurePosixPath(one.path).suffix.lower() or 'other'} files"
        found.setdefault(why, []).append(one.path)
    return {why: tuple(names) for why, names in found.items()}


def read_folder(
    path: Path,
    context: ReadContext,
    library: Library,
    *,
    again: bool = False,
    only: Collection[Path] = (),
) -> FolderRead:
    """Read the notes of a folder, or `only` some of them; those that are as they were read last only with `again`.

    Raises `UnreadableFile`.
    """
    folder = open_folder(path, only)
    documents = tuple(e for e in folder.documents if note.is_note(e.file) and (not only or e.file in only))
    opener = FolderFiles(folder, context)
    made = _Read()
    known = {state.id: state.sha256 for state in library.files.all()}
    for done, entry in enumerate(documents, 1):
        context.watch(done, len(documents))
        # The folder is named as it really is and no link in it is followed, so a file's path is its real name.
        before = None if again else known.get(name_of(entry.file))
        if before is not None and before == _digest(entry):
            made.same += 1
            continue
        try:
            file = opener.open(entry)
            made.take(file, file.read())
        except UnreadableFile as error:
            made.issues.append(Issue(entry.path, 1, error.message, 1))
    memories = tuple(_linked(made.found, library.memories.all())) if made.found else ()
    parsed = Parsed(note.NAME, memories, issues=tuple(made.issues), records_in=made.whole)
    xml = tuple(Skipped(e.path, "kind") for e in folder.documents if not note.is_note(e.file))
    passed = () if only else (*folder.skipped, *folder.passed, *xml)
    return FolderRead(parsed, tuple(made.files), made.same, passed)


class _Read:
    """What was read of a folder so far."""

    def __init__(self) -> None:
        self.issues = list[Issue]()
        self.found = dict[str, Memory]()
        self.files = list[ReadFile]()
        self.same = self.whole = 0

    def take(self, file: FolderFile, parsed: Parsed) -> None:
        """Take in what a file holds; what is no memory is only told."""
        self.issues += [replace(issue, file=file.entry.path) for issue in parsed.issues]
        self.whole += parsed.records_in
        if others := parsed.records_read - len(parsed.memories):
            self.issues.append(Issue(file.entry.path, 1, f"{file.kind.title}: import that file itself", others))
            return
        ids = frozenset(memory.id for memory in parsed.memories)
        self.files.append(ReadFile(file.entry.file, parsed.format, file.sha256, ids))
        for memory in parsed.memories:
            self.found.setdefault(memory.id, memory)


def _digest(entry: Entry) -> str:
    """Return the SHA-256 of a file as it is now, empty when it cannot be read."""
    try:
        with os.fdopen(open_handle(entry.file, os.O_RDONLY), "rb") as file:
            return sha256(file.read(LARGEST + 1)).hexdigest()
    except (OSError, ValueError):
        return ""


def _linked(found: dict[str, Memory], held: Iterable[Memory]) -> Iterator[Memory]:
    """Yield the memories with what they link to as related ones, by path, name, title or permalink."""
    wanted = {memory.id: list(dict.fromkeys(note.links_in(memory.content))) for memory in found.values()}
    names: dict[str, str] = {}
    for memory in (*found.values(), *held) if any(wanted.values()) else ():
        for name in _names(memory):
            names.setdefault(name, memory.id)
    for memory in found.values():
        targets = (_target(link, memory.source.file or "", names) for link in wanted[memory.id])
        ids = [id for id in targets if id is not None and id != memory.id]
        yield replace(memory, related=tuple(dict.fromkeys((*memory.related, *ids)))) if ids else memory


def _names(memory: Memory) -> Iterator[str]:
    file = PurePosixPath(memory.source.file or "")
    said = (str(file), str(file.with_suffix("")) if file.name else "", file.stem, memory.summary)
    yield from (name.casefold() for name in said if name and name != ".")
    permalink = memory.metadata.get("permalink")
    if isinstance(permalink, str):
        yield permalink.strip("\"'").casefold()


def _target(link: str, file: str, names: dict[str, str]) -> str | None:
    beside = str(PurePosixPath(file).parent / link).casefold()
    tried = (beside, link.casefold(), link.casefold().removeprefix("./"), PurePosixPath(link).stem.casefold())
    return next((names[name] for name in tried if name in names), None)
