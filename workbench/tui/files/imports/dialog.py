"""Taking a file into the store: everything it would bring is listed first; nothing is written before that is seen."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Literal

from textual import events, on, work
from textual.app import App
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from workbench.core.record import WorkbenchError
from workbench.core.stream.times import instant
from workbench.core.text import printable
from workbench.services.files.imports.importing import ImportPlan, counts_steps
from workbench.services.files.imports.paths import Offered, beginning, completed
from workbench.services.open import Workbench
from workbench.tui.app.actions import bindings
from workbench.tui.app.surviving import survives
from workbench.tui.app.waiting import asking, change
from workbench.tui.files.actions import IMPORT
from workbench.tui.files.imports.writing import (
    Chosen,
    ImportOptions,
    Row,
    WritingLine,
    can_choose,
    choices,
    chosen_by,
    done_said,
    draw,
    key_of,
    listing_said,
    no_hours,
    no_time,
    offer_said,
    plan_rows,
    plan_said,
    sessions_said,
    way_said,
)
from workbench.tui.widgets.content import MUTED, assemble
from workbench.tui.widgets.dialog import Choice, Choose, Dialog, Progressed
from workbench.tui.widgets.figures import absolute, amount
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.prompt import Prompt
from workbench.tui.widgets.texts.safe_input import SafeInput

# What the import dialog asks for: another format, and when the steps of a file were.


async def ask_format(app: App[Any], path: Path, way: ImportOptions, held: str) -> ImportOptions | None:
    """Ask as which format a file is to be read; `held` is the one it is read as now. Raises `UnreadableFile`."""
    offered = [Choice(*choice) for choice in choices(path)]
    format = await app.push_screen_wait(Choose(f"What is {path.name}?", offered, held))
    return None if format is None else replace(way, format=format)


async def ask_steps(app: App[Any], way: ImportOptions, now: datetime) -> ImportOptions | None:
    """Ask when the first step was, and how long a step takes."""
    hint = "2026-01-31T09:00; empty: the last step is now"
    epoch = await app.push_screen_wait(Prompt("When was the first step?", placeholder=hint, check=no_time))
    if epoch is None:
        return None
    asked = Prompt("How many hours does a step take?", f"{way.step_hours:g}", check=no_hours)
    hours = await app.push_screen_wait(asked)
    if hours is None:
        return None
    return replace(way, epoch=instant(epoch, now) if epoch else None, step_hours=float(hours))


# The line of the import dialog that a path is written in, and what it stands for, which a thread finds out.


@survives
class PathLine(Horizontal):
    """A box for the path of a file or folder; `look` asks what it stands for, and `Found` is the answer to the last."""

    class Read(Progressed):
        """So many lines of a file are read."""

    class Found(Message):
        """What a path stands for was found out."""

        def __init__(self, number: int, chosen: Chosen) -> None:
            super().__init__()
            self.number = number
            self.chosen = chosen

    def __init__(self, bench: Workbench, base: Path) -> None:
        self.box = SafeInput("", placeholder="file or folder", id="import-path")
        super().__init__(Static("file", classes="import--label"), self.box, classes="import--line")
        self._bench = bench
        self._base = base
        self._exact: tuple[str, Path] | None = None
        self._number = 0

    def put(self, path: Path, folder: bool) -> None:
        """Put a path into the box, as it is even where the box cannot show it."""
        text = printable(f"{path}/" if folder else str(path))
        self._exact = (text, path)
        self.box.value = text
        self.box.cursor_position = len(text)
        if folder:
            self.box.focus()

    def look(self, way: ImportOptions) -> None:
        """Find out what the path stands for, a file being read in a `way`."""
        self._number += 1
        name = self.box.value
        exact = self._exact[1] if self._exact and self._exact[0] == name else None
        self._find_out(self._number, name, exact, way)

    @work(thread=True, group="import-look", exclusive=True)
    def _find_out(self, number: int, name: str, exact: Path | None, way: ImportOptions) -> None:
        worker = get_current_worker()

        def tell(done: int, total: int) -> None:
            self.post_message(self.Read(done, total))

        chosen = chosen_by(self._bench, name, self._base, exact, way, tell, lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.post_message(self.Found(number, chosen))

    def on_path_line_found(self, event: Found) -> None:
        """Let nobody hear of a path that is not the one in the box any more."""
        if event.number != self._number:
            event.stop()

    def give_up(self) -> None:
        """Stop finding out."""
        self.workers.cancel_node(self)


class ImportDialog(Dialog[str | None]):
    """Name a file, see what it brings, take it in; the result is a sentence that says what was done."""

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
        super().__init__(title, [a for a in IMPORT if a.show])
        self._bench = bench
        self._line = PathLine(bench, folder)
        self._state = WritingLine(bench, id="import-state")
        self._folder: Path | None = None
        self._way = ImportOptions()
        self._taken: list[Path] = []
        self._marked: set[int] = set()
        self._picked = self._entered = False
        self._opened_last: Path | None = None
        self.chosen = Chosen()

    def contents(self) -> Iterable[Widget]:
        """Return the file, its format, what it would bring, and the lines."""
        yield self._line
        format = Static(Content(""), id="import-format")
        yield Horizontal(Static("format", classes="import--label"), format, classes="import--line")
        way = Static(Content(""), id="import-way")
        yield Horizontal(Static("taking", classes="import--label"), way, classes="import--line")
        yield self._state
        empty = Content("Type or paste the path of a file; tab completes it.")
        yield LineView(self._draw, id, empty=empty, id="import-rows")

    def on_mount(self) -> None:
        """Show what lies in the working folder."""
        self._path.focus()
        self._say_way()
        self._look()

    @property
    def writing(self) -> bool:
        """Whether a plan is being carried out."""
        return self._state.writing

    @property
    def _path(self) -> SafeInput:
        return self._line.box

    @property
    def _rows(self) -> LineView[Row]:
        return self.query_one("#import-rows", LineView)

    def _draw(self, row: Row, width: int) -> list[Cell]:
        return draw(row, width, self._bench.safety.masked, self._taken, self._marked)

    # Finding out what a name stands for

    @on(Input.Changed, "#import-path")
    def _typed(self) -> None:
        # How another file is read says nothing about this one; what to take from files does.
        self._way = ImportOptions(theirs=self._way.theirs, as_new=self._way.as_new)
        self._look()

    def _look(self) -> None:
        self.chosen, self._marked, self._entered = Chosen(), set(), False
        self._state.begin()
        self._line.look(self._way)

    @on(PathLine.Read)
    def _read(self, event: PathLine.Read) -> None:
        if not self.writing and not self.chosen.path:
            self._state.show_progress("lines read", event.done, event.total)

    @on(PathLine.Found)
    def _found(self, event: PathLine.Found) -> None:
        if self.writing:
            return
        entered = self._entered
        self.chosen = event.chosen
        self._show_chosen(event.chosen)
        if entered:
            self._submitted()

    def _show_chosen(self, chosen: Chosen) -> None:
        """Show what the name stands for."""
        self._say_format(chosen.format)
        if chosen.plan is not None:
            self._show_plan(chosen.plan)
            return
        if chosen.session:
            self._show_session()
            return
        if chosen.listing is not None:
            self._folder, self._picked = chosen.path, False
            take, documents = key_of(self, "import.take"), key_of(self, "import.documents")
            follows = (f"\n{take} reads the folder note by note · {documents} opens it as documents", MUTED)
            said = sessions_said(chosen.listing, key_of(self, "import.sessions"))
            self._state.say([*listing_said(chosen.listing), follows, *said])
            self._rows.set_empty(Content(f"No file here is of a format of its own; {take} reads the folder's notes."))
            self._rows.set_rows(chosen.listing.offered, cursor=self._next_of(chosen.listing.offered))
            return
        self._rows.set_empty(Content("Type or paste the path of a file; tab completes it."))
        self._rows.set_rows(chosen.offered, cursor=0)
        if chosen.problem:
            self._state.say([(f"✗ {printable(chosen.problem)}", "$text-error")])
        else:
            count = len(chosen.offered)
            names = amount(count, "name begins like this", "names begin like this")
            self._state.say([(f"{names}: enter takes {'it' if count == 1 else 'the marked one'}", MUTED)])

    def _show_plan(self, plan: ImportPlan) -> None:
        more = plan.parsed.offered or plan.parsed.closed
        parts = plan_said(plan) if plan.records or not more else []
        if plan.records:
            key = key_of(self, "import.take")
            parts.append((f"\nenter on the list, or {key}, writes what is listed and nothing else.", MUTED))
        offer = offer_said(plan, key_of(self, "import.statements"), key_of(self, "import.mark"))
        parts += offer if parts else [(text.lstrip("\n"), style) for text, style in offer]
        if counts_steps(plan):
            first, key = self._way.epoch, key_of(self, "import.steps")
            when = "the last one is now" if first is None else f"the first one was {absolute(first)}"
            parts.append((f"\nIt counts steps: {when}, {self._way.step_hours:g} h each; {key} changes it.", ""))
        self._state.say(parts)
        lists = f"Nothing is listed yet: {key_of(self, 'import.statements')} lists what it has."
        self._rows.set_empty(Content(lists if more else "Everything in this file is in the store already."))
        self._rows.set_rows(plan_rows(plan), cursor=0)

    def _show_session(self) -> None:
        """Say what a session is; one that was picked from a folder is opened at once."""
        key = key_of(self, "import.sessions")
        follows = f"\nenter, or {key}, lists what it teaches; nothing is stored by that."
        self._state.say([("What an agent and a person said and did: it holds no records.", "bold"), (follows, MUTED)])
        self._rows.set_empty(Content(""))
        self._rows.set_rows([])
        if self._picked:
            self.call_later(self.run_action, "sessions")
        elif self._rows.has_focus:
            self._path.focus()  # who pressed enter before it was known what the name stands for is on an empty list

    # Choosing

    @on(Input.Submitted, "#import-path")
    def _submitted(self) -> None:
        """Go on to what the name stands for, as soon as that is known: the only name that begins so is taken."""
        offered = self.chosen.offered
        if self.chosen == Chosen():
            self._entered = True
        elif len(offered) == 1:
            self._line.put(offered[0].path, offered[0].folder)
        elif self.chosen.session or self._rows.rows:
            self.action_down()
        else:
            self.app.bell()

    def action_down(self) -> None:
        """From the file's name to the lines, or to what a session teaches."""
        if self.chosen.session:
            self.call_later(self.run_action, "sessions")
        elif self._rows.rows:
            self._rows.focus()

    def action_complete(self) -> None:
        """Complete the name as far as it is clear, or come back from the lines to it."""
        if self.focused is not self._path:
            self._path.focus()
            return
        chosen = self.chosen
        if chosen.path is not None and chosen.listing is not None and self._path.value.strip():
            self._complete_below(chosen.path, chosen.listing.offered)
        elif chosen.path is None or not chosen.offered or chosen.listing is not None:
            self.action_down()
        else:
            alone = len(chosen.offered) == 1 and chosen.offered[0].folder
            self._line.put(completed(chosen.path, chosen.offered), alone)

    def _complete_below(self, folder: Path, offered: Sequence[Offered]) -> None:
        """Go on in the folder that is named as far as the names in it agree; what follows is typed."""
        begun = beginning(offered) if self._path.value.endswith("/") else ""
        if begun:
            self._line.put(folder / begun, len(offered) == 1 and offered[0].folder)
        elif not self._path.value.endswith("/"):
            self._line.put(folder, True)
        else:
            self.app.bell()

    @on(LineView.Opened)
    def _opened(self) -> None:
        row = self._rows.current
        if isinstance(row, Offered):
            self._opened_last = row.path
            self._picked = self.chosen.listing is not None and not row.folder
            self._line.put(row.path, row.folder)
        else:
            self.action_take()

    @asking
    async def action_format(self) -> None:
        """Read the file as another format."""
        path = self.chosen.path
        if path is None or self.writing or not path.is_file():
            self.app.bell()
            return
        held = self.chosen.plan.parsed.format if self.chosen.plan else ""
        try:
            way = await ask_format(self.app, path, self._way, held)
        except WorkbenchError as error:
            self._state.say([(f"✗ {printable(str(error))}", "$text-error")])
            return
        self._go(way)

    @asking
    async def action_steps(self) -> None:
        """Say when the first step was, and how long a step takes."""
        if self.chosen.plan is None or not counts_steps(self.chosen.plan):
            self.app.bell()
            return
        self._go(await ask_steps(self.app, self._way, self._bench.context.now()))

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

    def action_statements(self) -> None:
        """List the statements of a document as candidates, or the closed issues of a tracker; or none again."""
        parsed = self.chosen.plan.parsed if self.chosen.plan is not None else None
        if parsed is None or not (self._way.more or parsed.offered or parsed.closed):
            self.app.bell()
            return
        self._go(replace(self._way, more=not self._way.more))

    def action_mark(self) -> None:
        """Mark a record, so that only marked ones are taken, or take the mark off again."""
        row, plan = self._rows.current, self.chosen.plan
        if plan is None or self.writing or not can_choose(plan) or not any(one is row for one in plan.records):
            self.app.bell()
            return
        self._marked ^= {id(row)}
        self._rows.set_rows(self._rows.rows, cursor=self._rows.cursor + 1)

    def _go(self, way: ImportOptions | None) -> None:
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
        if plan is None and not self.writing:
            self._take_without_plan()
            return
        if plan is None or not plan.records or self.writing:
            self.app.bell()
            if plan is not None and not self.writing:
                self._notify("Nothing in it is new, so nothing was imported." + self._and_more(plan))
            return
        if self._marked:
            records = tuple(one for one in plan.records if id(one) in self._marked)
            plan = replace(plan, records=records, agrees=False)
        self._path.disabled = True
        self._rows.focus()
        self._state.write(plan, as_new=self._way.as_new)

    def _take_without_plan(self) -> None:
        """Read a folder note by note, list what a session teaches, or say what is to be named first."""
        if self.chosen.listing is not None:
            self._picked = False
            self._go(replace(self._way, folder=True))
        elif self.chosen.session:
            self.call_later(self.run_action, "sessions")
        else:
            self.app.bell()
            reading = self.chosen == Chosen()
            self._notify("The file is still being read." if reading else self.chosen.problem or "Choose a file first.")

    def _and_more(self, plan: ImportPlan) -> str:
        has_more = plan.parsed.offered or plan.parsed.closed
        return f" {key_of(self, 'import.statements')} lists what else it has." if has_more else ""

    @on(WritingLine.Done)
    def _done(self, event: WritingLine.Done) -> None:
        self._path.disabled = False
        if event.report is None:
            self._state.say([(f"✗ {printable(event.problem)}", "bold $text-error")])
            return
        if not self._picked or event.report.cancelled:
            self.dismiss(done_said(event.report, "u"))
            return
        # One file out of a folder: the others wait.
        self._taken.append(event.report.plan.path)
        self._notify(done_said(event.report, key_of(self, "import.undo")))
        self._to_folder()

    def _next_of(self, offered: Sequence[Offered]) -> int:
        """Return where to go on in a folder: at the file that was looked at last, or below it once it is taken."""
        at = next((n for n, one in enumerate(offered) if one.path == self._opened_last), 0)
        taken = bool(offered) and offered[at].path in self._taken
        return min(at + taken, len(offered) - 1) if offered else 0

    def _to_folder(self) -> None:
        """Go back to the files of the folder that one was picked from."""
        if self._folder is not None:
            self._line.put(self._folder, True)
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

    def action_documents(self) -> None:
        """Follow the folder that is named, as one of documents, and open it."""
        documents, folder = self._bench.documents, self.chosen.path
        if folder is None or self.chosen.listing is None or self.writing:
            self.app.bell()
            return

        def follow() -> None:
            from workbench.tui.agents.documents import DocumentsDialog

            if folder.resolve() not in documents.followed():
                documents.follow(folder)
            self.dismiss(None)
            self.app.push_screen(DocumentsDialog(self._bench, folder))

        change(self, follow, lambda error: self._notify(str(error), "error"))

    @asking
    async def action_sessions(self) -> None:
        """List what the session that is named teaches, or all that lie in the folder."""
        chosen = self.chosen
        if chosen.session and chosen.path is not None:
            files = [chosen.path]
        else:
            files = [one.path for one in chosen.listing.offered if one.session] if chosen.listing else []
        if not files or self.writing:
            self.app.bell()
            return
        from workbench.tui.agents.lessons import LessonsDialog

        said = await self.app.push_screen_wait(LessonsDialog(self._bench, files))
        if said is not None:
            self.dismiss(said)

    def action_leave(self) -> None:
        """Stop what is under way, go back to the folder a file was picked from, or close."""
        if self.writing:
            self._state.stop()
            return
        if self._way.folder:
            self._go(replace(self._way, folder=False))
            return
        if self._picked:
            self._to_folder()
            return
        self._line.give_up()
        self.dismiss(None)

    # Saying things

    def on_click(self, event: events.Click) -> None:
        """A click on the format asks for another one, one on what to take changes that."""
        if event.widget is not None and event.widget.id == "import-format":
            self.call_later(self.run_action, "format")
        elif event.widget is not None and event.widget.id == "import-way":
            self.call_later(self.run_action, "theirs")

    def _say_way(self) -> None:
        said = way_said(self._way, key_of(self, "import.theirs"), key_of(self, "import.as-new"))
        self.query_one("#import-way", Static).update(assemble(said))

    def _say_format(self, text: str) -> None:
        self.query_one("#import-format", Static).update(Content(printable(self._bench.safety.masked(text))))

    def _notify(self, sentence: str, severity: Literal["information", "error"] = "information") -> None:
        self.app.notify(printable(self._bench.safety.masked(sentence)), severity=severity, markup=False)
