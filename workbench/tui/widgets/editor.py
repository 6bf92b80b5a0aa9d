"""The editor for a stored text: what is saved is what was shown."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static, TextArea

from workbench.core.memory import MAX_CONTENT
from workbench.tui.actions import bindings
from workbench.tui.areas import EDITOR
from workbench.tui.content import MUTED, body
from workbench.tui.figures import number
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.inert_text import InertTextArea


class TextEditor(Dialog[str | None]):
    """Edit a text; the result is the new text, or None when it was left.

    An unchanged text comes back exactly as it was given. Leaving with unsaved changes takes esc twice.
    `check` may refuse a text with a sentence.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(EDITOR)
    DEFAULT_CSS = """
    TextEditor {
        & > .dialog { width: 90%; height: 80%; }
        & InertTextArea { height: 1fr; background: $background; padding: 0 1; }
        & .editor--state { height: auto; max-height: 4; }
    }
    """

    def __init__(
        self,
        title: str,
        text: str,
        *,
        limit: int = MAX_CONTENT,
        check: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        super().__init__(title, EDITOR)
        self._text = text
        self._limit = limit
        self._check = check
        self._warned = False

    def contents(self) -> Iterable[Widget]:
        """Return the text area and the line of its state."""
        return (InertTextArea(self._text), Static(Content(""), classes="editor--state"))

    def on_mount(self) -> None:
        """Put the cursor behind the text."""
        self._area.move_cursor(self._area.document.end)
        self._show_state()

    @property
    def _area(self) -> InertTextArea:
        return self.query_one(InertTextArea)

    @property
    def unsaved(self) -> bool:
        """Whether the text differs from the one given."""
        return self._area.text != self._text

    def on_text_area_changed(self, _event: TextArea.Changed) -> None:
        """Count what is left."""
        self._warned = False
        self._show_state()

    def on_inert_text_area_stripped(self, event: InertTextArea.Stripped) -> None:
        """Say what a paste lost."""
        some = "1 control character was" if event.count == 1 else f"{event.count} control characters were"
        self._say(f"{some} left out of the paste.", "$text-warning")

    def action_save(self) -> None:
        """Take the text, or say why it cannot be taken."""
        text = self._area.text
        over = len(text) - self._limit
        problem = None
        if not text.strip():
            problem = "The text is empty. Esc leaves it as it was."
        elif over > 0:
            problem = f"The text is {number(over)} characters too long."
        problem = problem or self._check(text)
        if problem:
            self._say(f"✗ {problem}", "$text-error")
        else:
            self.dismiss(text)

    def action_cancel(self) -> None:
        """Leave; with unsaved changes only the second time."""
        if self.unsaved and not self._warned:
            self._warned = True
            self._say("Unsaved: esc again discards, ctrl+s saves.", "bold $text-warning")
        else:
            self.dismiss(None)

    def _show_state(self) -> None:
        left = self._limit - len(self._area.text)
        words = f"{number(left)} characters left" if left >= 0 else f"✗ {number(-left)} characters too long"
        changed = "● changed · " if self.unsaved else ""
        self._say(changed + words, MUTED if left >= 0 else "$text-error")

    def _say(self, sentence: str, style: str) -> None:
        self.query_one(".editor--state", Static).update(body(sentence, style))
