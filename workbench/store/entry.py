"""What one journal line says: a transaction and the documents it changed."""

import os
import re
from collections.abc import Callable, Container, Mapping
from datetime import datetime
from math import isfinite
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

from workbench.core.record import ABSENT
from workbench.store.journal.codec import same
from workbench.store.records import COUNTERS_OF

Kind = Literal["edit", "undo", "redo", "access", "purge"]
DocOp = Literal["update", "insert", "delete", "table", "drop"]

Doc = dict[str, Any]


class DocChange(NamedTuple):
    """One document's change: `fields` maps a name to (before, after), `inc` a counter to its
    increment.

    `table` and `drop` make and remove an empty table (`doc` is then empty). A `redacted`
    change has lost its values for good to a purge.
    """

    table: str
    doc: str
    op: DocOp = "update"
    fields: Mapping[str, tuple[Any, Any]] = MappingProxyType({})
    inc: Mapping[str, float] = MappingProxyType({})
    redacted: bool = False


class Transaction(NamedTuple):
    """One committed transaction.

    `rev` counts transactions from 1 without gaps, `at` is ISO 8601 UTC, `group` ties the chunks of
    one action (`part` counts them from 1; `more` says that another one is to follow), `target` is
    the revision an undo or redo speaks of, `takes` names the actions that an edit takes back
    together (each by its group, or its revision as text). `uid` is the transaction's own name,
    which it keeps when a merge gives it another number: what is said twice is one transaction.
    `level` is what its writer may do in a shared store, as the log knew it.
    """

    rev: int
    at: str
    actor: str
    label: str
    changes: tuple[DocChange, ...]
    kind: Kind = "edit"
    group: str = ""
    part: int = 1
    target: int = 0
    next_ids: Mapping[str, int] = MappingProxyType({})
    more: bool = False
    takes: tuple[str, ...] = ()
    uid: str = ""
    level: str = ""


HEAD = ("rev", "at", "actor", "kind", "uid", "level")
"""The keys with which a line begins; the others are what its writer says."""

Find = Callable[[int], "Transaction | None"]

REFUSED = "not allowed: "
"""How the label begins of a transaction that its writer was not allowed to make."""


def new_uid() -> str:
    return os.urandom(8).hex()


def to_json(entry: Transaction) -> dict[str, object]:
    """Return the entry as the JSON object that is written: its head, then its body."""
    return {
        "rev": entry.rev,
        "at": entry.at,
        "actor": entry.actor,
        "kind": entry.kind,
        "uid": entry.uid,
        **({"level": entry.level} if entry.level else {}),
        **body_json(entry),
    }


def body_json(entry: Transaction) -> dict[str, object]:
    """Return what a writer says of an entry whatever its number, time and actor are."""
    out: dict[str, object] = {"label": entry.label}
    if entry.group:
        out["group"] = entry.group
        out["part"] = entry.part
    if entry.more:
        out["more"] = True
    if entry.target:
        out["target"] = entry.target
    if entry.takes:
        out["takes"] = list(entry.takes)
    if entry.next_ids:
        out["next"] = dict(entry.next_ids)
    out["changes"] = [_change_json(c) for c in entry.changes]
    return out


def from_json(
    raw: Mapping[str, Any], docs: Container[str] | None = None, find: Find = lambda _: None
) -> Transaction:
    """Read an entry, of its changes only those of some `docs` when these are given.

    One of a shared store that is misshapen, or changes more than the level of its writer allows, is
    read as one that changes nothing; `find` returns the entry of a revision, for what an undo takes
    back. Raises `ValueError` for any other that is misshapen.
    """
    if "level" in raw:
        return _members_entry(raw, docs, find)
    try:
        return _entry(raw, docs)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("it is not a transaction") from error


def _members_entry(raw: Mapping[str, Any], docs: Container[str] | None, find: Find) -> Transaction:
    """Read an entry that a member of a shared store wrote, who may have written anything."""
    try:
        entry = _entry(raw, None)
        if is_sound(entry) and not _exceeds(entry, find):
            return entry if docs is None else _entry(raw, docs)
    except (KeyError, TypeError, AttributeError, ValueError):
        pass
    label = f"{REFUSED}{raw.get('label', '')}"[:_LONGEST_LABEL]
    head = (str(raw["at"]), str(raw["actor"]), label, ())
    return Transaction(int(raw["rev"]), *head, uid=str(raw["uid"]), level=str(raw["level"]))


def _entry(raw: Mapping[str, Any], docs: Container[str] | None) -> Transaction:
    wanted = (
        raw["changes"]
        if docs is None
        else [change for change in raw["changes"] if change.get("id", "") in docs]
    )
    return Transaction(
        rev=int(raw["rev"]),
        at=str(raw["at"]),
        actor=str(raw["actor"]),
        label=str(raw["label"]),
        changes=tuple(map(_change, wanted)),
        kind=raw["kind"],
        group=raw.get("group", ""),
        part=raw.get("part", 1),
        target=raw.get("target", 0),
        next_ids=raw.get("next", {}),
        more=raw.get("more", False),
        takes=tuple(map(str, raw.get("takes", ()))),
        uid=str(raw["uid"]),
        level=str(raw.get("level", "")),
    )


def diff_docs(
    table: str, doc_id: str, old: Doc | None, new: Doc | None, counters: frozenset[str]
) -> DocChange | None:
    """Return the change from `old` to `new` (`None` = not there), or `None` when they are equal."""
    if old is None and new is None:
        return None
    if old is None or new is None:
        there = new if old is None else old
        assert there is not None
        sides = {n: ((ABSENT, v) if old is None else (v, ABSENT)) for n, v in there.items()}
        return DocChange(table, doc_id, "insert" if old is None else "delete", sides)
    fields: dict[str, tuple[Any, Any]] = {}
    inc: dict[str, float] = {}
    for name in [*old, *(n for n in new if n not in old)]:
        before, after = old.get(name, ABSENT), new.get(name, ABSENT)
        if same(before, after):
            continue
        if name in counters and (step := _step(before, after)) is not None:
            inc[name] = step
        else:
            fields[name] = (before, after)
    return DocChange(table, doc_id, "update", fields, inc) if fields or inc else None


def apply_change(old: Doc | None, change: DocChange) -> Doc | None:
    """Return the document after `change`; the old one is left as it is.

    An update of a document that is not there (its creation was lost to damage) gives `None`
    again: half a record is worse than none.
    """
    if change.op == "delete" or (old is None and change.op != "insert"):
        return None
    new = dict(old) if old is not None and change.op == "update" else {}
    for name, (_, after) in change.fields.items():
        if after is ABSENT:
            new.pop(name, None)
        else:
            new[name] = after
    for name, step in change.inc.items():
        value = _sum(new.get(name, 0), step)
        if value:
            new[name] = value
        else:
            new.pop(name, None)
    return new


def reverse(change: DocChange) -> DocChange:
    """Return the change that leads back."""
    back: dict[DocOp, DocOp] = {
        "insert": "delete",
        "delete": "insert",
        "table": "drop",
        "drop": "table",
    }
    fields = {name: (after, before) for name, (before, after) in change.fields.items()}
    inc = {name: -step for name, step in change.inc.items()}
    return DocChange(
        change.table, change.doc, back.get(change.op, "update"), fields, inc, change.redacted
    )


def _step(before: Any, after: Any) -> float | None:
    """Return the increment between two counts or totals; a written 0 is not the absent one, so it
    has none.
    """
    kinds = {type(side) for side in (before, after) if side is not ABSENT}
    if kinds not in ({int}, {float}) or 0 in (before, after):
        return None
    step: float = _sum(0 if after is ABSENT else after, 0 if before is ABSENT else -before)
    return step


def _sum(value: Any, step: Any) -> Any:
    """Add; of fractions only nine digits count, so that what was added and taken away again leaves
    nothing.
    """
    if type(value) not in (int, float):  # somebody wrote something else there
        return step
    return round(value + step, 9) if isinstance(step, float) else value + step


def _change_json(change: DocChange) -> dict[str, object]:
    out: dict[str, object] = {"table": change.table}
    if change.doc:
        out["id"] = change.doc
    if change.op != "update":
        out["op"] = change.op
    if change.op in ("insert", "delete"):
        side = 1 if change.op == "insert" else 0
        out["doc"] = {name: sides[side] for name, sides in change.fields.items()}
    elif change.fields:
        out["fields"] = {n: [_mark(b), _mark(a)] for n, (b, a) in change.fields.items()}
    if change.inc:
        out["inc"] = dict(change.inc)
    if change.redacted:
        out["redacted"] = True
    return out


def _change(raw: Mapping[str, Any]) -> DocChange:
    doc = raw.get("doc")
    if doc is None:
        fields = {n: (_unmark(b), _unmark(a)) for n, (b, a) in raw.get("fields", {}).items()}
    elif raw["op"] == "insert":
        fields = {name: (ABSENT, value) for name, value in doc.items()}
    else:
        fields = {name: (value, ABSENT) for name, value in doc.items()}
    return DocChange(
        raw["table"],
        raw.get("id", ""),
        raw.get("op", "update"),
        fields,
        raw.get("inc", {}),
        raw.get("redacted", False),
    )


def _mark(value: Any) -> Any:
    """Write absent as null, and a stored null (or a value that looks like its mark) under the key
    `$`.
    """
    if value is ABSENT:
        return None
    if value is None or (isinstance(value, dict) and "$" in value):
        return {"$": value}
    return value


def _unmark(value: Any) -> Any:
    if value is None:
        return ABSENT
    if isinstance(value, dict) and "$" in value:
        return value["$"]
    return value


# What members of a shared store may do, by the changes that they make.

Level = Literal["reader", "writer", "reviewer", "owner"]
"""What somebody may do in a store; each may do what those before it may."""

LEVELS: tuple[Level, ...] = get_args(Level)

LATEST = frozenset(("last_feedback_at", "last_accessed_at"))
"""Fields that only say when something was last counted."""

_LONGEST_LABEL = 1_000

_ADDED = {
    "memories": ("status", ("signal", "candidate", "archived")),
    "proposals": ("state", ("open",)),
}
"""Tables to which a writer adds, each with the states in which what is added may be."""

_KEPT = frozenset(
    (
        "votes", "reads", "working", "reflection", "runs", "queries", "judgments", "tallies", "files",
        "episodes", "episode_notes", "episode_uses", "episode_clusters", "applications", "consolidations",
    )
)  # fmt: skip
"""Tables that a writer keeps: what was noted of the work, and what nobody is served as approved."""

_NOTED: Mapping[str, type] = {"metadata": dict, "related": list}
"""Fields of a memory that may change when the same comes in again."""

_MOST_AT_ONCE = 100
"""What a writer may add to a count with one change."""


def level_of(entry: Transaction, find: Find) -> Level:
    """Return what it takes to make the changes of a transaction. `find` returns the entry of a
    revision: whoever added something may take that back.
    """
    if entry.kind == "purge" or any(change.op == "drop" for change in entry.changes):
        return "owner"
    if all(_is_writers(c, entry.actor) for c in entry.changes) and not (
        entry.takes or entry.target
    ):
        return "writer"
    before = find(entry.target) if entry.kind in ("undo", "redo") else None
    if before is None or _member(before.actor) != _member(entry.actor):
        return "reviewer"
    there = {(change.table, change.doc, change.op) for change in before.changes}
    back = reverse if entry.kind == "undo" else lambda change: change
    is_its_own = all(
        _is_writers(back(c), entry.actor) and (c.table, c.doc, back(c).op) in there
        for c in entry.changes
    )
    return "writer" if is_its_own else "reviewer"


def _member(actor: str) -> tuple[bool, str]:
    """Return whether an actor is an agent, and which member, by whatever door they came in."""
    word, _, name = actor.partition(":")
    return word == "agent", name


def _exceeds(entry: Transaction, find: Find) -> bool:
    """Tell whether a transaction changes what its writer, as the log knew them, may not."""
    level = entry.level
    if level in ("reviewer", "owner") and entry.kind != "purge":
        find = _nothing  # what is found makes no difference to them
    return level not in LEVELS or LEVELS.index(level_of(entry, find)) > LEVELS.index(level)


def _nothing(_: int) -> None:
    return None


def _is_writers(change: DocChange, actor: str) -> bool:
    if change.op == "table":
        return True
    if not change.inc.keys() <= COUNTERS_OF.get(change.table, frozenset()) or any(
        abs(step) > _MOST_AT_ONCE for step in change.inc.values()
    ):
        return False
    if change.table in _KEPT:
        return change.table != "votes" or change.op == "update" or _is_vote_of(change, actor)
    if change.op == "insert" and change.table in _ADDED:
        name, states = _ADDED[change.table]
        given = {field: after for field, (_, after) in change.fields.items()}
        return given.get(name, states[0]) in states and not given.get("pinned")
    if change.op != "update":
        return False
    noted = _NOTED if change.table in _ADDED else {}
    return all(
        name in LATEST or (name in noted and isinstance(after, noted[name]))
        for name, (_, after) in change.fields.items()
    )


def _is_vote_of(change: DocChange, actor: str) -> bool:
    """Tell whether a vote that comes or goes is that of who writes; a person has one, by whatever
    door they come in.
    """
    voter = next((side for side in change.fields.get("actor", ()) if side is not ABSENT), "")
    return isinstance(voter, str) and _member(voter) == _member(actor)


_KINDS, _OPS = get_args(Kind), get_args(DocOp)


def is_sound(entry: Transaction) -> bool:
    """Tell whether all parts of an entry are what they should be."""
    return (
        entry.kind in _KINDS
        and isinstance(entry.group, str)
        and not (entry.group.isdigit() or (entry.kind in ("undo", "redo") and not entry.target))
        and all(type(number) is int and number >= 0 for number in (entry.part, entry.target))
        and isinstance(entry.next_ids, dict)
        and all(type(n) is int and 0 <= n <= FARTHEST for n in entry.next_ids.values())
        and all(map(_is_sound, entry.changes))
    )


def _is_sound(change: DocChange) -> bool:
    is_table = change.op in ("table", "drop")
    return (
        isinstance(change.table, str)
        and change.op in _OPS
        and isinstance(change.doc, str)
        and (change.doc == "" if is_table else change.doc.isdecimal() and len(change.doc) <= 15)
        and isinstance(change.inc, Mapping)
        and all(type(step) in (int, float) and isfinite(step) for step in change.inc.values())
    )


# The ids of memories, and of other records that go by a prefix.

_MEMORY_ID = re.compile(r"mem-\d{8}-(\d{7,15})\Z", re.ASCII)

FARTHEST = 10**12
"""A number in an id that somebody else chose moves the counter no farther than this, so that it can
always go on.
"""


def memory_number(name: str) -> int | None:
    """Return the number in a memory id of our own form, `mem-YYYYMMDD-nnnnnnn`."""
    match = _MEMORY_ID.match(name)
    return int(match[1]) if match else None


def memory_id(day: datetime, number: int) -> str:
    """Name a memory: prefix, date, number."""
    return numbered_id("mem", day, number)


def numbered_id(prefix: str, day: datetime, number: int) -> str:
    """Name a record of a kind that goes by a prefix: prefix, date, number."""
    return f"{prefix}-{day:%Y%m%d}-{number:07d}"
