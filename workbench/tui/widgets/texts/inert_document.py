"""The text of an editor: true underneath, inert to whoever draws it."""

from typing import overload

from textual.cache import LRUCache
from textual.geometry import Size
from textual.widgets.text_area import Document, EditResult, Location

from workbench.core.text import printable


def shown(line: str) -> str:
    """Return a line as it is drawn: inert, and of the same number of characters (tabs stay)."""
    return line if line.isascii() and line.isprintable() else "\t".join(map(printable, line.split("\t")))


class InertDocument(Document):
    """A document that gives inert lines to whoever draws or wraps them, and its true text to `text`.

    Only line feeds part lines (CR LF where the whole text uses it), so nothing else changes by editing.
    """

    def __init__(self, text: str) -> None:
        super().__init__("")
        self._newline = "\r\n" if "\n" not in text.replace("\r\n", "") and "\r\n" in text else "\n"
        self._lines = text.split(self._newline)
        self._shown: LRUCache[str, str] = LRUCache(1024)

    @property
    def lines(self) -> list[str]:
        """All lines as they are drawn."""
        return [self._inert(line) for line in self._lines]

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Replace what lies between two places; parts lines as the document does, so that an undo is exact."""
        (top, left), (bottom, right) = sorted((start, end))
        replaced = self.get_text_range((top, left), (bottom, right))
        new = (text if self._newline == "\n" else text.replace("\r\n", "\n")).split("\n")
        before, after = (self._lines[row] if row < len(self._lines) else "" for row in (top, bottom))
        column = len(new[-1]) + (left if len(new) == 1 else 0)
        new[0] = before[:left] + new[0]
        new[-1] += after[right:]
        self._lines[top : bottom + 1] = new
        return EditResult((top + len(new) - 1, column), replaced)

    def get_size(self, tab_width: int) -> Size:
        """Return the size of the text as it is drawn."""
        widths = [len(line.expandtabs(tab_width)) for line in self.lines]
        return Size(max(widths, default=0), len(widths))

    @overload
    def __getitem__(self, line_index: int) -> str: ...

    @overload
    def __getitem__(self, line_index: slice) -> list[str]: ...

    def __getitem__(self, line_index: int | slice) -> str | list[str]:
        """Return lines as they are drawn."""
        found = self._lines[line_index]
        return self._inert(found) if isinstance(found, str) else [self._inert(line) for line in found]

    def _inert(self, line: str) -> str:
        known = self._shown.get(line)
        if known is None:
            known = self._shown[line] = shown(line)
        return known
