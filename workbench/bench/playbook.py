"""The playbook: bullets are voted on, edited, moved and exported here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.bench import votes
from workbench.bench.context import Context
from workbench.core import delta
from workbench.core.errors import UnknownRecord
from workbench.core.playbook import Book, Bullet, Playbook, Section
from workbench.core.text import clean_for_store
from workbench.core.vote import Verdict, vote_id
from workbench.store.library import Tx

MAIN = "main"


@dataclass(frozen=True, slots=True)
class BookLine:
    """One of the store's playbooks, with its number of bullets."""

    book: Book
    bullets: int


class Playbooks:
    """The playbooks of a store and what a person does with their bullets."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library

    def books(self) -> tuple[BookLine, ...]:
        """Return the store's playbooks, by name."""
        bullets = self._library.bullets.all()
        lines = (BookLine(book, sum(b.book == book.id for b in bullets)) for book in self._library.books.all())
        return tuple(sorted(lines, key=lambda line: (line.book.name, line.book.id)))

    def open(self, book: str) -> Playbook:
        """Return a playbook in file order; raises `UnknownRecord`."""
        sections = sorted((s for s in self._library.sections.all() if s.book == book), key=_section_place)
        place = {s.id: i for i, s in enumerate(sections)}
        bullets = [b for b in self._library.bullets.all() if b.book == book and b.section in place]
        bullets.sort(key=lambda b: (place[b.section], b.order, b.id))
        return Playbook(self._library.books.get(book), tuple(sections), tuple(bullets))

    def vote(self, book: str, ids: Sequence[str], verdict: Verdict) -> votes.VoteResult:
        """Vote on one bullet, or on several; the same vote again on a single one takes it back."""
        if len(ids) == 1:
            return votes.toggle(self._context, self.bullet(book, ids[0]), verdict)
        with self._library.transaction(self._context.actor, f"vote {verdict} on {len(ids)} bullets"):
            results = [votes.cast(self._context, self.bullet(book, id), verdict) for id in ids]
        return results[-1]

    def live_vote(self, book: str, id: str) -> str:
        """Return this actor's live vote on a bullet, or an empty text."""
        vote = self._library.votes.find(vote_id("bullets", f"{book}/{id}", self._context.actor))
        return vote.verdict if vote else ""

    def edit(self, book: str, id: str, content: str) -> None:
        """Change a bullet's text."""
        self.apply(book, delta.Update(id, _clean(content)), f"edit {id}")

    def add(self, book: str, section: str, content: str) -> str:
        """Add a bullet at the end of a section and return its new id."""
        before = {b.id for b in self.open(book).bullets}
        after = self.apply(book, delta.Add(section, _clean(content)), f"add a bullet to {section}")
        return next(b.id for b in after.bullets if b.id not in before)

    def delete(self, book: str, ids: Sequence[str]) -> None:
        """Delete bullets; the other lines of the file stay as they are."""
        label = f"delete {ids[0]}" if len(ids) == 1 else f"delete {len(ids)} bullets"
        self.apply_all(book, [delta.Delete(id) for id in ids], label)

    def move(self, book: str, ids: Sequence[str], section: str) -> None:
        """Move bullets to the end of another section; they keep their ids."""
        label = f"move {ids[0]} to {section}" if len(ids) == 1 else f"move {len(ids)} bullets to {section}"
        self.apply_all(book, [delta.Move(id, section) for id in ids], label)

    def shift(self, book: str, id: str, step: int) -> bool:
        """Move a bullet up (−1) or down (+1) within its section; return whether there was room."""
        playbook = self.open(book)
        bullet = delta.find_bullet(playbook, id)
        siblings = [b.id for b in playbook.in_section(bullet.section)]
        place = siblings.index(bullet.id)
        if not 0 <= place + step < len(siblings):
            return False
        siblings.insert(place + step, siblings.pop(place))
        self.apply(book, delta.Reorder(bullet.section, tuple(siblings)), f"reorder {id}")
        return True

    def pin(self, book: str, id: str) -> bool:
        """Turn a bullet's pin over and return the new state."""
        with self._library.transaction(self._context.actor, f"pin or unpin {id}") as tx:
            bullet = self.bullet(book, id)
            tx.put(replace(bullet, pinned=not bullet.pinned))
        return not bullet.pinned

    def add_section(self, book: str, title: str) -> None:
        """Add an empty section at the end; a first one makes the playbook itself."""
        self.ensure(book)
        self.apply(book, delta.CreateMeta(title), f"add section {title}")

    def ensure(self, book: str = MAIN) -> None:
        """Make an empty playbook unless it exists."""
        if book not in self._library.books:
            with self._library.transaction(self._context.actor, f"new playbook {book}") as tx:
                tx.put(Book(book, name=book))

    def apply(self, book: str, op: delta.Operation, label: str) -> Playbook:
        """Apply one operation as a transaction and return the playbook after it."""
        return self.apply_all(book, [op], label)

    def apply_all(self, book: str, ops: Sequence[delta.Operation], label: str) -> Playbook:
        """Apply operations as one transaction; when one is impossible it raises, and nothing is changed."""
        with self._library.transaction(self._context.actor, label) as tx:
            before = self.open(book)
            after = before
            for op in ops:
                after = delta.apply(after, op, self._context.now())
            _write(tx, before, after)
        return after

    def bullet(self, book: str, id: str) -> Bullet:
        """Return a bullet; raises `UnknownRecord`."""
        found = self._library.bullets.find(f"{book}/{id}")
        if found is None:
            raise UnknownRecord(f"There is no bullet {id} in the playbook {book}.")
        return found


def _write(tx: Tx, before: Playbook, after: Playbook) -> None:
    """Write only the records in which two states of a playbook differ."""
    if after.book != before.book:
        tx.put(after.book)
    pairs: tuple[tuple[Sequence[Section | Bullet], Sequence[Section | Bullet]], ...] = (
        (before.sections, after.sections),
        (before.bullets, after.bullets),
    )
    for old, new in pairs:
        known = {r.id: r for r in old}
        for record in new:
            if known.get(record.id) != record:
                tx.put(record)
        kept = {r.id for r in new}
        for record in old:
            if record.id not in kept:
                tx.delete(record)


def _section_place(section: Section) -> tuple[float, str]:
    return (section.order, section.id)


def _clean(content: str) -> str:
    return clean_for_store(content).strip()
