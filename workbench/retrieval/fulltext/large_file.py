"""Finding the lines of a large file that hold some text, case of ASCII letters ignored, without reading it whole.

`rg` is asked where it is installed; otherwise the file is read in blocks. Both look for the same bytes and give the
same answer.
"""

import json
import os
import shutil
import subprocess
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from workbench.core.runtime import Cancelled

BLOCK = 1 << 17
"""Bytes that are read at once: what fits into the cache of a processor is looked through the fastest."""

_LEAD = 2
"""Fields before the text of a line that rg prints: its number and where it starts."""


class Broken(Exception):
    """The program that was asked could not answer."""


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
    """Return the bytes that may stand for a text in a file of JSON lines: as it is, and as JSON writes it.

    ASCII letters are in lower case. Of other letters both cases are looked for, of a whole text at a time.
    """
    cases = (query,) if query.isascii() else (query, query.lower(), query.upper(), query.title(), query.capitalize())
    ways = [way for text in cases for way in (text, _quoted(text, escaped=True), _quoted(text, escaped=False))]
    ways += [way.replace("/", "\\/") for way in ways if "/" in way]
    found = (way.encode("utf-8", "surrogateescape").lower() for way in ways if not {"\n", "\r"} & set(way))
    return tuple(dict.fromkeys(found))


def _quoted(text: str, *, escaped: bool) -> str:
    return json.dumps(text, ensure_ascii=escaped)[1:-1]


def lines_with(
    path: Path,
    wanted: Sequence[bytes],
    most: int,
    cancelled: Cancelled = lambda: False,
    program: str | None = None,
) -> Lines:
    """Return the lines of a file that hold one of the `wanted` bytes: their number, and where the last `most` are.

    `program` is the `rg` to ask (see `rg`); without one the file is read here. Raises `OSError`.
    """
    if not wanted:
        return Lines(0, ())
    if program is not None:
        try:
            return _kept(_by_program(program, path, wanted, cancelled), most)
        except Broken:
            pass
    with path.open("rb", buffering=0) as file:
        return _kept(_by_reading(file, wanted, cancelled), most)


def rg() -> str | None:
    """Return where `rg` is installed; `None` where it is not."""
    found = shutil.which("rg")
    return found if found is not None and Path(found).is_absolute() else None


def _kept(found: Iterator[Place], most: int) -> Lines:
    last, count = deque[Place](maxlen=most), 0
    for place in found:
        last.append(place)
        count += 1
    return Lines(count, tuple(last))


def _by_program(program: str, path: Path, wanted: Sequence[bytes], cancelled: Cancelled) -> Iterator[Place]:
    options = ("--no-config", "--no-messages", "--text", "--encoding=none", "--no-mmap", "--threads=1")
    output = ("--color=never", "--no-heading", "--no-filename", "--line-number", "--byte-offset", "--max-columns=1")
    asked = [part for one in wanted for part in ("-e", f"(?i-u){_pattern(one)}")]
    command = [program, *options, *output, *asked, "--", os.fspath(path)]
    try:
        running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError as error:
        raise Broken from error
    with running:
        assert running.stdout is not None
        try:
            for line in running.stdout:
                number, start = line.split(b":", _LEAD)[:_LEAD]
                yield Place(int(number), int(start))
                if cancelled():
                    return
        except ValueError as error:
            raise Broken from error
        finally:
            if running.poll() is None:
                running.stdout.close()
                running.terminate()
    if running.returncode not in (0, 1):
        raise Broken


def _pattern(wanted: bytes) -> str:
    """Return the pattern that stands for some bytes."""
    return "".join(chr(byte) if byte < 0x80 and chr(byte).isalnum() else f"\\x{byte:02x}" for byte in wanted)


def _by_reading(file: IO[bytes], wanted: Sequence[bytes], cancelled: Cancelled) -> Iterator[Place]:
    keep = max(map(len, wanted)) - 1
    carried = b""
    number, start, last = 1, 0, 0  # of the line that is open where the new block begins; the line found last
    base = 0
    while (block := file.read(BLOCK)) and not cancelled():
        window = (carried + block).lower()
        told, begin = len(carried), 0  # newlines are counted up to `told`, and what begins before `begin` is known
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
