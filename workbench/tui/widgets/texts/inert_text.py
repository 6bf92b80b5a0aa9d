"""A text area that shows control and bidi characters as symbols while it edits the true text."""

from textual.events import Paste
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import DocumentNavigator, WrappedDocument

from workbench.core.text import clean_for_store
from workbench.tui.app.surviving import survives
from workbench.tui.widgets.texts.inert_document import InertDocument


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
