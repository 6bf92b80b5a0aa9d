"""The instruction files of a project: documents that agents load whole, so they are not looked
through.
"""

import json
import os
import shutil
import stat
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Literal, NamedTuple

from workbench.core.agents.document import (
    DETAIL,
    MESSAGES,
    OVERVIEW,
    WORKING,
    Document,
    DocumentScope,
)
from workbench.core.files.atomic import write_file
from workbench.core.files.fresh import open_handle
from workbench.core.record import StoreProblem, UnreadableFile
from workbench.core.runtime import Cancelled
from workbench.safety.scanning import mask
from workbench.services.files.threeway import DiffLine, diff_texts

# Opening folders of documents: by file, never through a link, never more than a person could mean.
#
# A folder is an external memory session (source 002, section 3) when it looks like one, and else a
# folder of notes.


LARGEST_READ, DEEPEST, LARGEST = 10_000, 8, 4 << 20
"""Documents of one folder, folders within it, and bytes of one document that are opened at the
most.
"""

SUFFIXES = (".md", ".markdown", ".mdx", ".mdc", ".txt", ".xml")
"""How the names of documents end."""

NOTHING = "Nothing was read."

_Ways = frozenset[Path] | None
"""The folders that are looked into; `None` for all."""

Why = Literal["link", "special", "large", "unreadable", "deep", "many", "hidden", "kind", "session"]
"""Why something is not opened: it is a link, a pipe or a device, too large, closed to us, too deep,
one too many; it is hidden, no document, or no part of the session that the folder is.
"""


class Entry(NamedTuple):
    """One file of a folder of documents: its path as it is cited, where it is, and how large and
    how old it is.
    """

    path: str
    file: Path
    scope: DocumentScope
    size: int
    changed_at: datetime


class Skipped(NamedTuple):
    """Something in a folder that is not opened, and why."""

    path: str
    why: Why


class DocumentFolder(NamedTuple):
    """A folder of documents as it is on disk: its files in order, and what was not opened.

    `kind` tells an external memory from notes; `has_detail` whether the folder for details is
    there. `passed` is what is no document of it.
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
    """Look at a folder; a working directory of a session opens the session. Raises
    `UnreadableFile`.

    Where `only` some of its files are wanted (by their real paths), no folder is looked into but
    those on the way to them.
    """
    try:
        root = path.resolve(strict=True)
        if not root.is_dir():
            raise UnreadableFile(f"{path} is a file, not a folder.", f"{NOTHING} Give its folder.")
    except (OSError, ValueError, RuntimeError) as error:
        raise _cannot(path, error) from error
    if root.name == WORKING and _is_file(root.parent / MESSAGES):
        root = root.parent
    memory = (
        root / WORKING if (root / WORKING).is_dir() and not (root / WORKING).is_symlink() else root
    )
    ways = frozenset(parent for file in only for parent in file.parents) if only else None
    try:
        is_session = (
            memory != root
            or _is_file(root / MESSAGES)
            or (_is_file(memory / OVERVIEW) and not _is_bank(root))
        )
        return _session(root, memory, ways) if is_session else _notes(root, ways)
    except OSError as error:
        raise _cannot(path, error) from error


def _is_bank(root: Path) -> bool:
    """Tell whether an overview lies among other notes, without a folder for details: a memory bank,
    no session.
    """
    with os.scandir(root) as found:
        names = {one.name for one in found}
    others = (
        name
        for name in names
        if name != OVERVIEW and name[0] != "." and name.lower().endswith(SUFFIXES)
    )
    return DETAIL not in names and any(others)


def read_document(entry: Entry) -> OpenDocument:
    """Read a document. Raises `UnreadableFile` when it vanished, is no text or cannot be opened."""
    try:
        data = _bytes(entry.file)
        changed = datetime.fromtimestamp(entry.file.stat().st_mtime, UTC)
    except (OSError, ValueError) as error:
        raise _cannot(entry.file, error) from error
    if len(data) > LARGEST:
        raise UnreadableFile(f"{entry.file} is larger than {LARGEST >> 20} MB.", NOTHING)
    text, encoding = decoded(data)
    return OpenDocument(
        entry, Document(entry.path, text, changed, changed, str(entry.file)), data, encoding
    )


def decoded(data: bytes) -> tuple[str, str]:
    """Return the text of a file and how it is written: UTF-8, or else the letters of Windows, byte
    for byte.
    """
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
    _add(memory / OVERVIEW, OVERVIEW, "overview", entries, skipped)
    _add(root / MESSAGES, MESSAGES, "messages", entries, skipped)
    detail = memory / DETAIL
    has_detail = os.path.lexists(detail)
    if has_detail:
        if detail.is_symlink():
            skipped.append(Skipped(DETAIL, "link"))
        else:
            _walk(detail, f"{DETAIL}/", entries, skipped, passed, ways)
    for folder in {memory, root}:
        names = (
            one.name
            for one in folder.iterdir()
            if one.name not in (OVERVIEW, MESSAGES, DETAIL, WORKING)
        )
        passed += [
            Skipped(name, "hidden" if name[0] == "." else "session") for name in sorted(names)
        ]
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
            if len(entries) < LARGEST_READ:
                _add(folder / one.name, path, "detail", entries, skipped)
            else:
                skipped.append(Skipped(path, "many"))
        else:
            passed.append(Skipped(path, "kind"))


def _add(
    file: Path, path: str, scope: DocumentScope, entries: list[Entry], skipped: list[Skipped]
) -> None:
    try:
        found = file.lstat()
    except FileNotFoundError:
        return
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
        entries.append(
            Entry(path, file, scope, found.st_size, datetime.fromtimestamp(found.st_mtime, UTC))
        )


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


NAMES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules",
         ".github/copilot-instructions.md")  # fmt: skip
PATTERNS = (".github/instructions/*.instructions.md", ".cursor/rules/*.mdc", ".windsurf/rules/*.md",
            ".clinerules/*.md", ".claude/skills/*/SKILL.md")  # fmt: skip
MOST = 200
"""Files of one project that are looked at."""


def is_loaded(path: Path) -> bool:
    """Tell whether agents load a file whole, by its name and folder."""
    return any(path.match(pattern) for pattern in (*NAMES, *PATTERNS))


def instruction_files(project: Path) -> DocumentFolder:
    """Return the instruction files of a project; one that is a link to another is that one."""
    found = [project / name for name in NAMES]
    for pattern in PATTERNS:
        try:
            found += sorted(project.glob(pattern))[:MOST]
        except OSError:
            continue
    entries = [entry for path in found[:MOST] if (entry := _entry(project, path)) is not None]
    return DocumentFolder(project, "notes", tuple(entries))


def _entry(project: Path, path: Path) -> Entry | None:
    try:
        state = path.lstat()
    except OSError:
        return None
    if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST:
        return None
    changed = datetime.fromtimestamp(state.st_mtime, UTC)
    return Entry(path.relative_to(project).as_posix(), path, "overview", state.st_size, changed)


# Which documents on disk a person has looked at, by the hash of their bytes: nothing else is served
# to agents.
#
# The memory of it lies outside every store, beside what this machine remembers of stores, with a
# masked copy of each text, so that a change is shown as a difference. Raw messages that look as
# they did are not read again; they only grow, so the part that was looked at stays trusted while it
# is the same, byte for byte.


_NAME = "seen.json"
_BLOCK = 1 << 20


class Mark(NamedTuple):
    """What tells a file as it was looked at: the hash of its first `size` bytes, and how it looked
    then.
    """

    sha256: str
    size: int
    look: str = ""


class Changes(NamedTuple):
    """What is not as a person saw it in a folder: the paths of documents that are new, changed or
    gone.

    `messages` is how many bytes of raw messages nobody looked at. `marks` are those that accepting
    it would keep.
    """

    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    messages: int
    marks: Mapping[str, Mark]

    @property
    def are_none(self) -> bool:
        """Whether everything is as it was seen."""
        return not (self.new or self.changed or self.gone or self.messages)


class Seen:
    """What a person has looked at in one folder of documents; without a place to remember it,
    everything.
    """

    def __init__(self, memory: Path | None, root: Path) -> None:
        self._place = None if memory is None else memory / _named(root)
        self._root = root
        self._marks = {} if self._place is None else _marks(self._place / _NAME)

    @property
    def known(self) -> bool:
        """Whether a person has looked at anything in it."""
        return self._place is None or bool(self._marks)

    def trusts(self, opened: OpenDocument) -> bool:
        """Tell whether a document is as a person saw it."""
        if self._place is None:
            return True
        mark = self._marks.get(opened.entry.path)
        return mark is not None and mark.sha256 == opened.sha256

    def trusted_bytes(self, entry: Entry) -> int:
        """Return how many of the first bytes of the raw messages are as a person saw them."""
        mark = self._marks.get(entry.path)
        if self._place is None:
            return entry.size
        if mark is None or entry.size < mark.size:
            return 0
        if mark.look == look_of(entry.file) or hash_of(entry.file, mark.size) == mark.sha256:
            return mark.size
        return 0

    def is_unchanged(self, entry: Entry) -> bool:
        """Tell whether a file looks just as it did when a person saw it; it is not read for that."""
        mark = self._marks.get(entry.path)
        return self._place is None or (mark is not None and mark.look == look_of(entry.file))

    def changes(self, folder: DocumentFolder, opened: Iterable[OpenDocument]) -> Changes:
        """Return what is not as it was seen."""
        now = {
            one.entry.path: Mark(one.sha256, len(one.data), look_of(one.entry.file))
            for one in opened
        }
        documents = {
            path: mark for path, mark in self._marks.items() if path != _path(folder.messages)
        }
        new = tuple(path for path in now if path not in documents)
        changed = tuple(
            path for path in now if path in documents and documents[path].sha256 != now[path].sha256
        )
        gone = tuple(path for path in documents if path not in now)
        unseen = 0
        if (entry := folder.messages) is not None:
            unseen = entry.size - self.trusted_bytes(entry)
            now[entry.path] = (
                self._marks[entry.path]
                if not unseen and entry.path in self._marks
                else _whole(entry)
            )
        return (
            Changes(new, changed, gone, unseen, now)
            if self._place is not None
            else Changes((), (), (), 0, {})
        )

    def difference(self, opened: OpenDocument) -> tuple[DiffLine, ...]:
        """Return what leads from a document as it was seen to what it is, masked; all of it for one
        nobody saw.
        """
        return diff_texts(self.text(opened.entry.path), mask(opened.document.content))

    def text(self, path: str) -> str:
        """Return a document as it was seen, masked; empty for one that nobody saw."""
        known = self._marks.get(path)
        if known is None or self._place is None:
            return ""
        try:
            return decoded((self._place / known.sha256).read_bytes())[0]  # kept as UTF-8
        except OSError:
            return ""

    def keep(self, marks: Mapping[str, Mark], texts: Mapping[str, str]) -> None:
        """Remember files as they were shown, in place of what was known; raises `StoreProblem`."""
        if self._place is None:
            return
        try:
            self._place.mkdir(mode=0o700, parents=True, exist_ok=True)
            for path, text in texts.items():
                copy = self._place / marks[path].sha256
                if not copy.exists():
                    write_file(copy, mask(text).encode("utf-8", "replace"), durable=False)
            rows = {path: [mark.sha256, mark.size, mark.look] for path, mark in marks.items()}
            data = json.dumps({"folder": str(self._root), "files": rows}).encode()
            write_file(self._place / _NAME, data, durable=False)
            wanted = {_NAME, *(mark.sha256 for mark in marks.values())}
            for copy in [one for one in self._place.iterdir() if one.name not in wanted]:
                copy.unlink(missing_ok=True)
        except OSError as error:
            message = f"The review cannot be recorded in {self._place}: {error.strerror}."
            raise StoreProblem(message, "Nothing new is trusted.") from error
        self._marks = dict(marks)

    def moved_on(self, path: str, before: bytes, after: bytes) -> None:
        """Trust what a person wrote here in place of what was trusted; of what was not, nothing is."""
        mark = self._marks.get(path)
        if (
            self._place is not None
            and mark is not None
            and mark.sha256 == sha256(before).hexdigest()
        ):
            new = Mark(sha256(after).hexdigest(), len(after))
            self.keep({**self._marks, path: new}, {path: decoded(after)[0]})

    def forget(self) -> None:
        """Remember nothing of it any more."""
        if self._place is not None:
            shutil.rmtree(self._place, ignore_errors=True)
        self._marks = {}


def look_of(file: Path) -> str:
    """Return how a file looks without reading it; no two writes leave it alike. Empty where it
    cannot be seen.
    """
    try:
        found = file.lstat()
    except OSError:
        return ""
    return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}:{found.st_ino}"


def hash_of(file: Path, size: int, cancelled: Cancelled = lambda: False) -> str:
    """Return the hash of the first bytes of a file; empty when it cannot be read."""
    digest, left = sha256(), size
    try:
        with os.fdopen(open_handle(file, os.O_RDONLY), "rb", buffering=0) as handle:
            while left and not cancelled() and (block := handle.read(min(_BLOCK, left))):
                digest.update(block)
                left -= len(block)
    except OSError:
        return ""
    return digest.hexdigest() if not left else ""


def _whole(entry: Entry) -> Mark:
    look = look_of(
        entry.file
    )  # taken first: what is written while it is read makes it look otherwise
    return Mark(hash_of(entry.file, entry.size), entry.size, look)


def _path(entry: Entry | None) -> str:
    return "" if entry is None else entry.path


def _named(root: Path) -> str:
    return blake2b(os.fsencode(root), digest_size=16).hexdigest()


def _marks(place: Path) -> dict[str, Mark]:
    """Return what a file remembers; one that is missing or broken remembers nothing."""
    try:
        rows = json.loads(place.read_bytes())["files"]
        return {
            str(path): Mark(str(row[0]), int(row[1]), str(row[2])) for path, row in rows.items()
        }
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return {}
