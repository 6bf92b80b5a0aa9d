"""Finding the lines of a large file that hold some text, case of ASCII letters ignored, without
reading it whole.
"""

import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

BLOCK = 1 << 17
"""Bytes that are read at once: what fits into the cache of a processor is looked through the
fastest.
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A line: its number, from 1, and the byte of the file at which it starts."""

    number: int
    start: int


@dataclass(frozen=True, slots=True)
class Lines:
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
    last, count = deque[Place](maxlen=most), 0
    if wanted:
        with path.open("rb", buffering=0) as file:
            for place in _by_reading(file, wanted):
                last.append(place)
                count += 1
    return Lines(count, tuple(last))


def _by_reading(file: IO[bytes], wanted: Sequence[bytes]) -> Iterator[Place]:
    keep = max(map(len, wanted)) - 1
    carried = b""
    number, start, last = (
        1,
        0,
        0,
    )  # of the line that is open where the new block begins; the line found last
    base = 0
    while block := file.read(BLOCK):
        window = (carried + block).lower()
        told, begin = (
            len(carried),
            0,
        )  # newlines are counted up to `told`, and what begins before `begin` is known
        while (at := _first(window, wanted, begin, len(carried))) >= 0:
            if at > told:
                number += window.count(b"\n", told, at)
                newline = window.rfind(b"\n", told, at)
                start = base + newline + 1 if newline >= 0 else start
                told = at
            if number != last:
                yield Place(number, start)
                last = number
            end = window.find(b"\n", at)
            if end < 0:
                break
            begin = end + 1
        number += window.count(b"\n", told)
        newline = window.rfind(b"\n", told)
        start = base + newline + 1 if newline >= 0 else start
        carried = window[len(window) - keep :] if keep else b""
        base += len(window) - len(carried)


def _first(window: bytes, wanted: Sequence[bytes], begin: int, new: int) -> int:
    """Return where the first of several texts begins, from a place on; -1 when none does.

    What ends before the bytes that are `new` was found with those before.
    """
    found = [at for one in wanted if (at := window.find(one, max(begin, new - len(one) + 1))) >= 0]
    return min(found, default=-1)
