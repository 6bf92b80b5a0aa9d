"""What stands in the way of taking a change back: fields that a later one changed."""

from dataclasses import dataclass, field
from typing import Any

from workbench.core.errors import Conflict


class _Absent:
    """Marks a field that is not in the document, which JSON's null could not tell from a stored null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


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
