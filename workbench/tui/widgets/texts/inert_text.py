"""A text area that shows control and bidi characters as symbols while it edits the true text."""

from typing import overload

from textual.cache import LRUCache
from textual.events import Paste
from textual.geometry import Size
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Document, DocumentNavigator, EditResult, Location, WrappedDocument

from workbench.core.text import clean_for_store, printable
from workbench.tui.app.surviving import survives


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


@survives
class InertTextArea(TextArea):
    """Textual's `TextArea` for stored text: inert on the screen, unchanged underneath."""

    class Stripped(Message):
        """A paste held `count` control characters, which were left out."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.count = count

    def __init__(self, text: str, *, id: str | None = None) -> None:
        super().__init__("", soft_wrap=True, show_line_numbers=False, compact=True, highlight_cursor_line=False, id=id)
        self.cursor_blink = False
        self._take(text)

    def load_text(self, text: str) -> None:
        """Show another text from its end, with no edits to undo."""
        self.history.clear()
        self.move_cursor((0, 0))
        self._take(text)
        self._rewrap_and_refresh_virtual_size()
        self.move_cursor(self.document.end)
        self.post_message(self.Changed(self).set_sender(self))

    def _take(self, text: str) -> None:
        self.document = InertDocument(text)
        self.wrapped_document = WrappedDocument(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)

    async def _on_paste(self, event: Paste) -> None:
        event.prevent_default()
        event.stop()
        text = clean_for_store(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        kept = "".join(c for c in text if c in "\n\t" or not _is_control(c))
        if result := self._replace_via_keyboard(kept, *self.selection):
            self.move_cursor(result.end_location)
        if len(kept) < len(text):
            self.post_message(self.Stripped(len(text) - len(kept)))


def _is_control(char: str) -> bool:
    return ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0
