"""What the formats that are read as playbooks share: sections by name, and bullets in file order."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath

from workbench.core.playbook.book import Book, Bullet, Playbook, Section, section_key
from workbench.core.record import as_object, iso, without
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.formats.shared.values import FreeNames


def sections_named(names: Iterable[str]) -> dict[str, Section]:
    """Return a section for each distinct name, in order; ids are the normalised names, made unique."""
    out: dict[str, Section] = {}
    ids = FreeNames()
    for name in names:
        if name in out:
            continue
        key = section_key(name) or "section"
        out[name] = Section(ids.give(key), key, name, order=float(len(out) + 1))
    return out


def playbook(file: str, names: Sequence[str], bullets: Sequence[tuple[str, Bullet]]) -> Playbook:
    """Return a playbook of (section name, bullet) in order; `names` are all sections in order."""
    sections = sections_named([*names, *(name for name, _ in bullets)])
    placed = (
        replace(bullet, section=sections[name].id, order=float(order))
        for order, (name, bullet) in enumerate(bullets, 1)
    )
    return Playbook(
        Book(name=PurePath(file).stem or "playbook", source=file),
        tuple(sections.values()),
        tuple(placed),
    )


def ranked(book: Playbook) -> list[Bullet]:
    """Return the bullets in the order of their sections, those without a section last."""
    order = {section.id: section.order for section in book.sections}
    return sorted(
        book.bullets, key=lambda bullet: (order.get(bullet.section, float("inf")), bullet.order)
    )


def named(book: Playbook) -> dict[str, Bullet]:
    """Return the bullets by id and in order, each with its section's title in the place of the
    section's id.
    """
    titles = book.titles
    return {
        bullet.id: replace(bullet, section=titles.get(bullet.section, bullet.section))
        for bullet in ranked(book)
    }


def dated(book: Playbook, now: datetime) -> Playbook:
    """Return a playbook in which bullets of unknown age are as old as `now`, for formats that ask
    for a time.
    """
    return replace(
        book, bullets=tuple(b if b.created_at else replace(b, created_at=now) for b in book.bullets)
    )


def titles(book: Playbook) -> list[str]:
    """Return the distinct section titles in order."""
    return list(dict.fromkeys(s.name for s in sorted(book.sections, key=lambda s: s.order)))


def grouped(bullets: Mapping[str, Bullet]) -> dict[str, list[str]]:
    """Return the ids of named bullets by section title."""
    out: dict[str, list[str]] = {}
    for bullet in bullets.values():
        out.setdefault(bullet.section, []).append(bullet.id)
    return out


# From memories to a playbook and back, for files whose format holds the other kind.


NO_SECTION = "Others"
UNDATED = "undated"
"""Under which key of `FILE_KEY` stands the time that a bullet without one was given."""
NEUTRAL = "neutral"
"""The metadata key of a bullet's neutral marks, which a memory has no field for."""


def playbook_of(memories: Iterable[Memory], name: str = "playbook") -> Playbook:
    """Return a playbook with a bullet for each memory, under its section or else its type; ids are
    kept.

    Line breaks inside a memory stay: the writers know what their format makes of them. An archived
    memory becomes a deprecated bullet.
    """
    sections: dict[str, Section] = {}
    bullets: list[Bullet] = []
    for order, memory in enumerate(memories, 1):
        title = (
            memory.section.strip()
            or memory.observation_type.replace("_", " ").upper()
            or NO_SECTION
        )
        key = section_key(title)
        section = sections.setdefault(key, Section(key, key, title, order=float(len(sections) + 1)))
        bullets.append(
            Bullet(
                memory.id,
                section.id,
                memory.content,
                order=float(order),
                helpful_imported=memory.helpful_count,
                harmful_imported=memory.harmful_count,
                neutral_count=_neutral(memory),
                pinned=memory.pinned,
                state="deprecated" if memory.status == "archived" else "active",
                last_feedback_at=memory.last_feedback_at,
                created_at=None
                if as_object(memory.metadata.get(FILE_KEY)).get(UNDATED) == iso(memory.created_at)
                else memory.created_at,
                aliases=memory.aliases,
                metadata=without(memory.metadata, NEUTRAL),
            )
        )
    return Playbook(Book(name=name), tuple(sections.values()), tuple(bullets))


def memories_of(playbook: Playbook, now: datetime, *, retired: bool = False) -> tuple[Memory, ...]:
    """Return a confirmed procedural memory for each bullet; `now` stands in for absent times.

    Deprecated bullets become archived memories with `retired`, for formats that carry a status, and
    are left out of others. What a memory has no field for stands in its metadata.
    """
    titles = playbook.titles
    return tuple(
        Memory(
            bullet.id,
            bullet.content,
            bullet.created_at or now,
            bullet.created_at or now,
            memory_type="procedural",
            observation_type="convention",
            section=titles.get(bullet.section, ""),
            helpful_imported=bullet.helpful_count,
            harmful_imported=bullet.harmful_count,
            last_feedback_at=bullet.last_feedback_at,
            pinned=bullet.pinned,
            status="archived" if bullet.state == "deprecated" else "confirmed",
            archived_reason="superseded" if bullet.state == "deprecated" else None,
            aliases=bullet.aliases,
            metadata=_notes(bullet, now),
        )
        for bullet in playbook.bullets
        if retired or bullet.state != "deprecated"
    )


def _notes(bullet: Bullet, now: datetime) -> dict[str, object]:
    """Return the notes of a memory made of a bullet; under `FILE_KEY` that it has no time, if its
    file has it.
    """
    notes = {**bullet.metadata, **({NEUTRAL: bullet.neutral_count} if bullet.neutral_count else {})}
    if bullet.created_at is None and (kept := as_object(bullet.metadata.get(FILE_KEY))):
        notes[FILE_KEY] = {**kept, UNDATED: iso(now)}
    return notes


def _neutral(memory: Memory) -> int:
    """Return the neutral marks that a memory made of a bullet notes."""
    found = memory.metadata.get(NEUTRAL)
    return found if type(found) is int and found > 0 else 0
