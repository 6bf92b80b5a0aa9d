"""What the formats that are read as playbooks share: sections by name, and bullets in file order."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath

from workbench.core.free_names import FreeNames
from workbench.core.playbook.book import Book, Bullet, Playbook, Section, section_key


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
    return Playbook(Book(name=PurePath(file).stem or "playbook", source=file), tuple(sections.values()), tuple(placed))


def named(book: Playbook) -> dict[str, Bullet]:
    """Return the bullets by id and in order, each with its section's title in the place of the section's id."""
    titles = {section.id: section.title or section.key for section in book.sections}
    order = {section.id: section.order for section in book.sections}
    ranked = sorted(book.bullets, key=lambda bullet: (order.get(bullet.section, float("inf")), bullet.order))
    return {bullet.id: replace(bullet, section=titles.get(bullet.section, bullet.section)) for bullet in ranked}


def dated(book: Playbook, now: datetime) -> Playbook:
    """Return a playbook in which bullets of unknown age are as old as `now`, for formats that ask for a time."""
    return replace(book, bullets=tuple(b if b.created_at else replace(b, created_at=now) for b in book.bullets))


def titles(book: Playbook) -> list[str]:
    """Return the distinct section titles in order."""
    return list(dict.fromkeys(s.title or s.key for s in sorted(book.sections, key=lambda s: s.order)))


def grouped(bullets: Mapping[str, Bullet]) -> dict[str, list[str]]:
    """Return the ids of named bullets by section title."""
    out: dict[str, list[str]] = {}
    for bullet in bullets.values():
        out.setdefault(bullet.section, []).append(bullet.id)
    return out
