"""How a transaction looks: as a row, and with what it changed."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from textual.content import Content

from workbench.core.record import parse_time, to_doc
from workbench.core.stream.memory import FILE_KEY
from workbench.core.text import printable
from workbench.services.context import is_person
from workbench.services.health.history import Event, FieldEvent, VoteCast
from workbench.services.safety.masking import masked, masked_name
from workbench.tui.safety.flag_view import FLAGGED, STYLE
from workbench.tui.widgets.content import MAX_LINES, MUTED, assemble, body, word_diff
from workbench.tui.widgets.figures import absolute, ago
from workbench.tui.widgets.lists.row import Cell

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
    """Return what a field is called."""
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
