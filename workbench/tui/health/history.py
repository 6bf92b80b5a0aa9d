"""Health: what everybody did lately, agents too."""

import time
from collections.abc import Sequence
from itertools import islice, takewhile
from typing import cast

from textual.content import Content

from workbench.services.health.history import Event
from workbench.services.open import Workbench
from workbench.tui.health.reflection import Facts, Hands, Row, Section, Watch, remark
from workbench.tui.records.links import Place, only_record
from workbench.tui.stream.history_dialog import event_text, masked_event, vote_text
from workbench.tui.stream.history_dialog import row as event_row
from workbench.tui.widgets.content import MUTED, assemble, body, keyed

ID = "history"
LISTED = 15
"""Changes that are listed; enter opens all of them."""


def gather(bench: Workbench, watch: Watch) -> tuple[Event, ...]:
    """Read the latest changes; those that are known already only when a purge may have changed them."""
    known = cast(tuple[Event, ...], watch.before or ())
    newest = known[0].rev if known else -1
    fresh = tuple(takewhile(lambda event: event.rev > newest, islice(bench.history.events(), LISTED)))
    if any(event.kind == "purge" for event in fresh):
        return tuple(islice(bench.history.events(), LISTED))
    return (*fresh, *known)[:LISTED]


def rows(facts: Facts) -> Sequence[Row]:
    events = cast(tuple[Event, ...], facts.found[ID].value)
    found = [_row(event, facts) for event in events]
    return found or [remark(ID, "nothing", "Nothing was done in this store yet.")]


def detail(row: Row, facts: Facts) -> Content:
    """Return every field of a change before and after."""
    keys = facts.keys
    if not isinstance(row.item, Event):
        return Content("\n").join([Content.styled("Who changed what, the newest first", "bold"), *_keys(keys)])
    opened, mask = row.key in facts.unfolded, facts.bench.safety.masked
    shown, hidden = (row.item, False) if opened else masked_event(row.item, mask)
    events = cast(tuple[Event, ...], facts.found[ID].value)
    vote = facts.bench.history.vote_in(row.item, events[: events.index(row.item)] if row.item in events else ())
    said = None if vote is None else vote_text(vote, mask)
    text = event_text(shown, keys=True, hidden=hidden, opens=keys["health.unfold"], vote=said)
    return Content("\n").join([body(shown.label, "bold"), *_keys(keys)[1:], Content(""), text])


async def open_all(health: Hands, row: Row) -> None:
    """Open the history of everybody."""
    del row
    from workbench.tui.stream.history_dialog import HistoryDialog

    bench = health.bench
    health.workbench_app.push_screen(HistoryDialog(bench.history, bench.context.now(), bench.safety.masked))


async def take_back(health: Hands, row: Row) -> None:
    """Take a change back, after a yes."""
    from workbench.tui.widgets.dialog import Confirm

    event = row.item
    if not isinstance(event, Event):
        health.workbench_app.say(keyed("Go to a change first; {health.take-back} takes it back."))
        return
    mask = health.bench.safety.masked
    detail = body(f"By {mask(event.actor)}. Undoing it is a change of its own; nothing is erased.")
    question = f"Take back “{mask(event.label)}” (revision {event.rev})?"
    if await health.workbench_app.push_screen_wait(
        Confirm(question, clock=time.monotonic, detail=detail, yes="take back")
    ):
        app, history = health.workbench_app, health.bench.history
        app.change(lambda: app.say(f"Taken back: {history.undo_revision(event.rev)}."))


def _row(event: Event, facts: Facts) -> Row:
    mask = facts.bench.safety.masked
    return Row(ID, str(event.rev), lambda width: event_row(event, width, facts.now, mask), event)


def record(row: Row) -> Place | None:
    """Return the memory or bullet that a change is about, if it is about one only."""
    changed = row.item.fields if isinstance(row.item, Event) else ()
    return only_record((field.table, field.key) for field in changed)


def _keys(keys: dict[str, str] | object) -> list[Content]:
    assert isinstance(keys, dict)
    parts = [(keys["health.take-back"], "bold $text-accent"), (" takes it back · ", MUTED)]
    return [
        Content(""),
        assemble([*parts, (keys["list.open"], "bold $text-accent"), (" opens the whole history", MUTED)]),
    ]


SECTION = Section(ID, "History", gather, rows, detail, "always", {"open": open_all, "take_back": take_back}, record)
