"""A file about to be written, as lines for a list: every character in sight, long lines wrapped, changes marked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import overload

from textual.content import Content

from workbench.core.text import fitting, printable
from workbench.services.files.threeway import NO_LAST_END, DiffKind, DiffLine, split_lines
from workbench.tui.widgets.content import MUTED, assemble

GUTTER = 7
"""Columns before the text: the sign, the line's number, a space."""

_PER_LINE = 20
"""Characters that a line costs besides its own."""

STYLES: dict[DiffKind, str] = {
    "same": MUTED,
    "added": "$text-success",
    "removed": "$text-error",
    "place": "bold $text-accent",
    "note": "$text-warning",
}
SIGNS: dict[DiffKind, str] = {"same": " ", "added": "+", "removed": "−", "place": " ", "note": " "}
CHANGED = "bold underline"


@dataclass(frozen=True, slots=True)
class Piece:
    """As much of a line as fits; `number` is 0 on the further pieces of a line. `spans` mark what changed."""

    index: int
    kind: DiffKind
    text: str
    number: int = 0
    spans: tuple[tuple[int, int], ...] = ()


class Pieces(Sequence[Piece]):
    """The pieces of a text, each made when it is looked at: the collector need not go through ten thousands of them."""

    def __init__(self) -> None:
        self._kinds: list[DiffKind] = []
        self._texts: list[str] = []
        self._numbers: list[int] = []
        self._spans: dict[int, tuple[tuple[int, int], ...]] = {}

    def add(self, kind: DiffKind, text: str, number: int, spans: tuple[tuple[int, int], ...]) -> None:
        if spans:
            self._spans[len(self._texts)] = spans
        self._kinds.append(kind)
        self._texts.append(text)
        self._numbers.append(number)

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, place: int) -> Piece: ...

    @overload
    def __getitem__(self, place: slice) -> list[Piece]: ...

    def __getitem__(self, place: int | slice) -> Piece | list[Piece]:
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        at = range(len(self))[place]
        return Piece(at, self._kinds[at], self._texts[at], self._numbers[at], self._spans.get(at, ()))


def whole_file(text: str) -> list[DiffLine]:
    """Return a text as numbered lines; says so when the last one has no line end."""
    lines = [DiffLine("same", line.removesuffix("\n"), i) for i, line in enumerate(split_lines(text), 1)]
    if text and not text.endswith("\n"):
        lines.append(DiffLine("note", f"({NO_LAST_END})"))
    return lines


def pieces(lines: Sequence[DiffLine], width: int) -> Pieces:
    """Wrap lines to `width` cells; white space at the end of a piece stays, nothing is left out."""
    out = Pieces()
    room = max(8, width - GUTTER)
    for line, spans in _with_spans(lines):
        shown = printable(line.text)
        at = 0
        for part in _chopped(shown, room):
            inside = tuple(
                (max(s, at) - at, min(e, at + len(part)) - at) for s, e in spans if s < at + len(part) and e > at
            )
            out.add(line.kind, part, line.number if not at else 0, inside)
            at += len(part)
    return out


def beginning(lines: Sequence[DiffLine], most: int) -> Sequence[DiffLine]:
    """Return the first lines with `most` characters together, the last one cut; all of them when they are no longer."""
    left = most
    for index, line in enumerate(lines):
        if len(line.text) > left:
            return [*lines[:index], replace(line, text=line.text[:left])]
        left -= len(line.text) + _PER_LINE
        if left <= 0:
            return lines if index + 1 == len(lines) else lines[: index + 1]
    return lines


def draw(piece: Piece, width: int) -> Content:  # noqa: ARG001 - the pieces are cut to the width
    """Return a piece as one line: sign, number, text."""
    style = STYLES[piece.kind]
    if piece.kind == "place":
        return assemble([(f"  {piece.text}", style)])
    number = f"{piece.number:>5}" if piece.number and piece.kind != "note" else "     "
    text = Content.styled(piece.text, "" if piece.kind == "same" else style)
    for start, end in piece.spans:
        text = text.stylize(CHANGED, start, end)
    return assemble([(SIGNS[piece.kind], style), (number, MUTED), (" ", "")]) + text


def _chopped(text: str, room: int) -> Iterator[str]:
    """Yield as much as fits, over and over; after a space where there is one in the second half."""
    at = 0
    while len(text) - at > room or not text.isascii():
        part = text[at : at + room]
        part = part[: fitting(part, room)] or part
        if at + len(part) >= len(text):
            break
        space = part.rfind(" ") + 1
        part = part[:space] if space > len(part) // 2 else part
        yield part
        at += len(part)
    yield text[at:]


def _with_spans(lines: Sequence[DiffLine]) -> Iterator[tuple[DiffLine, tuple[tuple[int, int], ...]]]:
    """Pair each removed line with the added one that takes its place, and mark where the two differ."""
    marked: dict[int, tuple[tuple[int, int], ...]] = {}
    for index, line in enumerate(lines[:-1]):
        after = lines[index + 1]
        alone = (index == 0 or lines[index - 1].kind != "removed") and (
            index + 2 == len(lines) or lines[index + 2].kind != "added"
        )
        if line.kind == "removed" and after.kind == "added" and alone:
            marked[index], marked[index + 1] = _differing(printable(line.text), printable(after.text))
    return ((line, marked.get(i, ())) for i, line in enumerate(lines))


def _differing(old: str, new: str) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """Return the range of each text that the other one has not, between a common beginning and a common end."""
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    end = next((i for i in range(shorter - start) if old[-1 - i] != new[-1 - i]), shorter - start)
    return ((start, len(old) - end),), ((start, len(new) - end),)
