"""Exporting a playbook: the exact bytes and what they change are shown first; ctrl+s writes what was shown."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import events, on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.core.files.format import Parsed
from workbench.core.record import Conflict, WorkbenchError
from workbench.core.text import one_line, printable
from workbench.services.files.exports.choice import Choice as Wanted
from workbench.services.files.exports.exporting import ACE, Exporter, ExportPreview, Written
from workbench.services.files.exports.unsaved import parts_of
from workbench.services.files.overwriting import loss_said
from workbench.services.open import Workbench
from workbench.services.safety.safety import Held, Outgoing, Safety
from workbench.tui.app.actions import bindings, display_key
from workbench.tui.app.saving import Preview
from workbench.tui.app.waiting import asking, change
from workbench.tui.files.actions import EXPORT
from workbench.tui.files.exports.parts import DIALECTS, DialectChoice, FormatLine, Pane
from workbench.tui.files.exports.preview import (
    Asked,
    Look,
    Parts,
    diverged,
    hidden_lines,
    how_written,
    look,
    refused,
    state,
)
from workbench.tui.safety import FLAGGED, missing
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.dialog import Choice, Choose, Confirm, Dialog, held_keys
from workbench.tui.widgets.texts.prompt import Prompt
from workbench.tui.widgets.texts.safe_input import SafeInput

# What an export dialog says about flagged text: what holds the file back, and what goes out with a warning.


LISTED = 3
"""Flagged records that are named in the dialog."""

Pieces = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Guard:
    """Looks at what a playbook's file would carry out of the store."""

    bench: Workbench

    @property
    def safety(self) -> Safety:
        """What is flagged, and what may pass."""
        return self.bench.safety

    def look(self, book: str) -> Outgoing:
        """Return what of a playbook may go out, and what may not."""
        return self.safety.check_outgoing(parts_of(Parsed(ACE.name, playbooks=(self.bench.playbooks.open(book),))))

    def preview(self) -> Preview:
        """Return what shows how a reason would be stored, and takes the word that keeps it as typed."""
        return Preview(self.bench, again="enter", line=True)

    def allow(self, outgoing: Outgoing, reason: str) -> None:
        """Let everything pass that is held back, or nothing of it; raises `WorkbenchError`."""
        self.safety.allow_all([held.id for held in outgoing.refused], reason)


def guard_lines(outgoing: Outgoing, key: str) -> Pieces:
    """Return the lines for what is held back, or else for what goes out although it is flagged."""
    if outgoing.refused:
        count = len(outgoing.refused)
        head = f"\n{FLAGGED} Held back: {'1 flagged part' if count == 1 else f'{count} flagged parts'}. "
        tail: Pieces = [(key, "bold $text-accent"), (" lets it out as it is, after asking why.", MUTED)]
        return [(head, "bold $text-error"), *tail, *_listed(outgoing.refused, "$text-error")]
    if outgoing.warned:
        return [
            (f"\n{FLAGGED} Flagged, and goes out:", "bold $text-warning"),
            *_listed(outgoing.warned, "$text-warning"),
        ]
    return []


def _listed(held: tuple[Held, ...], style: str) -> Pieces:
    lines: Pieces = [(f"\n  {one_line(one.line, 300)}", style) for one in held[:LISTED]]
    more = len(held) - LISTED
    return [*lines, (f"\n  … and {more} more", MUTED)] if more > 0 else lines


__all__ = ["ExportDialog", "Pane"]

LOOKING: Parts = [("Looking …", MUTED)]

BOTH = 130
"""Columns from which changes and whole file stand side by side."""


class ExportDialog(Dialog[Written | None]):
    """Choose file, format and part, look at the text, write it; the result is what was written.

    `copy` puts a text on the clipboard and says how. It opens on the file that was written `last`, else on the one
    that the playbook came from.
    """

    class Looked(Message):
        """A thread has made what there is to see."""

        def __init__(self, look: Look) -> None:
            super().__init__()
            self.look = look

    BINDINGS: ClassVar[list[BindingType]] = bindings(EXPORT)
    DEFAULT_CSS = """
    ExportDialog {
        & > .dialog { width: 94%; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title { margin-bottom: 0; }
        & .dialog--keys { margin-top: 0; }
        & .export--line { height: 1; }
        & .export--label { width: 9; color: $text-muted; }
        & SafeInput { width: 1fr; background: $background; }
        & #export-least { width: 8; }
        & #export-at-least { width: 22; padding-left: 2; color: $text-muted; }
        & DialectChoice, & FormatLine { width: 1fr; height: 1; }
        & #export-state { height: auto; max-height: 10; margin: 1 0; }
        &.-narrow #export-state { margin: 0; }
        & #export-panes { height: 1fr; }
        & LineView { width: 1fr; background: $background; }
        & LineView > .line--cursor { background: $background; color: $foreground; }
        & LineView:focus > .line--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        & #export-whole { display: none; }
        &.-whole #export-whole, &.-new #export-whole { display: block; }
        &.-whole #export-changes, &.-new #export-changes { display: none; }
        &.-both #export-whole, &.-both #export-changes { display: block; }
        &.-both #export-whole { border-left: solid $panel; }
    }
    """

    def __init__(
        self,
        title: str,
        exporter: Exporter,
        book: str,
        guard: Guard,
        copy: Callable[[str], None],
        last: Written | None = None,
    ) -> None:
        super().__init__(title, [a for a in EXPORT if a.show])
        self._exporter = exporter
        self._book = book
        self._format = exporter.format_of(book) if last is None else last.format
        self._target = exporter.target(book, self._format) if last is None else last.path
        self._chosen = 0
        self._within = False
        self._guard = guard
        self._copy = copy
        self._asked: Asked | None = None
        self._found: Look | None = None
        self._awaited: Asked | None = None
        self._notice: Parts = []
        self._opened = False

    def contents(self) -> Iterable[Widget]:
        """Return the file, the format, which part of the playbook, what will happen, and the two views."""
        self.add_class("-new", update=False)  # nothing was compared yet; said later, all would be styled anew
        path = SafeInput(str(self._target), placeholder="file to write", id="export-path")
        yield _labelled("file", path)
        yield _labelled("format", FormatLine())
        yield _labelled("variant", DialectChoice(self._choose), id="export-dialect")
        section = SafeInput(placeholder="every section; a part of a name narrows it", id="export-section")
        least = SafeInput(placeholder="0", id="export-least")
        at_least = Static("helpful at least", id="export-at-least")
        yield Horizontal(Static("section", classes="export--label"), section, at_least, least, classes="export--line")
        yield Static(id="export-state")
        yield Horizontal(Pane("export-changes"), Pane("export-whole"), id="export-panes")

    def on_mount(self) -> None:
        """Look at the file as it is now."""
        self.query_one("#export-path").focus()
        self.query_one("#export-dialect").display = self._has_dialects
        self._look()

    def on_resize(self, event: events.Resize) -> None:
        """Show both views where there is room."""
        self._arrange(event.size.width)

    def _arrange(self, width: int) -> None:
        """Show changes and whole file side by side, or one of them; the whole file when nothing is replaced."""
        changes = self._found is not None and bool(self._found.plain.changes)
        self.set_class(not changes, "-new")
        self.set_class(changes and width >= BOTH, "-both")

    # Choosing

    @on(Input.Changed, "#export-path")
    def _path_changed(self, event: Input.Changed) -> None:
        if event.value != str(self._target):
            self._target = Path(event.value)
            self._look()

    @on(Input.Changed, "#export-section")
    @on(Input.Changed, "#export-least")
    def _part_changed(self) -> None:
        self._look()

    @on(Input.Submitted)
    def _to_preview(self) -> None:
        """Go on to the next field; where the file may be written, say which key does that."""
        self.screen.focus_next()
        preview = self._may_go()
        if preview is not None and preview.changed and preview.obstacle is None:
            self._notice = [(f"{self._key('export.write')} writes the file as shown. ", "bold")]
            self._show()

    @property
    def _has_dialects(self) -> bool:
        return self._exporter.kind(self._format).dialects is not None

    def action_dialect(self) -> None:
        if self._has_dialects:
            self._choose((self._chosen + 1) % len(DIALECTS))

    def action_budget(self) -> None:
        """Take of the playbook what its token budget keeps, or all of it."""
        self._within = not self._within
        self._look()

    def _choose(self, index: int) -> None:
        self._chosen = index
        self._look()

    @asking
    async def action_format(self) -> None:
        """Choose another format; the file's name follows it."""
        kinds = [kind for kind in self._exporter.outlets if kind.holds in ("playbook", "either")]
        choices = [Choice(k.name, k.title, how_written(k)) for k in kinds]
        chosen = await self.app.push_screen_wait(Choose("Format of the file", choices, self._format))
        if chosen is None or chosen == self._format:
            return
        self._format, self._chosen = chosen, 0
        self.query_one("#export-dialect").display = self._has_dialects
        self._target = self._exporter.target(self._book, chosen)
        path = self.query_one("#export-path", SafeInput)
        with path.prevent(Input.Changed):
            path.value = str(self._target)
        self._look()

    def action_view(self) -> None:
        """Change between what changes and the whole file."""
        self.toggle_class("-whole")

    def action_copy(self) -> None:
        """Copy the text as it would be written, unless a part of it is held back."""
        found = self._current
        if found is None or found.rendered is None or found.outgoing.refused:
            self.app.bell()
        else:
            self._copy(found.rendered.text)

    # Looking

    def _look(self, notice: Parts | None = None) -> None:
        """Have the text made and compared with the file; what stands there stays until that is done.

        `notice` is said beside it.
        """
        self._notice = notice or []
        self._asked = asked = self._wanted()
        self.query_one(DialectChoice).show(self._chosen)
        self.query_one(FormatLine).show(self._exporter.kind(self._format).title, self._key("export.format"))
        if self._found is None:
            self._say(LOOKING)
        self._make(asked)

    def _wanted(self) -> Asked:
        problem, path, choice = "", None, None
        section = self.query_one("#export-section", SafeInput).value.strip()
        least = self.query_one("#export-least", SafeInput).value.strip()
        if least and not (least.isascii() and least.isdigit()):
            problem = f"“{least}” is no number of helpful marks. Nothing was written."
        else:
            dialect = DIALECTS[self._chosen][0] if self._has_dialects else None
            at_least = int(least) if least else None
            choice = Wanted(self._book, section, at_least, dialect=dialect, within_budget=self._within)
        try:
            path = self.query_one("#export-path", SafeInput).path_to_write()
        except WorkbenchError as error:
            problem = problem or str(error)
        return Asked(self._format, choice, path, problem)

    @work(thread=True, exclusive=True, group="export-look", description="what is written")
    def _make(self, asked: Asked) -> None:
        worker = get_current_worker()
        found = look(self._exporter, self._guard.safety, asked)
        if not worker.is_cancelled:
            self.post_message(self.Looked(found))

    @on(Looked)
    def _looked(self, event: Looked) -> None:
        if event.look.asked is self._asked:
            self._found = event.look
            self._show()
            if self._awaited is self._asked:
                self._awaited = None
                self._write_at_last()

    def _write_at_last(self) -> None:
        """Write what was asked for before it could be shown, and is now; what needs a decision waits for one."""
        preview = self._may_go()
        if preview is None or preview.obstacle is not None:
            self.app.bell()
        else:
            self.action_write()

    @property
    def _current(self) -> Look | None:
        """What is shown, unless something else was asked for since."""
        found = self._found
        return found if found is not None and found.asked is self._asked else None

    def _show(self) -> None:
        """Say what will happen, and show the text and its changes, without their secrets until a person opens them."""
        found = self._found
        if found is None:
            return
        self._say([*self._notice, *self._state(found), *self._remarks(found)])
        views = found.plain if self._opened else found.masked
        self.query_one("#export-whole", Pane).show(views.whole)
        self.query_one("#export-changes", Pane).show(views.changes)
        self._arrange(self.size.width)

    def action_unfold(self) -> None:
        """Show the secrets, or mask them again."""
        self._opened = not self._opened
        self._show()

    def _state(self, found: Look) -> Parts:
        preview = found.preview
        if preview is None:
            return [(f"✗ {printable(found.problem)}", "$text-error")]
        write, replace, obstacle = self._key("export.write"), self._key("export.replace"), preview.obstacle
        if preview.diverged:
            return diverged(preview.three_way, preview.merged, write, replace)
        if obstacle is not None:
            adds = preview.merged not in (None, preview.present)
            return refused(obstacle, replace, write if adds else "")
        return state(preview, found.plain.changes, len(found.text.encode()))

    def _remarks(self, found: Look) -> Parts:
        said = found.rendered.remarks if found.rendered else ()
        remarks = [(f"\n! {printable(remark)}", "$text-warning") for remark in said]
        remarks += hidden_lines(0 if self._opened else found.hidden, self._key("export.unfold"))
        return remarks + guard_lines(found.outgoing, self._key("export.allow"))

    def _key(self, id: str) -> str:
        keys = zip(EXPORT, held_keys(self, EXPORT), strict=True)
        return next(display_key(key) for action, (key, _) in keys if action.id == id)

    def _say(self, parts: Sequence[tuple[str, str]]) -> None:
        self.query_one("#export-state", Static).update(assemble(parts))

    @asking
    async def action_allow(self) -> None:
        """Let what is flagged out, after asking why; undo takes it back."""
        found = self._current
        if found is None or not found.outgoing.refused:
            self.app.bell()
            return
        preview, outgoing = self._guard.preview(), found.outgoing

        def allow(_: str) -> None:
            with preview.writing("allow an export"):
                self._guard.allow(outgoing, preview.text)

        ask = Prompt("Why may this be exported?", placeholder="a reason", check=missing, take=allow, preview=preview)
        if await self.app.push_screen_wait(ask):
            self._look()

    # Writing

    def _may_go(self) -> ExportPreview | None:
        """Return what is shown if nothing of it is held back; what was asked for since has to be shown first."""
        found = self._current
        return None if found is None or found.outgoing.refused else found.preview

    def action_write(self) -> None:
        """Write what is shown; what goes wrong is said here and loses nothing.

        Pressed before that is shown, it is written as soon as it is, unless something else is asked for until then.
        """
        if self._current is None:
            self._awaited = self._asked
            return
        preview = self._may_go()
        if preview is None or not preview.changed:
            self.app.bell()
        elif preview.obstacle is None:
            self._write(lambda: self._exporter.write(preview))
        elif preview.merged not in (None, preview.present):
            self._write(lambda: self._exporter.write_merged(preview))
        else:
            self.app.bell()

    @asking
    async def action_replace(self) -> None:
        """Write the text of this store over what it cannot write back, after a yes."""
        preview = self._may_go()
        if preview is None or preview.obstacle is None:
            self.app.bell()
            return
        question = f"Replace {preview.path.name}? {loss_said(preview.obstacle).capitalize()}."
        kept = Content.styled("A copy of it is kept in your state folder; its name is said afterwards.", MUTED)
        if await self.app.push_screen_wait(Confirm(question, clock=time.monotonic, detail=kept, yes="replace")):
            self._write(lambda: self._exporter.write(preview, force=True))

    def _write(self, write: Callable[[], Written]) -> None:
        def written() -> None:
            # The store's turn first: what is written is to be noted there, too.
            with self._exporter.turn():
                done = write()
            self.dismiss(done)

        change(self, written, self._not_written)

    def _not_written(self, error: WorkbenchError) -> None:
        if not isinstance(error, Conflict):
            self._say([(f"✗ {printable(str(error))}", "bold $text-error")])
            return
        self._look([(f"✗ {printable(error.message)} This is how it is now. ", "bold $text-error")])


def _labelled(label: str, widget: Widget, id: str | None = None) -> Horizontal:
    return Horizontal(Static(label, classes="export--label"), widget, classes="export--line", id=id)
