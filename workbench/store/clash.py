"""Staging a change of the past onto the present, and what stands in its way."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from workbench.store.codec import same
from workbench.store.entry import ABSENT, Doc, DocChange, apply_change
from workbench.store.staged import Staged

PASSIVE = frozenset({"last_accessed_at", "access_count", "version"})
"""Fields that reading and upgrading change: never a reason not to take a change back."""


@dataclass(frozen=True, slots=True)
class Clash:
    """A field that a later transaction changed: what would be written, and what stands there now."""

    table: str
    doc: str
    field: str
    wanted: Any
    present: Any


def stage_change(staged: Staged, change: DocChange) -> list[Clash]:
    """Stage a change when the present is what the change starts from; return what stands in its way.

    A redacted change has nothing to give back and is passed over.
    """
    if change.op in ("table", "drop"):
        if change.op == "table":
            staged.ensure_table(change.table)
        return []
    if change.redacted:
        return []
    present = staged.get(change.table, change.doc)
    change = _without_passive(change, present)
    clashes = list(_clashes(change, present))
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
    return replace(change, fields=kept)


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
