"""JSON values: the texts in them, how deep they go, and a value read as a type, with the path of
what does not fit.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from msgspec import convert

from workbench.core.document import Record, prepared

T = TypeVar("T")

_WORDS = {
    "str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false", "array": "a list",
    "object": "an object", "null": "nothing",
}  # fmt: skip


class WrongValue(ValueError):
    """A value that is not what it has to be: where it stands, and what is wrong with it."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path, self.problem = path, problem


def read_as(kind: type[T], value: object) -> T:
    """Return a JSON value as a type; keys that it does not know are left out. Raises `WrongValue`."""
    is_record = isinstance(kind, type) and issubclass(kind, Record)
    try:
        return convert(prepared(kind, value) if is_record else value, kind)
    except (TypeError, ValueError) as error:
        problem, _, place = str(error).partition(" - at `")
        path = place.rstrip("`").removeprefix("$").removeprefix(".")
        missing = re.search(r"missing required field `(.+)`", problem)
        if missing is not None:
            raise WrongValue(f"{path}.{missing[1]}".lstrip("."), "is missing") from error
        told = re.sub(
            r"`([^`]*)`", lambda named: " or ".join(map(_word, named[1].split(" | "))), problem
        )
        told = told.replace(", got ", ", found ")
        raise WrongValue(path, told[0].lower() + told[1:]) from error


def _word(name: str) -> str:
    return _WORDS.get(name, name)


def texts_in(value: object, *, names: bool = False) -> Iterator[str]:
    """Yield the texts in a value, be it JSON or a record; with `names` those of an object's keys,
    too.
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            if names:
                yield name
            yield from texts_in(item, names=names)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_in(item, names=names)
    elif is_dataclass(value):
        for spec in fields(value):
            yield from texts_in(getattr(value, spec.name), names=names)


def cleaned(value: object, clean: Callable[[str], str]) -> Any:
    """Return JSON values with `clean` over every text within, names of fields included."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list | tuple):
        return [cleaned(item, clean) for item in value]
    if isinstance(value, Mapping):
        return {clean(str(name)): cleaned(item, clean) for name, item in value.items()}
    return value


def is_deeper(value: object, levels: int) -> bool:
    """Tell whether lists and objects stand in one another more than so many levels deep."""
    layer = [value]
    for _ in range(levels + 1):
        layer = [
            inner
            for one in layer
            if isinstance(one, Mapping | list | tuple)
            for inner in (one.values() if isinstance(one, Mapping) else one)
        ]
        if not layer:
            return False
    return True
