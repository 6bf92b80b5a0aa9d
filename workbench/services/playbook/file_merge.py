"""What of a playbook file is new to the store."""

import re
from dataclasses import replace
from pathlib import Path

from workbench.config.paths import shipped
from workbench.core.playbook.book import Book, Bullet, Playbook, Section
from workbench.core.record import WorkbenchError
from workbench.core.text import clean_for_store
from workbench.store.library import Library

DEMO = "fixtures/demo"


def book_id(path: Path) -> str:
    """Name a playbook by its file, so that importing the file again finds it."""
    return re.sub(r"[^\w-]+", "-", path.stem).strip("-").lower() or "playbook"


def _source(path: Path) -> str:
    """Return where a file is, so that an export can go back there; the files that ship with the app are no target."""
    full = path.resolve()
    try:
        if full.is_relative_to(shipped(DEMO).resolve()):
            return path.name
    except WorkbenchError:
        pass  # an installation without them has nothing to protect
    return clean_for_store(str(full))


def new_parts(library: Library, playbook: Playbook, path: Path) -> tuple[list[object], list[str]]:
    """Return the records to store, and the ids of bullets whose stored text differs and stays.

    A file that is not known yet becomes a playbook of its own. Of a known one, only bullets and
    sections that are missing are added; bullets that were merged away count as present. While the rest
    still stands as it does in the file, they go to their own places with their own lines, so that an
    import that was stopped can be finished; otherwise they follow the others.
    """
    name = book_id(path)
    sections = [replace(s, book=name) for s in playbook.sections]
    bullets = [replace(b, book=name) for b in playbook.bullets]
    book = library.books.find(name)
    if book is None:
        return [replace(playbook.book, id=name, name=playbook.book.name, source=_source(path)), *sections, *bullets], []
    stored = {b.id: b for b in library.bullets.all() if b.book == name}
    merged = {alias for b in stored.values() for alias in b.aliases}
    missing = [b for b in bullets if b.id not in stored and b.id not in merged]
    kept = [b.id for b in bullets if b.id in stored and stored[b.id].content != b.content]
    if missing and _is_unmoved(book, playbook.book, stored, bullets):
        return [*(s for s in sections if f"{name}/{s.id}" not in library.sections), *missing], kept
    return [*_sections(library, sections, missing), *_appended(missing, stored)], kept


def _is_unmoved(book: Book, file: Book, stored: dict[str, Bullet], bullets: list[Bullet]) -> bool:
    """Tell whether the file is laid out as the stored playbook, and every bullet of both stands in the same place."""
    layout = [(b.dialect, b.newline, b.final_newline, b.tail) for b in (book, file)]
    shared = [(b, stored[b.id]) for b in bullets if b.id in stored]
    places_hold = all((b.section, b.order) == (s.section, s.order) for b, s in shared)
    return layout[0] == layout[1] and places_hold and (bool(shared) or not stored)


def _sections(library: Library, sections: list[Section], bullets: list[Bullet]) -> list[Section]:
    """Return the sections that the missing bullets need and the store lacks."""
    needed = {b.section for b in bullets}
    return [s for s in sections if s.id in needed and f"{s.book}/{s.id}" not in library.sections]


def _appended(bullets: list[Bullet], stored: dict[str, Bullet]) -> list[Bullet]:
    """Put the missing bullets after those that are there; their lines are written anew."""
    last = max((b.order for b in stored.values()), default=0.0)
    return [replace(b, order=last + i, raw=None, lead=()) for i, b in enumerate(bullets, 1)]
