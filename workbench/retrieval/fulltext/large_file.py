"""Finding the lines of a large file that hold some text, case of ASCII letters ignored, without
reading it whole.
"""

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Place:
    """A line: its number, from 1, and the byte of the file at which it starts."""

    number: int
    start: int


class Lines(NamedTuple):
    """How many lines were `found`, and the places of the last of them, in order."""

    found: int
    last: tuple[Place, ...]


def needles(query: str) -> tuple[bytes, ...]:
    """Return the bytes that may stand for a text in a file of JSON lines: as it is, and as JSON
    writes it.

    ASCII letters are in lower case. Of other letters both cases are looked for, of a whole text at
    a time.
    """
    cases = (
        (query,)
        if query.isascii()
        else (query, query.lower(), query.upper(), query.title(), query.capitalize())
    )
    ways = [
        way
        for text in cases
        for way in (text, _quoted(text, escaped=True), _quoted(text, escaped=False))
    ]
    ways += [way.replace("/", "\\/") for way in ways if "/" in way]
    found = (
        way.encode("utf-8", "surrogateescape").lower()
        for way in ways
        if not {"\n", "\r"} & set(way)
    )
    return tuple(dict.fromkeys(found))


def _quoted(text: str, *, escaped: bool) -> str:
    return json.dumps(text, ensure_ascii=escaped)[1:-1]


def lines_with(path: Path, wanted: Sequence[bytes], most: int) -> Lines:
    """Return the lines of a file that hold one of the `wanted` bytes: their number, and where the
    last `most` are.

    Raises `OSError`.
    """
    last, count, start = deque[Place](maxlen=most), 0, 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            lower = line.lower()
            if any(one in lower for one in wanted):
                last.append(Place(number, start))
                count += 1
            start += len(line)
    return Lines(count, tuple(last))
