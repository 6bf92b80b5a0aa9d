"""Taking the file's side: where a file and the store say different things, the store gets what the file says.

What the file does not tell of a record stays as the store has it. A record that the file had when it was last read
or written here, and has no longer, was taken out by somebody else: its bullet is deprecated, its memory archived.
What was forgotten here stays forgotten. A heading that they took out goes, unless bullets of our own stand below it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TypeVar

from workbench.core.errors import UnreadableFile
from workbench.core.files.format import Format, Parsed, ReadContext
from workbench.core.files.formats import format_named
from workbench.core.playbook.book import Book, Bullet, Playbook, Section
from workbench.core.review.lifecycle import archive
from workbench.core.stream.memory import Memory
from workbench.formats import opening
from workbench.services.context import Context
from workbench.services.files.base import FileBases
from workbench.services.files.imports.guard import Removal
from workbench.services.playbook.file_merge import book_id

R = TypeVar("R", Memory, Bullet)
Pair = tuple[object, object]
"""A record as it is stored, and as it becomes."""

_COUNTS = ("helpful_", "harmful_")
"""How the parts of the counts begin: they are taken together."""

_OWN = frozenset({"id", "book", "section", "order", "raw", "lead", "version", "metadata"})
"""What is not taken field by field: names, places in the file, and what needs care."""


def replaced(context: Context, path: Path, parsed: Parsed, reading: ReadContext) -> tuple[Pair, ...]:
    """Return the stored records that differ from those of a file, each with what it becomes."""
    text = opening.read_text(path) if format_named(parsed.format).writes else ""
    base = _base(context, path, parsed, reading)
    pairs: list[Pair] = [*_memories(context, text, parsed, base, reading)]
    for playbook in parsed.playbooks:
        pairs += _playbook(context, path, text, parsed, playbook, base, reading)
    return tuple((old, new) for old, new in pairs if old != new)


def _base(context: Context, path: Path, parsed: Parsed, reading: ReadContext) -> Parsed:
    """Return what the file held when it was last read or written here."""
    text = FileBases(context.library.surroundings.common_texts).text(path)
    return _again(format_named(parsed.format), text, reading) if text else Parsed()


def _again(kind: Format, text: str, reading: ReadContext) -> Parsed:
    try:
        return kind.read(text, reading)
    except UnreadableFile:
        return Parsed()


def _memories(context: Context, text: str, parsed: Parsed, base: Parsed, reading: ReadContext) -> Iterator[Pair]:
    table = context.library.memories
    stored = {m.id: found for m in parsed.memories if (found := table.find(m.id)) and found.status != "archived"}
    kind = format_named(parsed.format)
    write = kind.write
    as_written: Mapping[str, Memory] = {}
    if write is not None and text:
        ours = replace(parsed, memories=tuple(stored.get(m.id, m) for m in parsed.memories))
        as_written = {m.id: m for m in _again(kind, write(ours, text), reading).memories}
    for memory in parsed.memories:
        if (old := stored.get(memory.id)) is not None:
            ours_there = as_written.get(memory.id) or replace(memory, content=old.content)
            yield old, _taken(old, ours_there, memory)
    for gone in {m.id for m in base.memories} - {m.id for m in parsed.memories}:
        found = table.find(gone)
        if found is not None and found.status != "archived":
            yield found, archive(found, "superseded")


def _playbook(
    context: Context, path: Path, text: str, parsed: Parsed, theirs: Playbook, base: Parsed, reading: ReadContext
) -> Iterator[Pair]:
    name, library = book_id(path), context.library
    book = library.books.find(name)
    if book is None:
        return
    sections = {s.id: s for s in library.sections.all() if s.book == name}
    bullets = {b.id: b for b in library.bullets.all() if b.book == name}
    ours = Playbook(book, tuple(sections.values()), tuple(bullets.values()))
    as_written = {b.id: b for b in _written(format_named(parsed.format), parsed, ours, text, reading)}
    yield book, _layout(book, theirs.book)
    for section in theirs.sections:
        if section.id in sections:
            yield sections[section.id], replace(section, book=name, version=sections[section.id].version)
    for bullet in theirs.bullets:
        old = bullets.get(bullet.id)
        if old is not None and old.state != "deprecated":
            ours_there = as_written.get(bullet.id) or replace(bullet, content=old.content)
            taken = _taken(old, ours_there, bullet)
            yield old, replace(taken, section=bullet.section, order=bullet.order, raw=bullet.raw, lead=bullet.lead)
    yield from _gone(theirs, base, sections, bullets)


def _gone(
    theirs: Playbook, base: Parsed, sections: Mapping[str, Section], bullets: Mapping[str, Bullet]
) -> Iterator[Pair]:
    """Yield what the file had and has no longer; what was deprecated stays in the store, under a heading that stays."""
    there = {b.id for b in theirs.bullets}
    gone = {b.id for known in base.playbooks for b in known.bullets} - there
    titles = {s.id for known in base.playbooks for s in known.sections} - {s.id for s in theirs.sections}
    lost = {
        id: sections[id]
        for id in titles & sections.keys()
        if theirs.sections and not any(_stays(b, id, there | gone) for b in bullets.values())
    }
    home = next((s.id for s in theirs.sections if s.key == "others"), theirs.sections[-1].id if lost else "")
    for old in bullets.values():
        place = home if old.section in lost else old.section
        if old.state == "deprecated":
            yield old, replace(old, section=place)
        elif old.id in gone:
            yield old, replace(old, section=place, state="deprecated", lead=())
    for section in lost.values():
        yield section, Removal(section)


def _stays(bullet: Bullet, section: str, in_file: set[str]) -> bool:
    """Tell whether a bullet of ours keeps its section: it lives, and neither side of the file ever had it."""
    return bullet.section == section and bullet.state != "deprecated" and bullet.id not in in_file


def _written(kind: Format, parsed: Parsed, ours: Playbook, text: str, reading: ReadContext) -> tuple[Bullet, ...]:
    """Return the store's bullets as the file would say them."""
    if kind.write is None:
        return ()
    written = kind.write(replace(parsed, playbooks=(ours,)), text)
    found = _again(kind, written, reading).playbooks
    return found[0].bullets if found else ()


def _layout(book: Book, theirs: Book) -> Book:
    return replace(
        book, dialect=theirs.dialect, newline=theirs.newline, final_newline=theirs.final_newline, tail=theirs.tail
    )


def _taken(old: R, ours_there: R, theirs: R) -> R:
    """Return the stored record with everything in which the file says something else than the store would write."""
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
    """Return planned records in which new sections and bullets of a playbook stand where the file has them."""
    name = book_id(path)
    known: dict[str, Section | Bullet] = {}
    for playbook in parsed.playbooks:
        known |= {f"bullet/{b.id}": replace(b, book=name) for b in playbook.bullets}
        known |= {f"section/{s.id}": replace(s, book=name) for s in playbook.sections}
    return tuple(
        known.get(f"{type(record).__name__.lower()}/{getattr(record, 'id', '')}", record) for record in records
    )
