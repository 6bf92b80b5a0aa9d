"""The history of one record, or of the whole store: who changed what, when; and the way back."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice, takewhile

from textual import on, work
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget

from workbench.core.record import WorkbenchError, parse_time
from workbench.core.stream.memory import FILE_KEY
from workbench.core.stream.times import instant
from workbench.core.text import clip, printable, singular
from workbench.services.context import Touched, is_person
from workbench.services.health.history import Event, FieldEvent, Place, Upcoming
from workbench.services.open import Workbench
from workbench.services.safety.masking import masked, masked_name
from workbench.tui.actions import CANCEL, HISTORY, LIST, SHOWN_ON_ROW, on_row
from workbench.tui.app.actions import bindings
from workbench.tui.app.areas import AREAS
from workbench.tui.app.host import Host, LookBack
from workbench.tui.app.waiting import asking, change
from workbench.tui.records.actions import Acts, area_below, only_record
from workbench.tui.records.record import OpenedRecord, name_of, secrets_told, value_text
from workbench.tui.widgets.content import (
    BLANK,
    MUTED,
    assemble,
    body,
    joined,
    key_of,
    keyed,
    muted,
    word_diff,
)
from workbench.tui.widgets.dialog import Choice, Choose, Confirm, Dialog, Prompt, sure
from workbench.tui.widgets.figures import AGE, absolute, amount, brief, since
from workbench.tui.widgets.line_list import Cell, LineView
from workbench.tui.widgets.reading_pane import ReadingPane

# How a transaction looks: as a row, and with what it changed.


_SHORT = 60
"""Longest value that is shown as "before → after"; longer texts are shown as a word diff."""

_OF_THE_STORE = frozenset(("id", "version", "hash"))
"""Fields that tell a person nothing that the record's name does not."""

_VOTES = "votes"
"""The table of votes, whose fields are told as a sentence."""

_GAUGE = "reflection"
"""The table of the gauge, which counts along with nearly every change."""

_LINES = 1_000
"""Lines of a transaction that are shown at most."""

_LISTED = 40
"""Fields of one transaction that are shown at most."""


def row(bench: Workbench, event: Event, width: int) -> list[Cell]:
    """Return a transaction as the cells of one line: age, who, what."""
    mask = bench.safety.masked
    age = Cell(brief(parse_time(event.at), bench.context.now()), AGE, MUTED, "right", "age")
    who = [Cell(masked_name(event.actor, mask), 18, MUTED, name="who")] if width >= 50 else []
    kind = "" if event.kind == "edit" else event.kind
    kinds = [Cell(kind, 6, MUTED, name="kind")] if width >= 70 else []
    return [age, *who, Cell(mask(event.label), name="change"), *kinds]


def event_text(
    bench: Workbench,
    event: Event,
    later: Iterable[Event],
    *,
    keys: bool,
    opens: str,
    unfolded: bool = False,
) -> Content:
    """Return when, who and every field before and after; `keys` names the record of each field.

    A transaction that only cast a vote is a sentence, with the counts of that time as the `later`
    ones tell. Secrets are masked unless it is `unfolded`; `opens` is the key for that.
    """
    seen = replace(event, fields=event.fields[: _LISTED + 1])
    shown = seen if unfolded else masked(seen, bench.safety.masked)
    where = f"revision {shown.rev} · {absolute(parse_time(shown.at))} · {printable(shown.actor)}"
    lines = [assemble([(where, MUTED)]), *([] if shown == seen else [secrets_told(opens)])]
    if (cast := bench.history.vote_in(event, later)) is not None:
        did = _did(cast.verdict, cast=cast.after > cast.before)
        sign = "+" if cast.verdict == "helpful" else "−"
        who, target = (
            masked_name(name, bench.safety.masked)
            for name in (_voter(bench, cast.actor), cast.target)
        )
        counts = f"{sign}{cast.before} → {sign}{cast.after}"
        lines.append(assemble([(f"{who} {did} {target}: ", "bold"), (counts, "bold $text-accent")]))
        fields = [field for field in shown.fields if field.field == "reason"]
    else:
        lines += _votes(bench, _voter(bench, event.actor), shown.fields)
        fields = [
            field
            for field in shown.fields
            if field.table != _VOTES and field.field not in _OF_THE_STORE
        ]
        fields = [field for field in fields if field.table != _GAUGE] or fields
    told, room, place = 0, _LINES, None
    for field in fields[:_LISTED]:
        if room <= 0:
            break
        if keys and cast is None and place != (field.table, field.key):
            place = (field.table, field.key)
            lines += [BLANK, _heading(bench, place, shown.fields)]
        lines.append(_field(field))
        told, room = told + 1, room - lines[-1].plain.count("\n") - 1
    return joined(*lines, *([muted("… and more")] if told < len(fields) else []))


def _voter(bench: Workbench, actor: str) -> str:
    is_own = is_person(actor) and (not bench.library.shared or bench.context.is_own(actor))
    return "you" if is_own else actor.removeprefix("agent:")


def _did(verdict: str, *, cast: bool) -> str:
    return f"voted {verdict} on" if cast else f"took back a {verdict} vote on"


def _votes(bench: Workbench, by: str, fields: Sequence[FieldEvent]) -> Iterator[Content]:
    """Yield the votes that somebody's transaction cast, changed or took back, each as a sentence
    with its reason.
    """
    by_key: dict[str, dict[str, FieldEvent]] = {}
    for field in fields:
        if field.table == _VOTES:
            by_key.setdefault(field.key, {})[field.field] = field
    for key, told in by_key.items():
        # Of one that only changed, the name alone says whose it is.
        table, target, actor, *_ = (*key.split(":", 2), "", "")
        target = _either(told.get("target"), target)
        who = _voter(bench, printable(_either(told.get("actor"), actor.rpartition(":")[0])))
        verdict, place = told.get("verdict"), (table, target)
        title = clip(bench.safety.masked(bench.history.title_of(place, ())), _SHORT)
        what = printable(f"“{title}” {target}" if title else target)
        said = f"the vote of {who} on {what} changed"
        if verdict is not None and verdict.after is not None:
            said = f"{who} {_did(_either(verdict, ''), cast=True)} {what}"
        elif verdict is not None:
            whose = "" if who == by else f" of {who}"
            said = f"{printable(by)} took back a {_either(verdict, '')} vote{whose} on {what}"
        yield Content.styled(said, "bold")
        if "reason" in told:
            yield _field(told["reason"])


def _either(field: FieldEvent | None, otherwise: str) -> str:
    """Return what a field says after a change, or said before it."""
    values = () if field is None else (field.after, field.before)
    return next((value for value in values if isinstance(value, str) and value), otherwise)


def _heading(bench: Workbench, place: Place, fields: Sequence[FieldEvent]) -> Content:
    """Return the line above the fields of a record: what became of it, and what it is known by."""
    table, key = place
    mine = {field.field: field for field in fields if (field.table, field.key) == place}
    made = any(mine[name].after is not None for name in _OF_THE_STORE & mine.keys())
    did = "changed" if not _OF_THE_STORE & mine.keys() else "added" if made else "removed"
    title = clip(bench.safety.masked(bench.history.title_of(place, mine.values())), _SHORT)
    parts = [(f"{did} {singular(table)} ", "bold"), (f"“{printable(title)}” ", "bold")]
    return assemble([*parts[: 1 + bool(title)], (printable(key), MUTED)])


def _field(event: FieldEvent) -> Content:
    if event.redacted or event.step is not None:
        said = "purged" if event.redacted else f"{event.step:+g}"
        return assemble([(f"{printable(name_of(event.field))}: ", MUTED), (said, "")])
    return joined(*_parts(name_of(event.field), event.before, event.after))


def _parts(name: str, before: object, after: object) -> Iterator[Content]:
    """Yield a field before and after; of one that has parts, those that differ."""
    sides = [side for side in (before, after) if side is not None]
    if sides and all(isinstance(side, Mapping) for side in sides):
        old, new = (side if isinstance(side, Mapping) else {} for side in (before, after))
        for part in dict.fromkeys((*old, *new)):
            if part != FILE_KEY and old.get(part) != new.get(part):
                yield from _parts(f"{name} · {name_of(part)}", old.get(part), new.get(part))
        return
    label, old_text, new_text = (
        assemble([(f"{printable(name)}: ", MUTED)]),
        *map(value_text, (before, after)),
    )
    if before is None:
        yield label + body(new_text)
    elif max(len(old_text), len(new_text)) > _SHORT or (
        isinstance(before, str) and min(len(old_text.split()), len(new_text.split())) > 1
    ):
        yield label + word_diff(old_text, "" if after is None else new_text)
    else:
        yield label + Content(f"{printable(old_text)} → {printable(new_text)}")


PAGE = 50
"""Transactions that are read at a time; more when the cursor comes near the last one."""

NAMED = 200
"""Changes of an agent that are listed before they are taken back."""

SEVERAL = "This change concerns none or several records: enter chooses one."
NOTHING = "No changes yet."
NO_MATCH = "No change matches."
READING = "Reading the journal …"


class HistoryDialog(Dialog[None]):
    """Every transaction of one record (`place`), or of everybody, newest first; enter shows, u
    takes back.
    """

    BINDINGS = bindings((*HISTORY, *on_row()))
    DEFAULT_CSS = """
    HistoryDialog {
        & > .dialog { width: 100%; height: 100%; }
        & #history-body { height: 1fr; }
        &.-narrow #history-body { layout: vertical; }
        & LineView {
            width: 1fr; height: 1fr; min-height: 3;
            & > .line--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        }
        &.-narrow LineView { height: 3fr; }
        & ReadingPane { width: 1fr; height: 1fr; border-left: solid $panel; }
        & ReadingPane:focus { border-left: solid $accent; }
        &.-narrow ReadingPane { height: 2fr; padding: 0; border-left: none; border-top: solid $panel; }
        &.-narrow ReadingPane:focus { border-top: solid $accent; }
        & .dialog--state { height: auto; max-height: 2; }
    }
    """

    def __init__(self, bench: Workbench, place: Place | None = None) -> None:
        opens = next(action for action in LIST if action.id == "list.open")
        title = (
            f"History of {masked_name(place[1], bench.safety.masked)}" if place else "All changes"
        )
        super().__init__(title, (opens, *HISTORY[:-1], *SHOWN_ON_ROW, CANCEL))
        self.acts = Acts(self, self._record_here, missing=SEVERAL, then=self._catch_up)
        self._bench, self._history, self._place = bench, bench.history, place
        self._opened = -1
        self._words: list[str] = []
        self._source: Iterator[Event] = iter(())
        self._events: list[Event] = []
        self._wanted: int | None = None
        self.reading = False
        """Whether the journal is being read, which a thread does: it may be long."""

    def contents(self) -> Iterable[Widget]:
        """Return the list of transactions, what the one under the cursor changed, and a line to say
        things.
        """
        events: LineView[Event] = LineView(
            self._draw, lambda event: event.rev, empty=Content(READING), title="Changes"
        )
        self.state.display = False
        return (Horizontal(events, ReadingPane(id="changed"), id="history-body"), self.state)

    def on_mount(self) -> None:
        """Read the latest transactions."""
        self.rows.focus()
        self._read_anew()

    def _draw(self, event: Event, width: int) -> list[Cell]:
        return row(self._bench, event, width)

    def _read_anew(self) -> None:
        self._source, self._events = self._changes(), []
        self._read()

    def _changes(self) -> Iterator[Event]:
        return (event for event in self._history.events(self._place) if _holds(event, self._words))

    @asking
    async def action_find(self) -> None:
        """Ask which changes to show; nothing written shows all of them."""
        ask = Prompt(
            "Show only changes with",
            " ".join(self._words),
            placeholder="words; none for all changes",
        )
        words = await self.app.push_screen_wait(ask)
        if words is not None:
            self._words = words.casefold().split()
            self.rows.set_empty(Content(READING))
            self.rows.set_rows(())
            self._read_anew()
            more = keyed(" {history.find} changes the filter.")
            self._say(f"Only changes with “{words}”.{more}" if words else "All changes.", MUTED)

    def _read(self) -> None:
        if not self.reading:
            self.reading = True
            self._read_on()

    @work
    async def _read_on(self) -> None:
        """Read some more transactions, away from the keyboard."""
        source, first = self._source, not self._events
        more: list[Event] = []
        try:
            more = await asyncio.to_thread(self._next, source)
        except WorkbenchError as error:
            self._say(str(error), "$text-error")
        finally:
            self.reading = False
        if not self.query(LineView):
            return  # closed while it was read
        if source is not self._source:
            self._read()
            return
        if more or first:
            self.rows.set_empty(Content(NO_MATCH if self._words else NOTHING))
            self._show([*self._events, *more], cursor=0 if first else None)
        self._seek(ended=not more)

    def _show(self, events: list[Event], cursor: int | None = None) -> None:
        self._events = events
        self.rows.set_rows(events, cursor=cursor)
        self._show_changed()

    def _catch_up(self) -> None:
        """List what was done since, above what is listed; the cursor stays on its change."""
        newest = self._events[0].rev if self._events else -1
        fresh = list(takewhile(lambda event: event.rev > newest, self._changes()))
        if fresh and self.query(LineView):
            self._show([*fresh, *self._events])

    def _record_here(self) -> Place | None:
        """Return the record whose history this is, else the one that the change under the cursor is
        about.
        """
        event = self.rows.current
        if self._place is not None or event is None:
            return self._place
        return only_record((field.table, field.key) for field in event.fields)

    def _next(self, source: Iterator[Event]) -> list[Event]:
        """Return the next transactions, up to the one that is looked for."""
        found = list(islice(source, PAGE))
        while self._wanted is not None and found and found[-1].rev > self._wanted:
            if not (more := list(islice(source, PAGE))):
                break
            found += more
        return found

    @on(LineView.Highlighted)
    def _moved(self) -> None:
        """Show what the transaction changed, and read on when the last one comes near."""
        if self.rows.cursor >= len(self._events) - PAGE // 5:
            self._read()
        self._show_changed()

    def _show_changed(self) -> None:
        event, shown = self.rows.current, BLANK
        if event is not None:
            later, unfolded = self._events[: self.rows.cursor], event.rev == self._opened
            keys, opens = self._place is None, key_of("history.unfold")
            shown = event_text(self._bench, event, later, keys=keys, opens=opens, unfolded=unfolded)
        self.query_one(ReadingPane).show(shown)

    def action_unfold(self) -> None:
        """Show the secrets of the change under the cursor, until another one was opened."""
        event = self.rows.current
        if event is not None:
            self._opened = event.rev
            self._show_changed()

    @on(LineView.Opened)
    @work
    async def _open(self) -> None:
        """Show a record as it was right after the transaction; of several, ask which."""
        event = self.rows.current
        place = None if event is None else self._place or await self._chosen(event)
        if event is not None and place is not None:
            area = area_below(self)
            self.app.push_screen(OpenedRecord(area, place, (area.area.title,), event.rev))

    async def _chosen(self, event: Event) -> Place | None:
        """Ask which record of a transaction is meant; a vote is looked at in what it was given to."""
        others = {field.table for field in event.fields} - {_VOTES}
        places = dict.fromkeys(
            (f.table, f.key) for f in event.fields if not others or f.table != _VOTES
        )
        if len(places) <= 1:
            return next(iter(places), None)
        mask = self._bench.safety.masked
        choices = [Choice(f"{table} {key}", masked_name(key, mask), table) for table, key in places]
        chosen = await self.app.push_screen_wait(Choose("Which of them?", choices))
        return next((place for place in places if " ".join(place) == chosen), None)

    @asking
    async def action_go_to(self) -> None:
        """Ask for a time or a revision, and move to the last change by then."""
        hint = "42, 36h, yesterday, 2026-11-21"
        ask = Prompt("Revision or time", placeholder=hint, check=self._no_point)
        text = await self.app.push_screen_wait(ask)
        if text:
            at = self._time_of(text)
            self._wanted = (
                int(text[:18])
                if at is None
                else await asyncio.to_thread(self._history.revision_at, at)
            )
            self._seek()

    def _no_point(self, text: str) -> str | None:
        """Say why a text is neither a revision nor a time."""
        return None if text.isdecimal() else self._no_time(text)

    def _no_time(self, text: str) -> str | None:
        try:
            instant(text or "now", self._bench.context.now())
        except WorkbenchError as error:
            return str(error)
        return None

    def _time_of(self, text: str) -> datetime | None:
        """Return the time that a text means, of a day its end; none for a revision."""
        return (
            None
            if not text or text.isdecimal()
            else instant(text, self._bench.context.now(), last=True)
        )

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
        self._say(
            "Nothing had changed by then; this is the first change." if place is None else "", MUTED
        )
        self.rows.cursor = len(self._events) - 1 if place is None else place

    @asking
    async def action_undo(self) -> None:
        """Take back the transaction under the cursor; in the history of one record asks when that
        changes others, too.
        """
        event = self.rows.current
        if event is None:
            return
        mask = self._bench.safety.masked
        try:
            touched = await asyncio.to_thread(self._history.touched_by, event.rev)
        except WorkbenchError as error:
            self._say(f"✗ {error}", "$text-error")
            return
        many = touched.total()
        table = next(iter(touched)) if len(touched) == 1 else "records"
        count = amount(many, singular(table), table.replace("_", " "))
        if self._place is not None and many > 1:
            detail = f"It is one change of {count}, and is taken back as a whole."
            if not await sure(self, f"Take back “{mask(event.label)}”?", detail, "take back"):
                return

        def take_back() -> None:
            label = self._history.undo_revision(event.rev)
            self._read_anew()
            of = f", {count}" if many > 1 else ""
            more = keyed(" {history.undo} on the first row undoes that.")
            self._say(f"Taken back{of}: {mask(label)}.{more}", MUTED)

        change(self, take_back, lambda error: self._say(f"✗ {error}", "$text-error"))

    @asking
    async def action_undo_agent(self) -> None:
        """Take back what the agent of the change under the cursor did since a time."""
        event = self.rows.current
        if event is None or not event.actor.startswith("agent:"):
            self._say("Go to a change of an agent first.", MUTED)
            return
        name = masked_name(event.actor.removeprefix("agent:"), self._bench.safety.masked)
        at = f"{parse_time(event.at).astimezone():%Y-%m-%dT%H:%M}"
        ask = Prompt(f"Take back all that {name} changed since", at, check=self._no_time)
        if not (text := await self.app.push_screen_wait(ask)):
            return
        since = instant(text, self._bench.context.now())
        changes = await asyncio.to_thread(self._history.upcoming_of, event.actor, since)
        if not changes:
            self._say(f"Nothing that {name} changed since then still stands.", MUTED)
            return
        mask, more = self._bench.safety.masked, len(changes) - NAMED
        detail = body("\n".join((
            f"Since {absolute(since)}. What later changes depend on stays. One undo brings it all back.",
            *(f"{absolute(one.at)}  {mask(one.label)}" for one in changes[:NAMED]),
            *([f"… and {amount(more, 'earlier change')}"] if more > 0 else []),
        )))  # fmt: skip
        question = f"Take back {amount(len(changes), 'change')} by {name}?"
        if await self.app.push_screen_wait(Confirm(question, detail=detail, yes="take back")):

            def take_back() -> None:
                done = self._history.undo_by(event.actor, since)
                self._read_anew()
                stay = f" {amount(len(done.left), 'change')} with later changes on top: kept."
                told = f"Taken back: {amount(done.taken, 'change')} by {name}{done.found}."
                self._say(f"{told}{stay if done.left else ''}", MUTED)

            change(self, take_back, lambda error: self._say(f"✗ {error}", "$text-error"))

    def action_store_then(self) -> None:
        """Look at the whole store as it was right after the transaction under the cursor."""
        event = self.rows.current
        if event is not None:
            self.app.post_message(LookBack(event.rev))

    def _say(self, sentence: str, style: str) -> None:
        self.state.display = bool(sentence)
        self.tell(sentence, style)


def _holds(event: Event, words: list[str]) -> bool:
    """Tell whether a change holds all words: in its label, its actor, or what it wrote where."""
    fields = (
        f"{field.table} {field.key} {field.field} {field.before} {field.after}"
        for field in event.fields
    )
    text = " ".join((event.label, event.actor, *fields)).casefold() if words else ""
    return all(word in text for word in words)


# The undo key: at once for what was done in sight, after a question for what was done elsewhere.


class Undoing:
    """Knows in which area each change of this window was made, and whether a run of undos was
    agreed to.
    """

    def __init__(self, app: Host) -> None:
        self._app = app
        self._made: dict[int, str] = {}
        self._agreed = ""

    def note(self, touched: Touched, area: str) -> None:
        """Take notice of a transaction of whoever acts here, made while an area was open; an edit
        ends a run.
        """
        if touched.kind != "access":
            self._made[touched.rev] = area
        if touched.kind == "edit":
            self.end_run()

    def end_run(self) -> None:
        """Ask again before the next change is taken back that was made out of sight."""
        self._agreed = ""

    async def undo(self, area: str, told: Callable[[str], None] | None = None) -> None:
        """Take back the latest change; one that was made out of sight only after a yes, which holds
        for a run.

        The run is over when something is changed, or another area is opened. `told` is told what
        was taken back instead of the app.
        """
        await self._undo(area, lambda rev: self._made.get(rev) == area, told or self._app.say)

    async def undo_within(self, since: int, told: Callable[[str], None]) -> None:
        """Take back the latest change from a dialog: what was made before revision `since`, when
        that opened, as above.

        What is behind a dialog is out of sight there, and so is what another window does meanwhile.
        """
        await self._undo(f"since {since}", lambda rev: rev > since and rev in self._made, told)

    async def _undo(
        self, place: str, is_here: Callable[[int], bool], told: Callable[[str], None]
    ) -> None:
        app = self._app
        with app.reporting():
            found = app.bench.history.upcoming()
            if found is None or self._agreed == place or is_here(found.rev):
                app.change(lambda: self._take_back(told))
            elif await self._agree(found):
                self._agreed = place
                app.change(lambda: self._take_back(told, found))

    def _take_back(self, told: Callable[[str], None], asked: Upcoming | None = None) -> None:
        history = self._app.bench.history
        if asked is not None and (now := history.upcoming()) != asked:
            what = "nothing" if now is None else f"“{now.label}”"
            raise WorkbenchError(
                f"Meanwhile the latest change is {what}.", "Nothing was taken back; press it again."
            )
        undone = history.undo()
        self._app.clear_notifications()  # that this key takes it back is no longer so
        told(f"Undone: {undone}")

    async def _agree(self, found: Upcoming) -> bool:
        app = self._app
        masked = app.bench.safety.masked
        made = self._made.get(found.rev)
        at = since(found.at, app.bench.context.now())
        place = (
            "in another window, or before this one was opened"
            if made is None
            else f"in {AREAS.get(made).title}"
        )
        told = f"It was made {place}, {at}. Further undos here do not ask again."
        return await sure(app, f"Take back “{masked(found.label)}”?", told, "take back")
