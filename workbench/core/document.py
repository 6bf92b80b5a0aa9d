"""Records and the documents they are read from.

A document is a mapping of JSON values. It leaves out every field that has its default, so an absent
field, a null and a default mean the same; it may hold keys that the record does not know, which
stay (`to_doc_over`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from types import UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Struct, ValidationError, convert
from msgspec.structs import fields

from workbench.core.record import Doc, InvalidRecord, as_object, iso, parse_time

R = TypeVar("R")


class Record(Struct, frozen=True, gc=False):
    """A value that is read from a document. No cycle leads through one, so the garbage collector
    passes it over.

    `dataclasses.replace` and `dataclasses.fields` take a record for a dataclass.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__doc__ = (
            cls.__doc__ or cls.__name__
        )  # else `dataclass` asks for the signature of a half-made class
        dataclass(init=False, repr=False, eq=False, match_args=False)(cls)


def from_doc(kind: type[R], doc: Doc) -> R:
    """Read a record from a document; unknown keys are ignored, and a word that no `Literal` has is
    kept as it is.

    Raises `InvalidRecord` when a required field is missing or a value has the wrong shape.
    """
    try:
        values = prepared(kind, doc)
        try:
            return convert(values, kind)
        except ValidationError:
            words = {name: word for name, word in _words(kind).items() if name in values}  # type: ignore[arg-type]
            record: Any = convert(values | words, kind)
            return cast("R", replace(record, **{name: values[name] for name in words}))
    except (TypeError, ValueError) as error:
        who = as_object(doc).get("id", "(no id)")
        raise InvalidRecord(f"{kind.__name__.lower()} {who} cannot be read: {error}.") from error


def to_doc(record: Any) -> dict[str, object]:
    """Return a record as a document; `id` and `version` are always written."""
    out: dict[str, object] = {}
    for name, default, is_float in _written(type(record)):  # type: ignore[arg-type]
        value = getattr(record, name)
        if value != default or name in ("id", "version"):
            out[name] = value if isinstance(value, str) else _plain(value, is_float)
    return out


def to_doc_over(record: Any, old: Doc) -> dict[str, object]:
    """Return a record as the document that replaces `old`, with the keys of that one which its type
    does not know.

    Another program or a newer version wrote them, at the top or inside a part that is a record
    itself.
    """
    doc, known = to_doc(record), field_names(type(record))  # type: ignore[arg-type]
    for name, value in old.items():
        if name not in known:
            doc[name] = value
        elif (
            name in doc
            and isinstance(value, Mapping)
            and isinstance(part := getattr(record, name), Record)
        ):
            doc[name] = to_doc_over(part, value)
    return doc


@cache
def field_names(kind: type[Any]) -> frozenset[str]:
    """Return the names of the fields that `kind` stores."""
    return frozenset(spec.name for spec in fields(kind))


def prepared(kind: type, doc: Any) -> Any:
    """Return a document without nulls, its times read: those may be written in more ways than
    msgspec knows.
    """
    if not isinstance(doc, Mapping):
        return doc
    values = dict(doc)
    for name, read in _readers(kind).items():
        if (value := values.get(name)) is not None:
            values[name] = read(value)
    if None in values.values():
        return {name: value for name, value in values.items() if value is not None}
    return values


@cache
def _words(kind: type) -> dict[str, str]:
    """Return a word that is known for each field that holds one of some: a newer version may have
    written others.
    """
    parts = (
        (name, part)
        for name, hint in get_type_hints(kind).items()
        for part in (hint, *get_args(hint))
    )
    return {name: get_args(part)[0] for name, part in parts if get_origin(part) is Literal}


Reader = Callable[[Any], Any]


@cache
def _readers(kind: type) -> dict[str, Reader]:
    """Return what prepares the times and the records within a record, by the names of their fields."""
    found = ((name, _reader(name, hint)) for name, hint in get_type_hints(kind).items())
    return {name: reader for name, reader in found if reader is not None}


def _reader(name: str, hint: Any) -> Reader | None:
    if isinstance(hint, type) and issubclass(hint, Record):
        return partial(prepared, hint)
    if hint is datetime:
        return partial(_time, name)
    inner = next(
        (reader for part in get_args(hint) if (reader := _reader(name, part)) is not None), None
    )
    if inner is None or get_origin(hint) in (Union, UnionType):
        return inner
    return partial(_each, inner)


def _time(name: str, value: Any) -> datetime:
    try:
        return parse_time(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{error} - at `$.{name}`") from error


def _each(reader: Reader, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: reader(item) for name, item in value.items()}
    return [reader(item) for item in value] if isinstance(value, list | tuple) else value


@cache
def _written(kind: type) -> tuple[tuple[str, object, bool], ...]:
    """Return for each field its name, its default, and whether it holds numbers that are written
    with a fraction.
    """
    hints = get_type_hints(kind)
    return tuple(
        (
            spec.name,
            spec.default if spec.default_factory is NODEFAULT else spec.default_factory(),
            float in (hints[spec.name], *get_args(hints[spec.name])),
        )
        for spec in fields(kind)
    )


def _plain(value: Any, is_float: bool = False) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return float(value) if is_float else value
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, Record):
        return to_doc(value)
    if isinstance(value, tuple | list):
        return [_plain(item, is_float) for item in value]
    return (
        {name: _plain(item, is_float) for name, item in value.items()}
        if isinstance(value, Mapping)
        else value
    )
