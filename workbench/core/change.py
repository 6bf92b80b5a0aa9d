"""A change to one record, field by field: what every write, undo and proposal is made of; and what
an undo meets.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from workbench.core.document import Record
from workbench.core.record import ABSENT, Conflict

Op = Literal["insert", "update", "delete"]


class FieldChange(Record, frozen=True):
    """One field before and after; `None` stands for absent, which means the field's default."""

    before: object = None
    after: object = None


class Change(Record, frozen=True):
    """A change to record `id` of `table`: its fields as JSON values, before and after."""

    table: str
    id: str
    op: Op = "update"
    fields: Mapping[str, FieldChange] = msgspec.field(default_factory=dict)


def diff(
    table: str, id: str, before: Mapping[str, object] | None, after: Mapping[str, object] | None
) -> Change:
    """Return the change that leads from document `before` to `after`; `None` means there is no
    record.
    """
    old, new = before or {}, after or {}
    names = [*old, *(name for name in new if name not in old)]
    changed = {n: FieldChange(old.get(n), new.get(n)) for n in names if old.get(n) != new.get(n)}
    op: Op = "insert" if before is None else "delete" if after is None else "update"
    return Change(table, id, op, changed)


@dataclass(frozen=True, slots=True)
class Clash:
    """A field that a later transaction changed: what would be written, and what stands there now.

    `ABSENT` stands for a field or a record that is not there; `key` names the record.
    """

    table: str
    doc: str
    name: str
    wanted: Any
    present: Any
    key: str = field(default="", compare=False)


class UndoConflict(Conflict):
    """Undoing or redoing would overwrite later changes; `clashes` lists them."""

    def __init__(self, verb: str, label: str, clashes: list[Clash]) -> None:
        first, more = clashes[0], len(clashes) - 1
        super().__init__(
            f"Cannot {verb} “{label}”: {first.name} of {first.table} {first.key} was changed since "
            f"(now {told(first.present)}, it would become {told(first.wanted)})"
            + (f", and {more} more fields." if more else "."),
            "Nothing was changed; undo the later change first.",
        )
        self.clashes = tuple(clashes)


def told(value: Any) -> str:
    """Return a value of a clash as a sentence names it."""
    return "gone" if value is ABSENT else repr(value)[:60]
