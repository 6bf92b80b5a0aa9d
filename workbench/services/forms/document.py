"""A form as one document: its fields as front matter, below it the text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from workbench.core.record import Conflict, InvalidRecord
from workbench.core.text import one_line

# What a form holds: a text, and the other fields as a line each.


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


RULE = "---"


class BadDocument(InvalidRecord):
    """A document that cannot be read as the form it was made of; the message names the line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"Line {line}: {message}", "Nothing was saved, and nothing is lost.")
        self.line = line


def document_of(values: Values, fields: Iterable[Field]) -> str:
    lines = (f"{field.name}: {_line(values.get(field.name, ''))}".rstrip() for field in fields)
    return "\n".join((RULE, *lines, RULE, values.get(TEXT, "")))


def read_document(document: str, values: Values, fields: Iterable[Field]) -> dict[str, str]:
    """Return what a document says otherwise than `values`, which it was made of; a field that it leaves out stays.

    Raises `BadDocument`.
    """
    names = {field.name for field in fields}
    lines = document.removeprefix("\ufeff").split("\n")
    if lines[0].rstrip() != RULE:
        raise BadDocument(1, f"the fields begin below a line of {RULE}.")
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == RULE), None)
    if end is None:
        raise BadDocument(len(lines), f"the fields end with a line of {RULE}; below it stands the text.")
    found = _fields(lines[1:end], names)
    # What a line cannot show as it is stored is no change.
    changes = {name: value for name, value in found.items() if value != _line(values.get(name, "")).strip()}
    text = "\n".join(lines[end + 1 :])
    return changes if text == values.get(TEXT, "") else {TEXT: text, **changes}


def line_of(document: str, name: str) -> int:
    """Return the number of the line of a document that holds a field, 1 for none."""
    starts = enumerate(document.split("\n"), 1)
    return next((at for at, line in starts if line.partition(":")[0].strip().casefold() == name), 1)


def text_line_of(document: str) -> int:
    """Return the number of the line of a document, as `document_of` makes it, at which the text begins."""
    lines = document.split("\n")
    return lines.index(RULE, 1) + 2


def _fields(lines: list[str], names: set[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for at, line in enumerate(lines, 2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, colon, value = line.partition(":")
        name = " ".join(name.split()).casefold()
        if not colon:
            raise BadDocument(at, f"“{one_line(line.strip(), 24)}” is no field; write NAME: VALUE.")
        if name not in names:
            raise BadDocument(at, f"there is no field “{one_line(name, 24)}”; there are {', '.join(sorted(names))}.")
        if name in found:
            raise BadDocument(at, f"{name} stands there twice.")
        found[name] = value.strip()
    return found


def _line(value: str) -> str:
    return " ".join(value.split())
