"""Taking the file's side: where a file and the store say different things, the store gets what the
file says.

What the file does not tell of a record stays as the store has it. A record that the file had when
it was last read or written here, and has no longer, was taken out by somebody else: its bullet is
deprecated, its memory archived. What was forgotten here stays forgotten. A heading that they took
out goes, unless bullets of our own stand below it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TypeVar

from workbench.config.paths import shipped
from workbench.core.files.format import Format, MappingNote, Parsed, ReadContext
from workbench.core.files.formats import format_named
from workbench.core.playbook.book import Book, Bullet, Playbook, Section
from workbench.core.playbook.operations import Add, CreateMeta, Suggested, named_ids
from workbench.core.playbook.usage import UsageTally, tallied
from workbench.core.record import UnreadableFile, WorkbenchError
from workbench.core.review.lifecycle import archive
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.core.text import clean_for_store
from workbench.formats import opening
from workbench.services.context import Context
from workbench.services.files.overwriting import FileStates
from workbench.services.playbook.playbook import Playbooks, books_of, named_in
from workbench.store.library import Library
from workbench.store.records import place_of

# Keeps an import from writing over what somebody else stored since it was planned.


@dataclass(frozen=True, slots=True)
class Removal:
    """Stands among the records of a plan for a section that goes, as its heading is no longer in
    the file.
    """

    what: Section


class Guard:
    """Tells the records of a plan that are still new from those that are there by now.

    `rev` is the store's revision when the plan was made. Records are compared within the
    transaction that writes them, so nothing can come between. Of the pairs in `replaced` the second
    may be written as long as the first is what is stored.
    """

    def __init__(
        self, library: Library, rev: int, replaced: Sequence[tuple[object, object]] = ()
    ) -> None:
        self._library = library
        self._replaced = {(type(new), _place(new)): old for old, new in replaced}
        self._expected = rev
        self._merged: frozenset[str] = frozenset()

    def still_new(self, chunk: Sequence[object]) -> tuple[list[object], list[str]]:
        """Return what of a chunk may be written, and the keys of what is there meanwhile; call it
        once a transaction.

        A memory or bullet that was merged into another one meanwhile counts as being there.
        """
        now = self._library.revision
        if now != self._expected:
            self._merged = self._aliases()
        self._expected = now + 1
        new: list[object] = []
        there: list[str] = []
        for record in chunk:
            key = _place(record)[1]
            merged = isinstance(record, Memory | Bullet) and key in self._merged
            old = self._replaced.get((type(record), _place(record)))
            if self._is_other(old, record) if old is not None else merged or self._is_there(record):
                there.append(key)
            else:
                new.append(record)
        return new, there

    def any_new(self, records: Sequence[object], start: int) -> bool:
        """Tell whether any record from `start` on may still be written, as far as is known before a
        transaction.
        """
        self._library.refresh()
        rest = (records[place] for place in range(start, len(records)))
        return any(
            (type(one), _place(one)) in self._replaced or not self._is_there(one) for one in rest
        )

    def _is_other(self, old: object, record: object) -> bool:
        """Tell whether something else is stored by now than the record that is to be replaced or
        removed.
        """
        if isinstance(record, Removal) and self._holds_more(record.what):
            return True
        table, key = _place(record)
        return bool(self._library.table_named(table).find(key) != old)

    def _holds_more(self, section: Section) -> bool:
        """Tell whether a section has got a living bullet that the plan knows nothing of."""
        inside = (
            b
            for b in self._library.bullets.all()
            if (b.book, b.section) == (section.book, section.id)
        )
        return any(
            b.state != "deprecated" and (Bullet, _place(b)) not in self._replaced for b in inside
        )

    def _is_there(self, record: object) -> bool:
        table, key = _place(record)
        records = self._library.table_named(table)
        if not isinstance(record, UsageTally):
            return key in records
        found = records.find(key)
        return found is not None and bool(found.at > record.at)

    def _aliases(self) -> frozenset[str]:
        memories = (alias for m in self._library.memories.all() for alias in m.aliases)
        bullets = (f"{b.book}/{alias}" for b in self._library.bullets.all() for alias in b.aliases)
        return frozenset((*memories, *bullets))


def _place(record: object) -> tuple[str, str]:
    """Return the table and the key of a record, or of the section that goes."""
    return place_of(record.what if isinstance(record, Removal) else record)


R = TypeVar("R", Memory, Bullet)
Pair = tuple[object, object]
"""A record as it is stored, and as it becomes."""

_COUNTS = ("helpful_", "harmful_")
"""How the parts of the counts begin: they are taken together."""

_OWN = frozenset({"id", "book", "section", "order", "raw", "lead", "version", "metadata"})
"""What is not taken field by field: names, places in the file, and what needs care."""


def replaced(
    context: Context, path: Path, parsed: Parsed, reading: ReadContext
) -> tuple[Pair, ...]:
    """Return the stored records that differ from those of a file, each with what it becomes."""
    text = opening.read_text(path) if format_named(parsed.format).writes else ""
    base = _base(context, path, parsed, reading)
    pairs: list[Pair] = [*_memories(context, text, parsed, base, reading)]
    for playbook in parsed.playbooks:
        pairs += _playbook(context, path, text, parsed, playbook, base, reading)
    return tuple((old, new) for old, new in pairs if old != new)


def _base(context: Context, path: Path, parsed: Parsed, reading: ReadContext) -> Parsed:
    """Return what the file held when it was last read or written here."""
    text = FileStates(context.library).base(path)
    return _again(format_named(parsed.format), text, reading) if text else Parsed()


def _again(kind: Format, text: str, reading: ReadContext) -> Parsed:
    try:
        return kind.read(text, reading)
    except UnreadableFile:
        return Parsed()


def _memories(
    context: Context, text: str, parsed: Parsed, base: Parsed, reading: ReadContext
) -> Iterator[Pair]:
    table = context.library.memories
    stored = {
        m.id: found
        for m in parsed.memories
        if (found := table.find(m.id)) and found.status != "archived"
    }
    kind = format_named(parsed.format)
    as_written: Mapping[str, Memory] = {}
    if kind.writes and text:
        ours = replace(parsed, memories=tuple(stored.get(m.id, m) for m in parsed.memories))
        as_written = {m.id: m for m in _again(kind, kind.write(ours, text), reading).memories}
    for memory in parsed.memories:
        if (old := stored.get(memory.id)) is not None:
            ours_there = as_written.get(memory.id) or replace(memory, content=old.content)
            yield old, _taken(old, ours_there, memory)
    for gone in {m.id for m in base.memories} - {m.id for m in parsed.memories}:
        found = table.find(gone)
        if found is not None and found.status != "archived":
            yield found, archive(found, "superseded")


def _playbook(
    context: Context,
    path: Path,
    text: str,
    parsed: Parsed,
    theirs: Playbook,
    base: Parsed,
    reading: ReadContext,
) -> Iterator[Pair]:
    name, library = book_id(path), context.library
    book = library.books.find(name)
    if book is None:
        return
    sections = {s.id: s for s in library.sections.all() if s.book == name}
    bullets = {b.id: b for b in library.bullets.all() if b.book == name}
    ours = Playbook(book, tuple(sections.values()), tuple(bullets.values()))
    as_written = {
        b.id: b for b in _written(format_named(parsed.format), parsed, ours, text, reading)
    }
    yield book, _layout(book, theirs.book)
    for section in theirs.sections:
        if section.id in sections:
            yield (
                sections[section.id],
                replace(section, book=name, version=sections[section.id].version),
            )
    for bullet in theirs.bullets:
        old = bullets.get(bullet.id)
        if old is not None and old.state != "deprecated":
            ours_there = as_written.get(bullet.id) or replace(bullet, content=old.content)
            taken = _taken(old, ours_there, bullet)
            yield (
                old,
                replace(
                    taken,
                    section=bullet.section,
                    order=bullet.order,
                    raw=bullet.raw,
                    lead=bullet.lead,
                ),
            )
    yield from _gone(theirs, base, sections, bullets)


def _gone(
    theirs: Playbook, base: Parsed, sections: Mapping[str, Section], bullets: Mapping[str, Bullet]
) -> Iterator[Pair]:
    """Yield what the file had and has no longer; what was deprecated stays in the store, under a
    heading that stays.
    """
    there = {b.id for b in theirs.bullets}
    gone = {b.id for known in base.playbooks for b in known.bullets} - there
    titles = {s.id for known in base.playbooks for s in known.sections} - {
        s.id for s in theirs.sections
    }
    lost = {
        id: sections[id]
        for id in titles & sections.keys()
        if theirs.sections and not any(_stays(b, id, there | gone) for b in bullets.values())
    }
    home = next(
        (s.id for s in theirs.sections if s.key == "others"), theirs.sections[-1].id if lost else ""
    )
    for old in bullets.values():
        place = home if old.section in lost else old.section
        if old.state == "deprecated":
            yield old, replace(old, section=place)
        elif old.id in gone:
            yield old, replace(old, section=place, state="deprecated", lead=())
    for section in lost.values():
        yield section, Removal(section)


def _stays(bullet: Bullet, section: str, in_file: set[str]) -> bool:
    """Tell whether a bullet of ours keeps its section: it lives, and neither side of the file ever
    had it.
    """
    return bullet.section == section and bullet.state != "deprecated" and bullet.id not in in_file


def _written(
    kind: Format, parsed: Parsed, ours: Playbook, text: str, reading: ReadContext
) -> tuple[Bullet, ...]:
    """Return the store's bullets as the file would say them."""
    if not kind.writes:
        return ()
    written = kind.write(replace(parsed, playbooks=(ours,)), text)
    found = _again(kind, written, reading).playbooks
    return found[0].bullets if found else ()


def _layout(book: Book, theirs: Book) -> Book:
    return replace(
        book,
        dialect=theirs.dialect,
        newline=theirs.newline,
        final_newline=theirs.final_newline,
        tail=theirs.tail,
    )


def _taken(old: R, ours_there: R, theirs: R) -> R:
    """Return the stored record with everything in which the file says something else than the store
    would write.
    """
    changed = {
        field.name: getattr(theirs, field.name)
        for field in fields(old)
        if field.name not in _OWN
        and not field.name.startswith(_COUNTS)
        and getattr(ours_there, field.name) != getattr(theirs, field.name)
    }
    mine, given = _counts(ours_there), _counts(theirs)
    if mine != given:
        changed |= given
    if ours_there.metadata != theirs.metadata:
        dropped = ours_there.metadata.keys() - theirs.metadata.keys()
        kept = {key: value for key, value in old.metadata.items() if key not in dropped}
        changed["metadata"] = {**kept, **theirs.metadata}
    if isinstance(old, Memory) and isinstance(theirs, Memory) and isinstance(ours_there, Memory):
        changed |= {"section": theirs.section} if ours_there.section != theirs.section else {}
    return replace(old, **changed)


def _counts(record: Memory | Bullet) -> dict[str, object]:
    return {f.name: getattr(record, f.name) for f in fields(record) if f.name.startswith(_COUNTS)}


def in_place(records: tuple[object, ...], parsed: Parsed, path: Path) -> tuple[object, ...]:
    """Return planned records in which new sections and bullets of a playbook stand where the file
    has them.
    """
    name = book_id(path)
    known: dict[str, Section | Bullet] = {}
    for playbook in parsed.playbooks:
        known |= {f"bullet/{b.id}": replace(b, book=name) for b in playbook.bullets}
        known |= {f"section/{s.id}": replace(s, book=name) for s in playbook.sections}
    return tuple(
        known.get(f"{type(record).__name__.lower()}/{getattr(record, 'id', '')}", record)
        for record in records
    )


# Playbooks from files: what of one the store lacks, and what it suggests.


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
