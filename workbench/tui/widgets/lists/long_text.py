"""A text that may be long, in a box that scrolls: wrapped once for its width, and drawn line by line where in sight."""

from textual.content import Content
from textual.geometry import Size
from textual.strip import Strip
from textual.visual import VisualType
from textual.widgets import Static

from workbench.tui.app.surviving import survives


def same(one: object, other: object) -> bool:
    """Tell whether two contents show the same: their text and its styles."""
    if not isinstance(one, Content) or not isinstance(other, Content):
        return one is other
    return one.plain == other.plain and one.spans == other.spans


@survives
class LongText(Static):
    """A `Static` of `Content` of which only the lines in sight are drawn."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(Content(""), id=id)
        self._lines: tuple[object, dict[int, list[Content]]] = (None, {})
        """The content that was wrapped, and its lines by width: it is laid out with a scroll bar and without."""

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show a text; the same one again is neither wrapped nor laid out nor drawn."""
        if not same(content, self.content):
            super().update(content, layout=layout)

    def _wrapped(self, width: int) -> list[Content]:
        shown = self.content
        if self._lines[0] is not shown:
            self._lines = (shown, {})
        known = self._lines[1]
        if width not in known:
            known[width] = shown.wrap(width) if isinstance(shown, Content) and width > 0 and shown.plain else []
        return known[width]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - as Textual calls it
        return max(1, len(self._wrapped(width))) if width else 0

    def render_line(self, y: int) -> Strip:
        """Return one line; Textual calls this for those in sight."""
        if self.text_selection is not None:
            return super().render_line(y)
        width, style = self.size.width, self.visual_style
        lines = self._wrapped(width)
        if y >= len(lines):
            return Strip.blank(width, style.rich_style)
        return Strip(lines[y].render_segments(style)).adjust_cell_length(width, style.rich_style).apply_offsets(0, y)
