"""How a transaction looks: as a row, and with what it changed."""

from datetime import datetime

from textual.content import Content

from workbench.bench.history import Event, FieldEvent
from workbench.core.record import parse_time, to_doc
from workbench.core.text import printable
from workbench.tui.content import MUTED, assemble, body, word_diff
from workbench.tui.figures import absolute, ago
from workbench.tui.widgets.row import Cell

_SHORT = 60
"""Longest value that is shown as "before → after"; longer texts are shown as a word diff."""

_LISTED = 40
"""Fields of one transaction that are shown at most."""


def row(event: Event, width: int, now: datetime) -> list[Cell]:
    """Return a transaction as the cells of one line: age, who, what."""
    who = Cell(event.actor, 18, MUTED)
    age = Cell(ago(parse_time(event.at), now), 6, MUTED, "right")
    kind = "" if event.kind == "edit" else event.kind
    return [age, *([who] if width >= 50 else []), Cell(event.label), *([Cell(kind, 6, MUTED)] if width >= 70 else [])]


def event_text(event: Event, *, keys: bool) -> Content:
    """Return when, who and every field before and after; `keys` names the record of each field."""
    where = f"revision {event.rev} · {absolute(parse_time(event.at))} · {printable(event.actor)}"
    lines = [assemble([(where, MUTED)])]
    lines += [_field(field, keys) for field in event.fields[:_LISTED]]
    if len(event.fields) > _LISTED:
        lines.append(assemble([("… and more", MUTED)]))
    return Content("\n").join(lines)


def record_text(record: object) -> Content:
    """Return every field of a record, its text first."""
    doc = to_doc(record)
    text = doc.pop("content", None)
    lines = [body(text), Content("")] if isinstance(text, str) else []
    facts = ((printable(name), printable(_shown(value))) for name, value in doc.items())
    lines += [assemble([(f"{name}: ", MUTED), (value, "")]) for name, value in facts]
    return Content("\n").join(lines)


def _field(event: FieldEvent, keys: bool) -> Content:
    record = f"{printable(event.key)} " if keys else ""
    name = assemble([(f"{record}{printable(event.field)}: ", MUTED)])
    if event.redacted:
        return name + assemble([("purged", MUTED)])
    if event.step is not None:
        return name + Content(f"{event.step:+g}")
    old, new = _shown(event.before), _shown(event.after)
    if max(len(old), len(new)) > _SHORT:
        return name + word_diff("" if event.before is None else old, "" if event.after is None else new)
    return name + Content(printable(new) if event.before is None else f"{printable(old)} → {printable(new)}")


def _shown(value: object) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else repr(value)
