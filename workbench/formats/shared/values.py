"""The values of a LIFECYCLE entry, one by one: lenient readers that say what they changed.

A reader takes the JSON value and returns what it means and a note; the note is empty when nothing
was changed. It raises `ValueError` when the value means nothing.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeGuard

from workbench.core.files.format import Unread
from workbench.core.record import as_object, parse_time, without
from workbench.core.stream.confidence import IMPORT
from workbench.core.stream.memory import FILE_KEY, NO_SOURCE, SCHEMA_VERSION, Source
from workbench.formats.shared.report import shown

Reading = tuple[Any, str]
Decode = Callable[[object], Reading]
Notes = list[tuple[str, str]]
"""Which values were changed, as (field, how)."""

_MILLISECONDS_FROM = 1e11


def is_whole(raw: object) -> TypeGuard[int]:
    """Tell whether a JSON value is a whole number, which true is not."""
    return isinstance(raw, int) and not isinstance(raw, bool)


def is_number(raw: object) -> TypeGuard[int | float]:
    return is_whole(raw) or isinstance(raw, float)


def an_object(raw: object, what: str) -> dict[str, Any]:
    """Return a JSON object. Raises `ValueError` for any other value, which is not `what` it should
    be.
    """
    if not isinstance(raw, dict):
        raise ValueError(f"not {what}: expected a JSON object")
    return raw


def flat(text: str) -> str:
    """Return a text on one line, white space collapsed."""
    return " ".join(text.split())


def text(raw: object) -> Reading:
    """A string; numbers are read as text."""
    if isinstance(raw, str):
        return raw, ""
    if isinstance(raw, bool | int | float):
        return str(raw), "a number read as text"
    raise ValueError(f"expected text, found {_kind(raw)}")


def texts(raw: object) -> Reading:
    """A list of strings; a single string becomes a list of one."""
    if isinstance(raw, str):
        return (raw,), "a single text read as a list of one"
    if not isinstance(raw, list):
        raise ValueError(f"expected a list, found {_kind(raw)}")
    if {str}.issuperset(map(type, raw)):
        return tuple(raw), ""
    found = tuple(str(item) for item in raw if isinstance(item, str | int | float))
    return found, "items that are no text converted or left out"


def one_of(options: tuple[str, ...], fallback: str | None) -> Decode:
    """Return a reader of one of `options`; an unknown value reads as `fallback`."""

    def decode(raw: object) -> Reading:
        if isinstance(raw, str) and raw in options:
            return raw, ""
        meaning = f"read as “{fallback}”" if fallback is not None else "left out"
        return fallback, f"unknown value {shown(raw)} {meaning}"

    return decode


def version(raw: object) -> Reading:
    """Always this product's schema version; another version stays in the file."""
    return (
        SCHEMA_VERSION,
        "" if raw == SCHEMA_VERSION else f"schema {shown(raw)} read as version {SCHEMA_VERSION}",
    )


def count(raw: object) -> Reading:
    """A whole number of at least 0."""
    number = _whole(raw)
    return (number, "") if number >= 0 else (0, "a negative count read as 0")


def confidence(raw: object) -> Reading:
    """0–5; a fraction between 0 and 1 is mapped to that scale."""
    if isinstance(raw, float) and 0 < raw < 1:
        return round(raw * 5), "a fraction mapped from 0–1 to 0–5"
    number = _whole(raw)
    held = min(max(number, 0), 5)
    return held, "" if held == number else "moved into 0–5"


def importance(raw: object) -> Reading:
    """A number on 0–10; any other value means nothing."""
    if not is_number(raw) or not 0 <= raw <= 10:
        raise Unread("{} is not on the scale 0–10", shown(raw))
    return float(raw), ""


def flag(raw: object) -> Reading:
    """True or false."""
    if isinstance(raw, bool):
        return raw, ""
    raise ValueError(f"expected true or false, found {_kind(raw)}")


def time(raw: object) -> Reading:
    """ISO 8601 (without an offset: UTC), or seconds or milliseconds since 1970."""
    if isinstance(raw, str):
        try:
            return parse_time(raw.strip()), ""
        except (ValueError, OverflowError):
            raise Unread("{} is not an ISO 8601 time", shown(raw)) from None
    if not is_number(raw):
        raise ValueError(f"expected a time, found {_kind(raw)}")
    try:
        seconds = raw / 1000 if abs(raw) >= _MILLISECONDS_FROM else raw
        return datetime.fromtimestamp(seconds, UTC), "a number read as time since 1970"
    except (ValueError, OverflowError, OSError):
        raise Unread("{} is not a time", shown(raw)) from None


def source(raw: object) -> Reading:
    """The object {hook, turn, file, speaker}; other keys are kept in the file only."""
    if isinstance(raw, str):
        return Source(hook=raw), "a text read as the hook"
    if not isinstance(raw, dict):
        raise ValueError(f"expected an object, found {_kind(raw)}")
    hook, turn, file = raw.get("hook"), raw.get("turn"), raw.get("file")
    found = Source(
        hook=hook if isinstance(hook, str) else None,
        turn=turn if is_whole(turn) else None,
        file=file if isinstance(file, str) else None,
        speaker=speaker(raw.get("speaker")),
    )
    exact = (found.hook, found.turn, found.file) == (hook, turn, file) and not isinstance(
        turn, bool
    )
    exact = exact and (raw.get("speaker") or None) == found.speaker
    return found, "" if exact else "parts of the wrong kind left out"


def speaker(raw: object) -> str | None:
    """Who said something; what is no text, or a blank one, names nobody."""
    return raw if isinstance(raw, str) and raw.strip() else None


def write_source(value: Source) -> dict[str, object]:
    """The object {hook, turn, file}, all three always; who said it only where that is known."""
    value = value or NO_SOURCE
    said = {"speaker": value.speaker} if value.speaker else {}
    return {"hook": value.hook, "turn": value.turn, "file": value.file, **said}


OWN_FORM = frozenset({"keys", "values", "derived", IMPORT})
"""What is kept under `FILE_KEY` of how an entry was written, and of its import: no file says that."""


def meta(raw: object) -> Reading:
    """An object of anything; under `FILE_KEY` only what another format's reader kept there."""
    if not isinstance(raw, dict):
        raise ValueError(f"expected an object, found {_kind(raw)}")
    return write_meta(raw), ""


def write_meta(value: Mapping[str, Any]) -> dict[str, Any]:
    """The notes, with what the file of another format said beyond them: the way back to that format
    needs it.
    """
    notes = without(value, FILE_KEY)
    kept = as_object(value.get(FILE_KEY))
    if isinstance(kept.get("format"), str):
        notes[FILE_KEY] = without(kept, *OWN_FORM)
    return notes


def _whole(raw: object) -> int:
    if isinstance(raw, float) and raw.is_integer():
        return int(raw)
    if not is_whole(raw):
        raise ValueError(f"expected a whole number, found {_kind(raw)}")
    return raw


def _kind(raw: object) -> str:
    if raw is None:
        return "null"
    kinds = {bool: "true or false", str: "text", list: "a list", dict: "an object"}
    return kinds.get(type(raw), "a number")


_SLUG = 60


def slug(name: str) -> str:
    """Reduce a name to lower-case letters, digits and single hyphens, at most 60 of them."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\W_]+", "-", plain).strip("-")[:_SLUG].strip("-")


class FreeNames:
    """Gives names: one that is taken goes on with the next free number, from 2.

    However often one name is asked for, a number is tried once only.
    """

    def __init__(self, taken: Iterable[str] = (), *, joined: str = "-") -> None:
        self._taken = set(taken)
        self._joined = joined
        self._next: dict[str, int] = {}

    def give(self, wanted: str) -> str:
        """Return `wanted`, or what it is called when that is taken; from now on it is."""
        name, number = wanted, self._next.get(wanted, 2)
        while name in self._taken:
            name, number = f"{wanted}{self._joined}{number}", number + 1
        self._next[wanted] = number
        self._taken.add(name)
        return name
