"""The history of one record, or of the whole store: who changed what, when; and the way back."""

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice, takewhile
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.record import WorkbenchError, parse_time, to_doc
from workbench.core.stream.memory import FILE_KEY
from workbench.core.stream.times import instant
from workbench.core.text import printable
from workbench.services.context import is_person
from workbench.services.health.history import Event, FieldEvent, History, Place, VoteCast
from workbench.services.safety.masking import masked, masked_name
from workbench.tui.app.actions import bindings, display_key
from workbench.tui.app.host import LookBack
from workbench.tui.app.waiting import asking, change
from workbench.tui.records.links import Acts, Links, area_below, only_record
from workbench.tui.safety import FLAGGED, STYLE
from workbench.tui.stream.actions import HISTORY, RECORD_THEN
from workbench.tui.stream.detail import DetailPane
from workbench.tui.widgets.actions import CANCEL, LIST, SHOWN_ON_ROW, on_row
from workbench.tui.widgets.content import MAX_LINES, MUTED, assemble, body, keyed, word_diff
from workbench.tui.widgets.dialog import Choice, Choose, Confirm, Dialog, held_keys
from workbench.tui.widgets.figures import absolute, ago
from workbench.tui.widgets.lists.line_list import LineView
from workbench.tui.widgets.lists.reading_pane import ReadingPane
from workbench.tui.widgets.lists.row import Cell
from workbench.tui.widgets.texts.prompt import Prompt

# How a transaction looks: as a row, and with what it changed.


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)", re.ASCII)

_SHORT = 60
"""Longest value that is shown as "before → after"; longer texts are shown as a word diff."""

_NAMES = {
    "importance_score": "importance",
    "observation_type": "type",
    "session_id": "session",
    "is_synthetic": "concluded by a reflection",
    "created_at": "made",
    "last_accessed_at": "read last",
    "last_feedback_at": "voted on last",
    "access_count": "times read",
    "archived_reason": "archived as",
    "accumulated_importance": "importance since the last reflection",
    "observations_since_last": "memories since the last reflection",
    "last_reflection_at": "last reflection",
}
"""What fields are called where their own name with spaces says too little."""

_OF_THE_STORE = frozenset(("id", "version"))
"""Fields that tell a person nothing that the record's name does not."""

_VOTES = "votes"
"""The table of votes, whose fields are told as a sentence."""

_GAUGE = "reflection"
"""The table of the gauge, which counts along with nearly every change."""

_LISTED = 40
"""Fields of one transaction that are shown at most."""


def masked_event(event: Event, mask: Callable[[str], str]) -> tuple[Event, bool]:
    """Return a transaction as far as `event_text` shows it, without its secrets, and whether it has any."""
    seen = replace(event, fields=event.fields[: _LISTED + 1])
    shown = masked(seen, mask)
    return shown, shown != seen


def row(event: Event, width: int, now: datetime, mask: Callable[[str], str]) -> list[Cell]:
    """Return a transaction as the cells of one line: age, who, what; `mask` takes secrets out."""
    who = Cell(masked_name(event.actor, mask), 18, MUTED)
    age = Cell(ago(parse_time(event.at), now), 6, MUTED, "right")
    kind = "" if event.kind == "edit" else event.kind
    return [
        age,
        *([who] if width >= 50 else []),
        Cell(mask(event.label)),
        *([Cell(kind, 6, MUTED)] if width >= 70 else []),
    ]


def vote_text(vote: VoteCast, mask: Callable[[str], str]) -> Content:
    """Return a vote as a sentence: "you voted helpful on shr-00001: +9 → +10"."""
    who = masked_name(_voter(vote.actor), mask)
    did = _did(vote.verdict, cast=vote.after > vote.before)
    sign = "+" if vote.verdict == "helpful" else "−"
    counts = f"{sign}{vote.before} → {sign}{vote.after}"
    return assemble([(f"{who} {did} {masked_name(vote.target, mask)}: ", "bold"), (counts, "bold $text-accent")])


def _voter(actor: str) -> str:
    return "you" if is_person(actor) else actor.removeprefix("agent:")


def _did(verdict: str, *, cast: bool) -> str:
    return f"voted {verdict} on" if cast else f"took back a {verdict} vote on"


def event_text(
    event: Event, *, keys: bool, hidden: bool = False, opens: str = "", vote: Content | None = None
) -> Content:
    """Return when, who and every field before and after; `keys` names the record of each field.

    With `hidden` its secrets are masked, and `opens` is the key that shows them. A `vote` stands in place of its fields
    but for the reason; any other vote is a sentence, too.
    """
    casts = [] if vote is not None else _votes(event.fields)
    if casts:
        event = replace(event, fields=tuple(field for field in event.fields if field.table != _VOTES))
    if vote is not None:
        event = replace(event, fields=tuple(field for field in event.fields if field.field == "reason"))
    event = replace(event, fields=_telling(event.fields))
    where = f"revision {event.rev} · {absolute(parse_time(event.at))} · {printable(event.actor)}"
    lines = [assemble([(where, MUTED)]), *([_told(opens)] if hidden else []), *([] if vote is None else [vote]), *casts]
    fields: list[Content] = []
    room = MAX_LINES
    for field in event.fields[:_LISTED]:
        fields.append(_field(field, keys and vote is None))
        room -= fields[-1].plain.count("\n") + 1
        if room <= 0:
            break
    more = [assemble([("… and more", MUTED)])] if len(event.fields) > len(fields) else []
    return Content("\n").join([*lines, *fields, *more])


def _votes(fields: Sequence[FieldEvent]) -> list[Content]:
    """Return the votes that a transaction cast, changed or took back, each as a sentence with its reason."""
    by_key: dict[str, dict[str, FieldEvent]] = {}
    for field in fields:
        if field.table == _VOTES:
            by_key.setdefault(field.key, {})[field.field] = field
    return [line for key, told in by_key.items() for line in _vote(key, told)]


def _vote(key: str, told: Mapping[str, FieldEvent]) -> Iterator[Content]:
    verdict, reason = told.get("verdict"), told.get("reason")
    _, target, actor, *_ = (*key.split(":", 2), "", "")  # of one that only changed, the name alone says whose it is
    target, actor = _either(told.get("target"), target), _either(told.get("actor"), actor.rpartition(":")[0])
    who = _voter(printable(actor))
    if verdict is not None:
        did = _did(_either(verdict, ""), cast=verdict.after is not None)
        yield assemble([(f"{who} {did} {printable(target)}", "bold")])
    else:
        yield assemble([(f"the vote of {who} on {printable(target)}", "bold")])
    if reason is not None:
        yield _field(reason, keys=False)


def _either(field: FieldEvent | None, otherwise: str) -> str:
    """Return what a field says after a change, or said before it."""
    values = () if field is None else (field.after, field.before)
    return next((value for value in values if isinstance(value, str) and value), otherwise)


def _telling(fields: Sequence[FieldEvent]) -> tuple[FieldEvent, ...]:
    """Return the fields that tell a person something; those of the gauge only where there is nothing else."""
    telling = tuple(field for field in fields if field.field not in _OF_THE_STORE)
    return tuple(field for field in telling if field.table != _GAUGE) or telling


def name_of(field: str) -> str:
    return _NAMES.get(field) or field.replace("_", " ")


def record_text(record: object, *, hidden: bool = False, opens: str = "") -> Content:
    """Return every field of a record, its text first; `hidden` and `opens` as in `event_text`."""
    doc = to_doc(record)
    text = doc.pop("content", None)
    lines = [_told(opens)] if hidden else []
    lines += [body(text), Content("")] if isinstance(text, str) else []
    facts = ((printable(name_of(name)), body(_shown(value))) for name, value in doc.items())
    lines += [assemble([(f"{name}: ", MUTED)]) + value for name, value in facts]
    return Content("\n").join(lines)


def _told(opens: str) -> Content:
    parts = [(f"{FLAGGED} Secrets are masked. ", STYLE), (opens, "bold $text-accent"), (" shows them.", MUTED)]
    return assemble(parts)


def _field(event: FieldEvent, keys: bool) -> Content:
    record = f"{printable(event.key)} " if keys else ""
    name = assemble([(f"{record}{printable(name_of(event.field))}: ", MUTED)])
    if event.redacted:
        return name + assemble([("purged", MUTED)])
    if event.step is not None:
        return name + Content(f"{event.step:+g}")
    old, new = _shown(event.before), _shown(event.after)
    if max(len(old), len(new)) > _SHORT or _are_texts(event.before, event.after):
        return name + word_diff("" if event.before is None else old, "" if event.after is None else new)
    return name + Content(printable(new) if event.before is None else f"{printable(old)} → {printable(new)}")


def _are_texts(before: object, after: object) -> bool:
    """Tell whether both are texts of several words, of which some may be the same."""
    return isinstance(before, str) and isinstance(after, str) and min(len(before.split()), len(after.split())) > 1


def _shown(value: object) -> str:
    """Return a value in one line: text as it is, anything else as JSON, without how a file was laid out."""
    if value is None:
        return "–"
    if isinstance(value, Mapping):
        value = {name: item for name, item in value.items() if name != FILE_KEY}
    if isinstance(value, str):
        return absolute(parse_time(value)) if _TIME.fullmatch(value) else value
    return json.dumps(value, ensure_ascii=False)


PAGE = 50
"""Transactions that are read at a time; more when the cursor comes near the last one."""

SEVERAL = "That key is for one memory or bullet, and this change is of none or of several: enter chooses one."
NOTHING = "Nothing has changed it yet."
NO_MATCH = "No change has these words."
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
        & ReadingPane { height: auto; max-height: 30vh; margin-top: 1; padding: 1 0 0 0; border-top: solid $panel; }
        & .history--said { height: auto; max-height: 2; }
    }
    """

    def __init__(self, history: History, now: datetime, mask: Callable[[str], str], place: Place | None = None) -> None:
        opens = next(action for action in LIST if action.id == "list.open")
        super().__init__(
            f"History of {masked_name(place[1], mask)}" if place else "All changes",
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
        return (events, ReadingPane(id="changed"), said)

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
        ask = Prompt("Show only changes with", " ".join(self._words), placeholder="words; none for all changes")
        words = await self.app.push_screen_wait(ask)
        if words is not None:
            self._words = words.casefold().split()
            self._list.set_empty(Content(READING))
            self._list.set_rows(())
            self._read_anew()
            more = keyed(" {history.find} shows others.")
            self._say(f"Only changes with “{words}”.{more}" if words else "All changes.", MUTED)

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
        self.query_one("#changed", ReadingPane).show(Content("") if event is None else self._changed(event))

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
        detail = body(f"By {self._mask(event.actor)}. Undoing it is a change of its own; nothing is erased.")
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
        & DetailPane { height: auto; max-height: 70vh; padding: 0; }
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
        return (DetailPane(id="then"),)

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
        self.query_one(DetailPane).show(text)


def _holds(event: Event, words: list[str]) -> bool:
    """Tell whether a change holds all words: in its label, its actor, or what it wrote where."""
    fields = (f"{field.table} {field.key} {field.field} {field.before} {field.after}" for field in event.fields)
    text = " ".join((event.label, event.actor, *fields)).casefold() if words else ""
    return all(word in text for word in words)


def _opening_key(dialog: Dialog[None]) -> str:
    """Return the key that shows secrets, as a person has it."""
    return display_key(held_keys(dialog, RECORD_THEN[:1])[0][0])
