"""The app: areas as modes, the way between them, and what others do to the store."""

import asyncio
import contextlib
import gc
import os
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType
from textual import events, work
from textual.actions import ActionParseResult, parse
from textual.command import Provider
from textual.dom import DOMNode
from textual.driver import Driver
from textual.message import Message
from textual.message_pump import active_message_pump  # type: ignore[attr-defined]
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import Worker, WorkerFailed, WorkerState, get_current_worker

from workbench import crash
from workbench.config.loading import Settings
from workbench.config.paths import name_of
from workbench.core.first_run import TRY_DEMO
from workbench.core.record import WorkbenchError
from workbench.core.runtime import Cancelled, Stopped, may_stop, stoppable
from workbench.core.team import last_state
from workbench.core.text import one_line, printable
from workbench.services.context import Touched
from workbench.services.manual import pages
from workbench.services.open import Workbench
from workbench.services.reflection.gauge import gauge_of
from workbench.services.stream.stream import SMALL
from workbench.services.team.reach import deliver_waiting
from workbench.tui.actions import on_row
from workbench.tui.app import areas
from workbench.tui.app.actions import GLOBAL, bindings, palette_entries, sentence
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import AREAS
from workbench.tui.app.host import AppOptions, Command, Host, LookBack
from workbench.tui.app.waiting import Threads, asking
from workbench.tui.widgets.content import key_of, keyed, use_keymap
from workbench.tui.widgets.figures import since

if TYPE_CHECKING:
    from workbench.tui.stream.history_dialog import Undoing

SETTINGS = """Settings, keys among them
  {app.palette}, “Settings”   lists every value and key, and changes them
  workbench config   does the same in a shell"""
"""What the help says last."""

CHANGING = frozenset(("app.import", "app.reflect", "app.undo", "app.redo"))
"""What holds everywhere and changes the store."""

ASKING_FIRST = frozenset(("app.import", "app.reflect"))
"""Those of them that ask a person, or somebody else, for something before they change it."""

BEGINS = frozenset(
    ("helpful", "harmful", "edit", "external", "new", "add", "section", "replace", "split", "merge", "refine", "pin",
     "forget", "delete", "deprecate", "promote", "move")
)  # fmt: skip
"""The last parts of the ids of actions that vote, or ask for a text, a place or a yes before they
change something.
"""

SHOWN_FROM = 2000
"""Texts from which embedding and indexing take long enough to be shown."""

FOLLOW_SECONDS = 0.5
"""How often the journal's size is looked at, to show what other processes wrote."""


class StoreChanged(Message):
    """A transaction was committed, here or by another process."""

    def __init__(self, touched: Touched) -> None:
        super().__init__()
        self.touched = touched


NEXT_TURN = 0.001
"""Seconds of a timer that is meant to be due at once; the library divides by them."""

LONGEST_ALONE = 1.0
"""Seconds after which what the first screen does not need is loaded, whoever is at the keyboard."""


class Notices:
    """What the store has to say about itself, each sentence once; looking again is cheap while
    nothing happened.
    """

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._said: set[str] = set()
        self._seen: tuple[int, int] = (-1, -1)

    def fresh(self) -> list[str]:
        """Return the sentences that were not returned before. Raises `StoreProblem`."""
        library = self._bench.library
        seen = (len(library.notices), len(library.damage))
        if seen == self._seen and not library.unfinished:
            return []
        self._seen = seen
        new = [text for text in self._bench.care.notices() if text not in self._said]
        self._said.update(new)
        return new


def _palette() -> type[Provider]:
    """Return what the palette lists; imported when it is first opened."""
    from workbench.tui.app.palette import Palette

    return Palette


class WorkbenchApp(Host):
    """The terminal app over an open store. Its result is a store to open next, or `None` to quit.

    `last_words` say why it broke off, for whoever has the terminal then.
    """

    TITLE = "memory workbench"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_palette}
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (161, "-wide")]  # noqa: RUF012 - as Textual declares it
    BINDINGS = bindings((*GLOBAL, *AREAS.tabs))
    DEFAULT_MODE = "stream"

    def __init__(self, bench: Workbench, options: AppOptions) -> None:
        self._pressed = 0.0
        super().__init__(bench, options)
        for area in AREAS:
            self.add_mode(area.id, area.open)
        self._missed = 0
        self.last_words = ""
        self._catching_up = self._following = False
        self._trusted = True
        self._undoing: Undoing | None = None
        for theme in options.themes:
            self.register_theme(theme)
        asked = options.theme if options.theme in self.available_themes else Settings().theme
        if options.theme and asked in self.available_themes:
            self.theme = asked
        self.theme_at_start = self.theme
        """The theme before anybody chose another one here."""
        self._own_keys = dict(options.keymap)
        self.set_keymap(dict(options.keymap))
        use_keymap(self._own_keys)
        self._doings: Mapping[str, Doing] = {}
        self._aging: Timer | None = None
        self._notices = Notices(bench)
        self._due = DueNotice(bench)
        bench.library.listen(self._touched)

    def get_driver_class(self) -> type[Driver]:
        """Return what reads the keyboard: on Linux and macOS one that no byte of a paste can end."""
        driver = super().get_driver_class()
        if driver.__module__ != "textual.drivers.linux_driver":
            return driver
        from workbench.tui.app.terminal import ForgivingDriver

        return ForgivingDriver

    def on_mount(self) -> None:
        """Show what went wrong before, then load the model behind the first screen."""
        asyncio.get_running_loop().set_default_executor(Threads())
        for problem in (*self.options.faults, *self.options.problems):
            self.say(problem, "warning")
        self.set_interval(FOLLOW_SECONDS, self._follow)
        self.call_after_refresh(self._say_notices)
        self.call_after_refresh(self._leave_alone)
        self._trusted = self.bench.trust.standing.trusted
        self._away = False
        if not self._trusted and self.bench.library.standpoint is None:
            self.call_after_refresh(self.ask_for_trust)
        if self.options.begin:
            self.call_after_refresh(self._run_in, self.DEFAULT_MODE, self.options.begin)

    def _save_picture(self) -> None:
        """Save a screenshot among the downloads; without such a folder where the app works, or at
        home in the demo.
        """
        from platformdirs import user_downloads_path

        downloads = user_downloads_path()
        lasting = Path.home() if self.options.scratch else Path.cwd()
        self.deliver_screenshot(path=str(downloads if downloads.is_dir() else lasting))

    def watch_theme(self, before: str, now: str) -> None:
        """Say so when the settings name another theme than the one that was chosen: that one is
        back at the start.
        """
        given = self.options.given_theme
        if self.is_running and given is not None and before != now != given:
            named = f"“{given}”" if given else "the terminal's own colours"
            self.say(
                f"config.toml names {named}, which returns at the next start; "
                f"{keyed('{app.palette}')}, “Keep this theme” writes {now} there.",
                "warning",
            )

    def keep_theme(self) -> None:
        """Write the present theme into the settings, in place of the one that they name."""
        from workbench.config.writing import set_values

        with self.reporting():
            if self.options.config is not None:
                set_values(self.options.config, {"theme": self.theme})
                self.take_theme(self.theme)
                self.say(f"config.toml now names {self.theme}.")

    @work(exit_on_error=False)
    async def use_model(self) -> None:
        """Use the embedding model in another folder from the next start on."""
        from workbench.tui.tuning.profiles import use_model

        if self.options.config is not None:
            await use_model(self, self.options.config)

    def on_delivery_failed(self, event: events.DeliveryFailed) -> None:
        """Say why a screenshot could not be saved."""
        event.prevent_default()
        error = event.exception
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        self.say(f"The screenshot could not be saved: {why or type(error).__name__}.", "error")

    def on_unmount(self) -> None:
        """Let no thread wait for another process any more: leaving would wait for it."""
        self.waits.end()
        gc.unfreeze()

    @work
    async def ask_for_trust(self) -> None:
        """Show what came into the store from elsewhere, and take it over after a yes."""
        from workbench.tui.safety import ask

        await ask(self)
        for screen in self._areas():
            screen.show_status()

    # What others did

    @property
    def undoing(self) -> "Undoing":
        """What the undo key does; loaded with the first change."""
        if self._undoing is None:
            from workbench.tui.stream.history_dialog import Undoing

            self._undoing = Undoing(self)
        return self._undoing

    def _touched(self, touched: Touched) -> None:
        if self.is_running:
            self.post_message(StoreChanged(touched))
            if not self.bench.context.is_own(touched.actor):
                return
            if self._following:
                self.undoing.end_run()
                return
            self.undoing.note(touched, self._area_below())

    def _area_below(self) -> str:
        """Return the area that is in sight or below what is, "" for none."""
        return next(
            (one.AREA for one in reversed(self.screen_stack) if isinstance(one, AreaScreen)), ""
        )

    def _follow(self) -> None:
        library = self.bench.library
        if library.is_missing:
            self._miss_store()
            return
        if self._missed:
            self._missed, self.store_is_gone = 0, False
            self.say("The store is available again.")
            self.show_urgent()
        if (library.away is not None) != self._away:
            self._say_away()
        if self.paused:
            return
        self._following = True
        try:
            with self.reporting():
                library.refresh()
        finally:
            self._following = False
        self._say_notices()
        # A search or a thread may have read what came in before this did.
        if self.bench.trust.standing.trusted != self._trusted:
            self._trusted = not self._trusted
            self._changed_trust()

    def _say_away(self) -> None:
        """Say that the store of a team is out of reach, or back."""
        away = self.bench.library.away
        self._away = away is not None
        if away is None:
            self.say("The team's store is back.")
            deliver_waiting(self.bench.library.folder)
        else:
            self.say(last_state(away), "warning")
        for screen in self._areas():
            screen.show_status()

    def _changed_trust(self) -> None:
        """Put the banner up, or take it down, and ask about what came into the store while it is
        open.
        """
        for screen in self._areas():
            screen.show_status()
        if not self.bench.trust.standing.trusted:
            self.ask_for_trust()

    def _miss_store(self) -> None:
        """Say that the store is gone once it was missed twice: who closes a segment renames it for
        a moment.
        """
        self._missed += 1
        if self._missed == 2:
            self.store_is_gone = True
            where = self.bench.library.folder
            self.say(
                f"The store {where} is missing: removed, renamed or unreadable. You see its last state; nothing "
                "is stored until it is back, and no new store is created in its place.",
                "error",
            )
            self.show_urgent()

    def _say_notices(self) -> None:
        with self.reporting():
            for notice in self._notices.fresh():
                self.say(notice, "warning")
            if self.bench.library.standpoint is None and (due := self._due.fresh()):
                self.say(due)
                self._show_status()

    def on_store_changed(self, event: StoreChanged) -> None:
        """Let every area that was opened know; the one in sight follows at once."""
        doings = heard(self._doings, event.touched, self.bench.context.now())
        if doings is not self._doings:
            self._doings = doings
            self._tell_news()
        for screen in self._areas():
            screen.follow(event.touched)

    def _tell_news(self) -> None:
        """Tell what an agent does, and as long as that is recent look again now and then how old it
        is.
        """
        if self._aging is not None:
            self._aging.stop()
        now = self.bench.context.now()
        doing = latest(self._doings, now)
        self._aging = None if doing is None else self.set_timer(STEP, self._tell_news)
        self.news = (
            () if doing is None else tuple(map(self.bench.safety.masked, doing.wordings(now)))
        )
        if (area := self._area_in_front()) is not None:
            area.show_news()

    def _leave_alone(self) -> None:
        """Load nothing yet: somebody may look at the first screen now, and press a key."""
        self._pressed = time.monotonic()
        self._load_at_rest(LONGEST_ALONE)

    def _load_at_rest(self, left: float) -> None:
        """Load all else once nobody was at the keyboard for a moment, and after the seconds that
        are left anyway.

        What is loaded takes the interpreter from the screen for a tenth of a second now and then.
        """
        alone = self.options.alone
        if alone and left > 0 and time.monotonic() - self._pressed < alone:
            self.set_timer(alone, partial(self._load_at_rest, left - alone))
        else:
            self._load_retriever()

    @work(thread=True, group="retriever", exit_on_error=False)
    def _load_retriever(self) -> None:
        worker = get_current_worker()
        with contextlib.suppress(Stopped), stoppable(lambda: worker.is_cancelled):
            self._load_all(lambda: worker.is_cancelled)

    def _load_all(self, cancelled: Cancelled) -> None:
        """Read the store, then make ready what finds in it, then what makes the next start fast;
        may be left anywhere.

        Raises `Stopped` when the app is left meanwhile.
        """
        problem = ""

        def progress(done: int, total: int) -> None:
            if total >= SHOWN_FROM and not cancelled():
                self.call_later(self.note_loading, done, total)

        try:
            self._read_store()
            self.bench.retriever.load(progress, cancelled)
            self.bench.stream.prepare()  # a large store's is ready by now
        except WorkbenchError as error:
            problem = str(error)
        may_stop()
        self.call_later(self.note_loaded, problem)
        areas.import_all()
        may_stop()
        self.bench.safety.prepare()
        may_stop()
        gc.freeze()  # what stays for as long as the app does: the store's documents, the index, the modules
        # After all that somebody waits for now.
        with contextlib.suppress(WorkbenchError):
            self.bench.library.check_index()
        self.bench.keep_caches()
        may_stop()
        if self.bench.library.standpoint is None:
            with contextlib.suppress(WorkbenchError):
                self.bench.catch_up.run(cancelled)

    def _read_store(self) -> None:
        if not self.bench.library.is_read:
            self.bench.library.read()
            may_stop()
            self.bench.stream.prepare(words=False)
            self.call_later(self._show_all)
        if len(self.bench.library.memories) > SMALL:
            may_stop()
            self.bench.stream.prepare()
            self.call_later(self._show_all)

    def _show_all(self) -> None:
        """Show what the areas left out as long as the store was not in memory."""
        for screen in self._areas():
            screen.show_anew()

    def note_loading(self, done: int, total: int) -> None:
        """Show how far the caches are."""
        self.loading = (done, total)
        self._show_status()

    def _show_status(self) -> None:
        if (area := self._area_in_front()) is not None:
            area.show_status()

    def _area_in_front(self) -> AreaScreen | None:
        """Return the area that nothing covers, if anything can be shown in it; at the end of the
        app there is none.

        One that was opened a moment ago has nothing to show it in yet, and shows it by itself soon.
        """
        top = next(reversed(self.screen_stack), None)
        return top if self.is_running and isinstance(top, AreaScreen) and top.is_mounted else None

    def note_loaded(self, problem: str) -> None:
        """Let the areas use retrieval from now on."""
        self.loading = None
        self._show_status()
        if problem:
            self.say(problem, "error")
        for screen in self._areas():
            screen.retriever_ready()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Say so when loading failed in a way nobody foresaw; the app goes on without retrieval."""
        if event.worker.group == "retriever" and event.state is WorkerState.ERROR:
            self.say(
                f"The model could not be loaded: {event.worker.error!r}. Everything else works.",
                "error",
            )

    def _areas(self) -> Iterator[AreaScreen]:
        return (screen for screen in self.opened if self.is_running and screen.is_mounted)

    async def on_event(self, event: events.Event) -> None:
        """Note when somebody is at the keyboard: what loads meanwhile would take the interpreter
        from the screen.
        """
        if isinstance(event, events.InputEvent):
            self._pressed = time.monotonic()
        await super().on_event(event)

    # The store as it was

    @work
    async def on_look_back(self, event: LookBack) -> None:
        """Open the store as it was, in place of this one; leaving there comes back here."""
        if await self._may_leave():
            self.next_at = event.rev
            self.exit(self.bench.library.folder)

    @work
    async def on_try_demo(self) -> None:
        """End for the demo; whoever started the app opens it, and this store again after it."""
        if await self._may_leave():
            self.exit(None, return_code=TRY_DEMO)

    async def run_action(
        self,
        action: "str | ActionParseResult",
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action; of what would change a store that cannot be changed, say that before
        anything is typed.
        """
        obstacle = self.bench.library.obstacle
        if obstacle is not None:
            where, name, params = parse(action) if isinstance(action, str) else action
            of = self if where == "app" or default_namespace is None else default_namespace
            if of.check_action(name, params) and self._would_change(of, name, params):
                self.say(str(obstacle), "warning")
                return True
        return await super().run_action(action, default_namespace, namespaces)

    def _would_change(self, namespace: DOMNode, name: str, params: tuple[object, ...]) -> bool:
        """Tell whether an action of an area, of a row or one that holds everywhere changes the
        store.

        In the present that is only what asks for something first: all else is refused when it is
        tried, and some of it writes elsewhere.
        """
        called = f"{name}({', '.join(map(repr, params))})" if params else name
        past = self.bench.library.standpoint is not None
        if namespace is self:
            begins = CHANGING if past else ASKING_FIRST
            return any(action.method == called and action.id in begins for action in GLOBAL)
        held = on_row() if not isinstance(namespace, AreaScreen) else AREAS.scope(namespace.area.id)
        asked = (action for action in held if action.method == called and action.changes)
        return any(past or action.id.rpartition(".")[2] in BEGINS for action in asked)

    # What goes wrong

    def go_on_after(self, error: WorkbenchError) -> None:
        """Say what a person can act on, and show what is so now."""
        self.say(str(error), "error")
        top = next(reversed(self.screen_stack), None)
        is_its_own = active_message_pump.get(None) is top
        if top is not None and is_its_own and top.is_modal and not top.is_mounted:
            # It could not be built: nothing in it can be used, and nothing closes it. Its own
            # message loop does, which must not wait for the end of itself.
            top.call_later(_close, top)
        if not self._catching_up:
            self._catching_up = True
            self.call_later(self._catch_up)

    def _catch_up(self) -> None:
        """Show the store as it is now: what was acted on may be gone."""
        try:
            with self.reporting():
                if not self.bench.library.in_transaction:
                    self.bench.library.refresh()
                for screen in self._areas():
                    screen.show_anew()
        finally:
            self._catching_up = False

    def end_with(self, error: Exception) -> None:
        """Keep one sentence to end with, and write a report; the values that the code held are
        shown nowhere.
        """
        if os.environ.get(crash.TRACEBACK):
            shown = "".join(traceback.format_exception(error))
        else:
            met = error.error if isinstance(error, WorkerFailed) else error
            shown = f"workbench: {crash.sentence(met)}"
        self.last_words = self.last_words or f"{printable(shown, keep_newlines=True)}\n"
        error.__rich__ = lambda: ""  # type: ignore[attr-defined] # so that `panic` has to say it

    def panic(self, *renderables: RenderableType) -> None:
        """End with the last words, where there are some."""
        if self.last_words:
            self.exit(return_code=1)
        else:
            super().panic(*renderables)

    # Actions

    def delay_update(self, delay: float = 0.05) -> None:
        """Paint an area as soon as it stands, which it knows; the library would let every change to
        one wait.
        """
        super().delay_update(NEXT_TURN if isinstance(self.screen, AreaScreen) else delay)

    def action_area(self, name: str) -> None:
        if isinstance(self.screen, AreaScreen):
            self.undoing.end_run()
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
            from workbench.tui.reflection import reflect

            await reflect(self)

    @asking
    async def action_take_in(self) -> None:
        """Take a file into the store, after a look at what it brings."""
        if isinstance(self.screen, AreaScreen):
            from workbench.tui.files.imports import ImportDialog

            said = await self.push_screen_wait(ImportDialog(self.bench, Path.cwd()))
            if said:
                self.say(said)

    @asking
    async def action_undo(self) -> None:
        """Take back what the area has not stored, else this person's latest change."""
        screen = self.screen
        if isinstance(screen, AreaScreen) and not screen.undo_own():
            await self.undoing.undo(screen.AREA)

    async def take_back(self, told: Callable[[str], None], since: int | None = None) -> None:
        """Take back the latest change from a dialog (see `Host`)."""
        if since is None:
            await self.undoing.undo(self._area_below(), told)
        else:
            await self.undoing.undo_within(since, told)

    def action_redo(self) -> None:
        """Do again what was taken back."""
        if isinstance(self.screen, AreaScreen) and self.screen.redo_own():
            return
        self.change(lambda: self.say(f"Redone: {self.bench.history.redo()}"))

    def action_all_history(self) -> None:
        """Show what everybody did lately."""
        if isinstance(self.screen, AreaScreen):
            from workbench.tui.stream.history_dialog import HistoryDialog

            self.push_screen(HistoryDialog(self.bench))

    def action_split(self, percent: int) -> None:
        """Give the list of the area more of the width, or less."""
        if isinstance(self.screen, AreaScreen):
            self.screen.split(percent)

    def action_one_pane(self) -> None:
        """Show one pane of the area over the whole width, or all of them again."""
        if isinstance(self.screen, AreaScreen):
            self.screen.one_pane()

    def action_pause(self) -> None:
        """Hold what others write, so that nothing moves; once more, show all of it. A change here
        takes it in, too.
        """
        self.paused = not self.paused
        if not self.paused:
            self._follow()
        self._show_status()
        held = "Paused: changes by others are hidden until you follow again or change something."
        self.say(held if self.paused else "Following changes by others again.")

    def action_help(self) -> None:
        """Show every key of the area."""
        screen = self.screen
        if isinstance(screen, AreaScreen):
            from workbench.tui.manual import HelpScreen

            held = screen.as_mapped(screen.held_actions())
            more = "\n\n".join(filter(None, (keyed(screen.help_text), keyed(SETTINGS))))
            self.push_screen(HelpScreen(f"Keys · {screen.area.title}", held, more))

    def action_command_palette(self) -> None:
        """Find any action by its name."""
        from workbench.tui.app.palette import ManualPalette

        if not isinstance(self.screen, ManualPalette):
            self.push_screen(ManualPalette(id="--command-palette"))

    def action_manual(self, page: str = "") -> None:
        """Open the manual at a page, or at that of the area."""
        if isinstance(self.screen, AreaScreen):
            from workbench.tui.manual import open_manual

            open_manual(self, self.action_help, page)

    @work
    async def action_stores(self) -> None:
        chosen = await self._choose_store(self.bench.library.folder)
        if chosen is not None and await self._may_leave():
            self.exit(chosen)

    async def _choose_store(self, present: Path) -> Path | None:
        """Ask which store to open; return it, or `None` when it is open as it is now, or nobody
        chose.
        """
        from workbench.tui.widgets.dialog import Choice, Choose

        past = self.bench.library.standpoint is not None
        here = "as it is now" if past else "open now"
        folders = list(dict.fromkeys((present, *self.options.recent)))
        choices = [Choice(str(f), name_of(f), here if f == present else "") for f in folders]
        chosen = await self.push_screen_wait(Choose("Open a store", choices, str(present)))
        return Path(chosen) if chosen is not None and (past or Path(chosen) != present) else None

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
        lost = (*(screen.unsaved for screen in self._areas()), self.waits.unsaved)
        unsaved = " ".join(filter(None, lost))
        if not unsaved:
            return True
        from workbench.tui.widgets.dialog import sure

        return await sure(self, "Leave and discard it?", unsaved, "leave", guard=0.0)

    def show_settings(self, at: str = "") -> None:
        """List the settings and the keys, the cursor on the first whose name begins so."""
        from workbench.tui.settings import SettingsDialog

        config, demo = self.options.config, self.options.demo_config
        if (file := config or demo) is not None:
            self.push_screen(SettingsDialog(self.bench, file, at, is_demo=config is None))

    def take_keys(self, keymap: Mapping[str, str]) -> None:
        """Let a checked keymap hold from now on, in what is shown of keys too."""
        self._own_keys.clear()
        self._own_keys.update(keymap)
        self.options = replace(self.options, keymap=tuple(keymap.items()))
        self.set_keymap(dict(keymap))
        for screen in self._areas():
            screen.show_anew()

    def search_themes(self) -> None:
        """List the themes, the one in use first."""
        from workbench.tui.app.palette import theme_palette

        self.push_screen(theme_palette())

    def commands(self, screen: Screen[Any]) -> Iterable[Command]:
        """Return every action of the area, the areas, what holds everywhere, and the other areas'
        actions by their names.
        """
        here = screen if isinstance(screen, AreaScreen) else None
        if here is not None:
            for entry in palette_entries(here.as_mapped(AREAS.scope(here.area.id))):
                there = partial(here.run_by_id, entry.id)
                yield Command(entry.title, entry.help, there, entry.key)
        yield Command("Theme", "Change the colours", self.action_change_theme)
        can_write = self.options.config is not None
        if can_write and self.options.given_theme not in (None, self.theme):
            told = "Write it into config.toml, which names another"
            yield Command("Keep this theme", told, self.keep_theme)
        told = "Every setting: its value, where that is said, and what it means"
        yield Command("Settings", told, self.show_settings)
        told = "Every key (keybindings, shortcuts): remap it here"
        yield Command("Change keys", told, partial(self.show_settings, "keys."))
        if can_write:
            yield Command("Embedding model", "Use the model in another folder", self.use_model)
        yield Command("Screenshot", "Save a picture of the screen as SVG", self._save_picture)
        if here is None:
            return
        for area in (area for area in AREAS if area.id != here.area.id):
            for entry in palette_entries(here.as_mapped(area.actions)):
                title = f"{area.title}: {entry.title[:1].lower()}{entry.title[1:]}"
                run = partial(self._run_in, area.id, entry.id)
                yield Command(title, entry.help, run, f"{area.key} {entry.key}")
        for page in pages():
            opens = partial(self.action_manual, page.name)
            yield Command(f"Manual: {page.title}", sentence(page.about), opens)


def _close(dialog: Screen[object]) -> None:
    dialog.dismiss(None)


# What an agent did a moment ago, for the line at the top of every area.


RECENT = timedelta(minutes=10)
"""How long the line tells of it, and the pause after which counting begins anew."""

STEP = 10
"""Seconds in which the age of something recent is told: often enough to be true, seldom enough to
cost nothing.
"""

_LONGEST = 16
_ACTOR = "agent:"


@dataclass(frozen=True, slots=True)
class Doing:
    """How often an agent read and wrote without a long pause, and when it did last."""

    agent: str
    at: datetime
    reads: int = 0
    writes: int = 0

    def is_recent(self, now: datetime) -> bool:
        """Tell whether it is still worth a word."""
        return now - self.at < RECENT

    def wordings(self, now: datetime) -> tuple[str, ...]:
        """Return it in words, the longest wording first."""
        name, age = one_line(self.agent, _LONGEST), _age(self.at, now)
        counts = ((self.reads, "read"), (self.writes, "write"))
        done = ", ".join(f"{n} {what}{'' if n == 1 else 's'}" for n, what in counts if n)
        return (f"{name} · {done}, {age}", f"{name} · {done}", f"{name} · {age}", name)


def heard(before: Mapping[str, Doing], touched: Touched, now: datetime) -> Mapping[str, Doing]:
    """Return what agents did lately, with one more transaction, which may be nobody's."""
    agent = touched.actor.removeprefix(_ACTOR)
    if agent == touched.actor or touched.kind not in ("access", "edit"):
        return before
    known = before.get(agent)
    doing = known if known is not None and known.is_recent(now) else Doing(agent, now)
    if touched.kind == "access":
        asked = sum(table == "reads" for table, _ in touched.keys)
        doing = replace(doing, at=now, reads=doing.reads + max(1, asked))
    else:
        doing = replace(doing, at=now, writes=doing.writes + 1)
    kept = {name: one for name, one in before.items() if name != agent and one.is_recent(now)}
    return kept | {agent: doing}


def latest(doings: Mapping[str, Doing], now: datetime) -> Doing | None:
    """Return what was done last, while it is recent."""
    found = max(doings.values(), key=lambda doing: doing.at, default=None)
    return found if found is not None and found.is_recent(now) else None


def _age(at: datetime, now: datetime) -> str:
    seconds = int((now - at).total_seconds())
    if seconds < STEP:
        return "now"
    return f"{seconds // STEP * STEP}s ago" if seconds < 60 else since(at, now)


# Says once when a reflection becomes due.


_BECAUSE = {
    "importance": "much that is important has come in",
    "observations": "many observations have come in",
    "hours": "the last one is long ago",
}


class DueNotice:
    """Looks whether a reflection is due. That the last one is long ago is no news when the app is
    opened.
    """

    def __init__(self, bench: Workbench) -> None:
        self._context = bench.context
        due = gauge_of(self._context).due
        self.due, self._said = due is not None, due == "hours"

    def fresh(self) -> str:
        """Return a sentence the first time a reflection is due, and again after the next one."""
        due = gauge_of(self._context).due
        self.due = due is not None
        if due is None or self._said:
            self._said = due is not None
            return ""
        self._said = True
        why = _BECAUSE.get(due, "it is time")
        return f"A reflection is due: {why}. {key_of('app.reflect')} reflects."
