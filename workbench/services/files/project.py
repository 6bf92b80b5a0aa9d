"""Which files a store has to do with: where its playbooks came from, what was promoted, what lies in the project."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.config.paths import shipped
from workbench.core.errors import WorkbenchError
from workbench.services.files.base import FileBases
from workbench.services.promotion.placement_paths import places_of
from workbench.store.library import Library

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
