"""Undo, redo, who changed what, and any record as it was."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import Literal, NamedTuple

from workbench.core.agents.actors import OWN_TERMINAL, require_person, stands_by
from workbench.core.change import UndoConflict
from workbench.core.document import from_doc
from workbench.core.record import InvalidRecord, UnknownRecord, WorkbenchError, parse_time
from workbench.core.stream.memory import Verdict
from workbench.safety.scanning import mask
from workbench.services.context import Service
from workbench.services.safety.masking import masked
from workbench.services.stream.votable import find_votable
from workbench.store import history
from workbench.store.entry import Transaction
from workbench.store.history import Action, Event, FieldEvent, Meanwhile
from workbench.store.records import NAMED, kind_in, place_of

Place = tuple[str, str]
"""A record as (table, key)."""

Verb = Literal["undo", "redo"]
"""Which way an action is carried out again."""


class Upcoming(NamedTuple):
    """An action that an undo would take back: its last revision, when and by whom it was done, and
    what it was.
    """

    rev: int
    at: datetime
    actor: str
    label: str


class UndoneOf(NamedTuple):
    """What was taken back of an actor's changes: how many, the labels of those that stay, and what
    was found in the files then.
    """

    taken: int
    left: tuple[str, ...]
    found: str


class VoteCast(NamedTuple):
    """A vote on a memory or bullet, or a vote that was taken back: how many of its kind there were
    before and after.
    """

    actor: str
    target: str
    verdict: Verdict
    before: int
    after: int


_TITLES = ("summary", "title", "name", "content", "text", "task", "path")
"""Fields that a record is known by, the best first."""

_COUNTED = ("helpful_votes", "harmful_votes")
_WITH_A_VOTE = ("last_feedback_at", "helpful_by_agents", "harmful_by_agents")


class History(Service):
    """What was done to a store, and the way back."""

    @property
    def _past(self) -> history.Past:
        """What was done, to the present moment."""
        self._library.refresh()
        return self._library.past

    def undo(self) -> str:
        """Take back the latest action of who acts and return what it was; raises when there is
        none, or a conflict.

        A person has one line of undo by whatever door they came in; an agent has that of its name.
        """
        action = self._past.undoable(self._context.is_own)
        if action is None:
            raise WorkbenchError("Nothing to undo.")
        if action.purged_since:
            rev = action.last.rev
            hint = f"The change before it is: {action.label}; `workbench undo --rev {rev}` takes that back."
            raise WorkbenchError("The purge cannot be undone.", hint)
        return action.label + self._carry_out("undo", action)

    def upcoming(self) -> "Upcoming | None":
        """Return what `undo` would take back, or `None` for nothing."""
        action = self._past.undoable(self._context.is_own)
        return None if action is None else _upcoming(action)

    def vote_in(self, event: Event, later: Iterable[Event]) -> "VoteCast | None":
        """Return the vote that a transaction cast or took back, if that is all it did; `later` are
        those after it.

        The counts are those right after it, as far as the later ones tell.
        """
        counted = [field for field in event.fields if field.field in _COUNTED and field.step]
        others = {field.key for field in event.fields if field.table == "votes"}
        told = all(
            field in counted or field.table == "votes" or field.field in _WITH_A_VOTE
            for field in event.fields
        )
        counted.sort(key=lambda field: field.step or 0)
        if (
            not counted
            or len({(field.table, field.key) for field in counted}) > 1
            or len(others) > 1
            or not told
        ):
            return None
        one = counted[-1]  # of a vote that takes the place of another, the new one
        step, record = int(one.step or 0), self._library.table_named(one.table).find(one.key)
        if record is None:
            return None
        verdict: Verdict = "helpful" if one.field == _COUNTED[0] else "harmful"
        after: int = record.helpful_count if verdict == "helpful" else record.harmful_count
        for other in later:
            for field in other.fields:
                if (field.table, field.key, field.field) == (one.table, one.key, one.field):
                    after -= int(field.step or 0)
        return VoteCast(event.actor, record.id, verdict, after - step, after)

    def redo(self) -> str:
        """Do again what was undone last and return what it was."""
        action = self._past.redoable(self._context.is_own)
        if action is None:
            raise WorkbenchError("Nothing to redo.")
        return action.label + self._carry_out("redo", action)

    def undo_revision(self, rev: int) -> str:
        """Take back one transaction, whoever made it, with the rest of its group; return what it
        was.

        Taking back an undo does again what was undone. Raises `UnknownRecord`, `Conflict`, or
        `WorkbenchError` for what has no way back.
        """
        entry, action = self._revision(rev)
        return entry.label + self._carry_out("redo" if entry.kind == "undo" else "undo", action)

    def touched_by(self, rev: int) -> Counter[str]:
        """Return how many records of each table `undo_revision` changes, those that have a name."""
        changes = (change for one in self._revision(rev)[1].entries for change in one.changes)
        docs = {(change.table, change.doc) for change in changes if change.table in NAMED}
        return Counter(table for table, _ in docs)

    def _revision(self, rev: int) -> tuple[Transaction, Action]:
        """Return a transaction that has a way back, and the action it is part of."""
        self._library.refresh()
        entry = next((e for e in self._library.changes_back() if e.rev <= rev), None)
        if entry is None or entry.rev != rev:
            raise UnknownRecord(f"There is no change with revision {rev}.", "Nothing was changed.")
        if entry.kind in ("access", "purge"):
            what = (
                "only records what was read or written"
                if entry.kind == "access"
                else "erased for good"
            )
            raise WorkbenchError(f"Revision {rev} {what}, so it cannot be undone.")
        return entry, self._action(entry.group or str(entry.target or rev))

    def upcoming_of(self, actor: str, since: datetime) -> list[Upcoming]:
        """Return what `undo_by` would take back, newest first, as far as nothing depends on it."""
        return [_upcoming(action) for action in self._past.standing(actor, since)]

    def undo_by(self, actor: str, since: datetime) -> "UndoneOf":
        """Take back whatever an actor changed since a time, as one action with one undo; what
        something later stands on stays.

        Raises `WorkbenchError` when there is nothing, or when everything stays.
        """
        past, name = self._past, actor.removeprefix("agent:")
        actions = past.standing(actor, since)
        if not actions:
            raise WorkbenchError(f"Nothing that {name} changed since then still stands.")
        taken, left = 0, list[Action]()

        def carry_out(meanwhile: Meanwhile) -> None:
            nonlocal taken, left
            actor = self._context.actor
            taken, left = past.undo_all(actions, actor, f"by {name}", meanwhile)

        found = self._following(actions, carry_out)
        if not taken:
            raise WorkbenchError(
                f"Later changes depend on every change by {name}: {len(left)}.",
                "Nothing was changed; `workbench undo --rev` names what is in the way.",
            )
        return UndoneOf(taken, tuple(action.label for action in left), found)

    def undo_group(self, group: str) -> str:
        """Take back everything that was written under a group's name, finished or not; return what
        it was.
        """
        action = self._action(group)
        return action.label + self._carry_out("undo", action)

    def events(self, place: Place | None = None, *, accesses: bool = False) -> Iterator[Event]:
        """Yield transactions, newest first: all, or those that touched a record; reads by agents
        when asked for.
        """
        return self._past.events(place, accesses=accesses)

    def title_of(self, place: Place, fields: Iterable[FieldEvent]) -> str:
        """Return what a record is known by, as a change of its `fields` says or as it is now; empty
        for one that has no such field.
        """
        told = {
            field.field: field.before if field.after is None else field.after for field in fields
        }
        record: object = None
        with suppress(KeyError, InvalidRecord):
            record = self._library.table_named(place[0]).find(place[1])
        texts = (told.get(name) or getattr(record, name, None) for name in _TITLES)
        return next(
            (text for text in texts if isinstance(text, str) and text not in ("", place[1])), ""
        )

    def place_of(self, name: str) -> Place:
        """Return where the record called `name` is or was; raises `UnknownRecord`, or
        `InvalidRecord` if unclear.
        """
        try:
            record = find_votable(self._context, name)
        except UnknownRecord:
            found = self._past.find_place(name)
            if found is None:
                raise UnknownRecord(f"{name} was never in this store.") from None
            return found
        return place_of(record)

    def at_revision(self, place: Place, rev: int) -> object:
        """Return a record as it was right after revision `rev`, as its own type; raises
        `UnknownRecord`.
        """
        self._library.refresh()
        table, key = place
        if not 0 <= rev <= self._library.revision:
            raise UnknownRecord(
                f"There is no revision {rev}.", f"The latest is {self._library.revision}."
            )
        doc = self._past.at_revision(table, key, rev)
        if doc is None:
            raise UnknownRecord(
                f"{key} did not exist at revision {rev}.",
                "`workbench history` lists its revisions.",
            )
        return from_doc(kind_in(table), doc)

    def revision_at(self, at: datetime) -> int:
        """Return the latest revision that was made by a time; 0 before the first."""
        self._library.refresh()
        return next(
            (entry.rev for entry in self._library.changes_back() if parse_time(entry.at) <= at), 0
        )

    def _action(self, key: str) -> Action:
        action = self._past.action_of(key)
        if action is None:
            raise UnknownRecord(f"There is no change called {key}.", "Nothing was changed.")
        if history.is_erased(action):
            raise WorkbenchError(f"“{action.label}” was purged, so it cannot be undone.")
        return action

    def _carry_out(self, verb: Verb, action: Action) -> str:
        """Undo or redo, and return what was found in the files; a conflict names its values without
        their secrets.
        """
        past, actor = self._library.past, self._context.actor
        carry_out = past.undo if verb == "undo" else past.redo
        try:
            return self._following((action,), lambda files: carry_out(action, actor, files))
        except UndoConflict as conflict:
            raise UndoConflict(
                verb, action.label, list(masked(conflict.clashes, mask))
            ) from conflict

    def _following(self, actions: Iterable[Action], carry_out: Callable[[Meanwhile], None]) -> str:
        """Take actions back or do them again, with the files that hold promoted memories; return
        what was found there, in brackets.
        """
        entries = [entry for action in actions for entry in action.entries]
        touched = {change.table for entry in entries for change in entry.changes}
        if "overrides" in touched:
            require_person(self._context.actor, "give or take a person's word")
        if not stands_by(self._context.actor) and any(
            not self._context.is_own(entry.actor) for entry in entries
        ):
            raise WorkbenchError(
                "An agent can undo only its own changes.",
                f"Nothing was changed; {OWN_TERMINAL}",
            )
        if not touched & {"edited_files", "placements"}:
            carry_out(history.nothing_else)
            return ""
        from workbench.services.agents.documents import documents  # most undos touch no file
        from workbench.services.promotion.placements import Placing

        with (
            Placing(self._library).guarded() as follow,
            documents.guarded(self._context) as rewrite,
        ):
            remarks = ""

            def files() -> None:
                nonlocal remarks
                remarks = follow()
                rewrite()

            carry_out(files)
        return f" ({remarks.removesuffix('.')})" if remarks else ""


def _upcoming(action: Action) -> Upcoming:
    last = action.last
    return Upcoming(last.rev, parse_time(last.at), last.actor, action.label)


__all__ = ["Event", "FieldEvent", "History", "Place", "UndoneOf", "Upcoming", "VoteCast"]
