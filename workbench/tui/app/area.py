"""What all areas share: the top bar, the key bar, and following the store."""

import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import ClassVar, TypeVar, cast

from textual import events, on
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.config import editor
from workbench.core.record import WorkbenchError
from workbench.core.runtime import implementation
from workbench.services.context import Touched
from workbench.services.open import Workbench
from workbench.tui.app.actions import GLOBAL, Action, remapped
from workbench.tui.app.areas import AREAS, Area
from workbench.tui.app.host import Host
from workbench.tui.app.private_names import Guarded
from workbench.tui.app.waiting import done
from workbench.tui.widgets.bars import gauge
from workbench.tui.widgets.content import BLANK, body
from workbench.tui.widgets.header import KeyBar, TopBar
from workbench.tui.widgets.line_list import LineList, find_row
from workbench.tui.widgets.reading_pane import ReadingPane

# Editing a text in the person's own editor, with the app suspended meanwhile.


def edit(app: App[object], text: str, line: int = 0) -> str | None:
    """Open the editor on `text`, at a line (from 1), and return what was saved, or `None` when it
    is unchanged.

    Raises `WorkbenchError` when the editor cannot be run or fails; the text is as it was then.
    """
    setting = app.options.editor if isinstance(app, Host) else ""
    try:
        return editor.edit(text, setting, app.suspend, line)
    except SuspendNotSupported as error:
        raise WorkbenchError(
            "This terminal cannot be left for an editor.", "Nothing was changed."
        ) from error


T = TypeVar("T")

TURN_S = 0.01
"""Seconds between what a key brings to the screen at once and the rest of it, in which the next key
has its turn.
"""

LEAST, MOST = 20, 80
"""Percent of the width that a list can have beside a text."""

HISTORY = "workbench.tui.stream.history_dialog:HistoryDialog"
"""What shows the changes of a record; rows there have records, whose keys come back here."""


class AreaScreen(Guarded, Screen[object]):
    """One area. Subclasses give `AREA`, the widgets of `contents`, and `show_store`."""

    AREA: ClassVar[str]
    AUTO_FOCUS = ""
    """Each area says what has the keys; otherwise it were the first thing that can, a filter, which
    would type them.
    """
    PANES: ClassVar[tuple[str, str]]
    """What has the list, and what has the text beside it: a person may move the line between."""
    help_text = ""
    """What the help shows below the keys."""
    acts: Callable[[str], Awaitable[None]] | None = None
    """What the usual keys do to the record of the row under the cursor (`tui.records.actions`)."""

    def __init__(self) -> None:
        super().__init__()
        self._stale = True
        self._visited = False
        self._one_pane = False

    @property
    def area(self) -> Area:
        return AREAS.get(self.AREA)

    @property
    def workbench_app(self) -> Host:
        return cast(Host, self.app)

    @property
    def unsaved(self) -> str:
        """What would be lost by leaving the app now, as a sentence; empty for nothing."""
        return ""

    @property
    def bench(self) -> Workbench:
        """The open store's bench."""
        return self.workbench_app.bench

    def compose(self) -> ComposeResult:
        """Build the bars and what is between them."""
        top = TopBar()
        top.areas = AREAS.every
        top.store, top.why = self.workbench_app.title_shown, self.workbench_app.options.why
        top.alarm = self.workbench_app.alarms
        top.active = self.AREA
        top.news = self.workbench_app.news
        yield top
        if looks_back := self.workbench_app.looks_back:
            yield Static(body(looks_back, "bold $text-warning"), classes="area--past")
        yield from self.contents()
        bar = KeyBar()
        bar.actions = self.shown_actions()
        yield bar

    def on_mount(self) -> None:
        """Be among the areas that follow the store."""
        self.workbench_app.opened.append(self)
        if share := self.workbench_app.panes.get(self.AREA):
            self._part(share)

    def on_top_bar_selected(self, event: TopBar.Selected) -> None:
        """Go to the area whose tab was clicked."""
        self.app.switch_mode(event.area)

    def contents(self) -> Iterable[Widget]:
        """Return the widgets between the bars."""
        raise NotImplementedError

    def shown_actions(self) -> tuple[Action, ...]:
        """Return the actions of the key bar: the area's own, then the global ones; none that would
        be refused.
        """
        actions = (*self.area.actions, *AREAS.everywhere)
        kept = self.bench.library.standpoint is not None or self.bench.library.is_closed
        return self.as_mapped(action for action in actions if not (kept and action.changes))

    def held_actions(self) -> tuple[Action, ...]:
        """Return every action that has a key as the area stands now."""
        return AREAS.scope(self.AREA)

    def as_mapped(self, actions: Iterable[Action]) -> tuple[Action, ...]:
        """Return actions with the keys that the person's keymap gives them."""
        return remapped(actions, dict(self.workbench_app.options.keymap))

    # Panes

    @property
    def HORIZONTAL_BREAKPOINTS(self) -> list[tuple[int, str]] | None:  # type: ignore[override]  # noqa: N802
        """From which width on which layout holds: with one pane that of a narrow terminal."""
        if not self._one_pane:
            return None
        return [(0, "-narrow"), *((sys.maxsize, each) for each in ("-normal", "-wide"))]

    def one_pane(self) -> None:
        """Show the list over the whole width, and the text in its place when it is opened; or both."""
        self._one_pane = not self._one_pane
        self.post_message(events.Resize(self.size, self.size))

    def split(self, percent: int) -> None:
        """Give the list so much more of what it shares with the text, or less; it is remembered."""
        if self.has_class("-narrow"):
            self.say("One pane is shown; there is nothing beside it.")
            return
        left, right = (self.query_one(pane).outer_size.width for pane in self.PANES)
        share = min(MOST, max(LEAST, round(100 * left / (left + right)) + percent))
        self.workbench_app.panes[self.AREA] = share
        self._part(share)

    def _part(self, share: int) -> None:
        for pane, part in zip(self.PANES, (share, 100 - share), strict=True):
            styles = self.query_one(pane).styles
            styles.width, styles.min_width, styles.max_width = f"{part / 20:g}fr", 20, "100%"

    def action_turn(self, step: int) -> None:
        """From the list to the first or last link of the text beside it, and back."""
        rows, text = (self.query_one(pane) for pane in self.PANES)
        is_in_rows = self.focused is rows
        self.set_class(is_in_rows, "-open")
        self.set_focus(text if is_in_rows else rows)
        if is_in_rows and isinstance(text, ReadingPane) and text.links is not None:
            text.links.go(step)

    # Following the store

    def show_store(self) -> None:
        """Show the store as it is now; called when the area comes into sight and something changed."""
        raise NotImplementedError

    def show_changes(self, touched: Touched) -> None:
        """Show what one transaction changed; by default everything is shown anew."""
        del touched
        self.show_store()

    def follow(self, touched: Touched) -> None:
        """Take notice of a transaction: at once when the area is in sight, else when it comes into
        sight.

        While a dialog writes very much, the areas wait until it is closed.
        """
        if self._in_sight and not self.workbench_app.writes_much:
            self.show_changes(touched)
            self.show_status()
        else:
            self._stale = True

    def show_anew(self) -> None:
        """Show the store as it is now: at once when the area is in sight, else when it comes into
        sight.
        """
        self._stale = True
        if self._in_sight:
            self._stale = False
            self.show_store()
            self.show_status()

    def retriever_ready(self) -> None:
        """The model is loaded; areas that use it may show more."""

    def on_screen_resume(self) -> None:
        """Notice that it came into sight."""
        if not self._visited:
            self._visited = True
            with self.workbench_app.reporting():
                self.begin()
        self.come()

    def begin(self) -> None:
        """Take what the area starts with from the store as it is now; called when it first comes
        into sight.
        """

    def come(self) -> None:
        """Catch up with what happened out of sight."""
        if self._stale:
            self._stale = False
            self.show_store()
        self.show_status()

    @property
    def _in_sight(self) -> bool:
        return self in self.app.screen_stack

    def show_status(self) -> None:
        """Show in the top bar what waits and what is due, and in the key bar what is to be known of
        the next key.
        """
        self.query_one(TopBar).counts = {"review": self.bench.overview.waiting()}
        due = self.workbench_app.options.faults or self.bench.overview.gauge().due
        self.query_one(TopBar).due = frozenset(("health",)) if due else frozenset()
        self.query_one(KeyBar).urgent = self.workbench_app.urgent
        self.query_one(TopBar).store = self.workbench_app.title_shown
        self.show_news()
        self.query_one(TopBar).alarm = self.workbench_app.alarms
        marked = next((rows.mark_count for rows in self.query(LineList) if rows.mark_count), 0)
        bar = self.query_one(KeyBar)
        bar.actions = self.shown_actions()
        if marked:
            bar.status = Content.styled(
                f"{marked} marked · the next key is for all", "bold $text-accent"
            )
            return
        if self.workbench_app.paused:
            key = self.as_mapped(a for a in GLOBAL if a.id == "app.pause")[0].shown_key
            bar.status = Content.styled(f"‖ paused · {key} follows others", "bold $text-warning")
            return
        if self.workbench_app.loading is not None:
            bar.status = gauge(*self.workbench_app.loading, "texts ready to search")
            return
        bar.status = BLANK

    def show_news(self) -> None:
        """Show in the top bar what an agent does."""
        self.query_one(TopBar).news = self.workbench_app.news

    # A list and the text beside it

    def open_text(self) -> None:
        """Read the text of the row; where there is room for one of both, it takes the place of the
        list.
        """
        self.add_class("-open")
        self.query_one(self.PANES[1]).focus()

    def leave(self, rows: LineList[T], box: Input) -> None:
        """Close the text, leave what is beside the list, drop the marks, or clear the filter's
        `box`.
        """
        if self.has_class("-open") or self.focused is not rows:
            self.remove_class("-open")
            rows.focus()
        elif rows.mark_count:
            rows.clear_marks()
        else:
            box.value = ""

    @on(LineList.MarksChanged)
    def _marked(self) -> None:
        self.show_status()

    def take_targets(self, rows: LineList[T]) -> list[T]:
        """Return the rows the next change is for: the marked ones, else the one under the cursor.

        The marks stay until the change is done, so that a refused one loses nothing; clear them
        then.
        """
        if rows.mark_count:
            return rows.marked_rows
        return [] if rows.current is None else [rows.current]

    # What any area can do with a text or a record

    def say(self, sentence: str, severity: str = "information") -> None:
        """Show a toast (see `Host.say`)."""
        self.workbench_app.say(sentence, severity)

    def hint(self, sentence: str) -> None:
        self.workbench_app.hint(sentence)

    def copy(self, *texts: str) -> None:
        """Put texts on the clipboard, an empty line between them, or where one can be had; say
        where they went.
        """
        from workbench.clipboard import copy

        with self.workbench_app.reporting():
            copied = str(copy("\n\n".join(texts), self.app.copy_to_clipboard))
            self.say(f"{len(texts)} texts: {copied}" if len(texts) > 1 else copied)

    async def edit_externally(self, text: str, line: int = 0) -> str | None:
        """Open the person's editor on a text, at a line (from 1), and return the new text; `None`
        for the same.
        """
        with self.workbench_app.reporting():
            return edit(self.app, text, line)
        return None

    def show_history(self, key: str) -> None:
        """Show who changed what of one memory or bullet (`BOOK/ID`)."""
        with self.workbench_app.reporting():
            self.app.push_screen(
                implementation(HISTORY)(self.bench, self.bench.history.place_of(key))
            )

    def flagged_note(self, text: str) -> str:
        """Return what is to be said of a text that was just stored: why it is flagged, or nothing."""
        found = self.bench.safety.findings(text)
        return f" It is flagged: {found[0].reason}" if found else ""

    # Keys

    async def action_do(self, path: str) -> None:
        """Do what a row of the table of actions names by its path from here: `changes.pin`."""
        await done(self, path)

    async def action_act(self, what: str) -> None:
        """Do something to the record of the row under the cursor, or to all that are marked."""
        await (self.acts(what) if self.acts is not None else done(self, f"changes.{what}"))

    def go_back(self) -> None:
        """Close what is open in the area; by default nothing is."""

    def undo_own(self) -> bool:
        """Take back what is not stored and was done last in this area; say whether there was
        anything.
        """
        return False

    def redo_own(self) -> bool:
        """Do again what `undo_own` took back; say whether there was anything."""
        return False

    def action_find_row(self) -> None:
        find_row(self)

    def run_by_id(self, action_id: str) -> None:
        """Run an action of the area or of the focused widget, by its id (the command palette does)."""
        action = next(a for a in AREAS.scope(self.AREA) if a.id == action_id)
        for node in (self.focused, self, self.app):
            if node is not None and hasattr(node, f"action_{action.method.partition('(')[0]}"):
                self.call_later(node.run_action, action.method)
                return
