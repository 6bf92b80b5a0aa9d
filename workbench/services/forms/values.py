"""What a form holds: a text, and the other fields as a line each."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from workbench.core.errors import Conflict, InvalidRecord
from workbench.core.text import one_line

TEXT = "text"
"""The name of the field that may have many lines."""

SHOWN = 16
"""Cells of a refused value that a sentence repeats."""

Values = Mapping[str, str]
"""What stands in the fields of a form, by their names."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form: its name, and the values that it takes, where those are few; `words` may hold a secret."""

    name: str
    choices: tuple[str, ...] = ()
    words: bool = True


class UnfitValue(InvalidRecord):
    """What stands in the field `field` cannot be its value; the message says why, in half a line."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message, "")
        self.field = field


def one_of(name: str, line: str, choices: tuple[str, ...]) -> str:
    """Return a value that is one of a few, or the beginning of only one; raises `UnfitValue`, with the nearest one."""
    found = " ".join(line.split())
    begun = [choice for choice in choices if found and choice.startswith(found)]
    if found in choices or len(begun) == 1:
        return found if found in choices else begun[0]
    near = get_close_matches(found.casefold().replace(" ", "_"), choices, 1, 0.5)
    said = f"“{one_line(found, SHOWN)}” is no {name}" if found else f"It has a {name}"
    raise UnfitValue(name, f"{said}: {near[0]}?" if near else f"{said}: {', '.join(choices[:3])} …")


def changed(now: Values, before: Values) -> tuple[str, ...]:
    """Return the names of the fields of `before` that hold something else now."""
    return tuple(name for name, value in before.items() if now.get(name) != value)


def require_unchanged(id: str, now: Values, expected: Values) -> None:
    """Raise `Conflict` when fields of a record hold something else than was expected of them."""
    if changed(now, expected):
        raise Conflict(f"{id} was changed by someone else meanwhile.", "Nothing was written.")
