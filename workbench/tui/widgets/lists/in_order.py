"""Columns that stay in their places beside text that is written from right to left."""

from collections.abc import Iterator

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from workbench.core.text import LRM, direction_marks


class InOrder(LineFilter):
    """Puts the marks of direction into each drawn line that needs some; a terminal that knows of none ignores them."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - as Textual calls it
        """Return the pieces of a line with their marks."""
        marks = direction_marks("".join(segment.text for segment in segments))
        return list(_marked(segments, marks)) if marks else segments


def _marked(segments: list[Segment], marks: list[int]) -> Iterator[Segment]:
    begin = 0
    for text, style, control in segments:
        end = begin + len(text)
        inside = [mark - begin for mark in marks if begin < mark <= end or mark == begin == 0]
        pieces = (text[at:to] for at, to in zip([0, *inside], [*inside, None], strict=True))
        yield Segment(LRM.join(pieces), style, control)
        begin = end
