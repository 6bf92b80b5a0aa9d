"""Suggested changes of a playbook as JSON, so that they can wait in the queue: what a Curator or a
Reflector said.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args

from msgspec import Meta, ValidationError, convert, to_builtins

from workbench.core.document import Record
from workbench.core.duplicates.groups import (
    mappings_in,
    merge_note,
    merges_noted,
    summed,
    union,
    with_note,
)
from workbench.core.playbook.book import (
    Bullet,
    Playbook,
    Section,
    bullet_id,
    next_number,
    section_key,
)
from workbench.core.record import Conflict, InvalidRecord, UnknownRecord, as_object, without
from workbench.core.reflection.llm import UnreadableReply, find_json

# Playbook operations as values, applied without a language model (source 003, ACE curator).
#
# `apply` is deterministic and touches only what the operation names: a removed or moved bullet
# hands the lines above it to whatever follows, so that no other line of the file changes. Ids and
# sections that do not exist are errors that name them; nothing is guessed.


UNCHANGED = "The playbook was not changed."

BULLET_COUNTS = (
    "helpful_imported", "helpful_absorbed", "helpful_votes", "harmful_imported", "harmful_votes", "neutral_count",
)  # fmt: skip


class _Suggested(Record, frozen=True, omit_defaults=True, tag_field="type"):
    """What the Curator or the Reflector may suggest; as JSON it has its name as `type`."""


class Add(_Suggested, frozen=True, tag="ADD"):
    """Append a bullet to a section, named by its id, key or title; `id` overrides the next number."""

    section: str
    content: str
    id: str | None = None


class Update(_Suggested, frozen=True, tag="UPDATE"):
    """Replace the text of a bullet."""

    bullet_id: str
    content: str


class Merge(_Suggested, frozen=True, tag="MERGE"):
    """Make one bullet of several; the one that stays is `keep_id`, or else the first source."""

    source_ids: Annotated[tuple[str, ...], Meta(min_length=2)]
    content: str
    keep_id: str | None = None


class Delete(_Suggested, frozen=True, tag="DELETE"):
    """Remove a bullet."""

    bullet_id: str


class CreateMeta(_Suggested, frozen=True, tag="CREATE_META"):
    """Add a section at the end of the book, unless it exists, and a bullet in it, unless `content`
    is empty.

    `section_id` names the new section; absent means its key.
    """

    section_name: str
    content: str = ""
    section_id: str | None = None


class Move(NamedTuple):
    """Put a bullet at `position` (from 0) among the bullets of a section; `None` means the end."""

    bullet_id: str
    section_id: str
    position: int | None = None


class Reorder(NamedTuple):
    """Bring the bullets of a section into the given order; every one must be named once."""

    section_id: str
    bullet_ids: tuple[str, ...]


Curatable = Add | Update | Merge | Delete | CreateMeta
Operation = Curatable | Move | Reorder


def apply(playbook: Playbook, op: Operation, now: datetime) -> Playbook:
    """Return the playbook after `op`.

    Raises `UnknownRecord` for an id or section that does not exist, `Conflict` for one that several
    carry, and `InvalidRecord` for an operation that makes no sense.
    """
    match op:
        case Add():
            return _add(playbook, op, now)
        case Update():
            return _update(playbook, op)
        case Merge():
            return _merge(playbook, op, now)
        case Delete():
            return _removed(playbook, find_bullet(playbook, op.bullet_id, aliases=False).id)
        case CreateMeta():
            return _create_meta(playbook, op, now)
        case Move():
            return _move(playbook, op)
        case Reorder():
            return _reorder(playbook, op)


def find_bullet(playbook: Playbook, name: str, *, aliases: bool = True) -> Bullet:
    """Return the bullet with the id `name`, or the one that carries it as an alias.

    Raises `UnknownRecord` for none and `Conflict` for several.
    """
    found = [b for b in playbook.bullets if b.id == name]
    heirs = [b for b in playbook.bullets if name in b.aliases] if not found else []
    if not found and heirs and not aliases:
        raise UnknownRecord(f"Bullet {name} was merged into {heirs[0].id}.", UNCHANGED)
    found = found or heirs
    if not found:
        raise UnknownRecord(f"There is no bullet {name} in the playbook.", UNCHANGED)
    if len(found) > 1:
        raise Conflict(
            f"Several bullets carry the id {name}.",
            "Renumber them first; the playbook was not changed.",
        )
    return found[0]


def find_section(playbook: Playbook, name: str) -> Section:
    """Return the section with the id, or else the key or title, `name`.

    Bullets above the first heading live in a section without a title; a titled one of the same key
    wins. Raises `UnknownRecord` for none and `Conflict` for several.
    """
    found = [s for s in playbook.sections if s.id == name]
    found = found or [s for s in playbook.sections if s.key in (name, section_key(name))]
    found = [s for s in found if s.title.strip()] or found
    if not found:
        raise UnknownRecord(f"There is no section “{name}” in the playbook.", UNCHANGED)
    if len(found) > 1:
        ids = ", ".join(s.id for s in found)
        raise Conflict(f"Several sections are called “{name}”.", f"Choose one by its id: {ids}.")
    return found[0]


def _add(playbook: Playbook, op: Add, now: datetime) -> Playbook:
    section = find_section(playbook, op.section)
    _require_text(op.content)
    number = next_number(playbook.bullets)
    name = bullet_id(section.key, number) if op.id is None else op.id
    if not name or any(name == b.id or name in b.aliases for b in playbook.bullets):
        raise InvalidRecord(f"The bullet id “{name}” is empty or taken.", UNCHANGED)
    bullet = Bullet(name, section.id, op.content, book=playbook.book.id, created_at=now)
    members = playbook.in_section(section.id)
    return _with_members(playbook, section.id, _placed(members, bullet, len(members)))


def _update(playbook: Playbook, op: Update) -> Playbook:
    bullet = find_bullet(playbook, op.bullet_id)
    _require_text(op.content)
    if op.content == bullet.content:
        return playbook
    return _replaced(playbook, bullet, replace(bullet, content=op.content, raw=None))


def _merge(playbook: Playbook, op: Merge, now: datetime) -> Playbook:
    _require_text(op.content)
    sources = tuple(
        {b.id: b for b in (find_bullet(playbook, name) for name in op.source_ids)}.values()
    )
    if len(sources) < 2:
        raise InvalidRecord("A merge needs at least two different bullets.", UNCHANGED)
    keep = sources[0] if op.keep_id is None else find_bullet(playbook, op.keep_id)
    if keep not in sources:
        raise InvalidRecord(f"Bullet {keep.id} is not among those to merge.", UNCHANGED)
    members = (keep, *(b for b in sources if b is not keep))
    playbook = _replaced(playbook, keep, _united(members, op.content, now))
    for bullet in members[1:]:
        playbook = _removed(playbook, bullet.id)
    return playbook


def _united(members: Sequence[Bullet], content: str, now: datetime) -> Bullet:
    """Return the first of `members` with the given text and everything the others bring."""
    keep = members[0]
    counts: dict[str, Any] = {name: summed(members, name) for name in BULLET_COUNTS}
    return replace(
        keep,
        content=content,
        raw=None,
        **counts,
        pinned=any(b.pinned for b in members),
        state="active" if any(b.state == "active" for b in members) else "deprecated",
        last_feedback_at=max(
            (b.last_feedback_at for b in members if b.last_feedback_at), default=None
        ),
        aliases=union(*((*b.aliases, b.id) for b in members), without=[keep.id]),
        metadata=with_note(keep.metadata, merge_note(members, now, BULLET_COUNTS)),
    )


def _create_meta(playbook: Playbook, op: CreateMeta, now: datetime) -> Playbook:
    title = " ".join(op.section_name.split()).lstrip("#").strip()
    key = section_key(title)
    if not key:
        raise InvalidRecord("A section needs a name.", UNCHANGED)
    exists = any(s.key == key and s.title.strip() for s in playbook.sections)
    if exists and not op.content.strip():
        raise InvalidRecord(f"The section “{title}” already exists.", UNCHANGED)
    name = find_section(playbook, title).id if exists else op.section_id or key
    if not exists:
        if any(s.id == name for s in playbook.sections):
            raise InvalidRecord(f"The section id “{name}” is taken.", UNCHANGED)
        order = max((s.order for s in playbook.sections), default=-1.0) + 1
        # A blank line parts the new heading from what stands above it.
        lead = ("",) if playbook.sections or playbook.bullets else ()
        section = Section(name, key, title, book=playbook.book.id, order=order, lead=lead)
        playbook = replace(playbook, sections=(*playbook.sections, section))
    return _add(playbook, Add(name, op.content), now) if op.content.strip() else playbook


def _move(playbook: Playbook, op: Move) -> Playbook:
    bullet = find_bullet(playbook, op.bullet_id)
    section = find_section(playbook, op.section_id)
    others = tuple(b for b in playbook.in_section(section.id) if b.id != bullet.id)
    position = len(others) if op.position is None else op.position
    if not 0 <= position <= len(others):
        raise InvalidRecord(f"Section “{section.title}” has no position {position}.", UNCHANGED)
    siblings = playbook.in_section(bullet.section)
    if bullet.section == section.id and siblings.index(bullet) == position:
        return playbook
    playbook = _removed(playbook, bullet.id)
    moved = replace(bullet, section=section.id, lead=())
    return _with_members(
        playbook, section.id, _placed(playbook.in_section(section.id), moved, position)
    )


def _reorder(playbook: Playbook, op: Reorder) -> Playbook:
    section = find_section(playbook, op.section_id)
    members = playbook.in_section(section.id)
    wanted = [find_bullet(playbook, name) for name in op.bullet_ids]
    if sorted(b.id for b in wanted) != sorted(b.id for b in members):
        raise InvalidRecord(
            f"The new order must name every bullet of “{section.title}” once.", UNCHANGED
        )
    orders = _increasing([b.order for b in members])
    # The lines between the bullets stay where they are; only the bullets change places.
    slots = zip(wanted, members, orders, strict=True)
    return _with_members(
        playbook, section.id, [replace(b, lead=at.lead, order=order) for b, at, order in slots]
    )


def _require_text(content: str) -> None:
    if not content.strip():
        raise InvalidRecord("A bullet needs text.", UNCHANGED)


def _replaced(playbook: Playbook, old: Bullet, new: Bullet) -> Playbook:
    return replace(playbook, bullets=tuple(new if b is old else b for b in playbook.bullets))


def _removed(playbook: Playbook, name: str) -> Playbook:
    """Take a bullet out and hand its lead lines to what follows it in the file."""
    gone = find_bullet(playbook, name, aliases=False)
    siblings = playbook.in_section(gone.section)
    after = siblings[siblings.index(gone) + 1 :]
    bullets = [b for b in playbook.bullets if b is not gone]
    if after:
        heir = replace(after[0], lead=gone.lead + after[0].lead)
        return replace(playbook, bullets=tuple(heir if b is after[0] else b for b in bullets))
    ids = [s.id for s in playbook.sections]
    following = playbook.sections[ids.index(find_section(playbook, gone.section).id) + 1 :]
    playbook = replace(playbook, bullets=tuple(bullets))
    if following:
        next_section = replace(following[0], lead=gone.lead + following[0].lead)
        sections = tuple(next_section if s is following[0] else s for s in playbook.sections)
        return replace(playbook, sections=sections)
    return replace(playbook, book=replace(playbook.book, tail=gone.lead + playbook.book.tail))


def _placed(members: Sequence[Bullet], bullet: Bullet, position: int) -> list[Bullet]:
    """Insert `bullet` at `position` with an order between its neighbours'; renumber only when there
    is no room.
    """
    before = [b.order for b in members[:position]]
    after = [b.order for b in members[position:]]
    if before and after:
        order = (before[-1] + after[0]) / 2
    elif after:
        order = after[0] - 1
    else:
        order = before[-1] + 1 if before else 0.0
    row = [*members[:position], replace(bullet, order=order), *members[position:]]
    orders = _increasing([b.order for b in row])
    return [
        b if b.order == order else replace(b, order=order)
        for b, order in zip(row, orders, strict=True)
    ]


def _increasing(orders: Sequence[float]) -> list[float]:
    """Return `orders` if they increase strictly, else 0, 1, 2, …"""
    if all(a < b for a, b in pairwise(orders)):
        return list(orders)
    return [float(i) for i in range(len(orders))]


def _with_members(playbook: Playbook, section_id: str, members: Sequence[Bullet]) -> Playbook:
    """Return the playbook with the bullets of one section replaced, in file order."""
    others = [b for b in playbook.bullets if b.section != section_id]
    known = {s.id: i for i, s in enumerate(playbook.sections)}
    lost = next((b for b in others if b.section not in known), None)
    if lost is not None:
        raise InvalidRecord(
            f"Bullet {lost.id} is in section “{lost.section}”, which does not exist.", UNCHANGED
        )
    bullets = sorted([*others, *members], key=lambda b: known[b.section])
    return replace(playbook, bullets=tuple(bullets))


# The replies of the ACE roles as values (source 003): the Reflector's analysis and the Curator's
# operations.


R = TypeVar("R")
Tag = Literal["helpful", "harmful", "neutral"]
TAGS: tuple[Tag, ...] = get_args(Tag)


class BulletTag(_Suggested, frozen=True, tag="TAG"):
    bullet_id: str
    tag: Tag


class Odd(NamedTuple):
    """A part of a reply that could not be read: its JSON, and the reason in a sentence."""

    raw: str
    reason: str


class Analysis(NamedTuple):
    """What the Reflector found out about one run; texts it did not give are empty."""

    reasoning: str = ""
    error_identification: str = ""
    root_cause_analysis: str = ""
    correct_approach: str = ""
    key_insight: str = ""
    bullet_tags: tuple[BulletTag, ...] = ()
    odd: tuple[Odd, ...] = ()


class Curated(NamedTuple):
    """One operation that the Curator suggests, and why, if it says so."""

    operation: Curatable
    reason: str = ""


class Curation(NamedTuple):
    """What the Curator suggests, in its order."""

    reasoning: str = ""
    operations: tuple[Curated, ...] = ()
    odd: tuple[Odd, ...] = ()


ANALYSIS_TEXTS = (
    "reasoning",
    "error_identification",
    "root_cause_analysis",
    "correct_approach",
    "key_insight",
)


def read_analysis(reply: str) -> Analysis:
    """Read a Reflector's reply, with or without code fence and prose around the JSON.

    A tag that cannot be read is kept in `odd`. Raises `UnreadableReply` when nothing of an analysis
    is there.
    """
    data = find_json(reply, "bullet_tags", "key_insight")
    if not isinstance(data, dict) or not any(
        key in data for key in (*ANALYSIS_TEXTS, "bullet_tags")
    ):
        raise UnreadableReply(
            "The JSON in the reply is not an analysis: it has none of its fields."
        )
    texts = {key: _text(data, key) for key in ANALYSIS_TEXTS}
    odd = [
        Odd(_json(data[k]), f"“{k}” is not a text.")
        for k in ANALYSIS_TEXTS
        if not _is_text(data.get(k))
    ]
    tags, others = _read_each(data.get("bullet_tags"), "bullet_tags", _tag)
    return Analysis(**texts, bullet_tags=tags, odd=(*odd, *others))


def read_curation(reply: str) -> Curation:
    """Read a Curator's reply: an object with `operations`, or the bare list.

    An operation that cannot be read is kept in `odd`; ids and sections are not looked up here.
    Raises `UnreadableReply` when there are no operations at all to read.
    """
    data = find_json(reply, "operations")
    if isinstance(data, dict) and "operations" not in data:
        raise UnreadableReply("The JSON in the reply has no “operations”.")
    listed = data["operations"] if isinstance(data, dict) else data
    return Curation(
        _text(as_object(data), "reasoning"), *_read_each(listed, "operations", read_operation)
    )


def _tag(raw: object) -> BulletTag | Odd:
    if not isinstance(raw, dict):
        return Odd(_json(raw), "A tag is an object with an id and a tag.")
    name = _text(raw, "id") or _text(raw, "bullet") or _text(raw, "bullet_id")
    said = _text(raw, "tag").lower()
    tag = next((known for known in TAGS if known == said), None)
    if not name:
        return Odd(_json(raw), "The tag has no bullet id.")
    if tag is None:
        return Odd(_json(raw), f"The tag of {name} is not one of {', '.join(TAGS)}.")
    return BulletTag(name, tag)


def read_operation(raw: object) -> Curated | Odd:
    """Read one operation of a Curator, or say why it is none."""
    if not isinstance(raw, dict):
        return Odd(_json(raw), "An operation is an object with a type.")
    said: dict[str, object] = {name: text for name in raw if (text := _text(raw, name))}
    kind = str(said.get("type", "")).upper()
    if kind not in _NEEDS:
        return Odd(
            _json(raw), f"Unknown operation “{kind}”." if kind else "The operation has no type."
        )
    other = {"bullet_id": said.pop("id", None), "section_name": said.get("section")}
    said = {name: value for name, value in other.items() if value} | said
    said.pop("section_id", None)
    try:
        operation = convert(
            said | {"type": kind, "source_ids": _names(raw.get("source_ids"))}, Curatable
        )
    except ValidationError:
        return Odd(_json(raw), f"{kind} needs {_NEEDS[kind]}.")
    return Curated(operation, _text(raw, "reason"))


_NEEDS = {
    "ADD": "a section and a content",
    "UPDATE": "a bullet_id and a content",
    "MERGE": "two source_ids, a content",
    "DELETE": "a bullet_id",
    "CREATE_META": "a section_name",
}


def _read_each(
    value: object, name: str, read: Callable[[object], R | Odd]
) -> tuple[tuple[R, ...], tuple[Odd, ...]]:
    """Return what can be read of a list, and what cannot."""
    if not isinstance(value, list):
        return (), () if value is None else (Odd(_json(value), f"“{name}” is not a list."),)
    found = list(map(read, value))
    odd = tuple(one for one in found if isinstance(one, Odd))
    return tuple(one for one in found if not isinstance(one, Odd)), odd


def _names(value: object) -> tuple[str, ...]:
    """Return the distinct ids of a list, or none when something else is among them."""
    if not isinstance(value, list) or not all(
        isinstance(name, str) and name.strip() for name in value
    ):
        return ()
    return tuple(dict.fromkeys(name.strip() for name in value))


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _text(data: Mapping[str, object], key: str) -> str:
    value = data.get(key)
    return value.strip() if isinstance(value, str) else ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


Suggested = Curatable | BulletTag
"""An operation of a Curator, or a tag of a Reflector."""

BOOK, REPLY, THEN = "book", "reply", "said_then"


def to_json(suggested: Suggested, book: str, reply: str) -> dict[str, object]:
    """Return a suggestion for a book as JSON values; `reply` names the reply it came with.

    What its bullets said when it was made can stand beside it, under `THEN` (see `said_then`).
    """
    said = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in to_builtins(suggested).items()
    }
    return {BOOK: book, REPLY: reply, **said}


def from_json(doc: Mapping[str, object]) -> tuple[str, str, Suggested]:
    """Return the book, the reply's name and the suggestion; raises `InvalidRecord`."""
    try:
        suggested = convert(dict(doc), Suggested)
    except ValidationError as error:
        raise InvalidRecord(
            f"A suggestion “{doc.get('type')}” cannot be read.", UNCHANGED
        ) from error
    return str(doc.get(BOOK) or ""), str(doc.get(REPLY) or ""), suggested


def said_then(doc: Mapping[str, object]) -> dict[str, str]:
    """Return what the bullets of a suggestion said when it was made, by id; suggestions of before
    name none.
    """
    said = as_object(doc.get(THEN))
    return {str(id): text for id, text in said.items() if isinstance(text, str)}


def named_ids(suggested: Suggested) -> tuple[str, ...]:
    """Return the ids of the bullets that a suggestion names."""
    match suggested:
        case Merge():
            return suggested.source_ids
        case Update() | Delete() | BulletTag():
            return (suggested.bullet_id,)
    return ()


def title(suggested: Suggested) -> str:
    """Return a suggestion in a few words; it may hold stored text."""
    match suggested:
        case Add():
            return f"ADD to {suggested.section}: {suggested.content}"
        case Update():
            return f"UPDATE {suggested.bullet_id}: {suggested.content}"
        case Merge():
            return f"MERGE {' + '.join(suggested.source_ids)}: {suggested.content}"
        case Delete():
            return f"DELETE {suggested.bullet_id}"
        case CreateMeta():
            return f"NEW SECTION {suggested.section_name}" + (
                f": {suggested.content}" if suggested.content else ""
            )
        case BulletTag():
            return f"{suggested.bullet_id} was {suggested.tag}"
    return type(suggested).__name__


# Taking a merge of bullets apart again, from the note that the merge left.


def merged_from(bullet: Bullet) -> tuple[Mapping[str, Any], ...]:
    """Return the records of the bullet's latest merge (id, content, counts), itself first; empty
    when there is none.
    """
    notes = merges_noted(bullet.metadata)
    found = mappings_in(notes[-1], "records") if notes else []
    whole = all(isinstance(r.get("id"), str) and isinstance(r.get("content"), str) for r in found)
    return tuple(found) if whole and len(found) > 1 and found[0]["id"] == bullet.id else ()


def split(playbook: Playbook, bullet_id: str, now: datetime) -> Playbook:
    """Return the playbook with the bullets that the latest merge of this one united.

    Each gets back its text and the counts it had; what was voted since stays with the bullet that
    was kept, and so does a text that was edited since. Raises `InvalidRecord` when nothing was
    merged, or an id is taken meanwhile.
    """
    bullet = find_bullet(playbook, bullet_id, aliases=False)
    records = merged_from(bullet)
    if not records:
        raise InvalidRecord(f"Bullet {bullet.id} was not made by a merge.", UNCHANGED)
    names = [str(record["id"]) for record in records[1:]]
    taken = next((b.id for b in playbook.bullets if b.id in names), None)
    if taken is not None:
        raise InvalidRecord(f"The id {taken} is in use again.", UNCHANGED)
    playbook = _replaced(playbook, bullet, _kept(bullet, records))
    for record in records[1:]:
        add = Add(bullet.section, str(record["content"]), str(record["id"]))
        playbook = apply(playbook, add, now)
        made = find_bullet(playbook, add.id or "")
        playbook = _replaced(playbook, made, replace(made, **_counts(record)))
    return _beside(playbook, bullet, names, now)


def _kept(bullet: Bullet, records: tuple[Mapping[str, Any], ...]) -> Bullet:
    left = merges_noted(bullet.metadata)[:-1]
    rest = without(bullet.metadata, "merged")
    others = [_counts(record) for record in records[1:]]
    counts = {
        name: max(0, getattr(bullet, name) - sum(other.get(name, 0) for other in others))
        for name in BULLET_COUNTS
    }
    gone = {str(record["id"]) for record in records[1:]}
    return replace(
        bullet,
        aliases=tuple(alias for alias in bullet.aliases if alias not in gone),
        metadata={**rest, "merged": left} if left else rest,
        raw=None,
        **counts,
    )


def _counts(record: Mapping[str, Any]) -> dict[str, Any]:
    counts = record.get("counts")
    if not isinstance(counts, Mapping):
        return {}
    return {
        name: counts[name]
        for name in BULLET_COUNTS
        if type(counts.get(name)) is int and counts[name] >= 0
    }


def _beside(playbook: Playbook, bullet: Bullet, names: list[str], now: datetime) -> Playbook:
    """Put the bullets that came back right after the one they were part of."""
    place = [b.id for b in playbook.in_section(bullet.section)].index(bullet.id)
    for step, name in enumerate(names, 1):
        playbook = apply(playbook, Move(name, bullet.section, place + step), now)
    return playbook
