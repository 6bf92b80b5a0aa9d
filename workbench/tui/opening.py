"""What one begins with. The first card says what can be done with no store yet; nothing is written
before one is chosen. An empty store can begin with the files of agents in this folder and, once
asked for, with what agents have on this machine.
"""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

from textual import events, on, work
from textual.binding import Binding, BindingType
from textual.widget import Widget

from workbench.config import loading, paths, recent
from workbench.core.first_run import FirstChoice, FirstRun, FirstStep
from workbench.core.team import shown
from workbench.core.text import printable
from workbench.services.folder import Source, beside, on_machine
from workbench.services.open import Workbench
from workbench.tui.actions import BEGIN, LIST, WELCOME
from workbench.tui.app.actions import bindings
from workbench.tui.app.areas import check_keymap
from workbench.tui.app.private_names import GuardedApp
from workbench.tui.app.themes import load_themes
from workbench.tui.app.waiting import asking, run_in_order
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.figures import amount
from workbench.tui.widgets.line_list import Cell, LineView

TITLE = "There is no store here yet. What do you want to do?"

_LABEL = 18


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that can be done: its label, what it does in a line, and more of that for the row
    under the cursor.
    """

    step: FirstStep
    label: str
    remark: str
    more: str


def rows_of(first: FirstRun) -> Iterator[Row]:
    """Yield what can be done in a place without a store."""
    kept = f"your global store, {paths.from_home(first.store)}"
    if first.is_project:
        kept = f"the store of this folder, {paths.from_home(first.here / paths.PROJECT_STORE)}"
    found = ", ".join(source.name for source in beside(first.here, 1))
    yield Row(
        FirstStep("demo"), "Try the demo", "a project's store to play with; not kept",
        "Six weeks of a software project: 272 memories, eight of them in other languages, 14 candidates to decide, a "
        "playbook, and a scratch project whose files it may write. All of it goes when you leave.",
    )  # fmt: skip
    yield Row(
        FirstStep("project"), "Make a store here",
        "cannot be made here" if first.closed else ".workbench: this folder's, kept out of git", _here(first),
    )  # fmt: skip
    yield Row(
        FirstStep("import"), "Import a file",
        f"found here: {printable(found)}" if found else "memories, a playbook, notes; previewed",
        f"You choose a file and see what it brings before it is kept, in {kept}.",
    )  # fmt: skip
    yield Row(
        FirstStep("agent"), "Connect an agent", "Claude Code, Codex, Cursor; shown first",
        "Says what is written into the agent's own settings before it is, and how to undo it. From then on its "
        "sessions are captured and begin with a brief.",
    )  # fmt: skip
    yield Row(
        FirstStep("empty"), "Begin with nothing", "your global store, empty as it is",
        f"It is {paths.from_home(first.store)}, and is made with the first thing you keep.",
    )  # fmt: skip
    for folder in first.recent:
        label = printable(folder.parent.name if folder.name == paths.PROJECT_STORE else folder.name)
        where, name = paths.from_home(folder), paths.name_of(folder)
        if name != str(folder):
            label, where = f"team · {shown(name)}", name
        yield Row(FirstStep("recent", folder=folder), label, "open it: it was open before", where)


def _here(first: FirstRun) -> str:
    if first.closed:
        return f"{paths.from_home(first.here)}: {first.closed}. Start workbench in a folder of yours to make one there."
    where = f"{paths.from_home(first.here / paths.PROJECT_STORE)} is the store of this folder and all below it"
    return (
        f"{where}. This is your home: that is nearly everything." if first.is_home else f"{where}."
    )


class Rows(LineView[Row]):
    """The rows; a click on the one under the cursor chooses it, for there is nothing else to do
    with it.
    """

    def _clicked(self, index: int, event: events.Click) -> None:
        if index == self.cursor and event.chain == 1:
            self.action_open()
        else:
            super()._clicked(index, event)


class Welcome(Dialog[FirstStep | None]):
    """The card; the result is what was chosen, `None` for leaving."""

    BINDINGS = bindings(WELCOME)
    DEFAULT_CSS = """
    Welcome {
        & LineView { height: auto; }
        & .dialog--state { height: 3; margin-top: 1; color: $text-muted; }
    }
    """

    def __init__(self, first: FirstRun) -> None:
        open_row = replace(LIST[-1], label="choose")
        super().__init__(TITLE, (open_row, *(action for action in WELCOME if action.show)))
        self._first = first

    def contents(self) -> Iterable[Widget]:
        """Return the rows, and more of the one under the cursor."""
        yield Rows(_drawn, lambda row: row.step, id="welcome-rows")
        yield self.state

    def on_mount(self) -> None:
        self.rows.set_rows(tuple(rows_of(self._first)))
        self.rows.focus()

    @on(LineView.Highlighted)
    def _say_more(self) -> None:
        row = self.rows.current
        self.tell(row.more if row is not None else "")

    @on(LineView.Opened)
    def _take(self) -> None:
        row = self.rows.current
        if row is not None:
            self._begin(row)

    def action_choose(self, choice: FirstChoice) -> None:
        """Do what a digit says, with the cursor on its row."""
        place = next(i for i, row in enumerate(self.rows.rows) if row.step.choice == choice)
        self.rows.cursor = place
        self._begin(self.rows.rows[place])

    def _begin(self, row: Row) -> None:
        if row.step.choice == "agent":
            from workbench.tui.agents.connect import connect

            self.run_worker(connect(self.app))
        elif row.step.choice == "project" and self._first.closed:
            self.notify(f"Nothing was made: {row.more}", severity="error", markup=False)
        else:
            self.dismiss(row.step)

    def action_leave(self) -> None:
        """Leave without a choice."""
        self.dismiss(None)


def _drawn(row: Row, width: int) -> list[Cell]:
    digits = {"demo": "1", "project": "2", "import": "3", "agent": "4", "empty": "5"}
    label = min(_LABEL, width // 2)
    return [
        Cell(digits.get(row.step.choice, ""), 1, "bold $text-accent"),
        Cell(row.label, label, "bold"),
        Cell(row.remark, 0, MUTED),
    ]


class WelcomeApp(GuardedApp[FirstStep | None]):
    """Shows the card in the person's colours, and ends with what they chose; it opens no store and
    writes nothing.
    """

    TITLE = "memory workbench"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True)
    ]
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (161, "-wide")]  # noqa: RUF012 - as Textual declares it

    def __init__(self, first: FirstRun) -> None:
        super().__init__()
        self._first = first
        folder = paths.config_dir()
        loaded = loading.load(folder / loading.FILE_NAME)
        for theme in load_themes((paths.shipped("themes"), folder / "themes")).themes:
            self.register_theme(theme)
        chosen = "" if "theme" in loaded.given else recent.last_theme(paths.state_dir())
        if (theme_name := chosen or loaded.settings.theme) in self.available_themes:
            self.theme = theme_name
        self.set_keymap(check_keymap(loaded.settings.keys).keys)

    def action_interrupt(self) -> None:
        """Leave, from whatever is open."""
        self.exit(None)

    def on_mount(self) -> None:
        """Show the card."""
        self.push_screen(Welcome(self._first), self.exit)


def welcome(first: FirstRun) -> FirstStep | None:
    """Show the card and return what was chosen; `None` for leaving."""
    app = WelcomeApp(first)
    chosen = run_in_order(app)
    if app.return_code:
        raise SystemExit(app.return_code)
    return chosen


# An empty store.


Beginning = Path | tuple[Path, ...] | Literal["memory", "connect", "demo"]
"""A file or folder to import, sessions to learn from, or what else a store can begin with."""


@dataclass(frozen=True, slots=True)
class Start:
    """Something an empty store can begin with: what choosing it does (`None` looks at this machine), and in words."""

    does: Beginning | None
    label: str
    remark: str


class BeginDialog(Dialog[str | None]):
    """Lists what can be imported from this folder, and the other ways to begin.

    The result is what was imported, in words, or which other way was chosen.
    """

    BINDINGS = bindings(BEGIN)
    DEFAULT_CSS = """
    BeginDialog {
        & > .dialog { width: 90; }
        & LineView { height: auto; }
    }
    """

    def __init__(self, bench: Workbench, folder: Path, *, is_own: bool) -> None:
        super().__init__("What should this store begin with?", (LIST[-1], *BEGIN))
        self._bench, self._folder, self._is_own = bench, folder, is_own
        self._here: list[Start] = []
        self._machine: tuple[Source, ...] | None = None

    def contents(self) -> Iterable[Widget]:
        """Return the rows."""
        yield LineView(_start, lambda row: row.label, id="begin-rows")

    def on_mount(self) -> None:
        """List what is here; nothing outside this folder is looked at."""
        self._list([Start(s.path, f"Import {s.name}", "") for s in beside(self._folder, 1)])
        self.rows.focus()
        self._count()

    @work(exclusive=True)
    async def _count(self) -> None:
        """Say where each lies and how many files it has, away from the keyboard."""
        self._list([_imported(one) for one in await asyncio.to_thread(beside, self._folder)])

    def _list(self, here: list[Start]) -> None:
        self._here, rows = here, [*here]
        if not rows:
            rows.append(
                Start(self._folder, "Import a file", "none of an agent lies here; you choose one")
            )
        if self._machine is None:
            rows.append(Start(None, "Agents on this machine", "looks: names and counts only"))
        rows += map(_imported, self._machine or ())
        if self._machine == ():
            rows.append(
                Start(self._folder, "Agents on this machine", "keep nothing that is known here")
            )
        rows.append(Start("memory", "Write a memory", "the first one, by hand"))
        if self._is_own:
            rows.append(Start("connect", "Connect an agent", "shown before it is written"))
            rows.append(Start("demo", "Try the demo", "a project's store to play with"))
        self.rows.set_rows(rows)

    @on(LineView.Opened)
    @asking
    async def _opened(self) -> None:
        """Do what the row says; what is closed without an import comes back here."""
        from workbench.tui.agents.browse import LessonsDialog
        from workbench.tui.files.imports import ImportDialog

        does = None if self.rows.current is None else self.rows.current.does
        if isinstance(does, str):
            self.dismiss(does)
        elif does is not None:
            dialog = (
                ImportDialog(self._bench, self._folder, does)
                if isinstance(does, Path)
                else LessonsDialog(self._bench, does)
            )
            if said := await self.app.push_screen_wait(dialog):
                self.dismiss(said)
        elif self.rows.current is not None:
            self._machine = ()
            with suppress(RuntimeError):  # there is no home folder
                self._machine = await asyncio.to_thread(on_machine, Path.home())
            self._list(self._here)


def _imported(source: Source) -> Start:
    files = (
        "" if source.files == 1 and source.path.is_file() else f", {amount(source.files, 'file')}"
    )
    where = f"{paths.from_home(source.path)}{files}"
    if sessions := source.sessions:
        return Start(sessions, f"Learn from {source.name}", where)
    return Start(source.path, f"Import {source.name}", where)


def _start(row: Start, width: int) -> list[Cell]:
    return [Cell(row.label, min(38, width // 2)), Cell(row.remark, 0, MUTED)]
