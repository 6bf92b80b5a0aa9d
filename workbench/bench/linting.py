"""Looking files over: what is wrong, what a fix would change, and making it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from workbench.bench.filediff import DiffLine, diff_texts
from workbench.bench.filewrite import present, replace_file
from workbench.core.errors import Conflict
from workbench.formats.lint.files import lint_file, lint_text
from workbench.formats.lint.finding import Finding, Fix
from workbench.formats.registry import format_named, read_text

PASSES = 50
"""How often a file is looked over again while everything is put right."""


@dataclass(frozen=True, slots=True)
class Linted:
    """A file, the format it has, and what is wrong with it, in the order of its lines."""

    path: Path
    format: str
    findings: tuple[Finding, ...]

    @property
    def title(self) -> str:
        """The name of the format for people."""
        return format_named(self.format).title


@dataclass(frozen=True, slots=True)
class Change:
    """What a fix makes of one file: its text before (`None`: it was not there) and after."""

    path: Path
    before: str | None
    after: str

    def lines(self, context: int = 2) -> tuple[DiffLine, ...]:
        """Return what changes, line by line."""
        return diff_texts(self.before or "", self.after, context)


def look_over(path: Path, now: datetime, format: str | None = None) -> Linted:
    """Return what is wrong with a file; reads only. Raises `UnreadableFile`."""
    kind, findings = lint_file(path, now, format)
    return Linted(path, kind, tuple(findings))


def preview(path: Path, fixes: Iterable[Fix]) -> tuple[Change, ...]:
    """Return what some fixes would change; of fixes that touch the same place only the first is made."""
    text = read_text(path)
    chosen = _apart(fixes)
    beside = {name: new for fix in chosen for name, new in fix.beside}
    return (*_beside(path, beside), Change(path, text, _applied(chosen, text)))


def make(changes: Iterable[Change]) -> None:
    """Write what was previewed, the files beside first. Raises `Conflict` when one changed since."""
    chosen = tuple(changes)
    require_writable(chosen)
    for change in chosen:
        if change.before != change.after:
            replace_file(change.path, change.after)


def require_writable(changes: Iterable[Change]) -> None:
    """Raise `Conflict` when a file changed since some changes were worked out, `WorkbenchError` when it is closed."""
    for change in changes:
        if present(change.path) != change.before:
            raise Conflict(
                f"{change.path} was changed by another program meanwhile.", "Nothing was written; look again."
            )


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
            replace_file(change.path, change.before)


@dataclass(frozen=True, slots=True)
class Correction:
    """What putting a file right changes: the changes to write, how many fixes were made, what was found and is left.

    One fix may settle several findings, so `fixes` may be fewer than `found` - `left`.
    """

    changes: tuple[Change, ...]
    fixes: int
    found: int
    left: int


def correction(path: Path, now: datetime, rules: frozenset[str] | None = None, format: str | None = None) -> Correction:
    """Work out every fix there is (of the given rules), one rule after the other, without writing anything."""
    text, kind = read_text(path), look_over(path, now, format).format
    after, beside, made = text, dict[str, str](), 0

    def wrong() -> list[Finding]:
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
