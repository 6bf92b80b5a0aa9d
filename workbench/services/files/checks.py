"""Looking over every file that a store has to do with; a file that did not change is not read again."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from workbench.config.paths import shipped
from workbench.core.file_state import FileState
from workbench.core.files.lint import LintFinding
from workbench.core.files.memory_md import Cut, measure
from workbench.core.record import WorkbenchError
from workbench.core.runtime import Cancelled, Progress
from workbench.formats import opening
from workbench.formats.claude_memory import NAME as CLAUDE_MEMORY
from workbench.services.files.lint import Linted, look_over
from workbench.services.files.overwriting import What, what_became
from workbench.services.promotion.placements import places_of
from workbench.services.safety.texts import name_of
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
    project = places_of(library.folder).project
    if project is None:
        return
    for pattern in PATTERNS:
        try:
            paths = sorted(path for path in project.glob(pattern))[:MOST]
        except OSError:  # a folder that may not be looked into
            continue
        yield from (KnownFile(path, "in the project") for path in paths)


def _read(library: Library) -> Iterator[KnownFile]:
    return (KnownFile(Path(state.id), "imported or exported before") for state in library.files.all())


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


Stamp = tuple[int, int]
"""When a file was changed last, in nanoseconds, and its size."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A file with what is wrong with it. Without `linted`, `problem` says why it could not be looked over.

    `cut` says what of a MEMORY.md is loaded; it is `None` for every other file. `became` tells that it is no longer as
    the store knows it, which is `known`.
    """

    file: KnownFile
    linted: Linted | None = None
    problem: str = ""
    cut: Cut | None = None
    stamp: Stamp | None = None
    became: What | None = None
    known: FileState | None = None

    @property
    def findings(self) -> tuple[LintFinding, ...]:
        """What is wrong, in the order of the lines."""
        return self.linted.findings if self.linted else ()


@dataclass(frozen=True, slots=True)
class Checks:
    """All files looked over, by path, and those of them that a person added."""

    files: Mapping[Path, Checked] = field(default_factory=dict)
    added: tuple[Path, ...] = ()


def check_all(
    library: Library,
    now: datetime,
    before: Checks,
    tell: Progress = lambda _done, _total: None,
    cancelled: Cancelled = lambda: False,
) -> Checks:
    """Look over the files of a store, those that changed since `before` only."""
    known = known_files(library, before.added)
    states = {state.id: state for state in library.files.all()}
    out: dict[Path, Checked] = {}
    for number, file in enumerate(known):
        if cancelled():
            break
        tell(number, len(known))
        earlier = before.files.get(file.path)
        found = check(file, now, earlier)
        state = states.pop(name_of(file.path), None)
        became = _became(found, state, earlier)
        is_same = (found.became, found.known) == (became, state)
        out[file.path] = found if is_same else replace(found, became=became, known=state)
    gone = (Path(id) for id in states if not cancelled() and not Path(id).exists())
    out |= {path: Checked(KnownFile(path, "imported or exported before"), became="gone") for path in gone}
    return Checks(out, before.added)


def _became(found: Checked, state: FileState | None, earlier: Checked | None) -> What | None:
    """Tell what became of a file; one that neither changed nor was noted anew since is not read again."""
    if state is None:
        return None
    if earlier is not None and (earlier.known, earlier.stamp) == (state, found.stamp):
        return earlier.became
    return what_became(Path(state.id), state.sha256)


def check(file: KnownFile, now: datetime, before: Checked | None = None) -> Checked:
    """Look one file over, unless it is as it was; an index is always read, because the files around it count too."""
    stamp = _stamp(file.path)
    unchanged = before is not None and stamp is not None and (before.stamp, before.file) == (stamp, file)
    if before is not None and unchanged and not _rests_on_others(before):
        return before
    try:
        linted = look_over(file.path, now)
        cut = measure(opening.read_text(file.path)) if is_index(file.path) else None
    except WorkbenchError as error:
        return Checked(file, None, str(error), stamp=stamp)
    return Checked(file, linted, cut=cut, stamp=stamp)


def is_index(path: Path) -> bool:
    """Tell whether this is the file of which Claude Code loads only the beginning."""
    return path.name.upper() == "MEMORY.MD"


def _rests_on_others(checked: Checked) -> bool:
    return checked.linted is None or checked.linted.format == CLAUDE_MEMORY


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size
