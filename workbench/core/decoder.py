"""A decoder for one record type, made as code: a store decodes a hundred thousand records when it is opened.

The `__init__` of a frozen class sets each field through `object.__setattr__`, which takes longer than reading
the document. So the generated code fills an instance of a plain class that has the same slots, and then gives it
the record's class.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar, cast

R = TypeVar("R")
Decode = Callable[[Any], Any]


def compiled(kind: type[R], decoders: Mapping[str, Decode], plain: Mapping[str, type]) -> Callable[[Any], R] | None:
    """Return a function that makes a `kind` of the `get` method of a document.

    `decoders` names every field; a value whose type is exactly the one in `plain` is taken as it is. `None` stands
    for an absent field. The function raises `ValueError` when a required field is missing, and what a decoder raises.
    Returns `None` for a class that must be made by its constructor.
    """
    if hasattr(kind, "__post_init__") or set(getattr(kind, "__slots__", ())) != {spec.name for spec in fields(kind)}:  # type: ignore[arg-type]
        return None
    twin = type(kind.__name__, (), {"__slots__": kind.__slots__})  # type: ignore[attr-defined]
    names: dict[str, object] = {"twin": twin, "kind": kind, "missing": _missing}
    lines = ["def make(get):", " record = twin()"]
    for number, spec in enumerate(fields(kind)):  # type: ignore[arg-type]
        default, decode, expected = f"default{number}", f"decode{number}", f"type{number}"
        names |= {default: spec.default, decode: decoders[spec.name], expected: plain.get(spec.name)}
        lines += [f" value = get({spec.name!r})", f" if value is None: record.{spec.name} = {_absent(spec, default)}"]
        if spec.name in plain:
            lines.append(f" elif value.__class__ is {expected}: record.{spec.name} = value")
        lines.append(f" else: record.{spec.name} = {decode}(value)")
        if spec.default_factory is not MISSING:
            names[default] = spec.default_factory
    lines += [" record.__class__ = kind", " return record"]
    exec("\n".join(lines), names)
    return cast("Callable[[Any], R]", names["make"])


def _absent(spec: "Field[Any]", default: str) -> str:
    """Return the code that makes the value of a field that is not in the document."""
    if spec.default_factory is not MISSING:
        return f"{default}()"
    return f"missing({spec.name!r})" if spec.default is MISSING else default


def _missing(name: str) -> None:
    raise ValueError(f"“{name}” is missing")
