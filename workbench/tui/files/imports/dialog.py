"""Taking a file into the store: everything it would bring is listed first; nothing is written before that is seen."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

from textual import events, on, work
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.bench.files.imports.importing import ImportPlan
from workbench.bench.files.imports.paths import Offered, completed
from workbench.bench.files.imports.said import counts_steps
from workbench.bench.open import Workbench
from workbench.core.errors import WorkbenchError
from workbench.core.text import printable
from workbench.tui.app.actions import bindings
from workbench.tui.app.asking import asking
from workbench.tui.app.waiting import change
from workbench.tui.files.actions import IMPORT
from workbench.tui.files.imports.asking import ask_format, ask_steps
from workbench.tui.files.imports.chosen import Chosen, chosen_by
from workbench.tui.files.imports.rows import Parts, Row, done_said, draw, listing_said, plan_rows, plan_said, way_said
from workbench.tui.files.imports.way import Way
from workbench.tui.files.imports.writing import WRITING, ImportWriting
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.figures import number
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.safe_input import SafeInput


class ImportDialog(ImportWriting):
    """Name a file, see what it brings, take it in; the result is a sentence that says what was done."""

    class Found(Message):
        """What a name stands for was found out."""

        def __init__(self, number: int, chosen: Chosen) -> None:
            super().__init__()
            self.number = number
            self.chosen = chosen

    BINDINGS: ClassVar[list[BindingType]] = bindings(IMPORT)
    DEFAULT_CSS = """
    ImportDialog {
        & > .dialog { width: 94%; max-width: 150; height: 94%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & .dialog--title { margin-bottom: 0; }
        & .dialog--keys { margin-top: 0; }
        & .import--line { height: 1; }
        & .import--label { width: 9; color: $text-muted; }
        & SafeInput { width: 1fr; background: $background; }
        & #import-format, & #import-way { width: 1fr; height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & #import-state { height: auto; max-height: 5; margin: 1 0; }
        & LineView { background: $background; }
    }
    """

    def __init__(self, bench: Workbench, folder: Path) -> None:
        title = "Import a file · nothing is written before it is listed here"
        super().__init__(bench, title, [a for a in IMPORT if a.show])
        self._base = folder
        self._folder: Path | None = None
        self._exact: tuple[str, Path] | None = None
        self._number = 0
        self._way = Way()
        self._taken: list[Path] = []
        self._picked = False
        self._opened_last: Path | None = None
        self.chosen = Chosen()

    def contents(self) -> Iterable[Widget]:
        """Return the file, its format, what it would bring, and the lines."""
        path = SafeInput("", placeholder="file or folder", id="import-path")
        yield Horizontal(Static("file", classes="import--label"), path, classes="import--line")
        format = Static(Content(""), id="import-format")
        yield Horizontal(Static("format", classes="import--label"), format, classes="import--line")
        way = Static(Content(""), id="import-way")
        yield Horizontal(Static("taking", classes="import--label"), way, classes="import--line")
        yield Static(Content(""), id="import-state")
        empty = Content("Type or paste the path of a file; tab completes it.")
        yield LineView(self._draw, id, empty=empty, id="import-rows")

    def on_mount(self) -> None:
        """Show what lies in the working folder."""
        self._path.focus()
        self._say_way()
        self._look()

    @property
    def _path(self) -> SafeInput:
        return self.query_one("#import-path", SafeInput)

    @property
    def _rows(self) -> LineView[Row]:
        return self.query_one("#import-rows", LineView)

    def _draw(self, row: Row, width: int) -> list[Cell]:
        return draw(row, width, self._bench.safety.masked, self._taken)

    # Finding out what a name stands for

    @on(Input.Changed, "#import-path")
    def _typed(self) -> None:
        # How another file is read says nothing about this one; what to take from files does.
        self._way = Way(theirs=self._way.theirs, as_new=self._way.as_new)
        self._look()

    def _look(self) -> None:
        self._number += 1
        self.chosen = Chosen()
        self._begun = time.monotonic()
        name = self._path.value
        exact = self._exact[1] if self._exact and self._exact[0] == name else None
        self._find_out(self._number, name, exact, self._way)

    @work(thread=True, group="import-look", exclusive=True)
    def _find_out(self, number: int, name: str, exact: Path | None, way: Way) -> None:
        worker = get_current_worker()

        def tell(done: int, total: int) -> None:
            self.post_message(self.Went("lines read", done, total))

        chosen = chosen_by(self._bench, name, self._base, exact, way, tell, lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.post_message(self.Found(number, chosen))

    @on(Found)
    def _found(self, event: Found) -> None:
        if event.number != self._number or self.writing:
            return
        chosen = self.chosen = event.chosen
        self._say_format(chosen.format)
        if chosen.plan is not None:
            self._show_plan(chosen.plan)
            return
        if chosen.listing is not None:
            self._folder, self._picked = chosen.path, False
            self._say(listing_said(chosen.listing))
            self._rows.set_empty(Content("Nothing in this folder is of a known format. Type the path of another one."))
            self._rows.set_rows(chosen.listing.offered, cursor=self._next_of(chosen.listing.offered))
            return
        self._rows.set_empty(Content("Type or paste the path of a file; tab completes it."))
        self._rows.set_rows(chosen.offered, cursor=0)
        if chosen.problem:
            self._say([(f"✗ {printable(chosen.problem)}", "$text-error")])
        else:
            self._say([(f"{number(len(chosen.offered))} names begin like this", MUTED)])

    def _show_plan(self, plan: ImportPlan) -> None:
        parts = plan_said(plan)
        if plan.records:
            key = self.key("import.take")
            parts.append((f"\nenter on the list, or {key}, writes what is listed and nothing else.", MUTED))
        if counts_steps(plan):
            first, key = self._way.epoch, self.key("import.steps")
            when = "the last one is now" if first is None else f"the first one was {first:%Y-%m-%d %H:%M}"
            parts.append((f"\nIt counts steps: {when}, {self._way.step_hours:g} h each; {key} changes it.", ""))
        self._say(parts)
        self._rows.set_empty(Content("Everything in this file is in the store already."))
        self._rows.set_rows(plan_rows(plan), cursor=0)

    # Choosing

    @on(Input.Submitted, "#import-path")
    def action_down(self) -> None:
        """From the file's name to the lines."""
        if self._rows.rows:
            self._rows.focus()

    def action_complete(self) -> None:
        """Complete the name as far as it is clear, or come back from the lines to it."""
        if self.focused is not self._path:
            self._path.focus()
            return
        chosen = self.chosen
        offered = chosen.listing.offered if chosen.listing else chosen.offered
        if chosen.path is None or not offered or chosen.listing:
            self.action_down()
            return
        self._choose(completed(chosen.path, offered), offered[0].folder if len(offered) == 1 else False)

    @on(LineView.Opened)
    def _opened(self) -> None:
        row = self._rows.current
        if isinstance(row, Offered):
            self._opened_last = row.path
            self._picked = self.chosen.listing is not None and not row.folder
            self._choose(row.path, row.folder)
        else:
            self.action_take()

    def _choose(self, path: Path, folder: bool) -> None:
        """Put a path into the line for it, as it is even where the line cannot show it."""
        text = printable(f"{path}/" if folder else str(path))
        self._exact = (text, path)
        self._path.value = text
        self._path.cursor_position = len(text)
        if folder:
            self._path.focus()

    @asking
    async def action_format(self) -> None:
        """Read the file as another format."""
        path = self.chosen.path
        if path is None or self.writing or not path.is_file():
            self.app.bell()
            return
        held = self.chosen.plan.parsed.format if self.chosen.plan else ""
        try:
            way = await ask_format(self.app, path, self._way, held, self._bench.context.formats)
        except WorkbenchError as error:
            self._say([(f"✗ {printable(str(error))}", "$text-error")])
            return
        self._go(way)

    @asking
    async def action_steps(self) -> None:
        """Say when the first step was, and how long a step takes."""
        if self.chosen.plan is None or not counts_steps(self.chosen.plan):
            self.app.bell()
            return
        self._go(await ask_steps(self.app, self._way))

    def action_theirs(self) -> None:
        """Take the file's version of what differs, or leave it as it is stored."""
        self._go(replace(self._way, theirs=not self._way.theirs))

    def action_as_new(self) -> None:
        """Let new memories count towards the next reflection, or not."""
        if self.writing:
            self.app.bell()
            return
        self._way = replace(self._way, as_new=not self._way.as_new)
        self._say_way()

    def _go(self, way: Way | None) -> None:
        """Read the file again in another way; None leaves all as it is."""
        if way is None:
            return
        if self.writing:
            self.app.bell()
            return
        self._way = way
        self._say_way()
        self._look()

    # Writing

    def action_take(self) -> None:
        """Write what is listed, with a progress bar; esc stops it."""
        plan = self.chosen.plan
        if plan is None or not plan.records or self.writing:
            self.app.bell()
            return
        self._path.disabled = True
        self._rows.focus()
        self.start(plan, as_new=self._way.as_new)

    @on(ImportWriting.Went)
    def _went(self, event: ImportWriting.Went) -> None:
        if self.writing != (event.what == WRITING) or (not self.writing and self.chosen.path):
            return
        self.show_progress(event.what, event.done, event.total)

    @on(ImportWriting.Done)
    def _done(self, event: ImportWriting.Done) -> None:
        self.finish()
        self._path.disabled = False
        if event.report is None:
            self._say([(f"✗ {printable(event.problem)}", "bold $text-error")])
            return
        if not self._picked or event.report.cancelled:
            self.dismiss(done_said(event.report, "u"))
            return
        # One file out of a folder: the others wait.
        self._taken.append(event.report.plan.path)
        self._notify(done_said(event.report, self.key("import.undo")))
        self._to_folder()

    def _next_of(self, offered: Sequence[Offered]) -> int:
        """Return where to go on in a folder: at the file that was looked at last, or below it once it is taken."""
        at = next((n for n, one in enumerate(offered) if one.path == self._opened_last), 0)
        taken = bool(offered) and offered[at].path in self._taken
        return min(at + taken, len(offered) - 1) if offered else 0

    def _to_folder(self) -> None:
        """Go back to the files of the folder that one was picked from."""
        if self._folder is not None:
            self._choose(self._folder, True)
            self._rows.focus()

    def action_undo(self) -> None:
        """Take back what was imported last here."""
        if self.writing or not self._taken:
            self.app.bell()
            return

        def undo() -> None:
            self._notify(f"Undone: {self._bench.history.undo()}")
            self._taken.pop()
            self._look()

        def complain(error: WorkbenchError) -> None:
            self._notify(str(error), "error")
            self._look()

        change(self, undo, complain)

    def action_leave(self) -> None:
        """Stop what is under way, go back to the folder a file was picked from, or close."""
        if self.writing:
            self.stop()
            self._say([("Stopping …", "bold")])
            return
        if self._picked:
            self._to_folder()
            return
        self.workers.cancel_node(self)
        self.dismiss(None)

    # Saying things

    def on_click(self, event: events.Click) -> None:
        """A click on the format asks for another one, one on what to take changes that."""
        if event.widget is not None and event.widget.id == "import-format":
            self.call_later(self.run_action, "format")
        elif event.widget is not None and event.widget.id == "import-way":
            self.call_later(self.run_action, "theirs")

    def _say_way(self) -> None:
        said = way_said(self._way, self.key("import.theirs"), self.key("import.as-new"))
        self.query_one("#import-way", Static).update(assemble(said))

    def _say_format(self, text: str) -> None:
        self.query_one("#import-format", Static).update(Content(printable(self._bench.safety.masked(text))))

    def _say(self, parts: Parts) -> None:
        mask = self._bench.safety.masked
        self.query_one("#import-state", Static).update(assemble([(mask(text), style) for text, style in parts]))

    def _notify(self, sentence: str, severity: Literal["information", "error"] = "information") -> None:
        self.app.notify(printable(self._bench.safety.masked(sentence)), severity=severity, markup=False)
