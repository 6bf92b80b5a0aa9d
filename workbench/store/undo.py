"""Undo and redo of whole transactions, and what stands in their way.

An undo is itself a transaction that names the one it takes back, so it can be seen in the
history and redone. Nothing is kept beside the journal: what can be undone is read from its end.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from workbench.core.errors import Conflict
from workbench.store.engine import Journal, Staged
from workbench.store.entry import ABSENT, Doc, DocChange, Entry, apply_change

Mine = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Action:
    """One action of somebody: its transactions, oldest first (several when it was done in chunks)."""

    entries: tuple[Entry, ...]

    @property
    def last(self) -> Entry:
        """The newest transaction, which names the action."""
        return self.entries[-1]

    @property
    def label(self) -> str:
        """What was done."""
        return self.last.label


@dataclass(frozen=True, slots=True)
class Clash:
    """A field that a later transaction changed: what undoing would write, and what stands there now."""

    table: str
    doc: str
    field: str
    wanted: Any
    present: Any


class UndoConflict(Conflict):
    """Undoing or redoing would overwrite later changes; `clashes` lists them."""

    def __init__(self, verb: str, action: Action, clashes: list[Clash]) -> None:
        first = clashes[0]
        shown = "gone" if first.present is ABSENT else repr(first.present)[:60]
        super().__init__(
            f"Cannot {verb} “{action.label}”: {first.field} of {first.table} {first.doc} "
            f"was changed since (now {shown})"
            + (f", and {len(clashes) - 1} more fields." if len(clashes) > 1 else "."),
            "Nothing was changed; undo the later change first.",
        )
        self.clashes = tuple(clashes)


def undoable(journal: Journal, mine: Mine) -> Action | None:
    """Return the latest action of `mine` that stands, or `None`."""
    settled: set[str] = set()
    for entry in journal.entries_back():
        if entry.kind == "access" or _key(entry) in settled:
            continue
        if entry.kind != "undo" and mine(entry.actor):
            return action_of(journal, _key(entry))
        if entry.kind != "edit":
            settled.add(_key(entry))
    return None


def redoable(journal: Journal, mine: Mine) -> Action | None:
    """Return the action of `mine` that was undone last, unless something new was done since."""
    settled: set[str] = set()
    for entry in journal.entries_back():
        if entry.kind == "access" or not mine(entry.actor) or _key(entry) in settled:
            continue
        if entry.kind == "undo":
            return action_of(journal, _key(entry))
        if entry.kind == "edit":
            return None
        settled.add(_key(entry))
    return None


def action_of(journal: Journal, key: str) -> Action | None:
    """Return the action with that key: a group's name, or a revision number as text."""
    found: list[Entry] = []
    for entry in journal.entries_back():
        if entry.kind != "edit" or key not in (entry.group, str(entry.rev)):
            continue
        found.append(entry)
        if not entry.group or entry.part == 1:
            break
    return Action(tuple(reversed(found))) if found else None


def is_undone(journal: Journal, action: Action) -> bool:
    """Tell whether the action is taken back at present."""
    key = _key(action.last)
    latest = next((e for e in journal.entries_back() if _key(e) == key), None)
    return latest is not None and latest.kind == "undo"


def undo(journal: Journal, action: Action, actor: str) -> None:
    """Take an action back as one transaction; raises `UndoConflict`, and then nothing is changed."""
    changes = (reverse(c) for entry in reversed(action.entries) for c in reversed(entry.changes))
    _commit(journal, "undo", action, actor, changes)


def redo(journal: Journal, action: Action, actor: str) -> None:
    """Do an undone action again as one transaction; raises `UndoConflict`, and then nothing is changed."""
    _commit(journal, "redo", action, actor, (c for entry in action.entries for c in entry.changes))


def reverse(change: DocChange) -> DocChange:
    """Return the change that leads back."""
    back = {"insert": "delete", "delete": "insert", "table": "drop", "drop": "table", "update": "update"}
    fields = {name: (after, before) for name, (before, after) in dict(change.fields).items()}
    inc = {name: -step for name, step in dict(change.inc).items()}
    return DocChange(change.table, change.doc, back[change.op], fields, inc)  # type: ignore[arg-type]


def _commit(journal: Journal, verb: str, action: Action, actor: str, changes: Iterator[DocChange]) -> None:
    kind = "undo" if verb == "undo" else "redo"
    last = action.last
    label = f"{verb}: {last.label}"
    with journal.transaction(actor, label, group=last.group, kind=kind, target=last.rev) as staged:  # type: ignore[arg-type]
        clashes = [clash for change in changes for clash in _apply(staged, change)]
        if clashes:
            raise UndoConflict(verb, action, clashes)


def _apply(staged: Staged, change: DocChange) -> list[Clash]:
    if change.op in ("table", "drop"):
        if change.op == "table":
            staged.ensure_table(change.table)
        return []
    present = staged.get(change.table, change.doc)
    clashes = list(_clashes(change, present))
    if not clashes:
        new = apply_change(present, change)
        if new is None:
            staged.delete(change.table, change.doc)
        else:
            staged.put(change.table, change.doc, new)
    return clashes


def _clashes(change: DocChange, present: Doc | None) -> Iterator[Clash]:
    fields = dict(change.fields)
    if change.op == "insert":
        if present is not None:
            yield Clash(change.table, change.doc, "id", change.doc, present)
        return
    if present is None:
        yield Clash(change.table, change.doc, "id", change.doc, ABSENT)
        return
    names = set(fields) | set(present) if change.op == "delete" else set(fields)
    for name in sorted(names):
        before, after = fields.get(name, (ABSENT, ABSENT))
        now = present.get(name, ABSENT)
        if now != before:
            yield Clash(change.table, change.doc, name, after, now)


def _key(entry: Entry) -> str:
    return entry.group or str(entry.target or entry.rev)
