"""Two sides' changes to one text, put together line by line where they do not collide (the method of diff3)."""

import difflib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

# What differs between two texts of a file, line by line, with line ends and a missing last one in sight.


DiffKind = Literal["same", "added", "removed", "place", "note"]

SIGNS: dict[DiffKind, str] = {"same": " ", "added": "+", "removed": "-", "place": "@@ ", "note": "\\ "}
NO_LAST_END = "no line end at the end of the file"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a diff.

    `number` is the line's place in the new file (in the old one for a removed line, 0 for a note).
    """

    kind: DiffKind
    text: str
    number: int = 0

    def __str__(self) -> str:
        return f"{SIGNS[self.kind]}{self.text}"


def diff_texts(old: str, new: str, context: int = 2) -> tuple[DiffLine, ...]:
    """Return what leads from `old` to `new`, with some unchanged lines around; empty for equal texts."""
    if old == new:
        return ()
    before, after = split_lines(old), split_lines(new)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    lines: list[DiffLine] = []
    for group in matcher.get_grouped_opcodes(context):
        first, last = group[0], group[-1]
        lines.append(DiffLine("place", f"lines {first[3] + 1}–{last[4]}", first[3] + 1))
        for tag, i, i_end, j, j_end in group:
            if tag == "equal":
                lines += _numbered("same", after, j, j_end)
            else:
                lines += _numbered("removed", before, i, i_end)
                lines += _numbered("added", after, j, j_end)
    return tuple(lines)


def split_lines(text: str) -> list[str]:
    """Split at line feeds only, keeping them, so that no other character passes for a line end."""
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])


def _numbered(kind: DiffKind, lines: list[str], start: int, end: int) -> Iterator[DiffLine]:
    for index in range(start, end):
        line = lines[index]
        yield DiffLine(kind, line.removesuffix("\n"), index + 1)
        if kind != "same" and not line.endswith("\n"):
            yield DiffLine("note", NO_LAST_END)


def masked_lines(texts: Iterable[str], mask: Callable[[str], str]) -> dict[str, str]:
    """Return the lines that hold a secret or a part of one, each with what may be shown in its place.

    A secret may go over several lines, so whole texts are looked at; `mask` leaves their line ends where they are.
    """
    pairs = ((text, mask(text)) for text in texts)
    changed = ((text.split("\n"), clean.split("\n")) for text, clean in pairs if clean != text)
    return {old: new for lines, clean in changed for old, new in zip(lines, clean, strict=True) if old != new}


def masked_diff(lines: Sequence[DiffLine], masks: Mapping[str, str]) -> tuple[DiffLine, ...]:
    """Return lines of a diff, or of a whole file, as they may be shown; `masks` are the `masked_lines` of its texts."""
    return tuple(replace(line, text=masks[line.text]) if line.text in masks else line for line in lines)


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

    def changed(self) -> Iterator[tuple[Kind, int, list[tuple[str, str]]]]:
        """Yield for each place who changed it, its line, and what stands there: `-` before, `+` ours, `>` theirs."""
        at = 1
        for chunk in self.chunks:
            if chunk.kind != "same":
                ours = () if chunk.kind == "theirs" else chunk.ours
                theirs = chunk.theirs if chunk.kind in ("theirs", "conflict") else ()
                sides = (("-", chunk.base), ("+", ours), (">", theirs))
                yield chunk.kind, at, [(sign, line.removesuffix("\n")) for sign, side in sides for line in side]
            at += len(chunk.result)


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
