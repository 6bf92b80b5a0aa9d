"""Lines of a journal: the only place that turns store values into bytes.

A line is one JSON object, its head first, then its body, then three keys that seal it:

    {"rev":7,"at":"…","actor":"…","kind":"edit","uid":"…",    head
     "label":"…",…,"changes":[…],                               body
     "prev":"64 hex digits","by":"32 hex digits","hash":"64 hex digits"}

- `prev` is the `hash` of the line before it, of whatever kind; the first line of a journal has 64
  zeros.
- `by` tells that this machine wrote the line. It is BLAKE2b-128, keyed with the machine's key, of
  the SHA-256 of all bytes before `,"by"`. Its personalization is `all`: the writer knew every line
  up to this one, or `one`: it knew no more than this line. A store that no machine remembers has
  none.
- `hash` is SHA-256 of all bytes before `,"hash"`: of head, body, `prev` and `by`.

So an altered line is told from a good one by itself, and a line covers all lines before it.
`checkpoint.json` and what a machine remembers are sealed alike, without `prev`.
"""

import re
from collections.abc import Mapping
from hashlib import blake2b, sha256
from typing import Any, NamedTuple

import orjson

from workbench.core.record import InvalidRecord

START = "0" * 64
"""What stands for the hash of a line before the first one."""

_SEAL = re.compile(
    rb'(,"prev":"([0-9a-f]{64})")?(,"by":"([0-9a-f]{32})")?,"hash":"([0-9a-f]{64})"\}\Z'
)
_LONGEST_SEAL = 200
_TEXT = rb'"(?:[^"\\]|\\.)*"'
_MEMBERS = re.compile(
    rb'\{"rev":\d+,"at":%s,"actor":%s,"kind":%s,"uid":%s,"level":"[a-z]+"(?=,)' % ((_TEXT,) * 4)
)
"""How a line begins that a member of a shared store wrote: what stands there is the log's."""

_BEGINS = re.compile(rb'\{"(?:rev|journal)":')
_ENDS = re.compile(rb',"hash":"[0-9a-f]{64}"\}')
_END = len(b',"hash":""}') + 64
_REASONS = {
    "surrogates": "a text contains half a character (a lone surrogate)",
    "64-bit": "a whole number does not fit in 64 bits",
    "Recursion": "a value is nested too deeply",
}


class Seal(NamedTuple):
    """What seals a line: its hash, that of the line before it, and who wrote it.

    `signed` is the digest that `by` signs.
    """

    hash: str
    prev: str
    by: str
    signed: bytes

    def covers(self, key: bytes) -> str:
        """Return what the machine with this key says of the line: `all`, `one`, or nothing."""
        if key and self.by:
            for what in ("all", "one"):
                if self.by == _sign(self.signed, key, what):
                    return what
        return ""


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
    """Return a value as it would be read back. Raises as `written` does."""
    return loads(written(value))


def written(value: object) -> bytes:
    """Write JSON that is read back as it was.

    Raises as `dumps` does, and `InvalidRecord` for NaN and infinity, which JSON cannot say.
    """
    data = dumps(value)
    if b"null" in data:  # what orjson writes for NaN and infinity, too
        _require_finite(value)
    return data


def seal(
    value: Mapping[str, object] | bytes, prev: str = "", key: bytes = b"", covers: str = "all"
) -> bytes:
    """Return an object that is not empty, as it is or as JSON, as one sealed line with its line end.

    `prev` is the hash of the line before it; with the `key` of a machine, the line says that it was
    written there (see `Seal.covers`). Raises as `written` does.
    """
    data = (value if isinstance(value, bytes) else written(value))[:-1]
    if prev:
        data += b',"prev":"%s"' % prev.encode()
    digest = sha256(data)
    if key:
        by = b',"by":"%s"' % _sign(digest.digest(), key, covers).encode()
        digest.update(by)
        data += by
    return b'%s,"hash":"%s"}\n' % (data, digest.hexdigest().encode())


def read_seal(line: bytes) -> tuple[Seal, int]:
    """Return what seals a line (without its line end), and where in it that begins; raises
    `BadLine` when the line is not what was sealed.
    """
    match = _SEAL.search(line, max(0, len(line) - _LONGEST_SEAL))
    if match is None:
        raise BadLine("it has no checksum at its end")
    prev, by, said = (match[n] or b"" for n in (2, 4, 5))
    digest = sha256(memoryview(line)[: match.start() + len(match[1] or b"")])
    signed = digest.digest()
    digest.update(match[3] or b"")
    if digest.hexdigest().encode() != said:
        raise BadLine("its checksum does not match its content")
    return Seal(said.decode(), prev.decode(), by.decode(), signed), match.start()


def read_line(line: bytes) -> tuple[dict[str, Any], Seal]:
    """Read a sealed line (without its line end): its value, and what seals it; raises `BadLine`.

    Of one that a member of a shared store wrote, and that is not JSON, the head is read, which the
    log wrote.
    """
    found, end = read_seal(line)
    try:
        value = loads(line[:end] + b"}")
    except ValueError as error:
        if (head := _MEMBERS.match(line)) is None:
            raise BadLine("it is not JSON") from error
        value = loads(head[0] + b"}")
    if not isinstance(value, dict):
        raise BadLine("it is not a JSON object")
    return value, found


def unseal(line: bytes) -> dict[str, Any]:
    """Read the value of a sealed line (without its line end); raises `BadLine`."""
    return read_line(line)[0]


def sealed_in(data: bytes) -> list[tuple[int, int]]:
    """Return where sealed lines stand whole in bytes that are none: behind zeros, or where a line
    end was lost.

    Each is a pair of offsets, from and to.
    """
    found, start = [], 0
    for end in _ENDS.finditer(data):
        begins = (match.start() for match in _BEGINS.finditer(data, start, end.start()))
        place = next((place for place in begins if _is_sealed(data[place : end.end()])), None)
        if place is not None:
            found.append((place, end.end()))
        start = end.end()
    return found


def looks_whole(data: bytes) -> bool:
    """Tell whether bytes end as a sealed line does: then they are damaged, not unfinished."""
    return _ENDS.fullmatch(data[-_END:]) is not None


def hash_of(line: bytes) -> str:
    """Return the hash that stands at the end of a sealed line (without its line end)."""
    return line[-66:-2].decode("ascii", "replace")


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


def _sign(signed: bytes, key: bytes, what: str) -> str:
    return blake2b(signed, digest_size=16, key=key, person=what.encode()).hexdigest()


def _is_sealed(line: bytes) -> bool:
    try:
        read_seal(line)
    except BadLine:
        return False
    return True


def _require_finite(value: object) -> None:
    import json

    try:
        json.dumps(value, allow_nan=False, skipkeys=True, default=str)
    except ValueError as error:
        reason = "This cannot be stored: a number is not finite (NaN or infinity)."
        raise InvalidRecord(reason, "Nothing was written.") from error
