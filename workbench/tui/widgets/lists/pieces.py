"""Lines of styled text turned into the terminal's segments, with every style worked out once."""

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.content import Content, Span
from textual.style import Style


class Pieces:
    """Remembers what a style on top of another comes to, until `forget`.

    A list draws every line in sight at each change, in a handful of styles: working them out again for every
    piece of every line costs several times what the rest of drawing does.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Style, str | Style], RichStyle | None] = {}

    def forget(self) -> None:
        """Work styles out anew from now on: the theme has changed."""
        self._known.clear()

    def of(self, line: Content, base: Style) -> list[Segment]:
        """Return the segments of a line in the style `base`, the same as `Content.render_segments` makes."""
        text, made, at = line.plain, list[Segment](), 0
        for start, end, style in line.spans:
            if start < at or end > len(text):
                return line.render_segments(base)
            if start > at:
                made.append(Segment(text[at:start], self._style(base, "")))
            if end > start:
                made.append(Segment(text[start:end], self._style(base, style)))
            at = end
        if at < len(text) or not made:
            made.append(Segment(text[at:], self._style(base, "")))
        return made

    def _style(self, base: Style, style: str | Style) -> RichStyle | None:
        key = (base, style)
        if key not in self._known:
            (sample,) = Content("x", [Span(0, 1, style)]).render_segments(base)
            self._known[key] = sample.style
        return self._known[key]
