"""Where suggestions for a playbook come from: a file, pasted text, or Claude."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.tui.app.actions import bindings
from workbench.tui.playbook.actions import SOURCE
from workbench.tui.widgets.actions import PROMPT
from workbench.tui.widgets.content import MUTED
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.texts.prompt import CheckedLine

TITLE = "File with a Curator's or Reflector's reply; leave it empty to paste the text"
CAN_ASK = "Or let Claude, as the Curator, suggest changes by what was confirmed lately."
CANNOT_ASK = "Once ANTHROPIC_API_KEY is set, Claude can be asked from here as well."


class SourcePrompt(Dialog[str | None]):
    """Ask for a file; the result is its name, "" for pasting, or None. `wants_claude` says that Claude is to be asked.

    Asking is offered when there is a key (`can_ask`).
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings((*PROMPT, *SOURCE))
    DEFAULT_CSS = """
    SourcePrompt #source-claude { height: auto; color: $text-muted; }
    """

    def __init__(self, *, can_ask: bool, check: Callable[[str], str | None]) -> None:
        super().__init__(TITLE, (PROMPT[0], *SOURCE, *PROMPT[1:]) if can_ask else PROMPT)
        self._line = CheckedLine("", "reply.json", check)
        self._can_ask = can_ask
        self.wants_claude = False

    def contents(self) -> Iterable[Widget]:
        """Return the input, and whether Claude can be asked."""
        yield self._line
        yield Static(Content.styled(CAN_ASK if self._can_ask else CANNOT_ASK, MUTED), id="source-claude")

    def on_input_submitted(self) -> None:
        """Enter inside the input takes the line."""
        self.action_take()

    def action_take(self) -> None:
        """Take the name of the file, or say what is wrong with it."""
        name = self._line.taken()
        if name is not None:
            self.dismiss(name)

    def action_ask(self) -> None:
        """Ask Claude instead."""
        if self._can_ask:
            self.wants_claude = True
            self.dismiss(None)
        else:
            self.app.bell()
