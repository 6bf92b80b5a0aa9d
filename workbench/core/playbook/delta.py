"""Playbook operations as values, applied without a language model (source 003, ACE curator).

`apply` is deterministic and touches only what the operation names: a removed or moved bullet hands
the lines above it to whatever follows, so that no other line of the file changes. Ids and sections
that do not exist are errors that name them; nothing is guessed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from workbench.core.duplicates.merge import merge_note, summed, union, with_note
from workbench.core.errors import Conflict, InvalidRecord, UnknownRecord
from workbench.core.playbook.book import Bullet, Playbook, Section, bullet_id, next_number, section_key

UNCHANGED = "The playbook was not changed."

BULLET_COUNTS = (
    "helpful_imported", "helpful_absorbed", "helpful_votes", "harmful_imported", "harmful_votes", "neutral_count",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Add:
    """Append a bullet to a section, named by its id, key or title; `id` overrides the next number."""

    section: str
    content: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """Replace the text of a bullet."""

    bullet_id: str
    content: str


@dataclass(frozen=True, slots=True)
class Merge:
    """Make one bullet of several; the one that stays is `keep_id`, or else the first source."""

    source_ids: tuple[str, ...]
    content: str
    keep_id: str | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove a bullet."""

    bullet_id: str


@dataclass(frozen=True, slots=True)
class CreateMeta:
    """Add a section at the end of the book, unless it exists, and a bullet in it, unless `content` is empty.

    `section_id` names the new section; absent means its key.
    """

    section_name: str
    content: str = ""
    section_id: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """Put a bullet at `position` (from 0) among the bullets of a section; `None` means the end."""

    bullet_id: str
    section_id: str
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Reorder:
    """Bring the bullets of a section into the given order; every one must be named once."""

    section_id: str
    bullet_ids: tuple[str, ...]


Operation = Add | Update | Merge | Delete | CreateMeta | Move | Reorder


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


def check_playbook(playbook: Playbook) -> None:
    """Raise `InvalidRecord` unless ids are unique and every bullet's section exists."""
    sections = [s.id for s in playbook.sections]
    bullets = [b.id for b in playbook.bullets]
    orphan = next((b for b in playbook.bullets if b.section not in sections), None)
    for what, ids in (("section", sections), ("bullet", bullets)):
        double = next((i for i in ids if ids.count(i) > 1), None) if len(set(ids)) < len(ids) else None
        if double is not None:
            raise InvalidRecord(f"Several {what}s carry the id {double}.", "Renumber them first.")
    if orphan is not None:
        raise InvalidRecord(f"Bullet {orphan.id} is in section “{orphan.section}”, which does not exist.")


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
        raise Conflict(f"Several bullets carry the id {name}.", "Renumber them first; the playbook was not changed.")
    return found[0]


def find_section(playbook: Playbook, name: str) -> Section:
    """Return the section with the id, or else the key or title, `name`.

    Bullets above the first heading live in a section without a title; a titled one of the same key wins.
    Raises `UnknownRecord` for none and `Conflict` for several.
    """
    found = [s for s in playbook.sections if s.id == name]
    found = found or [s for s in playbook.sections if s.key in (name, section_key(name))]
    found = [s for s in found if s.title.strip()] or found
    if not found:
        raise UnknownRecord(f"There is no section “{name}” in the playbook.", UNCHANGED)
    if len(found) > 1:
        ids = ", ".join(s.id for s in found)
        raise Conflict(f"Several sections are called “{name}”.", f"Name one of them by its id: {ids}.")
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
    sources = tuple({b.id: b for b in (find_bullet(playbook, name) for name in op.source_ids)}.values())
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
    return replace(
        keep,
        content=content,
        raw=None,
        helpful_imported=summed(members, "helpful_imported"),
        helpful_absorbed=summed(members, "helpful_absorbed"),
        helpful_votes=summed(members, "helpful_votes"),
        harmful_imported=summed(members, "harmful_imported"),
        harmful_votes=summed(members, "harmful_votes"),
        neutral_count=summed(members, "neutral_count"),
        pinned=any(b.pinned for b in members),
        state="active" if any(b.state == "active" for b in members) else "deprecated",
        last_feedback_at=max((b.last_feedback_at for b in members if b.last_feedback_at), default=None),
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
        raise InvalidRecord(f"The section “{title}” exists already.", UNCHANGED)
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
    return _with_members(playbook, section.id, _placed(playbook.in_section(section.id), moved, position))


def _reorder(playbook: Playbook, op: Reorder) -> Playbook:
    section = find_section(playbook, op.section_id)
    members = playbook.in_section(section.id)
    wanted = [find_bullet(playbook, name) for name in op.bullet_ids]
    if sorted(b.id for b in wanted) != sorted(b.id for b in members):
        raise InvalidRecord(f"The new order must name every bullet of “{section.title}” once.", UNCHANGED)
    orders = _increasing([b.order for b in members])
    # The lines between the bullets stay where they are; only the bullets change places.
    slots = zip(wanted, members, orders, strict=True)
    return _with_members(playbook, section.id, [replace(b, lead=at.lead, order=order) for b, at, order in slots])


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
    """Insert `bullet` at `position` with an order between its neighbours'; renumber only when there is no room."""
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
    return [b if b.order == order else replace(b, order=order) for b, order in zip(row, orders, strict=True)]


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
        raise InvalidRecord(f"Bullet {lost.id} is in section “{lost.section}”, which does not exist.", UNCHANGED)
    bullets = sorted([*others, *members], key=lambda b: known[b.section])
    return replace(playbook, bullets=tuple(bullets))
