"""What is wrong with one file: each finding with the change its fix would make, shown before it is made."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.files.lint import LintFinding
from workbench.core.files.memory_md import MAX_BYTES, MAX_LINES, Cut, measure
from workbench.core.files.replacing import present
from workbench.core.record import WorkbenchError
from workbench.core.text import printable
from workbench.services.files import lint
from workbench.services.files.checks import KnownFile, check, is_index
from workbench.services.files.lint import Change
from workbench.services.files.threeway import DiffLine, masked_diff
from workbench.services.open import Workbench
from workbench.tui.actions import FINDINGS, WHOLE
from workbench.tui.app import area
from workbench.tui.app.actions import bindings
from workbench.tui.files.preview import FileDialog, Pane, whole_file
from workbench.tui.widgets.content import MUTED, assemble, body, key_of, keyed
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.row import Cell

RULE, WITH_RULE = 18, 84
"""Columns of a rule's name, and the width from which there is room for it."""


class FindingsDialog(FileDialog[None]):
    """The findings of a file; `f` makes the fix that is shown, `u` takes the last one back while this is open."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(FINDINGS)
    DEFAULT_CSS = """
    FindingsDialog {
        & .file--state { max-height: 4; margin: 0 0 1 0; }
        & #findings-list { height: 2fr; min-height: 3; }
        & #findings-fix { height: auto; max-height: 3; margin: 1 0 0 0; }
        & #findings-diff { height: 3fr; min-height: 3; }
    }
    """

    def __init__(self, file: KnownFile, bench: Workbench) -> None:
        super().__init__(bench.safety.masked(file.path.name), [a for a in FINDINGS if a.show], bench)
        self._path, self._file = file.path, file
        self._list: LineView[LintFinding] = LineView(_draw, lambda f: (f.line, f.rule, f.message), id="findings-list")
        self._fix = Static(Content(""), id="findings-fix")
        self._pane = Pane("findings-diff")
        self._pane.can_focus = False
        self.changes: tuple[Change, ...] = ()
        """What the fix that is shown would change."""
        self._rule = ""
        self._made: list[tuple[str, tuple[Change, ...]]] = []
        """What was done here, and the files before and after."""

    def contents(self) -> Iterable[Widget]:
        """Return what the file is, its findings, the fix of the one under the cursor, and what that changes."""
        self._pane.set_empty(Content(""))
        return (self.state, self._list, self._fix, self._pane)

    def on_mount(self) -> None:
        """Look the file over."""
        self._list.focus()
        self._look()

    @work(exclusive=True, group="findings")
    async def _look(self) -> None:
        checked = await asyncio.to_thread(check, self._file, self.bench.context.now())
        kind = f"{checked.linted.title} · " if checked.linted else ""
        count = len(checked.findings)
        found = assemble([(printable(kind), ""), (amount(count, "finding") if count else "nothing is wrong", "bold")])
        if checked.problem:
            found = body(f"✗ {self.masked(checked.problem)}", "$text-error")
        cut = [] if checked.cut is None else [cut_said(checked.cut)]
        where = body(self.masked(str(self._path.parent)), MUTED)
        self.state.update(Content("\n").join([where, *cut, found]))
        self._list.set_empty(Content("" if checked.problem else "Nothing is wrong with this file."))
        self._list.set_rows(checked.findings, cursor=min(self._list.cursor, max(0, count - 1)))
        self._show_fix()

    @on(LineView.Highlighted, "#findings-list")
    def _show_fix(self) -> None:
        """Show what the fix of the finding under the cursor would change."""
        finding = self._list.current
        if finding is None or finding.fix is None:
            by_hand = keyed("No fix by itself; put it right by hand. {findings.external} opens it.")
            self._preview((), [("" if finding is None else f"{finding.rule}: {by_hand}", MUTED)])
            return
        does = keyed("  ({findings.fix} does it)")
        self._preview((finding,), [(f"{finding.rule}: ", MUTED), (printable(finding.fix.label), "bold"), (does, MUTED)])

    def _preview(self, findings: Sequence[LintFinding], said: Iterable[tuple[str, str]], rule: str = "") -> None:
        self.changes, self._rule = (), rule
        self._fix.update(assemble(said))
        self._work_out(findings)

    @work(exclusive=True, group="findings-preview", description="fixes")
    async def _work_out(self, findings: Sequence[LintFinding]) -> None:
        problem, changes, rule = "", tuple[Change, ...](), self._rule
        try:
            if rule:  # one after the other, as some fixes of a rule touch the same place
                now = self.bench.context.now()
                changes = (await asyncio.to_thread(lint.correction, self._path, now, frozenset({rule}))).changes
            elif findings:
                fixes = [f.fix for f in findings if f.fix is not None]
                changes = await asyncio.to_thread(lint.preview, self._path, fixes)
        except WorkbenchError as error:
            problem = str(error)
        lines = await asyncio.to_thread(_lines_of, changes)
        self.changes = changes
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
        same = [f for f in self._list.rows if finding and f.rule == finding.rule and f.fix is not None]
        if finding is None or not same:
            self.app.bell()
            return
        count = "The only fix" if len(same) == 1 else f"All {number(len(same))} fixes"
        does = keyed("{findings.yes} makes them, {findings.close} leaves them")
        self._preview(same, [(f"{count} of {finding.rule}, as shown below: ", "bold"), (does, "")], finding.rule)

    def action_yes(self) -> None:
        """Make the fixes of the rule that are shown."""
        if self._rule and self.changes:
            self._make(f"what {self._rule} found")
        else:
            self.app.bell()

    def _make(self, said: str) -> None:
        changes = tuple(change for change in self.changes if change.before != change.after)
        if self._written(said, changes):
            self.toast(f"Done: {said}. {key_of('findings.undo')} takes it back while this is open.")

    def _written(self, said: str, changes: tuple[Change, ...]) -> bool:
        """Write changes, keep them for the way back, and look again; tell whether that went well."""
        try:
            lint.make(changes, self.bench.replaced)
            self._made.append((said, changes))
        except WorkbenchError as error:
            self.toast(str(error), "error")
            return False
        finally:
            self._look()
        return True

    def action_undo(self) -> None:
        """Take the last fix back; the store's own undo knows nothing of files."""
        if not self._made:
            self.toast("No fix was made here yet. Fixes change files, and are taken back only while this is open.")
            return
        said, changes = self._made[-1]
        try:
            lint.take_back(changes)
        except WorkbenchError as error:
            self.toast(str(error), "error")
        else:
            self._made.pop()
            self.toast(f"Took back: {said}.")
        self._look()

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
        self.app.push_screen(WholeFile(self._path.name, measure(text), lines, self.bench, loads=is_index(self._path)))

    def action_external(self) -> None:
        """Edit the file in the person's own editor."""
        try:
            before = present(self._path) or ""
            at = self._list.current
            after = area.edit(self.app, before, 0 if at is None else at.line)
        except WorkbenchError as error:
            self.toast(str(error), "error")
            return
        changes = () if after is None else (Change(self._path, before, after if before else f"{after}\n"),)
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


def _lines_of(changes: Sequence[Change]) -> list[DiffLine]:
    """Return what changes without the secrets of the files; for a thread, as that takes a moment."""
    lines: list[DiffLine] = []
    for change in changes:
        if len(changes) > 1:
            new = " (a new file)" if change.before is None else ""
            lines.append(DiffLine("place", f"{change.path.name}{new}"))
        lines += change.lines(context=1)
    return lines


class WholeFile(FileDialog[None]):
    """A file line by line; of one that agents load (`loads`), the line at which Claude Code stops, and the rest."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(WHOLE)

    def __init__(self, name: str, cut: Cut, lines: Sequence[DiffLine], bench: Workbench, *, loads: bool) -> None:
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
