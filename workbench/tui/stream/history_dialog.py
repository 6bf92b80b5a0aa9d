"""The history of one record, or of the whole store: who changed what, when; and the way back."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice, takewhile
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.errors import WorkbenchError
from workbench.core.stream.times import instant
from workbench.services.health.history import Event, History, Place
from workbench.services.safety.masking import masked, masked_name
from workbench.tui.app.actions import bindings, display_key
from workbench.tui.app.asking import asking
from workbench.tui.app.host import LookBack
from workbench.tui.app.waiting import change
from workbench.tui.records.acts import Acts, area_below, only_record
from workbench.tui.records.links import Links
from workbench.tui.stream.actions import HISTORY, RECORD_THEN
from workbench.tui.stream.detail import DetailPane
from workbench.tui.stream.history_view import event_text, masked_event, record_text, row, vote_text
from workbench.tui.widgets.actions import CANCEL, LIST, SHOWN_ON_ROW, on_row
from workbench.tui.widgets.choose import Choice, Choose
from workbench.tui.widgets.confirm import Confirm
from workbench.tui.widgets.content import MUTED, body
from workbench.tui.widgets.dialog import Dialog, held_keys
from workbench.tui.widgets.keys import keyed
from workbench.tui.widgets.lists.line_view import LineView
from workbench.tui.widgets.lists.long_text import LongText
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.prompt import Prompt

PAGE = 50
"""Transactions that are read at a time; more when the cursor comes near the last one."""

SEVERAL = "That key is for one memory or bullet, and this change is of none or of several: enter chooses one."
NOTHING = "Nothing has changed it yet."
NO_MATCH = "No change holds these words."
READING = "Reading the journal …"


class HistoryDialog(Dialog[None]):
    """Every transaction of one record (`place`), or of everybody, newest first; enter shows, u takes back.

    `mask` takes the secrets out of what is shown, until a person opens the change under the cursor.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings((*HISTORY, *on_row()))
    DEFAULT_CSS = """
    HistoryDialog {
        & > .dialog { width: 110; }
        & LineView {
            height: auto; min-height: 3; max-height: 25vh;
            & > .line--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        }
        & VerticalScroll {
            height: auto; max-height: 30vh; margin-top: 1; padding-top: 1; border-top: solid $panel;
            scrollbar-size-vertical: 1;
        }
        & .history--said { height: auto; max-height: 2; }
    }
    """

    def __init__(self, history: History, now: datetime, mask: Callable[[str], str], place: Place | None = None) -> None:
        opens = next(action for action in LIST if action.id == "list.open")
        super().__init__(
            f"History of {masked_name(place[1], mask)}" if place else "What everybody did",
            (opens, *HISTORY[:-1], *SHOWN_ON_ROW, CANCEL),
        )
        self.acts = Acts(lambda: self, self._record_here, missing=SEVERAL, then=self._catch_up)
        self._history = history
        self._now = now
        self._place = place
        self._mask = mask
        self._opened = -1
        self._words: list[str] = []
        self._source: Iterator[Event] = iter(())
        self._events: list[Event] = []
        self._wanted: int | None = None
        self.reading = False
        """Whether the journal is being read, which a thread does: it may be long."""

    def contents(self) -> Iterable[Widget]:
        """Return the list of transactions, what the one under the cursor changed, and a line to say things."""
        events: LineView[Event] = LineView(self._draw, lambda event: event.rev, empty=Content(READING))
        said = Static(classes="history--said")
        said.display = False
        return (events, VerticalScroll(LongText(id="changed")), said)

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
        self._source, self._events = self._changes(), []
        self._read()

    def _changes(self) -> Iterator[Event]:
        return (event for event in self._history.events(self._place) if _holds(event, self._words))

    @asking
    async def action_find(self) -> None:
        """Ask which changes to show; nothing written shows all of them."""
        ask = Prompt("Show only changes that hold", " ".join(self._words), placeholder="words; none for all changes")
        words = await self.app.push_screen_wait(ask)
        if words is not None:
            self._words = words.casefold().split()
            self._list.set_empty(Content(READING))
            self._list.set_rows(())
            self._read_anew()
            more = keyed(" {history.find} shows others.")
            self._say(f"Only changes that hold “{words}”.{more}" if words else "All changes.", MUTED)

    def _read(self) -> None:
        if not self.reading:
            self.reading = True
            self._read_on()

    @work
    async def _read_on(self) -> None:
        """Read some more transactions, away from the keyboard."""
        source, first = self._source, not self._events
        try:
            more = await asyncio.to_thread(self._next, source)
        except WorkbenchError as error:
            more = []
            self._say(str(error), "$text-error")
        finally:
            self.reading = False
        if not self.query(LineView):
            return  # closed while it was read
        if source is not self._source:
            self._read()
            return
        if more or first:
            self._events = [*self._events, *more]
            self._list.set_empty(Content(NO_MATCH if self._words else NOTHING))
            self._list.set_rows(self._events, cursor=0 if first else None)
            self._show_changed()
        self._seek(ended=not more)

    def _catch_up(self) -> None:
        """List what was done since, above what is listed; the cursor stays on its change."""
        newest = self._events[0].rev if self._events else -1
        fresh = list(takewhile(lambda event: event.rev > newest, self._changes()))
        if fresh and self.query(LineView):
            self._events = [*fresh, *self._events]
            self._list.set_rows(self._events)
            self._show_changed()

    def _record_here(self, _what: str) -> Place | None:
        """Return the record whose history this is, else the one that the change under the cursor is about."""
        event = self._list.current
        if self._place is not None or event is None:
            return self._place
        return only_record((field.table, field.key) for field in event.fields)

    def _next(self, source: Iterator[Event]) -> list[Event]:
        """Return the next transactions, up to the one that is looked for, all looked at for secrets once."""
        found = list(islice(source, PAGE))
        while self._wanted is not None and found and found[-1].rev > self._wanted:
            if not (more := list(islice(source, PAGE))):
                break
            found += more
        for event in found:
            masked_event(event, self._mask)
        return found

    @on(LineView.Highlighted)
    def _moved(self) -> None:
        """Show what the transaction changed, and read on when the last one comes near."""
        if self._list.cursor >= len(self._events) - PAGE // 5:
            self._read()
        self._show_changed()

    def _show_changed(self) -> None:
        event = self._list.current
        self.query_one("#changed", Static).update(Content("") if event is None else self._changed(event))

    def _changed(self, event: Event) -> Content:
        shown, hidden = (event, False) if event.rev == self._opened else masked_event(event, self._mask)
        cast = self._history.vote_in(event, self._events[: self._list.cursor])
        vote = None if cast is None else vote_text(cast, self._mask)
        return event_text(shown, keys=self._place is None, hidden=hidden, opens=_opening_key(self), vote=vote)

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
            record, shown = await asyncio.to_thread(self._record_then, place, event.rev)
        except WorkbenchError as error:
            self._say(str(error), "$text-error")
        else:
            title = f"{masked_name(place[1], self._mask)} as it was at revision {event.rev}"
            await self.app.push_screen_wait(RecordThen(title, record, shown, place))

    def _record_then(self, place: Place, rev: int) -> tuple[object, object]:
        """Return a record as it was, and the same without its secrets."""
        record = self._history.at_revision(place, rev)
        return record, masked(record, self._mask)

    async def _chosen(self, event: Event) -> Place | None:
        """Ask which record of a transaction is meant; a vote is looked at in what it was given to."""
        others = {field.table for field in event.fields} - {"votes"}
        places = {
            f"{field.table} {field.key}": (field.table, field.key)
            for field in event.fields
            if not others or field.table != "votes"
        }
        if len(places) <= 1:
            return next(iter(places.values()), None)
        choices = [Choice(name, masked_name(key, self._mask), table) for name, (table, key) in places.items()]
        chosen = await self.app.push_screen_wait(Choose("Which of them?", choices))
        return None if chosen is None else places[chosen]

    @work
    async def action_go_to(self) -> None:
        """Ask for a time or a revision, and move to the last change by then."""
        hint = "42, 36h, yesterday, 2026-11-21"
        ask = Prompt("Go to which revision or time?", placeholder=hint, check=self._no_point)
        text = await self.app.push_screen_wait(ask)
        if text:
            self._wanted = await asyncio.to_thread(self._revision_of, text)
            self._seek()

    def _no_point(self, text: str) -> str | None:
        """Say why a text is neither a revision nor a time."""
        try:
            self._time_of(text)
        except WorkbenchError as error:
            return str(error)
        return None

    def _time_of(self, text: str) -> datetime | None:
        """Return the time that a text means, of a day its end; none for a revision."""
        return None if not text or text.isdecimal() else instant(text, self._now, last=True)

    def _revision_of(self, text: str) -> int:
        at = self._time_of(text)
        return int(text[:18]) if at is None else self._history.revision_at(at)

    def _seek(self, *, ended: bool = False) -> None:
        """Move to the last change up to the revision that is looked for, reading on until it comes."""
        rev = self._wanted
        if rev is None:
            return
        place = next((i for i, event in enumerate(self._events) if event.rev <= rev), None)
        if place is None and not ended:
            self._read()
            return
        self._wanted = None
        self._say("Nothing was changed by then; this is the first change." if place is None else "", MUTED)
        self._list.cursor = len(self._events) - 1 if place is None else place

    @work
    async def action_undo(self) -> None:
        """Take back the transaction under the cursor, after a yes."""
        event = self._list.current
        if event is None:
            return
        detail = body(f"By {self._mask(event.actor)}. Taking it back is a change of its own; nothing is erased.")
        question = f"Take back “{self._mask(event.label)}” (revision {event.rev})?"
        if await self.app.push_screen_wait(Confirm(question, clock=time.monotonic, detail=detail, yes="take back")):

            def take_back() -> None:
                label = self._history.undo_revision(event.rev)
                self._read_anew()
                self._say(f"Taken back: {self._mask(label)}.", MUTED)

            change(self, take_back, lambda error: self._say(f"✗ {error}", "$text-error"))

    def action_store_then(self) -> None:
        """Look at the whole store as it was right after the transaction under the cursor."""
        event = self._list.current
        if event is not None:
            self.app.post_message(LookBack(event.rev))

    def _say(self, sentence: str, style: str) -> None:
        said = self.query_one(".history--said", Static)
        said.display = bool(sentence)
        said.update(body(sentence, style))


class RecordThen(Dialog[None]):
    """A record as it was at a revision; `shown` in its place, which is without its secrets, until a person asks.

    The keys act on the record as it is now, which is at `place`.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings((*RECORD_THEN, *on_row()))
    DEFAULT_CSS = """
    RecordThen {
        & > .dialog { width: 100; }
        & VerticalScroll { height: auto; max-height: 70vh; scrollbar-size-vertical: 1; }
    }
    """

    def __init__(self, title: str, record: object, shown: object, place: Place) -> None:
        self._record = record
        self._shown = shown
        self._place = place
        opening = RECORD_THEN[:1] if shown != record else ()
        super().__init__(title, (*opening, *SHOWN_ON_ROW, CANCEL))
        self.acts = Acts(lambda: self, lambda _what: place)

    def contents(self) -> Iterable[Widget]:
        """Return the text and the fields, scrolled."""
        return (DetailPane(LongText(id="then")),)

    def on_mount(self) -> None:
        """Show it masked, with links to what it names."""
        side, area = self.query_one(DetailPane), area_below(self)
        path = (area.area.title, masked_name(self._place[1], area.bench.safety.masked))
        side.links = Links(side, area.bench, lambda: self._place, lambda: path, endless=True)
        hidden = self._shown != self._record
        self._show(record_text(self._shown, hidden=hidden, opens=_opening_key(self)))

    def action_unfold(self) -> None:
        """Show its secrets."""
        self._show(record_text(self._record))

    def _show(self, text: Content) -> None:
        self.query_one("#then", Static).update(text)


def _holds(event: Event, words: list[str]) -> bool:
    """Tell whether a change holds all words: in its label, its actor, or what it wrote where."""
    fields = (f"{field.table} {field.key} {field.field} {field.before} {field.after}" for field in event.fields)
    text = " ".join((event.label, event.actor, *fields)).casefold() if words else ""
    return all(word in text for word in words)


def _opening_key(dialog: Dialog[None]) -> str:
    """Return the key that shows secrets, as a person has it."""
    return display_key(held_keys(dialog, RECORD_THEN[:1])[0][0])
