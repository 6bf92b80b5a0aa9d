"""The lines of the import dialog: files to choose from, remarks on a file, what would be written."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.core.files.formats import format_named, known_formats
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.core.text import printable
from workbench.services.files.imports.importing import ImportPlan, ImportReport
from workbench.services.files.imports.paths import Listing, Offered, likely
from workbench.services.files.imports.said import (
    counts_said,
    filling_said,
    passed_said,
    replacement_said,
    said,
    skipped,
)
from workbench.tui.files.imports.options import ImportOptions
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.figures import NO_BREAK, amount, number
from workbench.tui.widgets.lists.row import Cell

WARN = "$text-warning"
TITLE, SURE, SIZE = 34, 4, 8
"""Columns of a format's name beside a file, of how sure that is, and of the file's size."""

Parts = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Line:
    """A remark about a file: its mark, the text, and what stands at its end."""

    mark: str
    text: str
    note: str = ""
    style: str = ""


Row = Line | Offered | object
"""A remark, something to choose, or a record that would be written."""


def plan_rows(plan: ImportPlan) -> list[Row]:
    """Return what is skipped, changed on the way and kept, then every record that would be written."""
    name = plan.path.name
    issues = [Line("✗" if i.records else "!", f"{name}:{i.line}: {i.reason}", "", WARN) for i in plan.parsed.issues]
    count = {n: amount(n, "record") for n in {m.count for m in plan.parsed.mappings}}
    notes = [Line("!", f"{m.field}: {m.how}", count[m.count], MUTED) for m in plan.parsed.mappings if plan.records]
    kept = [Line("=", f"{key} stays as it is in the store, where it differs", "", MUTED) for key in plan.kept]
    kept += [Line("=", f"{id} was purged; `workbench import --again` takes it", "", MUTED) for id in plan.purged]
    taken = [_taken(line) for old, new in plan.replaced for line in replacement_said(old, new)]
    filled = [Line("~", filling_said(memory), "", MUTED) for _, memory in plan.filled]
    known = {id(new) for _, new in (*plan.replaced, *plan.filled)}
    passed = [Line("!", line, "", MUTED) for line in passed_said(plan.passed)]
    return [
        *issues,
        *notes,
        *passed,
        *kept,
        *taken,
        *filled,
        *(record for record in plan.records if id(record) not in known),
    ]


def _taken(line: str) -> Line:
    """Return a line that begins with its sign as a row: what is stored, what it becomes, or that its place changes."""
    style = {"-": "$text-error", "+": "$text-success"}.get(line[0], MUTED)
    return Line(line[0], line[2:], "", style)


def draw(
    row: Row, width: int, mask: Callable[[str], str], taken: Collection[Path] = (), marked: Collection[int] = ()
) -> list[Cell]:
    """Return a row as cells, with `mask` over what the file says; files that were `taken` in are marked.

    `marked` are the places in memory of the records that alone are taken; without one, all are.
    """
    if isinstance(row, Line):
        note = [Cell(row.note, min(len(row.note), width // 3), MUTED, "right")] if row.note else []
        return [Cell(row.mark, 1, "bold"), Cell(mask(row.text), 0, row.style), *note]
    if isinstance(row, Offered):
        return _offered(row, mask(row.path.name), width, row.path in taken)
    text = _statement(row) if isinstance(row, Memory) and _is_statement(row) else said(row)
    if marked and id(row) not in marked:
        return [Cell("·", 1, MUTED), Cell(mask(text), 0, MUTED)]
    return [Cell("✓" if marked else "+", 1, "bold $text-success"), Cell(mask(text))]


def _is_statement(memory: Memory) -> bool:
    part = memory.metadata.get(FILE_KEY)
    return isinstance(part, dict) and part.get("format") == "instructions"


def _statement(memory: Memory) -> str:
    """Say a statement of a document for somebody who chooses: its line, and its text before what it stands under."""
    said = " ".join(memory.content.split())
    _, found, rest = said.partition(" ".join(memory.section.split())) if memory.section else ("", "", said)
    warns = "warning: " if memory.category == "warning" else ""
    under = f"  ({memory.section})" if memory.section else ""
    return f"{memory.metadata['line']}: {warns}{rest.lstrip('”:, ') if found else said}{under}"


def _offered(row: Offered, name: str, width: int, taken: bool) -> list[Cell]:
    if row.folder:
        return [Cell("/", 1, MUTED), Cell(f"{name}/", 0, MUTED)]
    if not row.title:
        return [Cell("", 1), Cell(name)]
    sign, mark = ("imported", "✓") if taken else (row.title, "")
    return [
        Cell(mark, 1, "bold $text-success"),
        Cell(name),
        Cell(sign, min(TITLE, width // 2 - SIZE), MUTED, "right"),
        Cell(f"{row.confidence:.0%}", SURE, MUTED, "right"),
        Cell(_size(row.size), SIZE, MUTED, "right"),
    ]


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"


def plan_said(plan: ImportPlan) -> Parts:
    """Return how much of a file is new, there already, kept and skipped."""
    fresh = _counts(plan)
    parts: Parts = [(f"New: {', '.join(fresh)}" if fresh else "Nothing is new", "bold")]
    if plan.present:
        parts.append((f" · {number(plan.present)} there already", ""))
    if plan.known:
        parts.append((f" · {number(len(plan.known))} skipped, known from another file", WARN))
    if plan.replaced:
        parts.append((f" · {number(len(plan.replaced))} become as in the file", "bold"))
    if plan.filled:
        parts.append((f" · {number(len(plan.filled))} filled in with who said it", "bold"))
    if plan.kept:
        parts.append((f" · {number(len(plan.kept))} kept as in the store", ""))
    if plan.purged:
        parts.append((f" · {number(len(plan.purged))} purged, left out", ""))
    if left_out := skipped(plan):
        parts.append((f" · {number(left_out)} skipped", WARN))
    return parts


def _counts(plan: ImportPlan) -> list[str]:
    return [text.replace(",", NO_BREAK) for text in counts_said(plan)]


def format_said(plan: ImportPlan, asked: str | None) -> str:
    """Name the format of a file, and why it was taken for that."""
    title, found = format_named(plan.parsed.format).title, plan.parsed.detected
    if asked is not None:
        return f"{title}, as you say"
    if plan.path.is_dir():
        return "a folder, note by note"
    return f"{title}, {found.confidence:.0%} sure: {found.reason}" if found else title


def offer_said(plan: ImportPlan, key: str, mark: str) -> Parts:
    """Return what a file has beside its records, and the key that takes it; or how some records are chosen."""
    if plan.parsed.offered:
        count = number(plan.parsed.offered)
        many = "1 statement" if plan.parsed.offered == 1 else f"{count} statements"
        said = f"A document that agents load whole: {many} can be understood alone;"
        return [(f"\n{said} ", ""), (f"{key} lists them as candidates.", "bold")]
    if plan.parsed.closed:
        return [(f"\n{number(plan.parsed.closed)} closed issues; {key} lists them as observations.", "")]
    if len(plan.records) > 1 and can_choose(plan):
        return [(f"\n{mark} marks one; once any is marked, the others stay out.", MUTED)]
    return []


def can_choose(plan: ImportPlan) -> bool:
    """Tell whether some of the records may be taken without the others: all are new memories."""
    return not (plan.replaced or plan.filled) and all(isinstance(one, Memory) for one in plan.records)


def way_said(way: ImportOptions, theirs: str, as_new: str) -> Parts:
    """Return what is taken of a file, and the keys that change it."""
    differing = "the file's" if way.theirs else "as stored"
    counted = "counted" if way.as_new else "not counted"
    return [
        ("differing: ", MUTED), (differing, "bold" if way.theirs else ""), (f" ({theirs}) · ", MUTED),
        ("reflection: ", MUTED), (counted, "bold" if way.as_new else ""), (f" ({as_new})", MUTED),
    ]  # fmt: skip


def listing_said(found: Listing) -> Parts:
    """Return how many files of a folder can be imported."""
    count = sum(not one.folder for one in found.offered)
    files = f"{amount(count, 'file')} here can be imported"
    rest = f" · {number(found.others)} of no known format" if found.others else ""
    return [(files if count else "No single file here can be imported", "bold"), (rest, MUTED)]


def sessions_said(found: Listing, key: str) -> Parts:
    """Return how many sessions of agents lie in a folder, and the key that lists what they teach."""
    count = sum(one.session for one in found.offered)
    many = amount(count, "session of an agent", "sessions of agents")
    return (
        [(f"\n{many} among them: {key} lists what {'it teaches' if count == 1 else 'they teach'}.", "")]
        if count
        else []
    )


def done_said(report: ImportReport, undo: str) -> str:
    """Return what an import did, and which key takes it back."""
    plan, name = report.plan, printable(report.plan.path.name)
    if report.cancelled:
        total = number(len(plan.records))
        if not report.written:
            return f"The import of {name} was stopped. Nothing was written."
        stopped = f"Stopped: {number(report.written)} of {total} records of {name} were written."
        return f"{stopped} {undo} takes them back; importing again adds the rest."
    theirs = len(report.overtaken)
    other = f" {number(theirs)} stored by another program meanwhile stay as they are." if theirs else ""
    replaced = [f"{number(len(plan.replaced))} as in the file"] if plan.replaced else []
    filled = [f"{number(len(plan.filled))} filled in with who said it"] if plan.filled else []
    what = ", ".join([*_counts(plan), *replaced, *filled]) or f"{number(report.written)} records"
    if theirs:
        what = f"{number(report.written)} records"
    return f"Imported {name}: {what}.{other} {undo} takes it back."


def choices(path: Path) -> Sequence[tuple[str, str, str]]:
    """Return every format as (name, title, remark), those that the file may have first."""
    found = likely(path)
    sure = [(d.format, format_named(d.format).title, f"{d.confidence:.0%}: {d.reason}") for d in found]
    rest = [(f.name, f.title, "") for f in known_formats() if f.name not in {d.format for d in found}]
    return [*sure, *rest]
