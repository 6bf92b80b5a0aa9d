"""Text in a box of a fixed size: it is drawn anew only when it is another, and never moves what is around it."""

from textual.content import Content
from textual.widgets import Static

from workbench.tui.app.surviving import survives


@survives
class FixedText(Static):
    """A `Static` whose size its style gives, so that another text needs no layout of the screen."""

    ALLOW_SELECT = False

    def write(self, text: Content) -> None:
        shown = self.content
        if not (isinstance(shown, Content) and shown.is_same(text)):
            self.update(text, layout=False)


def whole_words(text: Content, width: int) -> Content:
    """Return one line that fits: cut after a word, with "…", where there is too little room."""
    if text.cell_length <= width:
        return text
    room = text.truncate(max(0, width - 2))
    end = room.plain.rfind(" ")
    return (room[:end] if end > 0 else room).rstrip() + Content(" …") if width > 2 else Content("")
