"""Two sides' changes to one text, put together line by line where they do not collide (the method
of diff3).
"""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

# What differs between two texts of a file, line by line, with line ends and a missing last one in
# sight.


DiffKind = Literal["same", "added", "removed", "place", "note"]

SIGNS: dict[DiffKind, str] = {
    "same": " ",
    "added": "+",
    "removed": "-",
    "place": "@@ ",
    "note": "\\ ",
}
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
    """Return what leads from `old` to `new`, with some unchanged lines around; empty for equal
    texts.
    """
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
    """Return the lines that hold a secret or a part of one, each with what may be shown in its
    place.

    A secret may go over several lines, so whole texts are looked at; `mask` leaves their line ends
    where they are.
    """
    pairs = ((text, mask(text)) for text in texts)
    changed = ((text.split("\n"), clean.split("\n")) for text, clean in pairs if clean != text)
    return {
        old: new
        for lines, clean in changed
        for old, new in zip(lines, clean, strict=True)
        if old != new
    }


def masked_diff(lines: Sequence[DiffLine], masks: Mapping[str, str]) -> tuple[DiffLine, ...]:
    """Return lines of a diff, or of a whole file, as they may be shown; `masks` are the
    `masked_lines` of its texts.
    """
    return tuple(
        replace(line, text=masks[line.text]) if line.text in masks else line for line in lines
    )


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
        """Yield for each place who changed it, its line, and what stands there: `-` before, `+`
        ours, `>` theirs.
        """
        at = 1
        for chunk in self.chunks:
            if chunk.kind != "same":
                ours = () if chunk.kind == "theirs" else chunk.ours
                theirs = chunk.theirs if chunk.kind in ("theirs", "conflict") else ()
                sides = (("-", chunk.base), ("+", ours), (">", theirs))
                yield (
                    chunk.kind,
                    at,
                    [(sign, line.removesuffix("\n")) for sign, side in sides for line in side],
                )
            at += len(chunk.result)


_Edit = tuple[int, int, Kind, tuple[str, ...]]
"""The first line of the base that a side replaces, the one after the last, which side, and what it
has instead.
"""


def three_way(base: str, ours: str, theirs: str) -> ThreeWay:
    """Compare both sides with the text they come from.

    Changes of both sides that touch each other are one chunk; each may replace lines of its own
    side by side.
    """
    lines = tuple(split_lines(base))
    edits = sorted((*_edits("ours", lines, ours), *_edits("theirs", lines, theirs)))
    groups: list[list[_Edit]] = []
    for edit in edits:
        if groups and any(_touches(one, edit) for one in groups[-1]):
            groups[-1].append(edit)
        else:
            groups.append([edit])
    chunks: list[Chunk] = []
    at = 0
    for group in groups:
        start, stop = group[0][0], max(end for _, end, *_ in group)
        chunks += (*_same(lines[at:start]), _changed(lines, start, stop, group))
        at = stop
    return ThreeWay((*chunks, *_same(lines[at:])))


def _edits(side: Kind, base: Sequence[str], text: str) -> Iterator[_Edit]:
    lines = split_lines(text)
    matcher = difflib.SequenceMatcher(None, base, lines, autojunk=False)
    return (
        (i, j, side, tuple(lines[m:n]))
        for tag, i, j, m, n in matcher.get_opcodes()
        if tag != "equal"
    )


def _touches(one: _Edit, later: _Edit) -> bool:
    """Tell whether two sides replace a line both, or whether one puts lines in where the other
    changes something.
    """
    inserts = one[0] == one[1] or later[0] == later[1]
    return one[2] != later[2] and (later[0] < one[1] or (later[0] == one[1] and inserts))


def _changed(base: tuple[str, ...], start: int, stop: int, group: Sequence[_Edit]) -> Chunk:
    before = base[start:stop]
    ours, theirs = (
        _applied(base, start, stop, [e for e in group if e[2] == side])
        for side in ("ours", "theirs")
    )
    kind: Kind = "both" if ours == theirs else "ours" if theirs == before else "theirs"
    return Chunk(kind if kind != "theirs" or ours == before else "conflict", before, ours, theirs)


def _applied(
    base: tuple[str, ...], start: int, stop: int, edits: Sequence[_Edit]
) -> tuple[str, ...]:
    out: tuple[str, ...] = ()
    for first, last, _, lines in edits:
        out += base[start:first] + lines
        start = last
    return out + base[start:stop]


def _same(kept: tuple[str, ...]) -> Iterator[Chunk]:
    if kept:
        yield Chunk("same", kept, kept, kept)
