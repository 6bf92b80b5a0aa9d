"""Which documents on disk a person has looked at, by the hash of their bytes: nothing else is served to agents.

The memory of it lies outside every store, beside what this machine remembers of stores, with a masked copy of each
text, so that a change is shown as a difference. Raw messages that look as they did are not read again; they only grow,
so the part that was looked at stays trusted while it is the same, byte for byte.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b, sha256
from pathlib import Path

from workbench.core.errors import StoreProblem
from workbench.core.files.atomic import write_file
from workbench.core.files.handles import open_handle
from workbench.safety.scanning import mask
from workbench.services.agents.documents.reading import DocumentFolder, Entry, OpenDocument, decoded
from workbench.services.files.diff import DiffLine, diff_texts

_NAME = "seen.json"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Mark:
    """What tells a file as it was looked at: the hash of its first `size` bytes, and how it looked then."""

    sha256: str
    size: int
    look: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """What is not as a person saw it in a folder: the paths of documents that are new, changed or gone.

    `messages` is how many bytes of raw messages nobody looked at. `marks` are those that accepting it would keep.
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
    """What a person has looked at in one folder of documents; without a place to remember it, everything."""

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
        now = {one.entry.path: Mark(one.sha256, len(one.data), look_of(one.entry.file)) for one in opened}
        documents = {path: mark for path, mark in self._marks.items() if path != _path(folder.messages)}
        new = tuple(path for path in now if path not in documents)
        changed = tuple(path for path in now if path in documents and documents[path].sha256 != now[path].sha256)
        gone = tuple(path for path in documents if path not in now)
        unseen = 0
        if (entry := folder.messages) is not None:
            unseen = entry.size - self.trusted_bytes(entry)
            now[entry.path] = self._marks[entry.path] if not unseen and entry.path in self._marks else _whole(entry)
        return Changes(new, changed, gone, unseen, now) if self._place is not None else Changes((), (), (), 0, {})

    def difference(self, opened: OpenDocument) -> tuple[DiffLine, ...]:
        """Return what leads from a document as it was seen to what it is, masked; all of it for one nobody saw."""
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
            message = f"What was looked at cannot be remembered in {self._place}: {error.strerror}."
            raise StoreProblem(message, "Nothing is trusted that was not before.") from error
        self._marks = dict(marks)

    def moved_on(self, path: str, before: bytes, after: bytes) -> None:
        """Trust what a person wrote here in place of what was trusted; of what was not, nothing is."""
        mark = self._marks.get(path)
        if self._place is not None and mark is not None and mark.sha256 == sha256(before).hexdigest():
            new = Mark(sha256(after).hexdigest(), len(after))
            self.keep({**self._marks, path: new}, {path: decoded(after)[0]})

    def forget(self) -> None:
        """Remember nothing of it any more."""
        if self._place is not None:
            shutil.rmtree(self._place, ignore_errors=True)
        self._marks = {}


def look_of(file: Path) -> str:
    """Return how a file looks without reading it; no two writes leave it alike. Empty where it cannot be seen."""
    try:
        found = file.lstat()
    except OSError:
        return ""
    return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}:{found.st_ino}"


def hash_of(file: Path, size: int, cancelled: Callable[[], bool] = lambda: False) -> str:
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
    look = look_of(entry.file)  # taken first: what is written while it is read makes it look otherwise
    return Mark(hash_of(entry.file, entry.size), entry.size, look)


def _path(entry: Entry | None) -> str:
    return "" if entry is None else entry.path


def _named(root: Path) -> str:
    return blake2b(os.fsencode(root), digest_size=16).hexdigest()


def _marks(place: Path) -> dict[str, Mark]:
    """Return what a file remembers; one that is missing or broken remembers nothing."""
    try:
        rows = json.loads(place.read_bytes())["files"]
        return {str(path): Mark(str(row[0]), int(row[1]), str(row[2])) for path, row in rows.items()}
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return {}
