"""Exporting a playbook: the exact bytes and what they change are shown first; ctrl+s writes what was shown."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.bench.exporting import Exporter, ExportPreview
from workbench.bench.filediff import DiffLine
from workbench.bench.leaving import parts_of
from workbench.bench.outgoing import Rendered
from workbench.bench.outgoing_choice import Choice as Wanted
from workbench.bench.safety import Outgoing
from workbench.bench.threeway import ThreeWay
from workbench.core.errors import Conflict, WorkbenchError
from workbench.core.text import printable
from workbench.formats import ace
from workbench.formats.outlets import OUTLETS, outlet
from workbench.tui.actions import bindings, display_key
from workbench.tui.areas import EXPORT
from workbench.tui.asking import asking
from workbench.tui.content import MUTED, assemble
from workbench.tui.export_guard import Guard, guard_lines
from workbench.tui.export_parts import DIALECTS, DialectChoice, FormatLine, Pane
from workbench.tui.export_words import diverged, how_written, state, three_way_lines
from workbench.tui.flag_view import missing
from workbench.tui.playbook_preview import whole_file
from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.confirm import Confirm
from workbench.tui.widgets.dialog import Dialog, held_keys
from workbench.tui.widgets.prompt import Prompt
from workbench.tui.widgets.safe_input import SafeInput

__all__ = ["ExportDialog", "Pane"]

BOTH = 130
"""Columns from which changes and whole file stand side by side."""


class ExportDialog(Dialog[ExportPreview | None]):
    """Choose file, format and part, look at the text, write it; the result is what was written.

    `copy` puts a text on the clipboard and says how.
    """

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
        & #export-state { height: auto; max-height: 8; margin: 1 0; }
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
        self, title: str, exporter: Exporter, book: str, target: Path, guard: Guard, copy: Callable[[str], None]
    ) -> None:
        super().__init__(title, [a for a in EXPORT if a.show])
        self._exporter = exporter
        self._book = book
        self._format = exporter.format_of(book)
        # A playbook that came from a file of another format goes back there.
        self._target = exporter.target(book, self._format) if target == exporter.target(book) else target
        self._chosen = 0
        self._within = False
        self._guard = guard
        self._copy = copy
        self._rendered: Rendered | None = None
        self._outgoing = Outgoing((), (), ())
        self._preview: ExportPreview | None = None
        self._three: ThreeWay | None = None
        self._problem = ""
        self._changes: Sequence[DiffLine] = ()

    def contents(self) -> Iterable[Widget]:
        """Return the file, the format, which part of the playbook, what will happen, and the two views."""
        path = SafeInput(str(self._target), placeholder="file to write", id="export-path")
        yield _labelled("file", path)
        yield _labelled("format", FormatLine())
        yield _labelled("dialect", DialectChoice(self._choose), id="export-dialect")
        section = SafeInput(placeholder="every section; a part of a name narrows it", id="export-section")
        least = SafeInput(placeholder="0", id="export-least")
        at_least = Static("helpful at least", id="export-at-least")
        yield Horizontal(Static("section", classes="export--label"), section, at_least, least, classes="export--line")
        yield Static(id="export-state")
        yield Horizontal(Pane("export-changes"), Pane("export-whole"), id="export-panes")

    def on_mount(self) -> None:
        """Look at the file as it is now."""
        self.query_one("#export-path").focus()
        self.query_one("#export-dialect").display = self._format == ace.NAME
        self._look()

    def on_resize(self, event: events.Resize) -> None:
        """Show both views where there is room."""
        self._arrange(event.size.width)

    def _arrange(self, width: int) -> None:
        """Show changes and whole file side by side, or one of them; the whole file when nothing is replaced."""
        self.set_class(not self._changes, "-new")
        self.set_class(bool(self._changes) and width >= BOTH, "-both")

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
        self.screen.focus_next()

    def action_dialect(self) -> None:
        """The next dialect."""
        if self._format == ace.NAME:
            self._choose((self._chosen + 1) % len(DIALECTS))

    def action_budget(self) -> None:
        """Cut the playbook where its token budget ends, or take all of it."""
        self._within = not self._within
        self._look()

    def _choose(self, index: int) -> None:
        self._chosen = index
        self._look()

    @asking
    async def action_format(self) -> None:
        """Choose another format; the file's name follows it."""
        kinds = [kind for kind in OUTLETS if kind.holds in ("playbook", "either")]
        choices = [Choice(k.name, k.title, how_written(k)) for k in kinds]
        chosen = await self.app.push_screen_wait(Choose("Format of the file", choices, self._format))
        if chosen is None or chosen == self._format:
            return
        self._format, self._chosen = chosen, 0
        self.query_one("#export-dialect").display = chosen == ace.NAME
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
        if self._rendered is None or self._outgoing.refused:
            self.app.bell()
        else:
            self._copy(self._rendered.text)

    # Looking

    def _look(self) -> None:
        """Make the text, compare it with the file, and show both."""
        self._preview, self._three, self._problem, path = None, None, "", None
        try:
            path = self._path()
        except WorkbenchError as error:
            self._problem = str(error)
        try:
            self._rendered = self._made(path)
            self._outgoing = self._guard.safety.check_outgoing(parts_of(self._rendered.parsed))
            if path is not None:
                text, remarks, inside = self._rendered.text, self._rendered.remarks, outlet(self._format).inside
                self._preview = self._exporter.preview(path, text, remarks, inside=inside)
                self._three = self._preview.three_way() if self._preview.diverged else None
        except WorkbenchError as error:
            self._problem = str(error)
        self._show()

    def _made(self, path: Path | None) -> Rendered:
        section = self.query_one("#export-section", SafeInput).value.strip()
        least = self.query_one("#export-least", SafeInput).value.strip()
        if least and not (least.isascii() and least.isdigit()):
            raise WorkbenchError(f"“{least}” is no number of helpful marks.", "Nothing was written.")
        dialect = DIALECTS[self._chosen][0] if self._format == ace.NAME else None
        wanted = Wanted(self._book, section, int(least) if least else None, dialect=dialect, within_budget=self._within)
        try:
            return self._exporter.render(self._format, wanted, path)
        except WorkbenchError:
            # When the file that is there cannot be read, what would be written is shown all the same.
            self._rendered = self._exporter.render(self._format, wanted)
            raise

    def _path(self) -> Path:
        return self.query_one("#export-path", SafeInput).path_to_write()

    @property
    def _text(self) -> str:
        """What ctrl+s would write: with the changes of somebody else where they do not collide with ours."""
        own = self._rendered.text if self._rendered else ""
        return (self._three.merged or own) if self._three else own

    def _show(self) -> None:
        self.query_one(DialectChoice).show(self._chosen)
        self.query_one(FormatLine).show(outlet(self._format).title, self._key("export.format"))
        if self._three is not None:
            self._changes = three_way_lines(self._three)
        else:
            replaces = self._preview is not None and self._preview.present is not None
            self._changes = self._preview.lines() if self._preview and replaces else ()
        self._say([*self._state(), *self._remarks()])
        self.query_one("#export-whole", Pane).show(whole_file(self._text))
        self.query_one("#export-changes", Pane).show(self._changes)
        self._arrange(self.size.width)

    def _state(self) -> list[tuple[str, str]]:
        if self._preview is None:
            return [(f"✗ {printable(self._problem)}", "$text-error")]
        if self._three is not None:
            return diverged(self._three, self._key("export.write"), self._key("export.replace"))
        return state(self._preview, self._changes, len(self._text.encode()))

    def _remarks(self) -> list[tuple[str, str]]:
        said = self._rendered.remarks if self._rendered else ()
        remarks = [(f"\n! {printable(remark)}", "$text-warning") for remark in said]
        return remarks + guard_lines(self._outgoing, self._key("export.allow"))

    def _key(self, id: str) -> str:
        keys = zip(EXPORT, held_keys(self, EXPORT), strict=True)
        return next(display_key(key) for action, (key, _) in keys if action.id == id)

    def _say(self, parts: Sequence[tuple[str, str]]) -> None:
        self.query_one("#export-state", Static).update(assemble(parts))

    @asking
    async def action_allow(self) -> None:
        """Let what is flagged out, after asking why; undo takes it back."""
        if not self._outgoing.refused:
            self.app.bell()
            return
        why = await self.app.push_screen_wait(
            Prompt("Why may this be exported?", placeholder="a reason", check=missing)
        )
        if why:
            try:
                self._guard.allow(self._outgoing, why)
            except WorkbenchError as error:
                self._problem = str(error)
            self._look()

    # Writing

    def action_write(self) -> None:
        """Write what is shown; what goes wrong is said here and loses nothing."""
        preview = self._preview
        if preview is None or not preview.changed or self._outgoing.refused:
            self.app.bell()
        elif self._three is None:
            self._write(lambda: self._exporter.write(preview), preview)
        elif (merged := self._three.merged) is not None and merged != preview.present:
            self._write(lambda: self._exporter.write_merged(preview, merged), replace(preview, text=merged))
        else:
            self.app.bell()

    @asking
    async def action_replace(self) -> None:
        """Write the text of this store over somebody else's changes, after a yes."""
        preview = self._preview
        if preview is None or self._three is None or self._outgoing.refused:
            self.app.bell()
            return
        question = f"Replace {preview.path.name} and drop what somebody else changed in it?"
        lost = Content.styled("Their changes are in no other place that is known here.", MUTED)
        if await self.app.push_screen_wait(Confirm(question, clock=time.monotonic, detail=lost, yes="replace")):
            self._write(lambda: self._exporter.write(preview), preview)

    def _write(self, write: Callable[[], None], preview: ExportPreview) -> None:
        try:
            write()
        except Conflict as error:
            self._look()
            said = [(f"✗ {printable(error.message)} This is how it is now. ", "bold $text-error")]
            self._say([*said, *self._state(), *self._remarks()])
        except WorkbenchError as error:
            self._say([(f"✗ {printable(str(error))}", "bold $text-error")])
        else:
            self.dismiss(preview)


def _labelled(label: str, widget: Widget, id: str | None = None) -> Horizontal:
    return Horizontal(Static(label, classes="export--label"), widget, classes="export--line", id=id)
