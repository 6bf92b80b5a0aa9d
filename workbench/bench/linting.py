"""Looking files over: what is wrong, what a fix would change, and making it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from workbench.bench.filediff import DiffLine, diff_texts
from workbench.bench.filewrite import present, replace_file
from workbench.core.errors import Conflict
from workbench.formats.lint.files import lint_file
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
    chosen: list[Fix] = []
    spans: list[tuple[int, int]] = []
    beside: dict[str, str] = {}
    for fix in fixes:
        mine = [(start, end) for start, end, _ in fix.edits]
        if any(start <= e and s <= end for start, end in mine for s, e in spans):
            continue
        chosen.append(fix)
        spans += mine
        beside.update(fix.beside)
    after = Fix("", tuple(edit for fix in chosen for edit in fix.edits)).applied(text)
    others = (Change(path.parent / name, present(path.parent / name), new) for name, new in beside.items())
    return (*(change for change in others if change.before != change.after), Change(path, text, after))


def make(changes: Iterable[Change]) -> None:
    """Write what was previewed, the files beside first. Raises `Conflict` when one changed since."""
    chosen = tuple(changes)
    for change in chosen:
        if present(change.path) != change.before:
            raise Conflict(
                f"{change.path} was changed by another program meanwhile.", "Nothing was written; look again."
            )
    for change in chosen:
        if change.before != change.after:
            replace_file(change.path, change.after)


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


def put_right(path: Path, now: datetime, rules: frozenset[str] | None = None, format: str | None = None) -> int:
    """Make every fix there is (of the given rules), one rule after the other; return how many were made."""
    made = 0
    for _ in range(PASSES):
        found = [f for f in look_over(path, now, format).findings if f.fix and (rules is None or f.rule in rules)]
        if not found:
            break
        same = [f.fix for f in found if f.rule == found[0].rule and f.fix is not None]
        changes = preview(path, same)
        make(changes)
        made += len(same)
        if all(change.before == change.after for change in changes):
            break
    return made
