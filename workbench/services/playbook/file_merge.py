"""What of a file is new to the playbooks of a store: of a playbook itself, a run log or a saved
reply.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.config.paths import shipped
from workbench.core.files.format import MappingNote, Parsed
from workbench.core.playbook.book import Book, Bullet, Playbook, Section
from workbench.core.playbook.operations import Add, CreateMeta, Suggested, named_ids
from workbench.core.playbook.usage import UsageTally, tallied
from workbench.core.record import UnreadableFile, WorkbenchError
from workbench.core.review.proposal import Proposal
from workbench.core.text import clean_for_store
from workbench.services.context import Context
from workbench.services.playbook.playbook import Playbooks, books_of, named_in
from workbench.store.library import Library

DEMO = "fixtures/demo"


def book_id(path: Path) -> str:
    """Name a playbook by its file, so that importing the file again finds it."""
    return re.sub(r"[^\w-]+", "-", path.stem).strip("-").lower() or "playbook"


def _source(path: Path) -> str:
    """Return where a file is, so that an export can go back there; the files that ship with the app
    are no target.
    """
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
    sections that are missing are added; bullets that were merged away count as present. While the
    rest still stands as it does in the file, they go to their own places with their own lines, so
    that an import that was stopped can be finished; otherwise they follow the others.
    """
    name = book_id(path)
    sections = [replace(s, book=name) for s in playbook.sections]
    bullets = [replace(b, book=name) for b in playbook.bullets]
    book = library.books.find(name)
    if book is None:
        return [
            replace(playbook.book, id=name, name=playbook.book.name, source=_source(path)),
            *sections,
            *bullets,
        ], []
    stored = {b.id: b for b in library.bullets.all() if b.book == name}
    merged = {alias for b in stored.values() for alias in b.aliases}
    missing = [b for b in bullets if b.id not in stored and b.id not in merged]
    kept = [b.id for b in bullets if b.id in stored and stored[b.id].content != b.content]
    if missing and _is_unmoved(book, playbook.book, stored, bullets):
        return [*(s for s in sections if f"{name}/{s.id}" not in library.sections), *missing], kept
    return [*_sections(library, sections, missing), *_appended(missing, stored)], kept


def _is_unmoved(book: Book, file: Book, stored: dict[str, Bullet], bullets: list[Bullet]) -> bool:
    """Tell whether the file is laid out as the stored playbook, and every bullet of both stands in
    the same place.
    """
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


# Which playbook a run log or a saved reply is about, and what of it is new to the store.


NOTHING = "Nothing was written."


def new_tallies(context: Context, parsed: Parsed, path: Path) -> tuple[list[UsageTally], Parsed]:
    """Return the tallies that are new or say something else than before, and `parsed` with a note
    of their books.

    Raises `UnreadableFile` when no playbook knows a bullet of the log.
    """
    if not parsed.runs:
        return [], parsed
    named = named_in(parsed.runs)
    books = books_of(context.library.bullets.all(), named)
    if not books:
        raise UnreadableFile(
            f"{path} mentions no bullet of this store.",
            f"Import its playbook first. {NOTHING}",
        )
    new, source = [], clean_for_store(str(path.resolve()))
    notes = [MappingNote("runs", f"counted for {book}: {known} of {len(named)} bullets", len(parsed.runs))
             for book, known in books.items()]  # fmt: skip
    for book in books:
        tally = tallied(book, source, parsed.runs, context.now())
        before = context.library.tallies.find(tally.id)
        if before is None or replace(before, at=tally.at) != tally:
            new.append(tally)
    return new, replace(parsed, mappings=(*parsed.mappings, *notes))


def new_proposals(context: Context, parsed: Parsed, path: Path, text: str) -> list[Proposal]:
    """Return the suggestions of a saved reply that never stood in the queue and were not carried
    out already.

    Raises `UnreadableFile`.
    """
    from workbench.services.playbook.curation import Curator, reply_of  # few files hold replies

    curating, found = Curator(context, Playbooks(context)), list[Proposal]()
    for reply in (reply_of(one, text) for one in parsed.replies):
        book = _book(
            context, (id for suggested, _ in reply.parts for id in named_ids(suggested)), path
        )
        made = curating.proposals(book, reply, repeats=False)
        found += [p for p in made if p.id not in context.library.proposals]
    return found


def suggestions(
    context: Context, parsed: Parsed, path: Path, records: Sequence[object]
) -> list[Proposal]:
    """Return the new bullets among the `records` of a file as one curation, which waits in Review.

    Raises `UnreadableFile` when no playbook of the store is meant.
    """
    from workbench.services.playbook.curation import Curator, Reply  # few files hold replies

    bullets = [record for record in records if isinstance(record, Bullet)]
    if not bullets:
        return []
    titles = {section.id: section.title for one in parsed.playbooks for section in one.sections}
    known = {book.id for book in context.library.books.all()}
    book = book_id(path) if book_id(path) in known else _book(context, (), path)
    there = {section.title for section in context.library.sections.all() if section.book == book}
    parts = list[tuple[Suggested, str]]()
    for bullet in bullets:
        title = titles.get(bullet.section, "") or bullet.section
        suggested = (
            Add(title, bullet.content) if title in there else CreateMeta(title, bullet.content)
        )
        parts.append((suggested, ""))
        there.add(title)
    reply = Reply(context.actor, "", "", tuple(parts))
    made = Curator(context, Playbooks(context)).proposals(book, reply, repeats=False)
    return [one for one in made if one.id not in context.library.proposals]


def _book(context: Context, named: Iterable[str], path: Path) -> str:
    """Return the one playbook that knows most of the bullets named, or the only one there is."""
    books = [book.id for book in context.library.books.all()]
    if len(books) == 1:
        return books[0]
    fitting = books_of(context.library.bullets.all(), named)
    if len(fitting) == 1:
        return next(iter(fitting))
    known = ", ".join(sorted(fitting or books)) or "none"
    hint = (
        "Open that playbook in the app and import the reply there."
        if books
        else "Import the playbook first."
    )
    raise UnreadableFile(f"{path}: it does not name its playbook ({known}).", f"{hint} {NOTHING}")
