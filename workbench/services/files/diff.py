"""What differs between two texts of a file, line by line, with line ends and a missing last one in sight."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["same", "added", "removed", "place", "note"]

SIGNS: dict[Kind, str] = {"same": " ", "added": "+", "removed": "-", "place": "@@ ", "note": "\\ "}
NO_LAST_END = "no line end at the end of the file"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a diff.

    `number` is the line's place in the new file (in the old one for a removed line, 0 for a note).
    """

    kind: Kind
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


def _numbered(kind: Kind, lines: list[str], start: int, end: int) -> Iterator[DiffLine]:
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
