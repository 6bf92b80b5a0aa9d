"""Health: the files that this store has to do with, what is wrong with them, and the two ways
between both.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from textual import on, work
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.config.paths import from_home
from workbench.core.files.lint import LintFinding
from workbench.core.files.memory_md import MAX_BYTES, MAX_LINES, Cut, measure
from workbench.core.files.replacing import present
from workbench.core.record import WorkbenchError
from workbench.core.stream.memory import Memory
from workbench.core.text import one_line, printable
from workbench.services.files import lint
from workbench.services.files.exporting import parts_of
from workbench.services.files.folders import FolderPlan, folders_of
from workbench.services.files.importing import Difference
from workbench.services.files.lint import (
    Checked,
    Checks,
    KnownFile,
    check,
    check_all,
    is_index,
)
from workbench.services.files.paths import as_named
from workbench.services.files.threeway import SIGNS, DiffLine, masked_diff, masked_lines
from workbench.services.open import Workbench
from workbench.services.promotion.placements import FileEdit
from workbench.services.safety.texts import place_of
from workbench.tui.actions import FINDINGS, WHOLE
from workbench.tui.app import area
from workbench.tui.app.actions import bindings, footer_entries
from workbench.tui.files.preview import FileDialog, Pane, PreviewDialog, whole_file
from workbench.tui.health.sections import (
    BAD,
    ERROR,
    GOOD,
    WARN,
    Row,
    Section,
    more,
    title,
)
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    assemble,
    body,
    joined,
    key_line,
    key_of,
    keyed,
    muted,
    undo,
)
from workbench.tui.widgets.dialog import Prompt, sure
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.line_list import Cell, LineView

LISTED = 12
"""Files without a finding, and findings of a file, that are listed; of more, how many there are."""

LINES, WIDTH, FILES = 16, 100, 4
"""Lines of a difference that are shown, how much of each, and files that are named as left alone."""

_BECAME = {
    "changed": "It changed on disk since it was read or written here.",
    "gone": "The file no longer exists. What was imported from it stays in the store.",
}
_WHY = {
    "changed": "it changed on disk since",
    "unplaced": "the change cannot be expressed in it",
    "forgotten": "its note was archived; only the command removes it",
    "unreadable": "it could not be read or written",
}
_STYLES = {"added": "$text-success", "removed": "$text-error", "place": MUTED, "note": MUTED}


class Files(Section[Checks]):
    """The files that this store has to do with, and what is wrong with them."""

    ID, TITLE = "files", "Files"

    def look(self) -> Checks:
        """Look over what changed since the last time."""
        self.bench.working_out.run(self.cancelled, only=("file",))
        before = self.value if self.known else Checks()
        now = self.bench.context.now()
        return check_all(self.bench.library, now, before, self.tell, self.cancelled)

    def rows(self) -> Sequence[Row]:
        """Return a row for each file, those with something to say first, or what to do when there
        is none.
        """
        files = self.value.files.values()
        if not files:
            return [
                self.remark(
                    "none",
                    keyed("No files yet. {app.import} imports one, {health.add-file} checks one."),
                )
            ]
        telling = sorted(filter(_speaks, files), key=lambda checked: checked.became is None)
        sound = [checked for checked in files if not _speaks(checked)]
        found = [self._row(checked) for checked in (*telling, *sound[:LISTED])]
        if len(sound) > LISTED:
            found.append(
                self.remark("more", f"and {number(len(sound) - LISTED)} more without a finding")
            )
        return [*found, *self.in_review("files")]

    def _row(self, checked: Checked) -> Row:
        path, figure, style, remark = checked.file.path, GOOD, "", ""
        if checked.became == "changed":
            figure, style, remark = "≠", WARN, "changed on disk"
        elif checked.problem or checked.became == "gone":
            figure, style = (BAD, ERROR) if checked.file.expected else ("–", "")
            remark = "not checked" if path.exists() else "not there"
        else:
            figure = number(len(checked.findings)) if checked.findings else GOOD
            remark = (
                f"{number(len(checked.cut.below))} not loaded"
                if checked.cut and checked.cut.below
                else ""
            )
        shown = self.masked(_short(path, self.bench.promotion.places.project))
        return self.row(str(path), figure, shown, item=path, style=style, more=remark)

    def detail(self, row: Row) -> Content:
        """Return what is wrong with a file, or what this part is about."""
        checked = self._at(row)
        if checked is None:
            return joined(
                title("Files of this store"), BLANK,
                Content("Files that were imported, exported or promoted to, and the project's "
                        "CLAUDE.md, AGENTS.md, MEMORY.md, playbook and LEARNINGS.md."),
                BLANK,
                key_line("list.open", "shows the findings in a file and previews each fix; for a "
                                      "file that changed on disk (≠), the differences"),
                key_line("health.write-back", "writes changes back to a folder of notes, previewed first"),
                key_line("health.add-file", "checks a file you choose"),
                key_line("health.check", "checks all of them again"),
            )  # fmt: skip
        path, kind = checked.file.path, f"{checked.linted.title} · " if checked.linted else ""
        parts = [body(self.masked(path.name), "bold"), body(self.masked(str(path.parent)), MUTED)]
        parts += [body(f"{kind}{checked.file.why}", MUTED), BLANK]
        if checked.became in _BECAME:
            parts.append(Content.styled(_BECAME[checked.became], WARN))
            if checked.became == "changed":
                parts.append(key_line("list.open", "shows the differences, and imports them"))
            parts.append(BLANK)
        if checked.cut is not None:
            parts += [cut_said(checked.cut), BLANK]
        if checked.problem:
            parts.append(body(self.masked(checked.problem), ERROR if checked.file.expected else ""))
        elif checked.findings:
            parts += [
                *_findings(checked),
                BLANK,
                key_line("list.open", "previews each fix"),
            ]
        elif checked.became != "gone":
            parts.append(Content("No problems found."))
        return joined(*parts)

    def _at(self, row: Row) -> Checked | None:
        return self.value.files.get(row.item) if isinstance(row.item, Path) else None

    # What the keys do

    async def open(self, row: Row) -> bool:
        """Show the findings of a file with their fixes, or what differs; look again when that is
        closed.
        """
        checked = self._at(row)
        if checked is None or (checked.became == "gone" and not checked.problem):
            return False
        if checked.became == "changed":
            await self._take_changes(checked.file.path)
        else:
            await self.app.push_screen_wait(FindingsDialog(checked.file, self.bench))
        self.gather()
        return True

    async def add_file(self, row: Row) -> None:
        """Ask for a file and look it over."""
        del row
        ask = Prompt("Which file to check?", placeholder="its path", check=_missing)
        name = await self.app.push_screen_wait(ask)
        if name is None:
            return
        path = as_named(name, Path.cwd()).resolve()
        before = self.value if self.known else Checks()
        wanted = replace(before, added=tuple(dict.fromkeys((*before.added, path))))
        library, now = self.bench.library, self.bench.context.now()
        self.value = await asyncio.to_thread(check_all, library, now, wanted)
        self.known = True
        self.screen.post_message(self.Changed(self))
        self.screen.call_later(self.go, path)

    async def _take_changes(self, path: Path) -> None:
        """Show what differs in a file, and take its side on a yes."""
        found = await asyncio.to_thread(self.bench.difference, path)
        name, plan = self.masked(path.name), found.plan
        detail = joined(*self._diff(found.lines), BLANK, self._outcome(found))
        question = (
            f"{name} changed on disk." if plan is None else f"Import the present version of {name}?"
        )
        yes, no = ("close", "close") if plan is None else ("take it", "leave both")
        agreed = await sure(self.app, question, detail, yes, no)
        if plan is not None and agreed:
            await asyncio.to_thread(self.bench.importer.carry_out, plan)
            self.app.say(f"{name} is imported. {undo()} takes it back.")

    def _outcome(self, found: Difference) -> Content:
        """Say what taking the file's side does, or why nothing can be taken."""
        if found.plan is None:
            return body(self.masked(found.problem) or "It brings no records into the store.", MUTED)
        new, replaced = len(found.plan.records) - len(found.plan.replaced), len(found.plan.replaced)
        said = f"{new:,} new, {replaced:,} replaced in the store; undo restores the present text."
        return assemble([(f"{said} Export writes the store's version to the file.", MUTED)])

    async def write_back(self, row: Row) -> None:
        """Show what writing changed notes back into their folder does, and write them on a yes."""
        at = row.item if isinstance(row.item, Path) else None
        plan, held = await asyncio.to_thread(self._planned, at)
        name, count = self.masked(plan.root.name), amount(len(plan.edits), "file")
        question = (
            f"Write {count} of {name}?" if plan.edits else f"Nothing to write back into {name}."
        )
        yes, no = ("write", "leave them") if plan.edits else ("close", "close")
        agreed = await sure(self.app, question, joined(*self._written(plan, held)), yes, no)
        if plan.edits and agreed:
            done = await asyncio.to_thread(self.bench.folder_exporter.write, plan)
            more_left = len(done.left) > len(plan.left)
            left = f" {amount(len(done.left), 'file')} left as it was." if more_left else ""
            self.app.say(
                f"Wrote {amount(len(done.edits), 'file')} of {name}.{left} {undo()} takes it back."
            )
            self.gather()

    def _planned(self, at: Path | None) -> tuple[FolderPlan, int]:
        """Return what would be written, without what is held back, and how many records that are."""
        root, folders = self._folder(at), self.bench.folder_exporter
        plan = folders.plan(root)
        refused = (one.record for one in self.bench.safety.refusals(parts_of(plan.parsed)))
        held = frozenset(place_of(record) for record in refused if isinstance(record, Memory))
        return (folders.plan(root, without=held) if held else plan), len(held)

    def _folder(self, at: Path | None) -> Path:
        """Return the folder that a file was read with, or the only one there is. Raises
        `WorkbenchError`.
        """
        roots = folders_of(self.bench.library)
        here = [root for root in roots if at is not None and at.is_relative_to(root)] or roots
        if not here:
            told = "No folder of notes was imported into this store."
            raise WorkbenchError(told, "Import a folder of notes first.")
        if len(here) > 1:
            names = ", ".join(root.name for root in here[:FILES])
            told = f"Several folders were imported: {names}."
            raise WorkbenchError(told, "Select a file of one of them first.")
        return here[0]

    def _written(self, plan: FolderPlan, held: int) -> list[Content]:
        """Return the differences, then what is left alone and what has no place in the files."""
        lines = [
            line for edit in plan.edits for line in (DiffLine("place", edit.name), *edit.lines())
        ]
        parts = self._diff(lines)
        for one in plan.left[:FILES]:
            reason = f": {one.reason}" if one.reason else ""
            parts.append(
                body(self.masked(f"{one.name} is left unchanged: {_WHY[one.why]}{reason}."), MUTED)
            )
        parts += more(len(plan.left), FILES, "more left as they are")
        if held:
            parts.append(muted(f"{number(held)} held back: text that gives orders."))
        if plan.unplaced:
            stays = ", ".join(
                f"{what} of {count:,}" for what, count in sorted(plan.unplaced.items())
            )
            parts.append(muted(f"Kept in the store only, as the notes cannot hold it: {stays}."))
        return parts

    def _diff(self, lines: Sequence[DiffLine]) -> list[Content]:
        shown = masked_diff(lines[:LINES], masked_lines((line.text for line in lines), self.masked))
        parts = [
            body(one_line(f"{SIGNS[line.kind]}{line.text}", WIDTH), _STYLES.get(line.kind, ""))
            for line in shown
        ]
        return [*parts, *more(len(lines), LINES, "more lines")]


def _missing(name: str) -> str | None:
    try:
        found = as_named(name, Path.cwd()).is_file()
    except WorkbenchError as error:
        return error.message
    except (OSError, ValueError):
        found = False
    return None if found else "No such file."


def _speaks(checked: Checked) -> bool:
    return (
        checked.became is not None
        or bool(checked.findings)
        or (bool(checked.problem) and checked.file.expected)
    )


def _short(path: Path, project: Path | None) -> str:
    """Return a path as one knows it: from the project, from home, or in full."""
    if project is not None and path.is_relative_to(project):
        return str(path.relative_to(project))
    return from_home(path)


def _findings(checked: Checked) -> Iterable[Content]:
    for rule, count in Counter(finding.rule for finding in checked.findings).items():
        yield assemble([(f"{number(count):>5}  ", "bold"), (rule, "$text-accent")])
    yield BLANK
    for finding in checked.findings[:LISTED]:
        yield assemble([(f"{finding.line:>5}  ", MUTED), (printable(finding.message), "")])
    yield from more(len(checked.findings), LISTED)


# What is wrong with one file: each finding with the change its fix would make, shown before it is
# made.


RULE, WITH_RULE = 18, 84
"""Columns of a rule's name, and the width from which there is room for it."""


Fix = tuple[tuple[FileEdit, ...], list[DiffLine], str]
"""What a fix would change, the lines that are shown of it, and why it cannot be made."""


class FindingsDialog(PreviewDialog[None, Fix]):
    """The findings of a file; `f` makes the fix that is shown, `u` takes the last one back while
    this is open.
    """

    BINDINGS = bindings(FINDINGS)
    DEFAULT_CSS = """
    FindingsDialog {
        & .dialog--state { max-height: 4; margin: 0 0 1 0; }
        & #findings-list { height: 2fr; min-height: 3; }
        & #findings-fix { height: auto; max-height: 3; margin: 1 0 0 0; }
        & #findings-diff { height: 3fr; min-height: 3; }
    }
    """

    def __init__(self, file: KnownFile, bench: Workbench) -> None:
        super().__init__(bench.safety.masked(file.path.name), footer_entries(FINDINGS), bench)
        self._path, self._file = file.path, file
        self._list: LineView[LintFinding] = LineView(
            _draw, lambda f: (f.line, f.rule, f.message), id="findings-list"
        )
        self._fix = Static(BLANK, id="findings-fix")
        self._pane = Pane("findings-diff")
        self._pane.can_focus = False
        self._rule = ""
        self._made: list[tuple[str, tuple[FileEdit, ...]]] = []
        """What was done here, and the files before and after."""

    def contents(self) -> Iterable[Widget]:
        """Return what the file is, its findings, the fix of the one under the cursor, and what that
        changes.
        """
        self._pane.set_empty(BLANK)
        return (self.state, self._list, self._fix, self._pane)

    def on_mount(self) -> None:
        """Look the file over."""
        self._list.focus()
        self._check()

    @work(exclusive=True, group="findings")
    async def _check(self) -> None:
        checked = await asyncio.to_thread(check, self._file, self.bench.context.now())
        kind = f"{checked.linted.title} · " if checked.linted else ""
        count = len(checked.findings)
        found = assemble(
            [
                (printable(kind), ""),
                (amount(count, "finding") if count else "no problems", "bold"),
            ]
        )
        if checked.problem:
            found = body(f"✗ {self.masked(checked.problem)}", "$text-error")
        cut = [] if checked.cut is None else [cut_said(checked.cut)]
        where = body(self.masked(str(self._path.parent)), MUTED)
        self.state.update(joined(where, *cut, found))
        self._list.set_empty(Content("" if checked.problem else "No problems found in this file."))
        self._list.set_rows(checked.findings, cursor=min(self._list.cursor, max(0, count - 1)))
        self._show_fix()

    @on(LineView.Highlighted, "#findings-list")
    def _show_fix(self) -> None:
        """Show what the fix of the finding under the cursor would change."""
        finding = self._list.current
        if finding is None or finding.fix is None:
            by_hand = keyed("No automatic fix. {findings.external} opens the file.")
            self._preview((), [("" if finding is None else f"{finding.rule}: {by_hand}", MUTED)])
            return
        does = keyed("  ({findings.fix} applies it)")
        self._preview(
            (finding,),
            [(f"{finding.rule}: ", MUTED), (printable(finding.fix.label), "bold"), (does, MUTED)],
        )

    @property
    def changes(self) -> tuple[FileEdit, ...]:
        """What the fix that is shown would change."""
        return self.found[0] if self.found and self.ready.is_set() else ()

    def _preview(
        self, findings: Sequence[LintFinding], said: Iterable[tuple[str, str]], rule: str = ""
    ) -> None:
        self._rule = rule
        self._fix.update(assemble(said))
        now = self.bench.context.now()
        self.work_out(partial(_fix_of, self._path, findings, rule, now), self._show)

    def _show(self, fix: Fix) -> None:
        _, lines, problem = fix
        if problem:
            self.toast(problem, "error")
        self._pane.show(lines)

    # Fixing

    def action_fix(self) -> None:
        finding = self._list.current
        if finding is None or finding.fix is None or not self.changes or self._rule:
            self.app.bell()
            return
        self._make(f"{finding.fix.label} (line {finding.line})")

    def action_fix_rule(self) -> None:
        """Show the fixes of every finding of this rule."""
        finding = self._list.current
        same = [
            f for f in self._list.rows if finding and f.rule == finding.rule and f.fix is not None
        ]
        if finding is None or not same:
            self.app.bell()
            return
        count = "The only fix" if len(same) == 1 else f"All {number(len(same))} fixes"
        does = keyed("{findings.yes} applies them, {findings.close} cancels")
        self._preview(
            same,
            [(f"{count} of {finding.rule}, as shown below: ", "bold"), (does, "")],
            finding.rule,
        )

    def action_yes(self) -> None:
        """Make the fixes of the rule that are shown."""
        if self._rule and self.changes:
            self._make(f"all of {self._rule}")
        else:
            self.app.bell()

    def _make(self, said: str) -> None:
        changes = tuple(change for change in self.changes if change.before != change.after)
        if self._written(said, changes):
            self.toast(f"Done: {said}. {key_of('findings.undo')} takes it back while this is open.")

    def _written(self, said: str, changes: tuple[FileEdit, ...]) -> bool:
        """Write changes, keep them for the way back, and look again; tell whether that went well."""
        try:
            lint.make(changes, self.bench.replaced)
            self._made.append((said, changes))
        except WorkbenchError as error:
            self.toast(str(error), "error")
            return False
        finally:
            self._check()
        return True

    def action_undo(self) -> None:
        """Take the last fix back; the store's own undo knows nothing of files."""
        if not self._made:
            self.toast(
                "No fix to undo. Fixes change files and can be undone only while this is open."
            )
            return
        said, changes = self._made[-1]
        try:
            lint.take_back(changes)
        except WorkbenchError as error:
            self.toast(str(error), "error")
        else:
            self._made.pop()
            self.toast(f"Undone: {said}.")
        self._check()

    # The file itself

    @work
    async def action_whole(self) -> None:
        """Show the whole file."""
        try:
            text = present(self._path) or ""
        except WorkbenchError as error:
            self.toast(str(error), "error")
            return
        masks = await asyncio.to_thread(self.bench.safety.masked_lines, text)
        lines = masked_diff(whole_file(text), masks)
        self.app.push_screen(
            WholeFile(self._path.name, measure(text), lines, self.bench, loads=is_index(self._path))
        )

    def action_external(self) -> None:
        """Edit the file in the person's own editor."""
        try:
            before = present(self._path) or ""
            at = self._list.current
            after = area.edit(self.app, before, 0 if at is None else at.line)
        except WorkbenchError as error:
            self.toast(str(error), "error")
            return
        changes = (
            ()
            if after is None
            else (lint.edit_of(self._path, before, after if before else f"{after}\n"),)
        )
        if changes and self._written("your edit", changes):
            self.toast(f"Saved. {key_of('findings.undo')} takes it back while this is open.")

    def action_read_on(self) -> None:
        """Scroll what changes."""
        self._pane.action_half_down()

    def action_read_back(self) -> None:
        self._pane.action_half_up()

    def action_close(self) -> None:
        """Leave the fixes of a rule, or close."""
        if self._rule:
            self._show_fix()
        else:
            self.dismiss(None)


def _draw(finding: LintFinding, width: int) -> list[Cell]:
    rule = [Cell(finding.rule, RULE, "$text-accent")] if width >= WITH_RULE else []
    fix = Cell("fix" if finding.fix else "", 3, "$text-success")
    return [Cell(number(finding.line), 6, MUTED, "right"), *rule, Cell(finding.message), fix]


def _fix_of(path: Path, findings: Sequence[LintFinding], rule: str, now: datetime) -> Fix:
    """Return what fixing some findings would change, or all of a rule; for a thread."""
    try:
        if rule:  # one after the other, as some fixes of a rule touch the same place
            changes = lint.correction(path, now, frozenset({rule})).changes
        else:
            changes = lint.preview(path, [f.fix for f in findings if f.fix is not None])
    except WorkbenchError as error:
        return (), [], str(error)
    return changes, _lines_of(changes), ""


def _lines_of(changes: Sequence[FileEdit]) -> list[DiffLine]:
    """Return what changes without the secrets of the files; for a thread, as that takes a moment."""
    lines: list[DiffLine] = []
    for change in changes:
        if len(changes) > 1:
            new = " (a new file)" if change.before is None else ""
            lines.append(DiffLine("place", f"{change.path.name}{new}"))
        lines += lint.lines_of(change, context=1)
    return lines


class WholeFile(FileDialog[None]):
    """A file line by line; of one that agents load (`loads`), the line at which Claude Code stops,
    and the rest.
    """

    BINDINGS = bindings(WHOLE)

    def __init__(
        self, name: str, cut: Cut, lines: Sequence[DiffLine], bench: Workbench, *, loads: bool
    ) -> None:
        super().__init__(bench.safety.masked(name), WHOLE if loads else WHOLE[1:], bench)
        self._cut = cut
        self._loads = loads
        self._pane = Pane("whole-lines")
        self._lines = list(lines)
        if loads and cut.below:
            first = len(cut.lines) - len(cut.below)
            below = [DiffLine("note", line.text, line.number) for line in lines[first:]]
            limit = cut.limit.replace(",", "\u00a0")
            stops = f"── {limit}: Claude Code stops loading here, {amount(len(cut.below), 'line')} below ──"
            self._lines = [*lines[:first], DiffLine("place", stops), *below]

    def contents(self) -> Iterable[Widget]:
        """Return how long the file is, and its lines."""
        self.state.update(cut_said(self._cut) if self._loads else Content(_size(self._cut)))
        return (self.state, self._pane)

    def on_mount(self) -> None:
        """Go to the lines."""
        self._pane.focus()
        self._pane.show(self._lines)

    def action_cut(self) -> None:
        """Go to the first line below the cut, when there is one."""
        place = next((piece.index for piece in self._pane.rows if piece.kind == "place"), None)
        if place is None:
            self.app.bell()
        else:
            self._pane.cursor = place + 1


def cut_said(cut: Cut) -> Content:
    """Return the size of a MEMORY.md, and how much of it is loaded."""
    if not cut.below:
        rest = f" · all of it is loaded (up to {number(MAX_LINES)} lines and {number(MAX_BYTES)} bytes)"
        return assemble([(_size(cut), "bold"), (rest, "")])
    lost = amount(len(cut.below), f"line below {cut.limit} is", f"lines below {cut.limit} are")
    return assemble([(f"{_size(cut)} · ", "bold"), (f"{lost} not loaded", "bold $text-warning")])


def _size(cut: Cut) -> str:
    return f"{amount(len(cut.lines), 'line')}, {number(cut.bytes)} bytes"
