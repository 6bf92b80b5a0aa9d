"""Tolerant JSON: values that every later stage can store, print and write again.

Python's own reader accepts what others refuse: NaN, integers of any length, lone surrogates,
nesting up to the recursion limit. Here they become plain values and the change is named.
"""

import json
import math
import re

from workbench.core.files.format import Unread, braced
from workbench.core.text import clean_for_store

MAX_DEPTH = 100
"""Deepest nesting of one record that is read."""

_MAX_INT = 2**63
_SPACE = re.compile(r"[ \t\r\n]*")
_ESCAPE = "\\u"
"""Only where it stands can a JSON text hold what cannot be stored. The value tells, which is a
sixth as long.
"""


class NotJson(Unread):
    """A text is no JSON: what is wrong (`said`), and at which character of it (`pos`, from 0)."""

    def __init__(self, said: str, pos: int, line: int, column: int) -> None:
        place, values = (
            ("line {} column {}", (line, column)) if line > 1 else ("column {}", (column,))
        )
        super().__init__(f"not JSON: {braced(said.removesuffix(' at'))} at {place}", *values)
        self.said = said
        self.pos = pos


class JsonReader:
    """Decodes JSON texts; `changes` names what the last one held that could not be kept as it was."""

    def __init__(self) -> None:
        self.changes: set[str] = set()
        self._decoder = json.JSONDecoder(
            parse_constant=self._constant, parse_int=self._integer, parse_float=self._float
        )

    def decode(self, text: str) -> object:
        """Read one value that fills `text`. Raises `ValueError` with a reason fit to be shown."""
        start = _SPACE.match(text)
        value, end = self.decode_at(text, start.end() if start else 0)
        if text[end:].strip(" \t\r\n"):
            raise Unread("not JSON: more text after the value, at column {}", end + 1)
        return value

    def decode_at(self, text: str, start: int) -> tuple[object, int]:
        """Read the value that begins at `start`; return it and where it ends."""
        self.changes.clear()
        try:
            value, end = self._decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            raise NotJson(error.msg, error.pos, error.lineno, error.colno) from None
        except RecursionError:
            raise ValueError("nested too deeply to be read") from None
        if too_deep(value):
            raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
        if text.find(_ESCAPE, start, end) >= 0:
            value = self._storable(value)
        return value, end

    def _constant(self, name: str) -> None:
        self.changes.add(f"{name} read as null")

    def _integer(self, digits: str) -> int | str:
        if len(digits) < 19 or (len(digits) < 25 and -_MAX_INT <= int(digits) < _MAX_INT):
            return int(digits)
        self.changes.add("an integer beyond 64 bits read as text")
        return digits

    def _float(self, digits: str) -> float | None:
        value = float(digits)
        if math.isfinite(value):
            return value
        self.changes.add("a number beyond the floating-point range read as null")
        return None

    def _storable(self, value: object) -> object:
        if isinstance(value, str):
            clean = clean_for_store(value)
            if clean != value:
                self.changes.add("NUL or half a surrogate pair replaced by U+FFFD")
            return clean
        if isinstance(value, list):
            return [self._storable(item) for item in value]
        if isinstance(value, dict):
            return {clean_for_store(key): self._storable(item) for key, item in value.items()}
        return value


def too_deep(value: object) -> bool:
    """Whether lists and objects in `value` are nested more than `MAX_DEPTH` levels."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH + 1):
        inner: list[object] = []
        for item in level:
            if isinstance(item, list):
                inner.extend(item)
            elif isinstance(item, dict):
                inner.extend(item.values())
        if not inner:
            return False
        level = inner
    return True


def skip(text: str, at: int) -> int:
    """Return where the next thing begins: behind the white space at a place."""
    found = _SPACE.match(text, at)
    return found.end() if found else at
