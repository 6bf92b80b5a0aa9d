"""Keeps an import from writing over what somebody else stored since it was planned."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.core.playbook.book import Book, Bullet, Section
from workbench.core.playbook.usage_tally import UsageTally
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.core.tuning.judgment import Judgment, SavedQuery
from workbench.store.library import Library


@dataclass(frozen=True, slots=True)
class Removal:
    """Stands among the records of a plan for a section that goes, as its heading is no longer in the file."""

    what: Section


class Guard:
    """Tells the records of a plan that are still new from those that are there by now.

    `rev` is the store's revision when the plan was made. Records are compared within the transaction that
    writes them, so nothing can come between. Of the pairs in `replaced` the second may be written as long as the
    first is what is stored.
    """

    def __init__(self, library: Library, rev: int, replaced: Sequence[tuple[object, object]] = ()) -> None:
        self._library = library
        self._replaced = {(type(new), _key(new)): old for old, new in replaced}
        self._expected = rev
        self._merged: frozenset[str] = frozenset()

    def still_new(self, chunk: Sequence[object]) -> tuple[list[object], list[str]]:
        """Return what of a chunk may be written, and the keys of what is there meanwhile; call it once a transaction.

        A memory or bullet that was merged into another one meanwhile counts as being there.
        """
        now = self._library.revision
        if now != self._expected:
            self._merged = self._aliases()
        self._expected = now + 1
        new: list[object] = []
        there: list[str] = []
        for record in chunk:
            key = _key(record)
            merged = isinstance(record, Memory | Bullet) and key in self._merged
            old = self._replaced.get((type(record), key))
            if self._is_other(old, record, key) if old is not None else merged or self._is_there(record, key):
                there.append(key)
            else:
                new.append(record)
        return new, there

    def any_new(self, records: Sequence[object], start: int) -> bool:
        """Tell whether any record from `start` on may still be written, as far as is known before a transaction."""
        self._library.refresh()
        rest = (records[place] for place in range(start, len(records)))
        return any(
            (type(record), _key(record)) in self._replaced or not self._is_there(record, _key(record))
            for record in rest
        )

    def _is_other(self, old: object, record: object, key: str) -> bool:
        """Tell whether something else is stored by now than the record that is to be replaced or removed."""
        library = self._library
        if isinstance(record, Removal) and self._holds_more(record.what):
            return True
        match old:
            case Memory():
                return library.memories.find(key) != old
            case Bullet():
                return library.bullets.find(key) != old
            case Section():
                return library.sections.find(key) != old
            case Book():
                return library.books.find(key) != old
            case _:
                return True

    def _holds_more(self, section: Section) -> bool:
        """Tell whether a section has got a living bullet that the plan knows nothing of."""
        inside = (b for b in self._library.bullets.all() if (b.book, b.section) == (section.book, section.id))
        return any(b.state != "deprecated" and (Bullet, _key(b)) not in self._replaced for b in inside)

    def _is_there(self, record: object, key: str) -> bool:
        library = self._library
        match record:
            case Memory():
                return key in library.memories
            case Bullet():
                return key in library.bullets
            case Section():
                return key in library.sections
            case Book():
                return key in library.books
            case SavedQuery():
                return key in library.queries
            case Judgment():
                return key in library.judgments
            case Proposal():
                return key in library.proposals
            case UsageTally():
                before = library.tallies.find(key)
                return before is not None and before.at > record.at
            case _:
                return False

    def _aliases(self) -> frozenset[str]:
        memories = (alias for m in self._library.memories.all() for alias in m.aliases)
        bullets = (f"{b.book}/{alias}" for b in self._library.bullets.all() for alias in b.aliases)
        return frozenset((*memories, *bullets))


def _key(record: object) -> str:
    """Return the key that a record has in its table."""
    if isinstance(record, Removal):
        return _key(record.what)
    name = str(getattr(record, "id", ""))
    return f"{record.book}/{name}" if isinstance(record, Bullet | Section) else name
