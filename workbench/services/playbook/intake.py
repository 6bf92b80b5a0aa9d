"""Which playbook a run log or a saved reply is about, and what of it is new to the store."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.core.files.format import MappingNote, Parsed
from workbench.core.playbook.book import Bullet
from workbench.core.playbook.operations import Add, CreateMeta, Suggested, named_ids
from workbench.core.playbook.usage import UsageTally, tallied
from workbench.core.record import UnreadableFile
from workbench.core.review.proposal import Proposal
from workbench.core.text import clean_for_store
from workbench.services.context import Context
from workbench.services.playbook.curation import Curator, Reply, reply_of
from workbench.services.playbook.file_merge import book_id
from workbench.services.playbook.playbook import Playbooks, books_of, named_in

NOTHING = "Nothing was written."


def new_tallies(context: Context, parsed: Parsed, path: Path) -> tuple[list[UsageTally], Parsed]:
    """Return the tallies that are new or say something else than before, and `parsed` with a note of their books.

    Raises `UnreadableFile` when no playbook knows a bullet of the log.
    """
    if not parsed.runs:
        return [], parsed
    named = named_in(parsed.runs)
    books = books_of(context.library.bullets.all(), named)
    if not books:
        raise UnreadableFile(
            f"{path} names no bullet of a playbook in this store.", f"Import its playbook first. {NOTHING}"
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
    """Return the suggestions of a saved reply that never stood in the queue and were not carried out already.

    Raises `UnreadableFile`.
    """
    curating, found = Curator(context, Playbooks(context)), list[Proposal]()
    for reply in (reply_of(one, text) for one in parsed.replies):
        book = _book(context, (id for suggested, _ in reply.parts for id in named_ids(suggested)), path)
        made = curating.proposals(book, reply, repeats=False)
        found += [p for p in made if p.id not in context.library.proposals]
    return found


def suggestions(context: Context, parsed: Parsed, path: Path, records: Sequence[object]) -> list[Proposal]:
    """Return the new bullets among the `records` of a file as one curation, which waits in Review.

    Raises `UnreadableFile` when no playbook of the store is meant.
    """
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
        suggested = Add(title, bullet.content) if title in there else CreateMeta(title, bullet.content)
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
    hint = "Open that playbook in the app and take the reply in there." if books else "Import the playbook first."
    raise UnreadableFile(f"{path}: it does not say for which playbook it is ({known}).", f"{hint} {NOTHING}")
