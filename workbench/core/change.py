"""A change to one record, field by field: what every write, undo and proposal is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Op = Literal["insert", "update", "delete"]


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field before and after; `None` stands for absent, which means the field's default."""

    before: object = None
    after: object = None


@dataclass(frozen=True, slots=True)
class Change:
    """A change to record `id` of `table`: its fields as JSON values, before and after."""

    table: str
    id: str
    op: Op = "update"
    fields: Mapping[str, FieldChange] = field(default_factory=dict)


def diff(table: str, id: str, before: Mapping[str, object] | None, after: Mapping[str, object] | None) -> Change:
    """Return the change that leads from document `before` to `after`; `None` means there is no record."""
    old, new = before or {}, after or {}
    names = [*old, *(name for name in new if name not in old)]
    changed = {n: FieldChange(old.get(n), new.get(n)) for n in names if old.get(n) != new.get(n)}
    op: Op = "insert" if before is None else "delete" if after is None else "update"
    return Change(table, id, op, changed)
