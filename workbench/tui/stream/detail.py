"""A record beside a list, in full: it scrolls with the keys that move in a list, and has links."""

from typing import ClassVar

from textual.binding import BindingType

from workbench.tui.actions import READ_ON
from workbench.tui.app.actions import bindings
from workbench.tui.widgets.lists.reading_pane import ReadingPane


class DetailPane(ReadingPane):
    """A text beside a list in which space marks a row: while the text has the focus, it reads on."""

    BINDINGS: ClassVar[list[BindingType]] = bindings((READ_ON,))
