"""The past of an open store, as those outside the store ask for it: who changed what, and the way back."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

from workbench.core.errors import InvalidRecord
from workbench.core.record import from_doc
from workbench.store.entry import Doc, DocChange, Transaction
from workbench.store.history import reading, undo
from workbench.store.history.reading import Event
from workbench.store.history.undo import Action, Meanwhile, Mine, nothing_else
from workbench.store.journal.engine import Journal
from workbench.store.records import table_of

R = TypeVar("R")


class Past:
    """What was done to a store. Reading is of what was taken in so far: call `Library.refresh` for what is new."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def events(self, record: tuple[str, str] | None = None, *, accesses: bool = False) -> Iterator[Event]:
        """Yield the transactions, newest first: all, or those that touched the record (table, key).

        Reads by agents are left out unless `accesses` is true.
        """
        return reading.events(self._journal, record, accesses=accesses)

    def changes_of(self, table: str, keys: Iterable[str]) -> Iterator[tuple[Transaction, str, DocChange]]:
        """Yield the changes of the records that stand under `keys`, newest first, with their transaction and the key.

        Reads by agents are left out. One pass over the history, whatever the number of keys.
        """
        return reading.changes_of(self._journal, table, keys)

    def moves(
        self, table: str, field: str, value: str, others: Iterable[str], after: int = 0
    ) -> Iterator[tuple[Transaction, DocChange]]:
        """Yield the changes that took a field of a record from `value` to something else, or back to it from one of
        `others`, newest first: those after a revision. The making of a record is none of them.
        """
        return reading.moves(self._journal, table, field, value, others, after)

    def find_place(self, name: str) -> tuple[str, str] | None:
        """Return (table, key) of the record called `name`, a key or the last part of one, that is or was in the store.

        Of several that were there under a part of their key, the one that was touched last.
        """
        return reading.find_place(self._journal, name)

    def at_revision(self, table: str, key: str, rev: int) -> Doc | None:
        """Return a record's document as it was right after revision `rev`, or `None` when there was none.

        What was purged is gone at every revision. Raises `ValueError` for a revision that is not there yet.
        """
        return reading.at_revision(self._journal, table, key, rev)

    def records_at(self, kind: type[R], rev: int) -> list[R]:
        """Return the records of a kind as they were right after revision `rev`, but for those that cannot be read.

        What was purged is gone at every revision. Raises `ValueError` for a revision that is not there yet.
        """
        if not 0 <= rev <= self._journal.rev:
            raise ValueError(f"there is no revision {rev}; the latest is {self._journal.rev}")
        found: list[R] = []
        for doc in reading.tables_at(self._journal, rev).get(table_of(kind), {}).values():
            with suppress(InvalidRecord):
                found.append(from_doc(kind, doc))
        return found

    def action_of(self, key: str) -> Action | None:
        """Return the action with that key: a group's name, or a revision number as text.

        A revision that belongs to a group stands for the whole group.
        """
        return undo.action_of(self._journal, key)

    def undoable(self, mine: Mine) -> Action | None:
        """Return the latest action of `mine` that stands and has not been purged, or `None`."""
        return undo.undoable(self._journal, mine)

    def redoable(self, mine: Mine) -> Action | None:
        """Return the action of `mine` that was undone last, unless something new was done since."""
        return undo.redoable(self._journal, mine)

    def undo(self, action: Action, actor: str, meanwhile: Meanwhile = nothing_else) -> None:
        """Take an action back as one transaction; raises `UndoConflict`, and then nothing is changed.

        `meanwhile` is called before the transaction is written; what it raises leaves everything as it is.
        """
        undo.undo(self._journal, action, actor, meanwhile)

    def redo(self, action: Action, actor: str, meanwhile: Meanwhile = nothing_else) -> None:
        """Do an undone action again as one transaction; raises `UndoConflict`, and then nothing is changed.

        `meanwhile` is called before the transaction is written; what it raises leaves everything as it is.
        """
        undo.redo(self._journal, action, actor, meanwhile)
