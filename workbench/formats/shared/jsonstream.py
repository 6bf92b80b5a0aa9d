"""JSON values one after another: a line each, several on a line (`{}{}`), or one over several lines.

What cannot be read is passed over up to the next value on its line, or the next line.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from workbench.formats.shared.jsonlines import BOM
from workbench.formats.shared.jsontext import JsonReader, NotJson

_BLANK = " \t\r\n"
_SPACE = re.compile(f"[{_BLANK}]*")
_NEXT = re.compile(r"\}[ \t\r]*(?=\{)")
_OPEN = ("{", "[", ",", ":")
_FEW = 4_000
"""Characters of the first try to read a value that goes on over lines."""


@dataclass(frozen=True, slots=True)
class Value:
    """One value with its line and place; or the damage found there."""

    line: int
    start: int
    end: int
    value: object = None
    changes: tuple[str, ...] = ()
    damage: str = ""


def values(text: str) -> Iterator[Value]:
    """Yield every value of `text`, and every damaged part once."""
    reader, at, number = JsonReader(), len(BOM) if text.startswith(BOM) else 0, 1
    first, line = at, ""
    while True:
        start = _skip(text, at)
        number += text.count("\n", at, start)
        if start == len(text):
            return
        if start >= first + len(line):
            stop = text.find("\n", start)
            first, line = start, text[start : stop if stop >= 0 else len(text)]
        found = _one(text, line, first, start, number, reader)
        yield found
        number += text.count("\n", start, found.end)
        at = found.end


def _one(text: str, line: str, first: int, start: int, number: int, reader: JsonReader) -> Value:
    """Read the value at `start`, in the `line` whose text is known from `first` on."""
    try:
        try:
            value, end = reader.decode_at(line, start - first)
            end += first
        except ValueError:
            # Only what is left open at the end of its line can go on in the next one.
            if not line.rstrip().endswith(_OPEN):
                raise
            value, end = _over_lines(text, start, number, reader)
    except ValueError as error:
        following = _NEXT.search(line, start - first)
        end = first + (following.end() if following else len(line))
        return Value(number, start, end, damage=str(error))
    return Value(number, start, end, value, tuple(sorted(reader.changes)))


def _over_lines(text: str, start: int, number: int, reader: JsonReader) -> tuple[object, int]:
    """Read the value that begins at `start`, on line `number`, and goes on over as many lines as it needs.

    Ever more lines are tried while the value is open at their end: an error costs as much as the text before it.
    """
    size = _FEW
    while True:
        stop = text.find("\n", start + size) + 1 or len(text)
        part = text[start:stop]
        try:
            value, end = reader.decode_at(part, 0)
        except NotJson as error:
            if stop < len(text) and error.pos >= len(part.rstrip(_BLANK)):
                size *= 4
                continue
            at = start + error.pos
            line, column = number + part.count("\n", 0, error.pos), at - text.rfind("\n", 0, at)
            raise NotJson(error.said, at, line, column) from None
        return value, start + end


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def spliced(text: str, values: Mapping[tuple[int, int], str | None], added: Iterable[str], newline: str) -> str:
    """Return `text` with other texts at some (start, end) places (None: nothing, nor its line), and lines added."""
    out, at = list[str](), 0
    for (start, end), value in sorted(values.items()):
        if value is None:
            start, end = _with_line(text, start, end)
        out += [text[at : max(start, at)], value or ""]
        at = max(end, at)
    body = "".join(out) + text[at:]
    lines = list(added)
    if not lines:
        return body
    gap = "" if not body.removeprefix(BOM) or body.endswith("\n") else newline
    final = newline if text.endswith("\n") or not text.removeprefix(BOM) else ""
    return body + gap + newline.join(lines) + final


def _with_line(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a place to its line with the line end, where nothing else stands on it."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    alone = not text[first:start].strip(" \t\r" + BOM) and not text[end : last if last >= 0 else None].strip(" \t\r")
    if not alone:
        return start, end
    if last < 0:
        # The last line goes with the line end before it, so that the file ends as it did.
        return (first - (2 if text[first - 2 : first] == "\r\n" else 1) if first else 0), len(text)
    return (len(BOM) if first == 0 and text.startswith(BOM) else first), last + 1
