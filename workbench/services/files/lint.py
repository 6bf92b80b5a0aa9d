"""Looking files over: what is wrong, what a fix would change, and making it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from workbench.core.files.formats import format_named
from workbench.core.files.lint import Fix, LintFinding
from workbench.core.files.memory_md import Cut, measure
from workbench.core.files.replacing import bytes_of, changed_meanwhile, present, replace_file
from workbench.core.record import Conflict
from workbench.formats.lint import lint_file, lint_text
from workbench.formats.opening import read_text
from workbench.safety.scanning import mask
from workbench.services.files.replaced import Replaced
from workbench.services.files.threeway import DiffLine, diff_texts, masked_diff, masked_lines

PASSES = 50
"""How often a file is looked over again while everything is put right."""


@dataclass(frozen=True, slots=True)
class Linted:
    """A file, the format it has, with its name for people, and what is wrong with it, in the order of its lines."""

    path: Path
    format: str
    title: str
    findings: tuple[LintFinding, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What a fix makes of one file: its text before (`None`: it was not there) and after."""

    path: Path
    before: str | None
    after: str

    def lines(self, context: int = 2) -> tuple[DiffLine, ...]:
        """Return what changes, line by line, as it may be shown: without the secrets of the file."""
        before = self.before or ""
        return masked_diff(diff_texts(before, self.after, context), masked_lines((before, self.after), mask))


def look_over(path: Path, now: datetime, format: str | None = None) -> Linted:
    """Return what is wrong with a file, said without its secrets; reads only. Raises `UnreadableFile`."""
    kind, findings = lint_file(path, now, format)
    return Linted(path, kind, format_named(kind).title, tuple(map(_masked, findings)))


def _masked(finding: LintFinding) -> LintFinding:
    fix = finding.fix
    if fix is not None and (label := mask(fix.label)) != fix.label:
        fix = replace(fix, label=label)
    said = mask(finding.message)
    return finding if (said, fix) == (finding.message, finding.fix) else replace(finding, message=said, fix=fix)


def cut_of(path: Path) -> Cut:
    """Return how much of a MEMORY.md is loaded, its lines without their secrets. Raises `UnreadableFile`."""
    text = read_text(path)
    cut, masks = measure(text), masked_lines((text,), mask)
    lines = tuple(replace(line, text=masks.get(line.text, line.text)) for line in cut.lines)
    return replace(cut, lines=lines) if masks else cut


def preview(path: Path, fixes: Iterable[Fix]) -> tuple[Change, ...]:
    """Return what some fixes would change; of fixes that touch the same place only the first is made."""
    text = read_text(path)
    chosen = _apart(fixes)
    beside = {name: new for fix in chosen for name, new in fix.beside}
    return (*_beside(path, beside), Change(path, text, _applied(chosen, text)))


def make(changes: Iterable[Change], replaced: Replaced) -> tuple[Path, ...]:
    """Write what was previewed, the files beside first; return copies of the files as they were.

    A store that knows such a file is told nothing: for it the fix is somebody's change to the file, which an export
    shows and never takes back unasked. Raises `Conflict` when a file changed since, and `WorkbenchError` when one
    cannot be written or kept.
    """
    chosen = tuple(change for change in changes if change.before != change.after)
    require_writable(chosen)
    copies = tuple(replaced.keep(c.path, bytes_of(c.before)) for c in chosen if c.before)
    for change in chosen:
        replace_file(change.path, change.after, None if change.before is None else bytes_of(change.before))
    return copies


def require_writable(changes: Iterable[Change]) -> None:
    """Raise `Conflict` when a file changed since some changes were worked out, `WorkbenchError` when it is closed."""
    for change in changes:
        if present(change.path) != change.before:
            raise changed_meanwhile(change.path)


def take_back(changes: Iterable[Change]) -> None:
    """Give files the text they had before some changes were made. Raises `Conflict` when one changed since."""
    made = tuple(change for change in changes if change.before != change.after)
    for change in made:
        if present(change.path) != change.after:
            raise Conflict(
                f"{change.path} was changed by another program since.", "The fix was not taken back; look at the file."
            )
    for change in reversed(made):
        if change.before is None:
            change.path.unlink(missing_ok=True)
        else:
            replace_file(change.path, change.before, bytes_of(change.after))


@dataclass(frozen=True, slots=True)
class Correction:
    """What putting a file right changes: the changes to write, how many fixes were made, what was found and is left.

    One fix may settle several findings, so `fixes` may be fewer than `found` - `left`.
    """

    changes: tuple[Change, ...]
    fixes: int
    found: int
    left: int


def correction(
    path: Path,
    now: datetime,
    rules: frozenset[str] | None = None,
    format: str | None = None,
) -> Correction:
    """Work out every fix there is (of the given rules), one rule after the other, without writing anything."""
    text, kind = read_text(path), look_over(path, now, format).format
    after, beside, made = text, dict[str, str](), 0

    def wrong() -> list[LintFinding]:
        return [f for f in lint_text(path, after, kind, now, beside) if rules is None or f.rule in rules]

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
    return Correction((*_beside(path, beside), Change(path, text, after)), made, len(found), len(wrong()))


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


def _beside(path: Path, texts: Mapping[str, str]) -> tuple[Change, ...]:
    others = (Change(path.parent / name, present(path.parent / name), new) for name, new in texts.items())
    return tuple(change for change in others if change.before != change.after)
