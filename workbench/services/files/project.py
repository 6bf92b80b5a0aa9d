"""Which files a store has to do with: where its playbooks came from, what was promoted, what lies in the project."""

import contextlib
import gzip
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from workbench.config.paths import shipped
from workbench.core.files.atomic import write_file
from workbench.core.record import WorkbenchError
from workbench.retrieval import cache_folder
from workbench.services.promotion.placement_files import places_of
from workbench.store.files import open_lines
from workbench.store.library import Library

# The text that a file and the store have in common: what a file held when it was last read or written here.
#
# It tells one's own changes from those of somebody else. The texts lie among the caches of the store, so that
# erasing a record for good takes them along; without one, both sides' changes cannot be told apart. Which bytes store
# and file have in common stands in the journal (see `filestates`).


LARGEST = 4_000_000
"""Longest text, in characters, that is kept."""

_LARGEST_COPY = 32_000_000
"""Bytes of an unpacked copy at most: a character takes up to six."""

_PATH = re.compile(r'\{"path": ("(?:[^"\\]|\\.)*")')
_PATH_WITHIN = 40_000
"""Bytes of a copy within which its path is found: names are at most 4096 bytes, escaped at most six times that."""


class FileBases:
    """The common texts of one store, by the absolute path of the file; they lie in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def text(self, path: Path) -> str | None:
        """Return the text that the file and the store had in common last; `None` when that is not known."""
        try:
            with open_lines(self._place(path)) as file:
                doc = json.loads(file.read(_LARGEST_COPY))
            text = doc["text"] if doc["path"] == _name(path) else None
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, RecursionError, zlib.error):
            return None  # no copy, or one that is broken: as if the file had never been seen
        return text if isinstance(text, str) else None

    def keep(self, path: Path, text: str) -> None:
        """Note that the file and the store agree on `text`. A copy that cannot be written is done without."""
        place = self._place(path)
        with contextlib.suppress(OSError):
            if len(text) > LARGEST:
                place.unlink(missing_ok=True)
                return
            cache_folder.make(self._folder)
            data = json.dumps({"path": _name(path), "text": text}).encode()
            write_file(place, gzip.compress(data, mtime=0), ".base-", durable=False)

    def paths(self) -> list[Path]:
        """Return every file that the store was read from or written to, as far as is known."""
        try:
            places = sorted(self._folder.glob("*.json.gz"))
        except OSError:
            return []
        return [path for place in places if (path := _path_in(place)) is not None]

    def keep_file(self, path: Path, digest: str) -> None:
        """Note that the store agrees with a file that was read, unless its bytes no longer have that SHA-256."""
        with contextlib.suppress(OSError):
            if path.stat().st_size > 4 * LARGEST:  # whatever its characters are, these are too many
                self._place(path).unlink(missing_ok=True)
                return
            data = path.read_bytes()
            if sha256(data).hexdigest() == digest:
                self.keep(path, data.decode("utf-8", "surrogateescape"))

    def _place(self, path: Path) -> Path:
        return self._folder / f"{sha256(_name(path).encode(errors='surrogateescape')).hexdigest()[:24]}.json.gz"


def _path_in(place: Path) -> Path | None:
    """Return the path that a copy begins with; the text after it is not unpacked."""
    try:
        with open_lines(place) as file:
            head = file.read(_PATH_WITHIN).decode()
        found = _PATH.match(head)
        return Path(json.loads(found[1])) if found else None
    except (OSError, EOFError, ValueError, RecursionError, zlib.error):
        return None


def _name(path: Path) -> str:
    return os.path.realpath(path)


PATTERNS = (
    "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "MEMORY.md", "LEARNINGS.md", "ERRORS.md", "playbook*.txt",
    "playbook*.yaml", ".claude/CLAUDE.md", ".claude/memory/*.md", "memory/MEMORY.md", ".learnings/*.md",
    "playbooks/*.txt",
)  # fmt: skip
"""Files of a project that are looked for, relative to the folder that holds the store's `.workbench`."""

MOST = 200
"""Files that one pattern gives at most."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file, and why it is one of the store's: in a few words. `expected` tells that it should be there."""

    path: Path
    why: str
    expected: bool = False


def known_files(library: Library, added: Iterable[Path] = ()) -> tuple[KnownFile, ...]:
    """Return the files a store has to do with, each once, by its first reason, in the order of their paths.

    `added` are files that a person named. The files that ship with the app are left out.
    """
    found: dict[Path, KnownFile] = {}
    for known in (*_added(added), *_sources(library), *_placed(library), *_in_project(library), *_read(library)):
        real = _real(known.path)
        if real is not None and real not in found and not _is_shipped(real) and (known.expected or _is_file(real)):
            found[real] = KnownFile(real, known.why, known.expected)
    return tuple(sorted(found.values(), key=lambda known: str(known.path)))


def project_of(library: Library) -> Path | None:
    """Return the folder that a store belongs to, if it belongs to one."""
    return places_of(library.folder).project


def _added(added: Iterable[Path]) -> Iterator[KnownFile]:
    return (KnownFile(path, "added here", True) for path in added)


def _sources(library: Library) -> Iterator[KnownFile]:
    for book in library.books.all():
        if book.source and Path(book.source).is_absolute():
            yield KnownFile(Path(book.source), f"the playbook {book.id} came from it", True)


def _placed(library: Library) -> Iterator[KnownFile]:
    places = places_of(library.folder)
    for placement in library.placements.all():
        if placement.kind != "bullet":
            path = Path(placement.path)
            if path.is_absolute() or places.project is not None:
                yield KnownFile((places.project or path) / path, "memories were promoted to it", True)


def _in_project(library: Library) -> Iterator[KnownFile]:
    project = project_of(library)
    if project is None:
        return
    for pattern in PATTERNS:
        try:
            paths = sorted(path for path in project.glob(pattern))[:MOST]
        except OSError:  # a folder that may not be looked into
            continue
        yield from (KnownFile(path, "in the project") for path in paths)


def _read(library: Library) -> Iterator[KnownFile]:
    noted = (Path(state.id) for state in library.files.all())
    kept = FileBases(library.surroundings.common_texts).paths()
    return (KnownFile(path, "imported or exported before") for path in (*noted, *kept))


def _real(path: Path) -> Path | None:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _is_shipped(path: Path) -> bool:
    try:
        return path.is_relative_to(shipped("fixtures/demo").resolve())
    except WorkbenchError:
        return False  # an installation without them has nothing to leave out
