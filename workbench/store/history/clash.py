"""Staging a change of the past onto the present, and what stands in its way."""

from collections.abc import Iterator
from dataclasses import replace

from workbench.core.change import Clash
from workbench.core.record import ABSENT
from workbench.store.entry import Doc, DocChange, apply_change
from workbench.store.journal.codec import same
from workbench.store.journal.staged import Staged
from workbench.store.records import TOTALS, WITNESSES

PASSIVE = frozenset({"last_accessed_at", "access_count", "version"})
"""Fields that reading and upgrading change: never a reason not to take a change back."""


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
    if change.op == "delete" and all(same(present.get(name), sides[0]) for name, sides in change.fields.items()):
        return change
    shares = {name: sign * sides[side] for name, sides in change.fields.items() if name in staged.counters}
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
