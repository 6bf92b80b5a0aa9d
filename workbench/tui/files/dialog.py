"""What is wrong with one file: each finding with the change its fix would make, shown before it is made."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.core.files.lint import LintFinding
from workbench.core.files.replacing import present
from workbench.core.record import WorkbenchError
from workbench.core.text import printable
from workbench.services.files import lint
from workbench.services.files.checks import Checked, check, is_index
from workbench.services.files.lint import Change
from workbench.services.files.project import KnownFile
from workbench.services.files.threeway import DiffLine
from workbench.services.open import Workbench
from workbench.tui.app import area
from workbench.tui.app.actions import bindings, display_key
from workbench.tui.files.actions import FINDINGS
from workbench.tui.files.exports.dialog import Pane
from workbench.tui.files.memory_md import WholeFile, cut_said
from workbench.tui.widgets.content import MUTED, assemble, body
from workbench.tui.widgets.dialog import Dialog, held_keys
from workbench.tui.widgets.figures import amount, number
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.row import Cell

RULE, WITH_RULE = 18, 84
"""Columns of a rule's name, and the width from which there is room for it."""

NO_FIX = "No fix by itself; put it right by hand."


@dataclass(frozen=True, slots=True)
class Made:
    """A fix that was made: what it was, and the files before and after."""

    said: str
    changes: tuple[Change, ...]


class FindingsDialog(Dialog[None]):
    """The findings of a file; `f` makes the fix that is shown, `u` takes the last one back while this is open."""

    class Looked(Message):
        """The file was looked over."""

        def __init__(self, checked: Checked) -> None:
            super().__init__()
            self.checked = checked

    class Previewed(Message):
        """What some fixes would change, the same as it may be shown, or why that cannot be told."""

        def __init__(self, number: int, changes: tuple[Change, ...], lines: tuple[DiffLine, ...], problem: str) -> None:
            super().__init__()
            self.number = number
            self.changes = changes
            self.lines = lines
            self.problem = problem

    BINDINGS: ClassVar[list[BindingType]] = bindings(FINDINGS)
    DEFAULT_CSS = """
    FindingsDialog {
        & > .dialog { width: 94%; max-width: 150; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title { margin-bottom: 0; }
        & .dialog--keys { margin-top: 0; }
        & #findings-about { height: auto; max-height: 4; margin-bottom: 1; }
        & #findings-list { height: 2fr; min-height: 3; background: $background; }
        & #findings-fix { height: auto; max-height: 3; margin: 1 0 0 0; }
        & #findings-diff { height: 3fr; min-height: 3; background: $background; }
        & #findings-diff > .line--cursor { background: $background; color: $foreground; }
    }
    """

    def __init__(self, file: KnownFile, bench: Workbench) -> None:
        super().__init__(bench.safety.masked(file.path.name), [a for a in FINDINGS if a.show])
        self._file = file
        self._bench = bench
        self._clock = bench.context.now
        self._number = 0
        self._changes: tuple[Change, ...] = ()
        self._rule = ""
        self._made: list[Made] = []

    def contents(self) -> Iterable[Widget]:
        """Return what the file is, its findings, the fix of the one under the cursor, and what that changes."""
        yield Static(Content(""), id="findings-about")
        yield LineView(_draw, _key_of, empty=Content(""), id="findings-list")
        yield Static(Content(""), id="findings-fix")
        pane = Pane("findings-diff")
        pane.set_empty(Content(""))
        pane.can_focus = False
        yield pane

    def on_mount(self) -> None:
        """Look the file over."""
        self._list.focus()
        self._look()

    @property
    def _list(self) -> LineView[LintFinding]:
        return self.query_one("#findings-list", LineView)

    @property
    def _pane(self) -> Pane:
        return self.query_one("#findings-diff", Pane)

    # Looking

    @work(thread=True, group="findings", exclusive=True)
    def _look(self) -> None:
        worker = get_current_worker()
        checked = check(self._file, self._clock())
        if not worker.is_cancelled:
            self.post_message(self.Looked(checked))

    @on(Looked)
    def _looked(self, event: Looked) -> None:
        checked = event.checked
        title = f"{checked.linted.title} · " if checked.linted else ""
        about = [assemble([(printable(self._masked(str(self._file.path.parent))), MUTED)])]
        if checked.cut is not None:
            about.append(cut_said(checked.cut))
        if checked.problem:
            about.append(body(f"✗ {self._masked(checked.problem)}", "$text-error"))
        else:
            count = len(checked.findings)
            found = "nothing is wrong" if not count else amount(count, "finding")
            about.append(assemble([(printable(title), ""), (found, "bold")]))
        self.query_one("#findings-about", Static).update(Content("\n").join(about))
        self._list.set_empty(Content("" if checked.problem else "Nothing is wrong with this file."))
        self._list.set_rows(checked.findings, cursor=min(self._list.cursor, max(0, len(checked.findings) - 1)))
        self._show_fix()

    @on(LineView.Highlighted, "#findings-list")
    def _show_fix(self) -> None:
        """Show what the fix of the finding under the cursor would change."""
        self._rule = ""
        finding = self._list.current
        if finding is None or finding.fix is None:
            said = "" if finding is None else f"{finding.rule}: {NO_FIX} {self._key('findings.external')} opens it."
            self._preview((), Content.styled(said, MUTED))
            return
        key = self._key("findings.fix")
        parts = [
            (f"{finding.rule}: ", MUTED),
            (printable(finding.fix.label), "bold"),
            (f"  ({key} does it)", MUTED),
        ]
        self._preview((finding,), assemble(parts))

    def _preview(self, findings: Sequence[LintFinding], said: Content, rule: str = "") -> None:
        self._number += 1
        self._changes = ()
        self.query_one("#findings-fix", Static).update(said)
        if findings:
            self._work_out(self._number, tuple(findings), rule)
        else:
            self._pane.show(())

    @work(thread=True, group="findings-preview", exclusive=True, description="fixes")
    def _work_out(self, number: int, findings: tuple[LintFinding, ...], rule: str) -> None:
        changes: tuple[Change, ...] = ()
        problem = ""
        try:
            if rule:  # one after the other, as some fixes of a rule touch the same place
                changes = lint.correction(self._file.path, self._clock(), frozenset({rule})).changes
            else:
                changes = lint.preview(self._file.path, [f.fix for f in findings if f.fix is not None])
        except WorkbenchError as error:
            problem = str(error)
        self.post_message(self.Previewed(number, changes, _lines_of(changes), problem))

    @on(Previewed)
    def _previewed(self, event: Previewed) -> None:
        if event.number != self._number:
            return
        self._changes = event.changes
        if event.problem:
            self._complain(event.problem)
        self._pane.show(event.lines)

    # Fixing

    def action_fix(self) -> None:
        finding = self._list.current
        if finding is None or finding.fix is None or not self._changes or self._rule:
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
        yes, no = self._key("findings.yes"), self._key("findings.close")
        said = [(f"{count} of {finding.rule}, as shown below: ", "bold"), (f"{yes} makes them, {no} leaves them", "")]
        self._preview(same, assemble(said), finding.rule)
        self._rule = finding.rule

    def action_yes(self) -> None:
        """Make the fixes of the rule that are shown."""
        if self._rule and self._changes:
            self._make(f"what {self._rule} found")
        else:
            self.app.bell()

    def _make(self, said: str) -> None:
        changes = tuple(change for change in self._changes if change.before != change.after)
        try:
            lint.make(changes, self._bench.replaced)
        except WorkbenchError as error:
            self._complain(str(error))
            self._look()
            return
        self._made.append(Made(said, changes))
        self._say(f"Done: {said}. {self._key('findings.undo')} takes it back while this is open.")
        self._look()

    def action_undo(self) -> None:
        """Take the last fix back; the store's own undo knows nothing of files."""
        if not self._made:
            self._say("No fix was made here yet. Fixes change files, and are taken back only while this is open.")
            return
        made = self._made[-1]
        try:
            lint.take_back(made.changes)
        except WorkbenchError as error:
            self._complain(str(error))
        else:
            self._made.pop()
            self._say(f"Took back: {made.said}.")
        self._look()

    # The file itself

    @work
    async def action_whole(self) -> None:
        """Show the whole file."""
        try:
            text = present(self._file.path) or ""
        except WorkbenchError as error:
            self._complain(str(error))
            return
        masks = await asyncio.to_thread(self._bench.safety.masked_lines, text)
        self.app.push_screen(WholeFile(self._masked(self._file.path.name), text, masks, is_index(self._file.path)))

    def action_external(self) -> None:
        """Edit the file in the person's own editor."""
        try:
            before = present(self._file.path) or ""
            at = self._list.current
            after = area.edit(self.app, before, 0 if at is None else at.line)
            if after is None:
                return
            change = Change(self._file.path, before, after if before else f"{after}\n")
            lint.make((change,), self._bench.replaced)
        except WorkbenchError as error:
            self._complain(str(error))
            return
        self._made.append(Made("your edit", (change,)))
        self._say(f"Saved. {self._key('findings.undo')} takes it back while this is open.")
        self._look()

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

    # Saying things

    def _masked(self, text: str) -> str:
        return self._bench.safety.masked(text)

    def _key(self, id: str) -> str:
        action = next(a for a in FINDINGS if a.id == id)
        return display_key(held_keys(self, (action,))[0][0])

    def _say(self, sentence: str) -> None:
        self.notify(printable(self._masked(sentence)), markup=False)

    def _complain(self, sentence: str) -> None:
        self.notify(printable(self._masked(sentence)), severity="error", markup=False)


def _key_of(finding: LintFinding) -> tuple[int, str, str]:
    return finding.line, finding.rule, finding.message


def _draw(finding: LintFinding, width: int) -> list[Cell]:
    rule = [Cell(finding.rule, RULE, "$text-accent")] if width >= WITH_RULE else []
    fix = Cell("fix" if finding.fix else "", 3, "$text-success")
    return [Cell(number(finding.line), 6, MUTED, "right"), *rule, Cell(finding.message), fix]


def _lines_of(changes: Sequence[Change]) -> tuple[DiffLine, ...]:
    """Return what changes without the secrets of the files; for a thread, as that takes a moment."""
    lines: list[DiffLine] = []
    for change in changes:
        if len(changes) > 1:
            new = " (a new file)" if change.before is None else ""
            lines.append(DiffLine("place", f"{change.path.name}{new}"))
        lines += change.lines(context=1)
    return tuple(lines)
