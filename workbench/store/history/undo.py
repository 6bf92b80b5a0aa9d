"""Undo and redo of whole transactions, and what stands in their way.

An undo is itself a transaction that names the one it takes back, so it can be seen in the
history and redone. Nothing is kept beside the journal: what can be undone is read from its end.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from workbench.core.change import UndoConflict
from workbench.core.errors import Conflict
from workbench.store.entry import DocChange, Transaction, reverse
from workbench.store.history.clash import stage_change
from workbench.store.journal.engine import Journal
from workbench.store.journal.state import State
from workbench.store.records import TOTALS

Mine = Callable[[str], bool]
Meanwhile = Callable[[], object]


def nothing_else() -> None:
    """Do nothing beside an undo."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action of somebody: its transactions, oldest first (several when it was done in chunks).

    `known` is whether it was undone at a revision, where the look that found it told; `purged_since`, whether somebody
    who could take it back erased something for good after it.
    """

    entries: tuple[Transaction, ...]
    known: "Known | None" = field(default=None, compare=False)
    purged_since: bool = field(default=False, compare=False)

    @property
    def last(self) -> Transaction:
        """The newest transaction, which names the action."""
        return self.entries[-1]

    @property
    def label(self) -> str:
        """What was done."""
        return self.last.label


@dataclass(frozen=True, slots=True)
class Known:
    """Whether an action was taken back at a revision of a journal's state."""

    state: State
    rev: int
    undone: bool


def undoable(journal: Journal, mine: Mine) -> Action | None:
    """Return the latest action of `mine` that stands and has not been purged, or `None`."""
    settled: set[str] = set()
    known, purged = Known(journal.state, journal.rev, undone=False), False
    for entry in journal.entries_back():
        purged = purged or (entry.kind == "purge" and mine(entry.actor))
        if entry.kind in ("access", "purge") or _key(entry) in settled:
            continue
        if entry.kind != "undo" and mine(entry.actor):
            alone = entry.kind == "edit" and not entry.group
            action = Action((entry,)) if alone else action_of(journal, _key(entry))
            if action is not None and not is_erased(action):
                return replace(action, known=known, purged_since=purged)
        if entry.kind != "edit" or mine(entry.actor):
            settled.add(_key(entry))
    return None


def redoable(journal: Journal, mine: Mine) -> Action | None:
    """Return the action of `mine` that was undone last, unless something new was done since."""
    settled: set[str] = set()
    known = Known(journal.state, journal.rev, undone=True)
    for entry in journal.entries_back():
        if entry.kind in ("access", "purge") or not mine(entry.actor):
            continue
        if entry.kind == "edit":
            return None
        if entry.kind == "undo" and _key(entry) not in settled:
            action = action_of(journal, _key(entry))
            return action and replace(action, known=known)
        settled.add(_key(entry))
    return None


def action_of(journal: Journal, key: str) -> Action | None:
    """Return the action with that key: a group's name, or a revision number as text.

    A revision that belongs to a group stands for the whole group.
    """
    found: list[Transaction] = []
    for entry in journal.entries_back():
        if entry.kind != "edit" or key not in (entry.group, str(entry.rev)):
            continue
        if entry.group and entry.group != key:
            return action_of(journal, entry.group)
        found.append(entry)
        if not entry.group or entry.part == 1:
            break
    return Action(tuple(reversed(found))) if found else None


def is_undone(journal: Journal, action: Action) -> bool:
    """Tell whether the action is taken back at present; looked up anew when anything came since it was found."""
    known = action.known
    if known is not None and known.state is journal.state and known.rev == journal.rev:
        return known.undone
    key = _key(action.last)
    latest = next((e for e in journal.entries_back() if _key(e) == key), None)
    return latest is not None and latest.kind == "undo"


def undo(journal: Journal, action: Action, actor: str, meanwhile: Meanwhile = nothing_else) -> None:
    """Take an action back as one transaction; raises `UndoConflict`, and then nothing is changed.

    `meanwhile` is called before the transaction is written; what it raises leaves everything as it is.
    """
    changes = (reverse(c) for entry in reversed(action.entries) for c in reversed(entry.changes))
    _commit(journal, "undo", action, actor, changes, meanwhile)


def redo(journal: Journal, action: Action, actor: str, meanwhile: Meanwhile = nothing_else) -> None:
    """Do an undone action again as one transaction; raises `UndoConflict`, and then nothing is changed.

    `meanwhile` is called before the transaction is written; what it raises leaves everything as it is.
    """
    _commit(journal, "redo", action, actor, (c for entry in action.entries for c in entry.changes), meanwhile)


def _commit(
    journal: Journal,
    verb: Literal["undo", "redo"],
    action: Action,
    actor: str,
    changes: Iterator[DocChange],
    meanwhile: Meanwhile,
) -> None:
    """Stage and commit; what is undone already is not undone twice (a count would move twice)."""
    last = action.last
    with journal.transaction(actor, f"{verb}: {last.label}", group=last.group, kind=verb, target=last.rev) as staged:
        if is_undone(journal, action) == (verb == "undo"):
            state = "undone already" if verb == "undo" else "not undone"
            raise Conflict(f"“{action.label}” is {state}.", "Nothing was changed.")
        clashes = [clash for change in changes for clash in stage_change(staged, change)]
        if clashes:
            raise UndoConflict(verb, action.label, clashes)
        meanwhile()


def is_erased(action: Action) -> bool:
    """Tell whether a purge left nothing of an action that could be taken back, but its share of running totals."""
    changes = [change for entry in action.entries for change in entry.changes]
    return any(c.redacted for c in changes) and all(c.redacted or c.table in TOTALS for c in changes)


def _key(entry: Transaction) -> str:
    return entry.group or str(entry.target or entry.rev)
