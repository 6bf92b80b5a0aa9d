"""Opening folders of documents: by file, never through a link, never more than a person could mean.

A folder is an external memory session (source 002, section 3) when it looks like one, and else a folder of notes.
"""

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal

from workbench.core.agents.document import DETAIL, MESSAGES, OVERVIEW, WORKING, Document, DocumentScope
from workbench.core.errors import UnreadableFile
from workbench.core.files.handles import open_handle

MOST, DEEPEST, LARGEST = 10_000, 8, 4 << 20
"""Documents of one folder, folders within it, and bytes of one document that are opened at the most."""

SUFFIXES = (".md", ".markdown", ".mdx", ".mdc", ".txt", ".xml")
"""How the names of documents end."""

NOTHING = "Nothing was read."

_Ways = frozenset[Path] | None
"""The folders that are looked into; `None` for all."""

Why = Literal["link", "special", "large", "unreadable", "deep", "many", "hidden", "kind", "session"]
"""Why something is not opened: it is a link, a pipe or a device, too large, closed to us, too deep, one too many; it is
hidden, no document, or no part of the session that the folder is."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a folder of documents: its path as it is cited, where it is, and how large and how old it is."""

    path: str
    file: Path
    scope: DocumentScope
    size: int
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in a folder that is not opened, and why."""

    path: str
    why: Why


@dataclass(frozen=True, slots=True)
class DocumentFolder:
    """A folder of documents as it is on disk: its files in order, and what was not opened.

    `kind` tells an external memory from notes; `has_detail` whether the folder for details is there. `passed` is what
    is no document of it.
    """

    root: Path
    kind: Literal["session", "notes"]
    entries: tuple[Entry, ...]
    skipped: tuple[Skipped, ...] = ()
    has_detail: bool = True
    passed: tuple[Skipped, ...] = ()

    @property
    def name(self) -> str:
        """What it is called: the session, or the folder."""
        return self.root.name

    @property
    def documents(self) -> tuple[Entry, ...]:
        """Its documents, without the raw messages."""
        return tuple(entry for entry in self.entries if entry.scope != "messages")

    @property
    def messages(self) -> Entry | None:
        """The raw messages, if there are some."""
        return next((entry for entry in self.entries if entry.scope == "messages"), None)

    def find(self, path: str) -> Entry | None:
        """Return the file that is cited by a path."""
        return next((entry for entry in self.entries if entry.path == path), None)


@dataclass(frozen=True)
class OpenDocument:
    """A document with the bytes it has on disk and how they are read."""

    entry: Entry
    document: Document
    data: bytes
    encoding: str

    @cached_property
    def sha256(self) -> str:
        """The hash of its bytes."""
        return sha256(self.data).hexdigest()


def open_folder(path: Path, only: Collection[Path] = ()) -> DocumentFolder:
    """Look at a folder; a working directory of a session opens the session. Raises `UnreadableFile`.

    Where `only` some of its files are wanted (by their real paths), no folder is looked into but those on the way to
    them.
    """
    try:
        root = path.resolve(strict=True)
        if not root.is_dir():
            raise UnreadableFile(f"{path} is a file, not a folder.", f"{NOTHING} Name the folder it lies in.")
    except (OSError, ValueError, RuntimeError) as error:
        raise _cannot(path, error) from error
    if root.name == WORKING and _is_file(root.parent / MESSAGES):
        root = root.parent
    memory = root / WORKING if (root / WORKING).is_dir() and not (root / WORKING).is_symlink() else root
    ways = frozenset(parent for file in only for parent in file.parents) if only else None
    try:
        is_session = memory != root or _is_file(root / MESSAGES) or (_is_file(memory / OVERVIEW) and not _is_bank(root))
        return _session(root, memory, ways) if is_session else _notes(root, ways)
    except OSError as error:
        raise _cannot(path, error) from error


def _is_bank(root: Path) -> bool:
    """Tell whether an overview lies among other notes, without a folder for details: a memory bank, no session."""
    with os.scandir(root) as found:
        names = {one.name for one in found}
    others = (name for name in names if name != OVERVIEW and name[0] != "." and name.lower().endswith(SUFFIXES))
    return DETAIL not in names and any(others)


def read(entry: Entry) -> OpenDocument:
    """Read a document. Raises `UnreadableFile` when it vanished, is no text or cannot be opened."""
    try:
        data = _bytes(entry.file)
        changed = datetime.fromtimestamp(entry.file.stat().st_mtime, UTC)
    except (OSError, ValueError) as error:
        raise _cannot(entry.file, error) from error
    if len(data) > LARGEST:
        raise UnreadableFile(f"{entry.file} is larger than {LARGEST >> 20} MB.", NOTHING)
    text, encoding = decoded(data)
    return OpenDocument(entry, Document(entry.path, text, changed, changed, str(entry.file)), data, encoding)


def decoded(data: bytes) -> tuple[str, str]:
    """Return the text of a file and how it is written: UTF-8, or else the letters of Windows, byte for byte."""
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    try:
        return data.decode("cp1252"), "cp1252"
    except UnicodeDecodeError:
        return data.decode("latin-1"), "latin-1"


def _session(root: Path, memory: Path, ways: _Ways) -> DocumentFolder:
    entries, skipped, passed = list[Entry](), list[Skipped](), list[Skipped]()
    for file, path, scope in ((memory / OVERVIEW, OVERVIEW, "overview"), (root / MESSAGES, MESSAGES, "messages")):
        if os.path.lexists(file):
            _add(file, path, "overview" if scope == "overview" else "messages", entries, skipped)
    detail = memory / DETAIL
    has_detail = os.path.lexists(detail)
    if has_detail:
        if detail.is_symlink():
            skipped.append(Skipped(DETAIL, "link"))
        else:
            _walk(detail, f"{DETAIL}/", entries, skipped, passed, ways)
    for folder in {memory, root}:
        names = (one.name for one in folder.iterdir() if one.name not in (OVERVIEW, MESSAGES, DETAIL, WORKING))
        passed += [Skipped(name, "hidden" if name[0] == "." else "session") for name in sorted(names)]
    order = tuple(sorted(entries, key=_order))
    return DocumentFolder(root, "session", order, tuple(skipped), has_detail, tuple(passed))


def _notes(root: Path, ways: _Ways) -> DocumentFolder:
    entries, skipped, passed = list[Entry](), list[Skipped](), list[Skipped]()
    _walk(root, "", entries, skipped, passed, ways)
    order = tuple(sorted(entries, key=_order))
    return DocumentFolder(root, "notes", order, tuple(skipped), passed=tuple(passed))


def _order(entry: Entry) -> tuple[int, str]:
    return ("overview", "detail", "messages").index(entry.scope), entry.path


def _walk(
    folder: Path, prefix: str, entries: list[Entry], skipped: list[Skipped], passed: list[Skipped], ways: _Ways,
    depth: int = 0,
) -> None:  # fmt: skip
    """Take in the documents below a folder, where `ways` lead.

    Raises `UnreadableFile` when the first one cannot be opened.
    """
    try:
        with os.scandir(folder) as found:
            names = sorted(found, key=lambda one: one.name)
    except OSError as error:
        if not depth:
            raise _cannot(folder, error) from error
        skipped.append(Skipped(prefix.rstrip("/"), "unreadable"))
        return
    for one in names:
        path = f"{prefix}{one.name}"
        if one.name.startswith("."):
            passed.append(Skipped(path, "hidden"))
            continue
        if one.is_dir(follow_symlinks=False):
            if ways is not None and folder / one.name not in ways:
                continue
            if depth < DEEPEST:
                _walk(folder / one.name, f"{path}/", entries, skipped, passed, ways, depth + 1)
            else:
                skipped.append(Skipped(path, "deep"))
        elif one.name.lower().endswith(SUFFIXES):
            if len(entries) < MOST:
                _add(folder / one.name, path, "detail", entries, skipped)
            else:
                skipped.append(Skipped(path, "many"))
        else:
            passed.append(Skipped(path, "kind"))


def _add(file: Path, path: str, scope: DocumentScope, entries: list[Entry], skipped: list[Skipped]) -> None:
    try:
        found = file.lstat()
    except OSError:
        skipped.append(Skipped(path, "unreadable"))
        return
    if stat.S_ISLNK(found.st_mode):
        skipped.append(Skipped(path, "link"))
    elif not stat.S_ISREG(found.st_mode):
        skipped.append(Skipped(path, "special"))
    elif found.st_size > LARGEST and scope != "messages":
        skipped.append(Skipped(path, "large"))
    elif not os.access(file, os.R_OK):
        skipped.append(Skipped(path, "unreadable"))
    else:
        entries.append(Entry(path, file, scope, found.st_size, datetime.fromtimestamp(found.st_mtime, UTC)))


def _bytes(file: Path) -> bytes:
    with os.fdopen(open_handle(file, os.O_RDONLY), "rb") as handle:
        return handle.read(LARGEST + 1)


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _cannot(path: Path, error: BaseException) -> UnreadableFile:
    if isinstance(error, UnreadableFile):
        return error
    reason = getattr(error, "strerror", None) or "no such place"
    return UnreadableFile(f"{path} cannot be opened: {reason}.", NOTHING)


def entries_of(folders: tuple[DocumentFolder, ...]) -> Iterator[tuple[DocumentFolder, Entry]]:
    """Yield the files of several folders."""
    for folder in folders:
        for entry in folder.entries:
            yield folder, entry
