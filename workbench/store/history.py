"""The past of an open store, as those outside the store ask for it: who changed what, and the way
back.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeVar

from workbench.core.change import Clash, UndoConflict
from workbench.core.document import from_doc
from workbench.core.record import ABSENT, Conflict, InvalidRecord, parse_time
from workbench.core.text import counted
from workbench.store.entry import Doc, DocChange, Kind, Transaction, apply_change, reverse
from workbench.store.journal.codec import dumps, same
from workbench.store.journal.engine import Journal
from workbench.store.journal.state import Staged, Tables, take_back
from workbench.store.records import TOTALS, WITNESSES, key_of, table_of

# Staging a change of the past onto the present, and what stands in its way.


PASSIVE = frozenset({"last_accessed_at", "access_count", "version"})
"""Fields that reading and upgrading change: never a reason not to take a change back."""


def stage_change(staged: Staged, change: DocChange) -> list[Clash]:
    """Stage a change when the present is what the change starts from; return what stands in its
    way.

    A redacted change has nothing to give back and is passed over.
    """
    if change.op in ("table", "drop"):
        if change.op == "table":
            staged.ensure_table(change.table)
        return []
    if change.redacted:
        return []
    present = staged.get(change.table, change.doc)
    if change.table in TOTALS and change.op == "update" and present is None:
        return []
    change = _share(staged, _without_passive(change, present), present)
    key = staged.key_of(change.table, change.doc)
    clashes = [replace(clash, key=key) for clash in _clashes(change, present)]
    if clashes and change.table in WITNESSES:
        if present is not None:
            staged.delete(change.table, change.doc)
        return []
    if not clashes:
        new = apply_change(present, change)
        if new is None:
            staged.delete(change.table, change.doc)
        else:
            staged.put(change.table, change.doc, new)
    return clashes


def _without_passive(change: DocChange, present: Doc | None) -> DocChange:
    """Leave out fields that were only moved on by reads."""
    if change.op != "update" or present is None or not PASSIVE & change.fields.keys():
        return change
    kept = {
        name: sides
        for name, sides in change.fields.items()
        if name not in PASSIVE or same(present.get(name, ABSENT), sides[0])
    }
    return change._replace(fields=kept)


def _share(staged: Staged, change: DocChange, present: Doc | None) -> DocChange:
    """Of a running total that came into being with a change, move only that change's share."""
    if change.table not in TOTALS or change.op == "update" or present is None:
        return change
    sign, side = (1, 1) if change.op == "insert" else (-1, 0)
    if change.op == "delete" and all(
        same(present.get(name), sides[0]) for name, sides in change.fields.items()
    ):
        return change
    shares = {
        name: sign * sides[side] for name, sides in change.fields.items() if name in staged.counters
    }
    return DocChange(change.table, change.doc, "update", {}, shares)


def _clashes(change: DocChange, present: Doc | None) -> Iterator[Clash]:
    if change.op == "insert":
        if present is not None:
            yield Clash(change.table, change.doc, "id", change.doc, present)
        return
    if present is None:
        yield Clash(change.table, change.doc, "id", change.doc, ABSENT)
        return
    names = set(change.fields)
    if change.op == "delete":
        names = (names | (set(present) - {"id"})) - PASSIVE
    for name in sorted(names):
        before, after = change.fields.get(name, (ABSENT, ABSENT))
        now = present.get(name, ABSENT)
        if not same(now, before):
            yield Clash(change.table, change.doc, name, after, now)


# The past of a store: who changed what, and any record as it was.
#
# Nothing is kept for this beside the journal: the past is the present with the later changes taken
# back.


_MANY = 1_000
"""Records whose changes are looked for by name."""


@dataclass(frozen=True, slots=True)
class FieldEvent:
    """One field of one record before and after; `None` stands for absent, `step` is set for counted
    fields.
    """

    table: str
    key: str
    field: str
    before: Any
    after: Any
    step: float | None = None
    redacted: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """One transaction as it is listed; `at` is ISO 8601 UTC."""

    rev: int
    at: str
    actor: str
    label: str
    kind: Kind
    group: str
    target: int
    fields: tuple[FieldEvent, ...]


def doc_ids(journal: Journal, table: str, key: str) -> list[str]:
    """Return the document ids under which a record stands or stood, the present one first; none
    when it never did.
    """
    present = journal.state.doc_id_of(table, key)
    found: dict[str, None] = {} if present is None else {present: None}
    for entry in journal.entries_back(needle_of(key)):
        for change in entry.changes:
            if (
                change.table == table
                and change.op in ("insert", "delete")
                and _side_key(change) == key
            ):
                found[change.doc] = None
    return list(found)


def needle_of(key: str) -> bytes:
    """Return what a line that makes or removes the record holds: the end of its id, as JSON writes
    it.
    """
    return dumps(key.rpartition("/")[2])[1:]


def _fields(
    journal: Journal, change: DocChange, names: dict[tuple[str, str], str]
) -> Iterator[FieldEvent]:
    if not change.doc:
        return
    key = _key(journal, change, names)
    for name, (before, after) in change.fields.items():
        yield FieldEvent(
            change.table, key, name, _plain(before), _plain(after), redacted=change.redacted
        )
    for name, step in change.inc.items():
        yield FieldEvent(change.table, key, name, None, None, step, change.redacted)


def _key(journal: Journal, change: DocChange, names: dict[tuple[str, str], str]) -> str:
    """Name the record of a change; `names` remembers records that are gone, from their later
    deletion.
    """
    place = (change.table, change.doc)
    doc = journal.state.get(*place)
    if doc is not None:
        return key_of(change.table, doc) or change.doc
    if change.op in ("insert", "delete"):
        names[place] = _side_key(change) or change.doc
    return names.get(place, change.doc)


def _side_key(change: DocChange) -> str | None:
    side = {
        n: before if change.op == "delete" else after
        for n, (before, after) in change.fields.items()
    }
    return key_of(change.table, side)


def _plain(value: Any) -> Any:
    return None if value is ABSENT else value


# Undo and redo of whole transactions, and what stands in their way.
#
# An undo is itself a transaction that names the one it takes back, so it can be seen in the
# history and redone. Nothing is kept beside the journal: what can be undone is read from its end.


Mine = Callable[[str], bool]
Meanwhile = Callable[[], object]


def nothing_else() -> None:
    """Do nothing beside an undo."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action of somebody: its transactions, oldest first (several when it was done in chunks).

    `purged_since` tells whether somebody who could take it back erased something for good after it.
    """

    entries: tuple[Transaction, ...]
    purged_since: bool = field(default=False, compare=False)

    @property
    def last(self) -> Transaction:
        """The newest transaction, which names the action."""
        return self.entries[-1]

    @property
    def label(self) -> str:
        return self.last.label


def _back(action: Action) -> list[DocChange]:
    return [reverse(c) for entry in reversed(action.entries) for c in reversed(entry.changes)]


def is_undone(journal: Journal, action: Action) -> bool:
    """Tell whether the action is taken back at present."""
    key, stands = _undo_key(action.last), dict[str, bool]()
    for entry in journal.entries_back():
        _note(stands, entry)
        if key in stands or _undo_key(entry) == key:
            break
    return not stands.get(key, True)


def _note(stands: dict[str, bool], entry: Transaction) -> None:
    """Note which actions a transaction brings back or takes back; they are told newest first, and
    what was said before it holds.
    """
    key = _undo_key(entry)
    if entry.kind in ("undo", "redo"):
        stands.setdefault(key, entry.kind == "redo")
    elif stands.get(key, True):
        for taken in entry.takes:
            stands.setdefault(taken, False)


def _commit(
    journal: Journal,
    verb: Literal["undo", "redo"],
    action: Action,
    actor: str,
    changes: Iterator[DocChange],
    meanwhile: Meanwhile,
) -> None:
    """Stage and commit; what is already undone is not undone twice (a count would move twice)."""
    last = action.last
    with journal.transaction(
        actor, f"{verb}: {last.label}", group=last.group, kind=verb, target=last.rev
    ) as staged:
        if is_undone(journal, action) == (verb == "undo"):
            state = "already undone" if verb == "undo" else "not undone"
            raise Conflict(f"“{action.label}” is {state}.", "Nothing was changed.")
        clashes = [clash for change in changes for clash in stage_change(staged, change)]
        if clashes:
            raise UndoConflict(verb, action.label, clashes)
        meanwhile()


def _stage_whole(staged: Staged, changes: Sequence[DocChange]) -> bool:
    """Stage all of some changes, or none when something stands in their way."""
    places = {(change.table, change.doc) for change in changes}
    before = {place: staged.docs[place] for place in places if place in staged.docs}
    if not any(stage_change(staged, change) for change in changes):
        return True
    for place in places:
        staged.docs.pop(place, None)
    staged.docs.update(before)
    return False


def is_erased(action: Action) -> bool:
    """Tell whether a purge left nothing of an action that could be taken back, but its share of
    running totals.
    """
    changes = [change for entry in action.entries for change in entry.changes]
    return any(c.redacted for c in changes) and all(
        c.redacted or c.table in TOTALS for c in changes
    )


def _undo_key(entry: Transaction) -> str:
    return entry.group or str(entry.target or entry.rev)


R = TypeVar("R")


class KnownSince(NamedTuple):
    """From when on a log tells all (`None`: from before what was asked for), and when something was
    `purged` last within that.
    """

    since: datetime | None
    purged: datetime | None


class Past:
    """What was done to a store. Reading is of what was taken in so far: call `Library.refresh` for
    what is new.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def events(
        self, record: tuple[str, str] | None = None, *, accesses: bool = False
    ) -> Iterator[Event]:
        """Yield the transactions, newest first: all, or those that touched the record (table, key).

        Reads by agents are left out unless `accesses` is true.
        """
        docs = None if record is None else doc_ids(self._journal, *record)
        needle = f'"id":"{docs[0]}"'.encode() if docs is not None and len(docs) == 1 else None
        names: dict[tuple[str, str], str] = {}
        for entry in self._journal.entries_back(needle):
            if entry.kind == "access" and not accesses:
                continue
            touched = [
                c
                for c in entry.changes
                if docs is None or (record and c.table == record[0] and c.doc in docs)
            ]
            if touched or docs is None:
                fields = tuple(
                    f for change in touched for f in _fields(self._journal, change, names)
                )
                yield Event(
                    entry.rev, entry.at, entry.actor, entry.label, entry.kind, entry.group, entry.target, fields
                )  # fmt: skip

    def changes_of(
        self, table: str, keys: Iterable[str]
    ) -> Iterator[tuple[Transaction, str, DocChange]]:
        """Yield the changes of the records that stand under `keys`, newest first, with their
        transaction and the key.

        Reads by agents are left out. One pass over the history, whatever the number of keys.
        """
        docs = {
            doc: key
            for key in keys
            if (doc := self._journal.state.doc_id_of(table, key)) is not None
        }
        if not docs:
            return
        # Of very many records nearly every line holds one: looking for their names would take
        # longer than reading it.
        needles = () if len(docs) > _MANY else [f'"id":"{doc}"'.encode() for doc in docs]
        for entry in self._journal.entries_back(*needles, docs=docs):
            if entry.kind != "access":
                yield from (
                    (entry, docs[change.doc], change)
                    for change in reversed(entry.changes)
                    if change.table == table and change.doc in docs
                )

    def moves(
        self, table: str, field: str, value: str, others: Iterable[str], after: int = 0
    ) -> Iterator[tuple[Transaction, DocChange]]:
        """Yield the changes that took a field of a record from `value` to something else, or back
        to it from one of `others`, newest first: those after a revision. The making of a record is
        none of them.
        """
        name, held = dumps(field), dumps(value)
        needles = [
            name + b":[" + held + b",",
            *(dumps(other) + b"," + held + b"]" for other in others),
        ]
        # What is new is at the end: a needle would look for what is not there up to the beginning.
        for entry in (
            self._journal.entries_back(*needles) if not after else self._journal.entries_back()
        ):
            if entry.rev <= after:
                return
            for change in reversed(entry.changes):
                sides = change.fields.get(field, ())
                if change.table == table and change.op == "update" and value in sides:
                    yield entry, change

    def find_place(self, name: str) -> tuple[str, str] | None:
        """Return (table, key) of the record called `name`, a key or the last part of one, that is
        or was in the store.

        Of several that were there under a part of their key, the one that was touched last.
        """
        for table in self._journal.state.names:
            if self._journal.state.doc_id_of(table, name) is not None:
                return table, name
        for entry in self._journal.entries_back(needle_of(name)):
            for change in entry.changes:
                key = _side_key(change) if change.op in ("insert", "delete") else None
                if change.table == "purged":  # says of a record that it is gone
                    continue
                if key is not None and name in (key, key.rpartition("/")[2]):
                    return change.table, key
        return None

    def at_revision(self, table: str, key: str, rev: int) -> Doc | None:
        """Return a record's document as it was right after revision `rev`, or `None` when there was
        none.

        What was purged is gone at every revision. Raises `ValueError` for a revision that is not
        there yet.
        """
        if not 0 <= rev <= self._journal.rev:
            raise ValueError(f"there is no revision {rev}; the latest is {self._journal.rev}")
        for doc_id in doc_ids(self._journal, table, key):
            doc = self._journal.state.get(table, doc_id)
            for entry in self._journal.entries_back(f'"id":"{doc_id}"'.encode()):
                if entry.rev <= rev:
                    break
                for change in reversed(entry.changes):
                    if change.table == table and change.doc == doc_id:
                        doc = None if change.redacted else apply_change(doc, reverse(change))
            if doc is not None:
                return doc
        return None

    def records_at(self, kind: type[R], rev: int) -> list[R]:
        """Return the records of a kind as they were right after revision `rev`, but for those that
        cannot be read.

        What was purged is gone at every revision. Raises `ValueError` for a revision that is not
        there yet.
        """
        if not 0 <= rev <= self._journal.rev:
            raise ValueError(f"there is no revision {rev}; the latest is {self._journal.rev}")
        found: list[R] = []
        for doc in self._journal.tables_at(rev).get(table_of(kind), {}).values():
            with suppress(InvalidRecord):
                found.append(from_doc(kind, doc))
        return found

    def look_back(
        self, times: Iterable[datetime], look: Callable[[datetime, Tables], R]
    ) -> tuple[list[R], KnownSince]:
        """Look at all documents as they were at each of some times, given from the latest to the
        earliest, in one pass over the log; return what was seen, up to where the log begins or has a
        gap, and how far back that is.

        What was purged is gone at every time. Raises `StoreProblem`.
        """
        tables, stamp = self._journal.cut()
        times = list(times)
        revs, known = self._revisions(times, stamp.rev)
        ahead, found = list(zip(times, revs, strict=False)), list[R]()
        for entry in self._journal.entries_back():
            if entry.rev > stamp.rev:
                continue
            while ahead and ahead[0][1] >= entry.rev:
                found.append(look(ahead.pop(0)[0], tables))
            if not ahead:
                break
            take_back(tables, (entry,), entry.rev - 1)
        return found, known

    def _revisions(self, times: Sequence[datetime], last: int) -> tuple[list[int], KnownSince]:
        """Return the revision before the first change after each time, and how far back that is
        known. Changes that came in later by a merge are dated before those they follow.
        """
        first, before = [last + 1] * len(times), 0
        since, purged, expected = None, None, last
        for entry in self._journal.entries_back():
            if entry.rev > last:
                continue
            if entry.rev != expected or before == _MANY:
                break
            since, expected = parse_time(entry.at), entry.rev - 1
            after = [n for n, at in enumerate(times) if since > at]
            before = 0 if after else before + 1
            for place in after:
                first[place] = entry.rev
            if entry.kind == "purge" and purged is None:
                purged = since
        revs = [rev - 1 for rev in first if rev - 1 > expected]
        return revs, KnownSince(since if len(revs) < len(times) else None, purged)

    def action_of(self, key: str) -> Action | None:
        """Return the action with that key: a group's name, or a revision number as text.

        A revision that belongs to a group stands for the whole group.
        """
        found: list[Transaction] = []
        for entry in self._journal.entries_back():
            if entry.kind != "edit" or key not in (entry.group, str(entry.rev)):
                continue
            if entry.group and entry.group != key:
                return self.action_of(entry.group)
            found.append(entry)
            if not entry.group or entry.part == 1:
                break
        return Action(tuple(reversed(found))) if found else None

    def undoable(self, mine: Mine) -> Action | None:
        """Return the latest action of `mine` that stands and has not been purged, or `None`."""
        settled, stands, purged = set[str](), dict[str, bool](), False
        for entry in self._journal.entries_back():
            purged = purged or (entry.kind == "purge" and mine(entry.actor))
            if entry.kind in ("access", "purge"):
                continue
            _note(stands, entry)
            key = _undo_key(entry)
            if key in settled or not stands.get(key, True):
                continue
            if entry.kind != "undo" and mine(entry.actor):
                alone = entry.kind == "edit" and not entry.group
                action = Action((entry,)) if alone else self.action_of(key)
                if action is not None and not is_erased(action):
                    return replace(action, purged_since=purged)
            if entry.kind != "edit" or mine(entry.actor):
                settled.add(key)
        return None

    def standing(self, actor: str, since: datetime) -> list[Action]:
        """Return the actions of an actor that were done since a time and stand, newest first,
        without what was purged.
        """
        found, stands, before = dict[str, Action](), dict[str, bool](), 0
        for entry in self._journal.entries_back():
            _note(stands, entry)
            if parse_time(entry.at) < since:
                before += 1
                if before == _MANY:
                    break
                continue
            key, before = _undo_key(entry), 0
            if entry.kind != "edit" or entry.takes or entry.actor != actor or key in found:
                continue
            action = self.action_of(key) if entry.group else Action((entry,))
            if action is not None and stands.get(key, True) and not is_erased(action):
                found[key] = action
        return list(found.values())

    def redoable(self, mine: Mine) -> Action | None:
        """Return the action of `mine` that was undone last, unless something new was done since."""
        settled: set[str] = set()
        for entry in self._journal.entries_back():
            if entry.kind in ("access", "purge") or not mine(entry.actor):
                continue
            if entry.kind == "edit":
                return None
            if entry.kind == "undo" and _undo_key(entry) not in settled:
                return self.action_of(_undo_key(entry))
            settled.add(_undo_key(entry))
        return None

    def undo(self, action: Action, actor: str, meanwhile: Meanwhile = nothing_else) -> None:
        """Take an action back as one transaction; raises `UndoConflict`, and then nothing is
        changed.

        `meanwhile` is called before the transaction is written; what it raises leaves everything as
        it is.
        """
        _commit(self._journal, "undo", action, actor, iter(_back(action)), meanwhile)

    def undo_all(
        self, actions: Iterable[Action], actor: str, what: str, meanwhile: Meanwhile = nothing_else
    ) -> tuple[int, list[Action]]:
        """Take actions back, newest first, as one edit that an undo brings back; return how many,
        and those that stay because something later stands on them.

        `what` is put behind their number in the label; `meanwhile` is as in `undo`.
        """
        taken, left = list[Action](), list[Action]()
        with self._journal.transaction(actor, what) as staged:
            for action in self._still_standing(tuple(actions)):
                (taken if _stage_whole(staged, _back(action)) else left).append(action)
            staged.label = f"undo {counted(len(taken), 'change')} {what}"
            staged.takes = tuple(_undo_key(action.last) for action in taken)
            if taken:
                meanwhile()
        return len(taken), left

    def _still_standing(self, actions: Sequence[Action]) -> list[Action]:
        """Return the actions that nobody took back since they were looked up."""
        stands, oldest = dict[str, bool](), min((one.last.rev for one in actions), default=0)
        for entry in itertools.takewhile(
            lambda entry: entry.rev > oldest, self._journal.entries_back()
        ):
            _note(stands, entry)
        return [one for one in actions if stands.get(_undo_key(one.last), True)]

    def redo(self, action: Action, actor: str, meanwhile: Meanwhile = nothing_else) -> None:
        """Do an undone action again as one transaction; raises `UndoConflict`, and then nothing is
        changed.

        `meanwhile` is called before the transaction is written; what it raises leaves everything as
        it is.
        """
        _commit(
            self._journal,
            "redo",
            action,
            actor,
            (c for entry in action.entries for c in entry.changes),
            meanwhile,
        )
