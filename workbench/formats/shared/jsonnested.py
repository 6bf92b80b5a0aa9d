"""JSON inside a JSON string: the inner text, and the outer one again after a change with the least difference."""

import json
import re
from dataclasses import dataclass

from workbench.core.errors import UnreadableFile
from workbench.formats.shared.jsonlines import BOM, keeps_to_ascii
from workbench.formats.shared.jsontext import JsonReader

_SIGN = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The JSON text of a file; `start` and `end` are where its string stands, when it is inside one."""

    outer: str
    text: str
    start: int = -1
    end: int = -1

    @property
    def nested(self) -> bool:
        """Whether the text was inside a string."""
        return self.start >= 0

    def wrapped(self, text: str) -> str:
        """Return the file with another JSON text; what is the same in it is spelled as it was."""
        if not self.nested:
            return text
        if text == self.text:
            return self.outer
        first = _shared(self.text, text)
        last = _shared(self.text[first:][::-1], text[first:][::-1])
        body = self.outer[self.start + 1 : self.end - 1]
        left, right = _place(body, first), _place(body, len(self.text) - last)
        middle = json.dumps(text[first : len(text) - last], ensure_ascii=keeps_to_ascii(self.outer))[1:-1]
        inside = body[:left] + middle + body[right:]
        return self.outer[: self.start + 1] + inside + self.outer[self.end - 1 :]


def unwrap(text: str, file: str) -> Unwrapped:
    """Return the JSON text of a file, out of the string it may stand in. Raises `UnreadableFile`."""
    bare = text.removeprefix(BOM)
    start = len(text) - len(bare) + len(bare) - len(bare.lstrip(" \t\r\n"))
    if text[start : start + 1] != '"':
        return Unwrapped(text, text)
    try:
        inner, end = JsonReader().decode_at(text, start)
    except ValueError as error:
        raise UnreadableFile(f"{file} cannot be read: {error} (line 1).", "Nothing was read from it.") from None
    return Unwrapped(text, str(inner), start, end)


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _place(body: str, count: int) -> int:
    """Return where in the body of a string literal its character number `count` begins."""
    at = 0
    for found in _SIGN.finditer(body):
        if count == 0:
            break
        at, count = found.end(), count - 1
    return at
