"""The history of one record, or of the whole store: who changed what, when; and the way back."""

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.bench.history import Event, History, Place
from workbench.bench.masking import masked
from workbench.core.errors import WorkbenchError
from workbench.tui.actions import bindings, display_key
from workbench.tui.areas import HISTORY, LIST, RECORD_THEN
from workbench.tui.content import MUTED, body
from workbench.tui.history_view import event_text, masked_event, record_text, row
from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.confirm import Confirm
from workbench.tui.widgets.dialog import Dialog, held_keys
from workbench.tui.widgets.line_view import LineView
from workbench.tui.widgets.row import Cell

PAGE = 50
"""Transactions that are read at a time; more when the cursor comes near the last one."""

NOTHING = "Nothing has changed it yet."


class HistoryDialog(Dialog[None]):
    """Every transaction of one record (`place`), or of everybody, newest first; enter shows, u takes back.

    `mask` takes the secrets out of what is shown, until a person opens the change under the cursor.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(HISTORY)
    DEFAULT_CSS = """
    HistoryDialog {
        & > .dialog { width: 110; }
        & LineView {
            height: auto; min-height: 3; max-height: 14;
            & > .line--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        }
        & VerticalScroll {
            height: auto; max-height: 14; margin-top: 1; padding-top: 1; border-top: solid $panel;
            scrollbar-size-vertical: 1;
        }
        & .history--said { height: auto; max-height: 4; }
    }
    """

    def __init__(self, history: History, now: datetime, mask: Callable[[str], str], place: Place | None = None) -> None:
        opens = next(action for action in LIST if action.id == "list.open")
        super().__init__(f"History of {place[1]}" if place else "What everybody did", (opens, *HISTORY))
        self._history = history
        self._now = now
        self._place = place
        self._mask = mask
        self._opened = -1
        self._source: Iterator[Event] = iter(())
        self._events: list[Event] = []

    def contents(self) -> Iterable[Widget]:
        """Return the list of transactions, what the one under the cursor changed, and a line to say things."""
        events: LineView[Event] = LineView(self._draw, lambda event: event.rev, empty=Content(NOTHING))
        said = Static(classes="history--said")
        said.display = False
        return (events, VerticalScroll(Static(id="changed")), said)

    def on_mount(self) -> None:
        """Read the latest transactions."""
        self._list.focus()
        self._read_anew()

    @property
    def _list(self) -> LineView[Event]:
        return self.query_one(LineView)

    def _draw(self, event: Event, width: int) -> list[Cell]:
        return row(event, width, self._now, self._mask)

    def _read_anew(self) -> None:
        try:
            self._source = self._history.events(self._place)
            self._events = list(islice(self._source, PAGE))
        except WorkbenchError as error:
            self._say(str(error), "$text-error")
        self._list.set_rows(self._events, cursor=0)
        self._show_changed()

    @on(LineView.Highlighted)
    def _moved(self) -> None:
        """Show what the transaction changed, and read on when the last one comes near."""
        if self._list.cursor >= len(self._events) - PAGE // 5 and (more := list(islice(self._source, PAGE))):
            self._events = [*self._events, *more]
            self._list.set_rows(self._events)
        self._show_changed()

    def _show_changed(self) -> None:
        event = self._list.current
        self.query_one("#changed", Static).update(Content("") if event is None else self._changed(event))

    def _changed(self, event: Event) -> Content:
        shown, hidden = (event, False) if event.rev == self._opened else masked_event(event, self._mask)
        return event_text(shown, keys=self._place is None, hidden=hidden, opens=_opening_key(self))

    def action_unfold(self) -> None:
        """Show the secrets of the change under the cursor, until another one was opened."""
        event = self._list.current
        if event is not None:
            self._opened = event.rev
            self._show_changed()

    @on(LineView.Opened)
    @work
    async def _open(self) -> None:
        """Show a record as it was right after the transaction; of several, ask which."""
        event = self._list.current
        if event is None:
            return
        place = self._place or await self._chosen(event)
        if place is None:
            return
        try:
            record = self._history.at_revision(place, event.rev)
        except WorkbenchError as error:
            self._say(str(error), "$text-error")
        else:
            title = f"{place[1]} as it was at revision {event.rev}"
            await self.app.push_screen_wait(RecordThen(title, record, self._mask))

    async def _chosen(self, event: Event) -> Place | None:
        places = {f"{field.table} {field.key}": (field.table, field.key) for field in event.fields}
        if len(places) <= 1:
            return next(iter(places.values()), None)
        choices = [Choice(name, key, table) for name, (table, key) in places.items()]
        chosen = await self.app.push_screen_wait(Choose("Which of them?", choices))
        return None if chosen is None else places[chosen]

    @work
    async def action_undo(self) -> None:
        """Take back the transaction under the cursor, after a yes."""
        event = self._list.current
        if event is None:
            return
        detail = body(f"By {event.actor}. Taking it back is a change of its own; nothing is erased.")
        question = f"Take back “{event.label}” (revision {event.rev})?"
        if await self.app.push_screen_wait(Confirm(question, clock=time.monotonic, detail=detail, yes="take back")):
            try:
                label = self._history.undo_revision(event.rev)
            except WorkbenchError as error:
                self._say(f"✗ {error}", "$text-error")
            else:
                self._read_anew()
                self._say(f"Taken back: {label}.", MUTED)

    def _say(self, sentence: str, style: str) -> None:
        said = self.query_one(".history--said", Static)
        said.display = True
        said.update(body(sentence, style))


class RecordThen(Dialog[None]):
    """A record as it was at a revision; its secrets masked until a person asks."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(RECORD_THEN)
    DEFAULT_CSS = """
    RecordThen {
        & > .dialog { width: 100; }
        & VerticalScroll { height: auto; max-height: 30; scrollbar-size-vertical: 1; }
    }
    """

    def __init__(self, title: str, record: object, mask: Callable[[str], str]) -> None:
        self._record = record
        self._shown = masked(record, mask)
        super().__init__(title, RECORD_THEN if self._shown != record else RECORD_THEN[1:])

    def contents(self) -> Iterable[Widget]:
        """Return the text and the fields, scrolled."""
        return (VerticalScroll(Static(id="then")),)

    def on_mount(self) -> None:
        """Show it masked."""
        hidden = self._shown != self._record
        self._show(record_text(self._shown, hidden=hidden, opens=_opening_key(self)))

    def action_unfold(self) -> None:
        """Show its secrets."""
        self._show(record_text(self._record))

    def _show(self, text: Content) -> None:
        self.query_one("#then", Static).update(text)


def _opening_key(dialog: Dialog[None]) -> str:
    """Return the key that shows secrets, as a person has it."""
    return display_key(held_keys(dialog, RECORD_THEN[:1])[0][0])
