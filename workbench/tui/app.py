"""The app: areas as modes, what they share, and the way between them."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual import work
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.content import Content
from textual.driver import Driver
from textual.message import Message
from textual.screen import Screen
from textual.theme import Theme
from textual.worker import Worker, WorkerState, get_current_worker

from workbench.bench.workbench import Workbench
from workbench.core.errors import WorkbenchError
from workbench.core.text import printable
from workbench.drafts import Item
from workbench.store.library import Touched
from workbench.tui import modes
from workbench.tui.actions import bindings, palette_entries
from workbench.tui.areas import AREAS, GLOBAL, scope
from workbench.tui.asking import asking
from workbench.tui.drafting import Drafting
from workbench.tui.notices import Notices
from workbench.tui.reflect_notice import DueNotice
from workbench.tui.screens.area import AreaScreen
from workbench.tui.widgets.line_list import LineList

SHOWN_FROM = 2000
"""Texts from which embedding and indexing take long enough to be shown."""

FOLLOW_SECONDS = 0.5
"""How often the journal's size is looked at, to show what other processes wrote."""


@dataclass(frozen=True, slots=True)
class AppOptions:
    """What the app is started with.

    `title` names the store; `config` is the settings' file that a dialog may write to;
    `seen` is the revision at the last look (`None`: never looked);
    `problems` are sentences to show at the start; `review_at` is the id that Review showed last;
    `drafts` is the folder for what is being typed (`None`: it is not kept).
    """

    title: str
    theme: str = ""
    themes: tuple[Theme, ...] = ()
    keymap: tuple[tuple[str, str], ...] = ()
    seen: int | None = None
    problems: tuple[str, ...] = ()
    recent: tuple[Path, ...] = ()
    editor: str = ""
    config: Path | None = None
    review_at: str = ""
    drafts: Path | None = None


class StoreChanged(Message):
    """A transaction was committed, here or by another process."""

    def __init__(self, touched: Touched) -> None:
        super().__init__()
        self.touched = touched


class RetrieverLoading(Message):
    """So many of the texts that the caches do not know are embedded or indexed."""

    def __init__(self, done: int, total: int) -> None:
        super().__init__()
        self.done = done
        self.total = total


class RetrieverLoaded(Message):
    """The model and the index are ready, or `problem` says why not."""

    def __init__(self, problem: str = "") -> None:
        super().__init__()
        self.problem = problem


class WorkbenchApp(App[Path | None]):
    """The terminal app over an open store. Its result is a store to open next, or `None` to quit."""

    TITLE = "memory workbench"
    CSS_PATH = "workbench.tcss"
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (161, "-wide")]  # noqa: RUF012 - as Textual declares it
    BINDINGS: ClassVar[list[BindingType]] = bindings(GLOBAL)
    MODES = modes.openers()  # type: ignore[assignment]
    DEFAULT_MODE = "stream"

    def __init__(self, bench: Workbench, options: AppOptions) -> None:
        super().__init__()
        self.bench = bench
        self.loading: tuple[int, int] | None = None
        self.options = options
        self.writes_much = False
        self.review_at = options.review_at
        for theme in options.themes:
            self.register_theme(theme)
        if options.theme in self.available_themes:
            self.theme = options.theme
        self.set_keymap(dict(options.keymap))
        self._notices = Notices(bench)
        self._due = DueNotice(bench, options.keymap)
        bench.library.listen(self._touched)

    def get_driver_class(self) -> type[Driver]:
        """Return what reads the keyboard: on Linux and macOS one that no byte of a paste can end."""
        driver = super().get_driver_class()
        if driver.__module__ != "textual.drivers.linux_driver":
            return driver
        from workbench.tui.terminal import ForgivingDriver

        return ForgivingDriver

    def on_mount(self) -> None:
        """Show what went wrong before, then load the model behind the first screen."""
        for problem in self.options.problems:
            self.say(problem, "warning")
        self.set_interval(FOLLOW_SECONDS, self._follow)
        self.call_after_refresh(self._say_notices)
        self.call_after_refresh(self._load_retriever)

    # What others did

    def _touched(self, touched: Touched) -> None:
        if self.is_running:
            self.post_message(StoreChanged(touched))

    def _follow(self) -> None:
        with self.reporting():
            self.bench.library.journal.refresh()
        self._say_notices()

    def _say_notices(self) -> None:
        with self.reporting():
            for notice in self._notices.fresh():
                self.say(notice, "warning")
            if due := self._due.fresh():
                self.say(due)
                self._show_status()

    def on_store_changed(self, event: StoreChanged) -> None:
        """Let every area that was opened know; the one in sight follows at once."""
        for screen in self._areas():
            screen.follow(event.touched)

    @work(thread=True, group="retriever", exit_on_error=False)
    def _load_retriever(self) -> None:
        worker = get_current_worker()
        problem = ""

        def progress(done: int, total: int) -> None:
            if total >= SHOWN_FROM and not worker.is_cancelled:
                self.post_message(RetrieverLoading(done, total))

        try:
            self.bench.retriever.load(progress, lambda: worker.is_cancelled)
        except WorkbenchError as error:
            problem = str(error)
        if not worker.is_cancelled:
            self.post_message(RetrieverLoaded(problem))
            modes.import_all()

    def on_retriever_loading(self, event: RetrieverLoading) -> None:
        """Show how far the caches are."""
        self.loading = (event.done, event.total)
        self._show_status()

    def _show_status(self) -> None:
        # An area that was opened a moment ago has nothing to show it in yet, and shows it by itself soon.
        if isinstance(self.screen, AreaScreen) and self.screen.is_mounted:
            self.screen.show_status()

    def on_retriever_loaded(self, event: RetrieverLoaded) -> None:
        """Let the areas use retrieval from now on."""
        self.loading = None
        self._show_status()
        if event.problem:
            self.say(event.problem, "error")
        for screen in self._areas():
            screen.retriever_ready()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say so when loading failed in a way nobody foresaw; the app goes on without retrieval."""
        if event.worker.group == "retriever" and event.state is WorkerState.ERROR:
            self.say(f"The model could not be loaded: {event.worker.error!r}. Everything else works.", "error")

    def _areas(self) -> Iterator[AreaScreen]:
        stacks = (screen for stack in self._screen_stacks.values() for screen in stack)
        return (screen for screen in stacks if isinstance(screen, AreaScreen) and screen.is_mounted)

    def draft(self, record: str, use: str = "text") -> Drafting:
        """Return what keeps the draft of a text: of a record (`table/key`), or another `use` of it."""
        return Drafting(self.options.drafts, Item(record, use), self.bench.context.now)

    def marked(self, area: str) -> list[Any]:
        """Return the rows that are marked in an area, in sight or not."""
        screens = (screen for screen in self._areas() if area == screen.AREA)
        return [row for screen in screens for rows in screen.query(LineList) for row in rows.marked_rows]

    # Saying things

    def say(self, sentence: str, severity: str = "information") -> None:
        """Show a toast; its text may hold stored text."""
        if severity not in ("information", "warning", "error"):
            raise ValueError(severity)
        self.notify(printable(sentence, keep_newlines=True), severity=severity, markup=False)  # type: ignore[arg-type]

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Turn an error a person may see into a toast; the app goes on."""
        try:
            yield
        except WorkbenchError as error:
            self.say(str(error), "error")

    # Actions

    def action_area(self, name: str) -> None:
        """Go to an area."""
        if isinstance(self.screen, AreaScreen):
            self.switch_mode(name)

    @work
    async def _run_in(self, area: str, action_id: str) -> None:
        """Go to an area and run one of its actions there."""
        await self.switch_mode(area)
        screen = self.screen
        if isinstance(screen, AreaScreen):
            screen.call_after_refresh(screen.run_by_id, action_id)

    @asking
    async def action_reflect(self) -> None:
        """Propose what the latest memories say together."""
        if isinstance(self.screen, AreaScreen):
            from workbench.tui.reflect_flow import reflect

            await reflect(self)

    @asking
    async def action_take_in(self) -> None:
        """Take a file into the store, after a look at what it brings."""
        if isinstance(self.screen, AreaScreen):
            from workbench.tui.import_dialog import ImportDialog

            said = await self.push_screen_wait(ImportDialog(self.bench, Path.cwd()))
            if said:
                self.say(said)

    def action_undo(self) -> None:
        """Take back what the area has not stored, else this person's latest change."""
        if isinstance(self.screen, AreaScreen) and self.screen.undo_own():
            return
        with self.reporting():
            self.say(f"Undone: {self.bench.history.undo()}")

    def action_redo(self) -> None:
        """Do again what was taken back."""
        if isinstance(self.screen, AreaScreen) and self.screen.redo_own():
            return
        with self.reporting():
            self.say(f"Done again: {self.bench.history.redo()}")

    def action_all_history(self) -> None:
        """Show what everybody did lately."""
        if isinstance(self.screen, AreaScreen):
            from workbench.tui.history_dialog import HistoryDialog

            bench = self.bench
            self.push_screen(HistoryDialog(bench.history, bench.context.now(), bench.safety.masked))

    def action_help(self) -> None:
        """Show every key of the area."""
        screen = self.screen
        if isinstance(screen, AreaScreen):
            from workbench.tui.widgets.help import HelpScreen

            self.push_screen(
                HelpScreen(f"Keys · {screen.area.title}", screen.as_mapped(scope(screen.area.id)), screen.help_text)
            )

    @work
    async def action_stores(self) -> None:
        """Open another store."""
        from workbench.tui.stores import choose_store

        chosen = await choose_store(self, self.bench.library.folder, self.options.recent)
        if chosen is not None and await self._may_leave():
            self.exit(chosen)

    async def action_back(self) -> None:
        """Close what is open in the area."""
        screen = self.screen
        if isinstance(screen, AreaScreen):
            screen.go_back()

    async def action_quit(self) -> None:
        """Leave; what was decided is stored already, and what is not is asked about."""
        await self._quit()

    @asking
    async def _quit(self) -> None:
        if await self._may_leave():
            self.exit(None)

    async def _may_leave(self) -> bool:
        """Ask before something goes that is stored nowhere."""
        unsaved = " ".join(screen.unsaved for screen in self._areas() if screen.unsaved)
        if not unsaved:
            return True
        from workbench.tui.widgets.confirm import Confirm

        confirm = Confirm("Leave and let it go?", clock=time.monotonic, detail=Content(unsaved), yes="leave", guard=0.0)
        answer: bool | None = await self.push_screen_wait(confirm)
        return bool(answer)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """List every action of the area, those of the other areas by their names, then Textual's own commands."""
        if isinstance(screen, AreaScreen):
            for entry in palette_entries(screen.as_mapped(scope(screen.area.id))):
                yield SystemCommand(entry.title, entry.help, partial(screen.run_by_id, entry.id))
            for area in AREAS:
                others = area.actions if area.id != screen.area.id else ()
                for entry in palette_entries(screen.as_mapped(others)):
                    title = f"{area.title}: {entry.title[:1].lower()}{entry.title[1:]}"
                    yield SystemCommand(title, entry.help, partial(self._run_in, area.id, entry.id))
        yield SystemCommand("Theme", "Change the colours", self.action_change_theme)
        yield SystemCommand("Screenshot", "Save a picture of the screen as SVG", self.deliver_screenshot)
