"""Records as plain documents of JSON values, and back.

A document leaves out every field that has its default value, so an absent field,
a null and a default mean the same. Keys that the record type does not know stay in
the document (`to_doc_over`).
"""

import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

# A decoder for one record type, made as code: a store decodes a hundred thousand records when it is opened.
#
# The `__init__` of a frozen class sets each field through `object.__setattr__`, which takes longer than reading
# the document. So the generated code fills an instance of a plain class that has the same slots, and then gives it
# the record's class.


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


# The one family of errors a person may see.


class WorkbenchError(Exception):
    """Something a person can act on.

    `message` is one sentence that says what happened; `hint`, when given, says
    what was not lost or what to do next. Both are plain text.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InvalidRecord(WorkbenchError):
    """A record breaks a rule of the data model; nothing was written."""


class AlreadyPromoted(WorkbenchError):
    """A memory stands where agents read it, and is not promoted to another place too."""


class InvalidQuery(WorkbenchError):
    """A filter or query cannot be read."""


class UnreadableFile(WorkbenchError):
    """A file is missing, of an unknown format, or damaged; nothing was read from it."""


class UnknownRecord(WorkbenchError):
    """No record carries the given id."""


class StoreProblem(WorkbenchError):
    """The store cannot be opened, read or written."""


class OnlyLookedAt(StoreProblem):
    """A change of a store that is looked at as it was at a revision."""

    def __init__(self, rev: int) -> None:
        message = f"This is the store as it was at revision {rev}; it is only looked at."
        super().__init__(message, "Nothing was changed; open it as it is now to change it.")


class UnknownOutcome(StoreProblem):
    """A change was written, that failed, and it could not be taken back: it may be stored or not."""


class WorkStopped(WorkbenchError):
    """Long work was stopped before it was through; what it changed or keeps is said."""


class Conflict(WorkbenchError):
    """A later change touched the same field, so an older one cannot be taken back blindly."""


def cannot_write(folder: Path, error: OSError) -> StoreProblem:
    """Say in one sentence that the store cannot be written and what that means."""
    message = f"The store {folder} cannot be written: {_why(error)}."
    return StoreProblem(message, "Nothing was changed and nothing stored is lost.")


def cannot_read(folder: Path, error: OSError) -> StoreProblem:
    """Say in one sentence that the store cannot be read."""
    return StoreProblem(f"The store {folder} cannot be read: {_why(error)}.", "Nothing was changed.")


def _why(error: OSError) -> str:
    said = error.strerror or str(error)
    return said[:1].lower() + said[1:]


Doc = Mapping[str, object]


class _Absent:
    """Marks a field that is not in the document, which JSON's null could not tell from a stored null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


def to_doc(record: object) -> dict[str, object]:
    """Return `record` (a dataclass value) as JSON values, without fields that have their default.

    `id` and `version` are always written: what finds a record, and what later versions upgrade it by.
    """
    out: dict[str, object] = {}
    for name, default, encode, _ in _plan(type(record)):
        value = getattr(record, name)
        if value != default or name in _ALWAYS:
            out[name] = encode(value)
    return out


def to_doc_over(record: object, old: Doc) -> dict[str, object]:
    """Return `record` as the document that replaces `old`, with the keys of that one which its type does not know.

    Another program or a newer version wrote them, at the top or inside a part that is a record itself.
    """
    doc, known = to_doc(record), field_names(type(record))
    for name, value in old.items():
        if name not in known:
            doc[name] = value
        elif name in doc and isinstance(value, Mapping) and is_dataclass(part := getattr(record, name)):
            doc[name] = to_doc_over(part, value)
    return doc


def from_doc(kind: type[R], doc: Doc) -> R:
    """Build a record of type `kind` from a document; unknown keys are ignored.

    Raises `InvalidRecord` when a required field is missing or a value has the wrong shape.
    """
    try:
        record: R = _maker(kind)(doc.get)
        return record
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        who = doc.get("id", "(no id)")
        raise InvalidRecord(f"{kind.__name__.lower()} {who} cannot be read: {error}.") from error


def field_names(kind: type) -> frozenset[str]:
    """Return the names of the fields that `kind` stores."""
    return frozenset(name for name, *_ in _plan(kind))


def decoders(kind: type) -> dict[str, Callable[[Any], Any]]:
    """Return for each field what turns its JSON value into the record's value, or raises."""
    return {name: decode for name, _, _, decode in _plan(kind)}


def unchanged(value: Any) -> Any:
    """Return the value: the decoder of fields that hold any JSON value."""
    return value


def present(hint: Any) -> Any:
    """Return the type of a value that may be absent, or else the type itself."""
    if get_origin(hint) in (Union, types.UnionType):
        return next(arg for arg in get_args(hint) if arg is not type(None))
    return hint


def iso(at: datetime) -> str:
    """Write a time as ISO 8601 in UTC, with `Z`."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def clock_time(at: datetime, zone: tzinfo | None = None) -> datetime:
    """Return a time in a zone (the machine's when none is given), as it is where the calendar ends before it."""
    try:
        return at.astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return at


def minute(at: datetime, zone: tzinfo | None = None) -> str:
    """Write a time for people, to the minute, in a zone as `clock_time` has it: "2026-03-20 17:30"."""
    return clock_time(at, zone).replace(tzinfo=None).isoformat(" ", "minutes")


def moved(at: datetime, span: timedelta) -> datetime:
    """Return a time so much later (or earlier), at most as far as the calendar goes."""
    try:
        return at + span
    except OverflowError:
        end = datetime.max if span > timedelta(0) else datetime.min
        return end.replace(tzinfo=at.tzinfo)


def parse_time(text: str) -> datetime:
    """Read an ISO 8601 time; one without an offset is taken as UTC. Raises `ValueError`."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is UTC:
        return at
    if at.tzinfo is None:
        return at.replace(tzinfo=UTC)
    try:
        return at.astimezone(UTC)
    except OverflowError as error:  # the first or last hours there are, in another place
        raise ValueError(f"{text} is beyond the times there are") from error


Codec = Callable[[Any], Any]
_Plan = tuple[tuple[str, object, Codec, Codec], ...]
_REQUIRED = object()
_ALWAYS = frozenset({"id", "version"})
_PLAIN = (str, int, bool, float)


def _plan(kind: type) -> _Plan:
    return _cached_plan(kind)


@cache
def _cached_plan(kind: Hashable) -> _Plan:
    assert isinstance(kind, type)
    hints = get_type_hints(kind)
    rows = []
    for spec in fields(kind):
        default: object = spec.default
        if spec.default_factory is not MISSING:
            default = spec.default_factory()
        elif default is MISSING:
            default = _REQUIRED
        encode, decode = _codec(hints[spec.name])
        rows.append((spec.name, default, encode, decode))
    return tuple(rows)


def _maker(kind: type) -> Callable[[Any], Any]:
    return _cached_maker(kind)


@cache
def _cached_maker(kind: Hashable) -> Callable[[Any], Any]:
    """Return a function that makes a record of the `get` method of its document."""
    assert isinstance(kind, type)
    decode = decoders(kind)
    plain = {name: inner for name, hint in get_type_hints(kind).items() if (inner := present(hint)) in _PLAIN}
    make: Callable[[Any], Any] | None = compiled(kind, decode, plain)
    if make is not None:
        return make

    def construct(get: Callable[[str], Any]) -> Any:
        return kind(**{name: read(raw) for name, read in decode.items() if (raw := get(name)) is not None})

    return construct


def _codec(hint: Any) -> tuple[Codec, Codec]:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _codec(present(hint))
    if hint is datetime:
        return iso, parse_time
    if origin is tuple:
        encode, decode = _codec(args[0])
        return (lambda v: [encode(x) for x in v]), (lambda v: tuple([decode(x) for x in _listed(v)]))
    if origin is Mapping:
        encode, decode = _codec(args[1])
        return (
            (lambda v: {k: encode(x) for k, x in v.items()}),
            (lambda v: {k: decode(x) for k, x in _mapped(v).items()}),
        )
    if isinstance(hint, type) and is_dataclass(hint):
        return to_doc, (lambda v: from_doc(hint, v))
    if hint is float:
        return float, _number
    if hint in (str, int, bool):
        return unchanged, _typed(hint)
    return unchanged, unchanged


def _listed(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise ValueError(f"expected a list, found {type(value).__name__}")
    return value


def _mapped(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise ValueError(f"expected an object, found {type(value).__name__}")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"expected a number, found {type(value).__name__}")
    return float(value)


def _typed(kind: type) -> Codec:
    def decode(value: Any) -> Any:
        if type(value) is not kind:
            raise ValueError(f"expected {kind.__name__}, found {type(value).__name__}")
        return value

    return decode
