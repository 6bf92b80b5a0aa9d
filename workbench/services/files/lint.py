"""Looking files over: what is wrong with one or with every file of a store, what a fix would
change, and making it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from workbench.config.paths import shipped
from workbench.core.file_state import FileState
from workbench.core.files.formats import format_named
from workbench.core.files.lint import Fix, LintFinding
from workbench.core.files.memory_md import Cut, measure
from workbench.core.files.replacing import bytes_of, changed_meanwhile, present, present_bytes
from workbench.core.record import WorkbenchError
from workbench.core.runtime import Cancelled, Progress
from workbench.formats.claude_memory import NAME as CLAUDE_MEMORY
from workbench.formats.lint import lint_file, lint_text
from workbench.formats.opening import read_text
from workbench.safety.scanning import mask
from workbench.services.files.overwriting import What, what_became
from workbench.services.files.replaced import Replaced
from workbench.services.files.threeway import DiffLine, diff_texts, masked_diff, masked_lines
from workbench.services.promotion.placements import FileEdit, carry_out, places_of
from workbench.services.safety.texts import name_of
from workbench.store.library import Library

PASSES = 50
"""How often a file is looked over again while everything is put right."""


@dataclass(frozen=True, slots=True)
class Linted:
    """A file, the format it has, with its name for people, and what is wrong with it, in the order
    of its lines.
    """

    path: Path
    format: str
    title: str
    findings: tuple[LintFinding, ...]


def edit_of(path: Path, before: str | None, after: str) -> FileEdit:
    """Return what a fix makes of one file: its text before (`None`: it was not there) and after."""
    return FileEdit(path, str(path), None if before is None else bytes_of(before), bytes_of(after))


def lines_of(edit: FileEdit, context: int = 2) -> tuple[DiffLine, ...]:
    """Return what changes, line by line, as it may be shown: without the secrets of the file."""
    before, after = (
        "" if data is None else data.decode("utf-8", "surrogateescape")
        for data in (edit.before, edit.after)
    )
    return masked_diff(diff_texts(before, after, context), masked_lines((before, after), mask))


def look_over(path: Path, now: datetime, format: str | None = None) -> Linted:
    """Return what is wrong with a file, said without its secrets; reads only. Raises
    `UnreadableFile`.
    """
    kind, findings = lint_file(path, now, format)
    return Linted(path, kind, format_named(kind).title, tuple(map(_masked, findings)))


def _masked(finding: LintFinding) -> LintFinding:
    fix = finding.fix
    if fix is not None and (label := mask(fix.label)) != fix.label:
        fix = replace(fix, label=label)
    said = mask(finding.message)
    return (
        finding
        if (said, fix) == (finding.message, finding.fix)
        else replace(finding, message=said, fix=fix)
    )


def cut_of(path: Path) -> Cut:
    """Return how much of a MEMORY.md is loaded, its lines without their secrets. Raises
    `UnreadableFile`.
    """
    text = read_text(path)
    cut, masks = measure(text), masked_lines((text,), mask)
    lines = tuple(replace(line, text=masks.get(line.text, line.text)) for line in cut.lines)
    return replace(cut, lines=lines) if masks else cut


def preview(path: Path, fixes: Iterable[Fix]) -> tuple[FileEdit, ...]:
    """Return what some fixes would change; of fixes that touch the same place only the first is
    made.
    """
    text = read_text(path)
    chosen = _apart(fixes)
    beside = {name: new for fix in chosen for name, new in fix.beside}
    return (*_beside(path, beside), edit_of(path, text, _applied(chosen, text)))


def make(edits: Iterable[FileEdit], replaced: Replaced) -> tuple[Path, ...]:
    """Write what was previewed, the files beside first; return copies of the files as they were.

    A store that knows such a file is told nothing: for it the fix is somebody's change to the file,
    which an export shows and never takes back unasked. Raises `Conflict` when a file changed since,
    and `WorkbenchError` when one cannot be written or kept.
    """
    chosen = tuple(edit for edit in edits if edit.before != edit.after)
    require_writable(chosen)
    copies = tuple(replaced.keep(edit.path, edit.before) for edit in chosen if edit.before)
    carry_out(chosen)
    return copies


def require_writable(edits: Iterable[FileEdit]) -> None:
    """Raise `Conflict` when a file changed since some changes were worked out, `WorkbenchError`
    when it is closed.
    """
    for edit in edits:
        if present_bytes(edit.path) != edit.before:
            raise changed_meanwhile(edit.path)


def take_back(edits: Sequence[FileEdit]) -> None:
    """Give files the text they had before some changes were made. Raises `Conflict` when one
    changed since.
    """
    back = [replace(edit, before=edit.after, after=edit.before) for edit in reversed(edits)]
    require_writable(back)
    carry_out(back)


@dataclass(frozen=True, slots=True)
class Correction:
    """What putting a file right changes: the changes to write, how many fixes were made, what was
    found and is left.

    One fix may settle several findings, so `fixes` may be fewer than `found` - `left`.
    """

    changes: tuple[FileEdit, ...]
    fixes: int
    found: int
    left: int


def correction(
    path: Path,
    now: datetime,
    rules: frozenset[str] | None = None,
    format: str | None = None,
) -> Correction:
    """Work out every fix there is (of the given rules), one rule after the other, without writing
    anything.
    """
    text, kind = read_text(path), look_over(path, now, format).format
    after, beside, made = text, dict[str, str](), 0

    def wrong() -> list[LintFinding]:
        return [
            f for f in lint_text(path, after, kind, now, beside) if rules is None or f.rule in rules
        ]

    found = wrong()
    for _ in range(PASSES):
        fixable = [f for f in wrong() if f.fix is not None]
        chosen = _apart(f.fix for f in fixable if f.rule == fixable[0].rule and f.fix is not None)
        if not chosen:
            break
        before = after, dict(beside)
        after = _applied(chosen, after)
        beside |= {name: new for fix in chosen for name, new in fix.beside}
        if (after, beside) == before:
            break
        made += len(chosen)
    return Correction(
        (*_beside(path, beside), edit_of(path, text, after)), made, len(found), len(wrong())
    )


def _apart(fixes: Iterable[Fix]) -> list[Fix]:
    """Return the fixes that touch different places; of those that touch the same one the first."""
    chosen: list[Fix] = []
    spans: list[tuple[int, int]] = []
    for fix in fixes:
        mine = [(start, end) for start, end, _ in fix.edits]
        if any(start <= e and s <= end for start, end in mine for s, e in spans):
            continue
        chosen.append(fix)
        spans += mine
    return chosen


def _applied(fixes: Iterable[Fix], text: str) -> str:
    return Fix("", tuple(edit for fix in fixes for edit in fix.edits)).applied(text)


def _beside(path: Path, texts: Mapping[str, str]) -> tuple[FileEdit, ...]:
    others = (
        edit_of(path.parent / name, present(path.parent / name), new) for name, new in texts.items()
    )
    return tuple(edit for edit in others if edit.before != edit.after)


# Looking over every file that a store has to do with; a file that did not change is not read again.


PATTERNS = (
    "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "MEMORY.md", "LEARNINGS.md", "ERRORS.md", "playbook*.txt",
    "playbook*.yaml", ".claude/CLAUDE.md", ".claude/memory/*.md", "memory/MEMORY.md", ".learnings/*.md",
    "playbooks/*.txt",
)  # fmt: skip
"""Files of a project that are looked for, relative to the folder that holds the store's
`.workbench`.
"""

MOST = 200
"""Files that one pattern gives at most."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file, and why it is one of the store's: in a few words. `expected` tells that it should be
    there.
    """

    path: Path
    why: str
    expected: bool = False


def known_files(library: Library, added: Iterable[Path] = ()) -> tuple[KnownFile, ...]:
    """Return the files a store has to do with, each once, by its first reason, in the order of
    their paths.

    `added` are files that a person named. The files that ship with the app are left out.
    """
    found: dict[Path, KnownFile] = {}
    for known in _known(library, added):
        real = _real(known.path)
        if (
            real is not None
            and real not in found
            and not _is_shipped(real)
            and (known.expected or _is_file(real))
        ):
            found[real] = replace(known, path=real)
    return tuple(sorted(found.values(), key=lambda known: str(known.path)))


def _known(library: Library, added: Iterable[Path]) -> Iterator[KnownFile]:
    project = places_of(library.folder).project
    for path in added:
        yield KnownFile(path, "added here", True)
    for book in library.books.all():
        if book.source and Path(book.source).is_absolute():
            yield KnownFile(Path(book.source), f"the playbook {book.id} came from it", True)
    for placement in library.placements.all():
        path = (project or Path()) / placement.path
        if placement.kind != "bullet" and path.is_absolute():
            yield KnownFile(path, "memories were promoted to it", True)
    for pattern in PATTERNS:
        try:
            paths = sorted(project.glob(pattern))[:MOST] if project is not None else []
        except OSError:  # a folder that may not be looked into
            continue
        yield from (KnownFile(path, "in the project") for path in paths)
    for state in library.files.all():
        yield KnownFile(Path(state.id), "imported or exported before")


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
    """A file with what is wrong with it. Without `linted`, `problem` says why it could not be
    looked over.

    `cut` says what of a MEMORY.md is loaded; it is `None` for every other file. `became` tells that
    it is no longer as the store knows it, which is `known`.
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
    out |= {
        path: Checked(KnownFile(path, "imported or exported before"), became="gone")
        for path in gone
    }
    return Checks(out, before.added)


def _became(found: Checked, state: FileState | None, earlier: Checked | None) -> What | None:
    """Tell what became of a file; one that neither changed nor was noted anew since is not read
    again.
    """
    if state is None:
        return None
    if earlier is not None and (earlier.known, earlier.stamp) == (state, found.stamp):
        return earlier.became
    return what_became(Path(state.id), state.sha256)


def check(file: KnownFile, now: datetime, before: Checked | None = None) -> Checked:
    """Look one file over, unless it is as it was; an index is always read, because the files around
    it count too.
    """
    stamp = _stamp(file.path)
    unchanged = (
        before is not None and stamp is not None and (before.stamp, before.file) == (stamp, file)
    )
    if before is not None and unchanged and not _rests_on_others(before):
        return before
    try:
        linted = look_over(file.path, now)
        cut = measure(read_text(file.path)) if is_index(file.path) else None
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
