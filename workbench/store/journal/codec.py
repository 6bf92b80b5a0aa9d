"""JSON lines with a checksum: the only place that turns store values into bytes.

A line is a JSON object whose last key, `sum`, is the BLAKE2b-64 of everything before it,
so a torn or altered line is told from a good one without a second file.
"""

import re
from hashlib import blake2b
from typing import Any

import orjson

from workbench.core.record import InvalidRecord

_TAIL = len(b',"sum":"') + 16 + len(b'"}')
_BEGINS = re.compile(rb'\{"(?:rev|journal)":')
_ENDS = re.compile(rb',"sum":"[0-9a-f]{16}"\}')
_REASONS = {
    "surrogates": "a text contains half a character (a lone surrogate)",
    "64-bit": "a whole number does not fit in 64 bits",
    "Recursion": "a value is nested too deeply",
}


class BadLine(ValueError):
    """A journal line that cannot be trusted; the text says why."""


def dumps(value: object) -> bytes:
    """Write JSON as UTF-8.

    Raises `TypeError` for types JSON does not know, and `InvalidRecord` for values that could
    not be read back as they are: half characters, numbers past 64 bits, very deep nesting.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except TypeError as error:
        reason = next((text for mark, text in _REASONS.items() if mark in str(error)), None)
        if reason is None:
            raise
        raise InvalidRecord(f"This cannot be stored: {reason}.", "Nothing was written.") from error


def loads(data: bytes) -> Any:
    """Read JSON; raises `ValueError`."""
    return orjson.loads(data)


def loads_foreign(data: bytes) -> Any:
    """Read JSON that another program wrote, with whole numbers of any length; raises `ValueError`."""
    import json

    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def plain(value: Any) -> Any:
    """Return a value as it would be read back. Raises as `seal` does."""
    data = dumps(value)
    if b"null" in data:
        _require_finite(value)
    return loads(data)


def seal(value: dict[str, object]) -> bytes:
    """Return `value`, which is not empty and has no key "sum", as one checksummed line with its
    line end.

    Raises as `dumps` does, and `InvalidRecord` for NaN and infinity, which JSON cannot say.
    """
    body = dumps(value)[:-1]
    if b"null" in body:  # what orjson writes for NaN and infinity, too
        _require_finite(value)
    return b"".join((body, b',"sum":"', _sum(body), b'"}\n'))


def unseal(line: bytes) -> dict[str, Any]:
    """Read a sealed line (without its line end); raises `BadLine`."""
    tail = line[-_TAIL:]
    if not tail.startswith(b',"sum":"') or not tail.endswith(b'"}'):
        raise BadLine("it has no checksum at its end")
    if tail[8:24] != _sum(memoryview(line)[:-_TAIL]):
        raise BadLine("its checksum does not match its content")
    try:
        value = loads(line)
    except ValueError as error:
        raise BadLine("it is not JSON") from error
    if not isinstance(value, dict):
        raise BadLine("it is not a JSON object")
    del value["sum"]
    return value


def is_sealed(line: bytes) -> bool:
    """Tell, without reading its value, whether a line (without its line end) ends with the checksum
    of the rest.
    """
    tail = line[-_TAIL:]
    return (
        tail.startswith(b',"sum":"')
        and tail.endswith(b'"}')
        and tail[8:24] == _sum(memoryview(line)[:-_TAIL])
    )


def sealed_in(data: bytes) -> list[tuple[int, int]]:
    """Return where sealed lines stand whole in bytes that are none: behind zeros, or where a line
    end was lost.

    Each is a pair of offsets, from and to.
    """
    found, start = [], 0
    for end in _ENDS.finditer(data):
        begins = (match.start() for match in _BEGINS.finditer(data, start, end.start()))
        place = next((place for place in begins if is_sealed(data[place : end.end()])), None)
        if place is not None:
            found.append((place, end.end()))
        start = end.end()
    return found


def looks_whole(data: bytes) -> bool:
    """Tell whether bytes end as a sealed line does: then they are damaged, not unfinished."""
    return _ENDS.fullmatch(data[-_TAIL:]) is not None


def mark_of(line: bytes) -> str:
    """Return the checksum that stands at the end of a sealed line (without its line end)."""
    return line[-18:-2].decode("ascii", "replace")


def same(one: object, other: object) -> bool:
    """Tell whether two values are the same JSON: 1, 1.0 and true are three, a tuple is a list."""
    if one is other:
        return True
    if isinstance(one, dict | list | tuple) and isinstance(other, dict | list | tuple):
        return dumps(one) == dumps(other)
    return type(one) is type(other) and one == other


def fingerprint(data: bytes) -> str:
    """Return the hash by which a checkpoint file is recognised."""
    return blake2b(data, digest_size=16).hexdigest()


def _sum(body: bytes | memoryview) -> bytes:
    return blake2b(body, digest_size=8).hexdigest().encode()


def _require_finite(value: object) -> None:
    import json

    try:
        json.dumps(value, allow_nan=False, skipkeys=True, default=str)
    except ValueError as error:
        reason = "This cannot be stored: a number is not finite (NaN or infinity)."
        raise InvalidRecord(reason, "Nothing was written.") from error
