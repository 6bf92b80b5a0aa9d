"""Two sides' changes to one text, put together line by line where they do not collide (the method of diff3)."""

import difflib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from workbench.services.files.diff import split_lines

Kind = Literal["same", "ours", "theirs", "both", "conflict"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some lines of the common text and what each side has in their place.

    `kind` says who changed them: nobody, us, them, both in the same way, or both differently.
    """

    kind: Kind
    base: tuple[str, ...]
    ours: tuple[str, ...]
    theirs: tuple[str, ...]

    @property
    def result(self) -> tuple[str, ...]:
        """The lines with the change taken over; of a conflict there is none, and theirs stand."""
        return self.ours if self.kind in ("ours", "both") else self.theirs


@dataclass(frozen=True, slots=True)
class ThreeWay:
    """The whole text in chunks, in order."""

    chunks: tuple[Chunk, ...]

    @property
    def conflicts(self) -> tuple[Chunk, ...]:
        """The places that both sides changed differently."""
        return tuple(chunk for chunk in self.chunks if chunk.kind == "conflict")

    @property
    def merged(self) -> str | None:
        """The text with both sides' changes; `None` when they collide somewhere."""
        if self.conflicts:
            return None
        return "".join(line for chunk in self.chunks for line in chunk.result)

    def lines(self) -> tuple[tuple[Kind, str, str], ...]:
        """Return what was changed as (who, sign, line): `-` the common text's, `+` ours, `>` theirs."""
        return tuple(line for chunk in self.chunks for line in _told(chunk))


def three_way(base: str, ours: str, theirs: str) -> ThreeWay:
    """Compare both sides with the text they come from."""
    lines = split_lines(base), split_lines(ours), split_lines(theirs)
    return ThreeWay(tuple(_chunks(*lines)))


def _chunks(base: list[str], ours: list[str], theirs: list[str]) -> Iterator[Chunk]:
    at_base = at_ours = at_theirs = 0
    for start, in_ours, in_theirs, size in _stable(base, ours, theirs):
        changed = base[at_base:start], ours[at_ours:in_ours], theirs[at_theirs:in_theirs]
        if any(changed):
            yield from _beside(_changed(*changed))
        if size:
            kept = tuple(base[start : start + size])
            yield Chunk("same", kept, kept, kept)
        at_base, at_ours, at_theirs = start + size, in_ours + size, in_theirs + size


def _stable(base: list[str], ours: list[str], theirs: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the runs of lines that all three have: their places in base, ours and theirs, and their length."""
    first, second = _matches(base, ours), _matches(base, theirs)
    i = j = 0
    while i < len(first) and j < len(second):
        (a, in_ours, size), (b, in_theirs, length) = first[i], second[j]
        start, end = max(a, b), min(a + size, b + length)
        if start < end:
            yield start, in_ours + start - a, in_theirs + start - b, end - start
        if a + size < b + length:
            i += 1
        else:
            j += 1
    yield len(base), len(ours), len(theirs), 0


def _matches(base: list[str], side: list[str]) -> list[tuple[int, int, int]]:
    matcher = difflib.SequenceMatcher(None, base, side, autojunk=False)
    return [(m.a, m.b, m.size) for m in matcher.get_matching_blocks() if m.size]


def _changed(base: list[str], ours: list[str], theirs: list[str]) -> Chunk:
    kind: Kind
    if ours == theirs:
        kind = "both"
    elif theirs == base:
        kind = "ours"
    elif ours == base:
        kind = "theirs"
    else:
        kind = "conflict"
    return Chunk(kind, tuple(base), tuple(ours), tuple(theirs))


def _beside(chunk: Chunk) -> Iterator[Chunk]:
    """Yield a conflict as the changes that it is made of, where each side changed other lines, though side by side."""
    edits = sorted(
        (start, stop, kind, side[first:last])
        for kind, side in (("ours", chunk.ours), ("theirs", chunk.theirs))
        for tag, start, stop, first, last in difflib.SequenceMatcher(
            None, chunk.base, side, autojunk=False
        ).get_opcodes()
        if tag != "equal"
    )
    apart = all(_is_before(one, other) for one, other in itertools.pairwise(edits))
    if chunk.kind != "conflict" or not apart:
        yield chunk
        return
    at = 0
    for start, stop, kind, lines in edits:
        yield from _same(chunk.base[at:start])
        old = chunk.base[start:stop]
        yield _changed(list(old), *((list(lines), list(old)) if kind == "ours" else (list(old), list(lines))))
        at = stop
    yield from _same(chunk.base[at:])


def _is_before(one: tuple[int, int, str, object], other: tuple[int, int, str, object]) -> bool:
    """Whether a change ends before another begins; of two sides' lines put in at one place nobody knows the order."""
    if one[2] == other[2]:
        return True
    return one[1] <= other[0] and (one[0] < one[1] and other[0] < other[1])


def _same(kept: tuple[str, ...]) -> Iterator[Chunk]:
    if kept:
        yield Chunk("same", kept, kept, kept)


def _told(chunk: Chunk) -> Iterator[tuple[Kind, str, str]]:
    if chunk.kind == "same":
        return
    for line in chunk.base:
        yield chunk.kind, "-", line.rstrip("\r\n")
    if chunk.kind != "theirs":
        for line in chunk.ours:
            yield chunk.kind, "+", line.rstrip("\r\n")
    if chunk.kind in ("theirs", "conflict"):
        for line in chunk.theirs:
            yield chunk.kind, ">", line.rstrip("\r\n")
