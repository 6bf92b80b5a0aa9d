"""Undo, redo, and who changed what."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from workbench.bench.context import Context, is_person
from workbench.core.errors import UnknownRecord, WorkbenchError
from workbench.core.record import parse_time
from workbench.store import undo as undoing
from workbench.store.entry import ABSENT, DocChange, Entry
from workbench.store.library import key_of


@dataclass(frozen=True, slots=True)
class FieldStep:
    """One field of one record before and after; `None` stands for its default."""

    key: str
    field: str
    before: object
    after: object


@dataclass(frozen=True, slots=True)
class Step:
    """One transaction as a person reads it."""

    rev: int
    at: datetime
    actor: str
    label: str
    kind: str
    fields: tuple[FieldStep, ...]


class History:
    """What was done to a store, and the way back."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._journal = context.library.journal

    def undo(self) -> str:
        """Take back this person's latest action and return what it was; raises when there is none, or a conflict."""
        self._journal.refresh()
        action = undoing.undoable(self._journal, is_person)
        if action is None:
            raise WorkbenchError("There is nothing to undo.")
        undoing.undo(self._journal, action, self._context.actor)
        return action.label

    def redo(self) -> str:
        """Do again what was undone last and return what it was."""
        self._journal.refresh()
        action = undoing.redoable(self._journal, is_person)
        if action is None:
            raise WorkbenchError("There is nothing to redo.")
        undoing.redo(self._journal, action, self._context.actor)
        return action.label

    def undo_revision(self, rev: int) -> str:
        """Take back one transaction, whoever made it (with the rest of its group); raises `UnknownRecord`."""
        entry = next((e for e in self._journal.entries_back() if e.rev == rev and e.kind == "edit"), None)
        action = undoing.action_of(self._journal, entry.group or str(entry.rev)) if entry else None
        if action is None:
            raise UnknownRecord(f"There is no change with revision {rev}.")
        undoing.undo(self._journal, action, self._context.actor)
        return action.label

    def steps(self, key: str | None = None, *, accesses: bool = False) -> Iterator[Step]:
        """Yield transactions, newest first: all of them, or those that touched the record `key`."""
        for entry in self._journal.entries_back():
            if entry.kind == "access" and not accesses:
                continue
            step = self._step(entry, key)
            if key is None or step.fields:
                yield step

    def _step(self, entry: Entry, key: str | None) -> Step:
        fields = tuple(f for change in entry.changes for f in self._fields(change) if key in (None, f.key))
        return Step(entry.rev, parse_time(entry.at), entry.actor, entry.label, entry.kind, fields)

    def _fields(self, change: DocChange) -> Iterator[FieldStep]:
        name = self._key(change)
        for field, (before, after) in dict(change.fields).items():
            yield FieldStep(name, field, _plain(before), _plain(after))
        for field, step in dict(change.inc).items():
            yield FieldStep(name, field, None, f"{step:+d}")

    def _key(self, change: DocChange) -> str:
        doc = self._journal.state.get(change.table, change.doc)
        if doc is None:
            sides = dict(change.fields).items()
            doc = {name: after if before is ABSENT else before for name, (before, after) in sides}
        return key_of(change.table, doc) or f"{change.table} {change.doc}"


def _plain(value: object) -> object:
    return None if value is ABSENT else value
