"""JSON lines with a checksum: the only place that turns store values into bytes.

A line is a JSON object whose last key, `sum`, is the BLAKE2b-64 of everything before it,
so a torn or altered line is told from a good one without a second file.
"""

import json
from hashlib import blake2b
from typing import Any

import orjson

from workbench.core.errors import InvalidRecord

_TAIL = len(b',"sum":"') + 16 + len(b'"}')


class BadLine(ValueError):
    """A journal line that cannot be trusted; the text says why."""


def dumps(value: object) -> bytes:
    """Write JSON as UTF-8; what orjson refuses (integers past 64 bits) goes through the standard library.

    Raises `TypeError` for values JSON does not know and `InvalidRecord` for text that is not Unicode.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        try:
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        except UnicodeEncodeError as error:
            raise InvalidRecord("a text holds half a character (a lone surrogate).", "Nothing was written.") from error


def loads(data: bytes) -> Any:
    """Read JSON; raises `ValueError`."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return json.loads(data)


def seal(value: dict[str, object]) -> bytes:
    """Return `value` as one checksummed line with its line end."""
    body = dumps(value)[:-1]
    return body + b',"sum":"' + _sum(body) + b'"}\n'


def unseal(line: bytes) -> dict[str, Any]:
    """Read a sealed line (without its line end); raises `BadLine`."""
    body, tail = line[:-_TAIL], line[-_TAIL:]
    if not tail.startswith(b',"sum":"') or not tail.endswith(b'"}'):
        raise BadLine("it has no checksum at its end")
    if tail[8:24] != _sum(body):
        raise BadLine("its checksum does not match its content")
    try:
        value = loads(body + b"}")
    except ValueError as error:
        raise BadLine("it is not JSON") from error
    if not isinstance(value, dict):
        raise BadLine("it is not a JSON object")
    return value


def fingerprint(data: bytes) -> str:
    """Return the hash by which a checkpoint file is recognised."""
    return blake2b(data, digest_size=16).hexdigest()


def _sum(body: bytes) -> bytes:
    return blake2b(body, digest_size=8).hexdigest().encode()
