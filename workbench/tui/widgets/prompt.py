"""One line asked of a person, checked while it is written."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.tui.actions import bindings
from workbench.tui.areas import PROMPT
from workbench.tui.content import line
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.safe_input import SafeInput


class Prompt(Dialog[str | None]):
    """Ask for one line; the result is the line without outer spaces, or None.

    `check` returns a sentence that says what is wrong with a line, or None when it can be taken.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(PROMPT)
    DEFAULT_CSS = """
    Prompt .prompt--problem { height: 1; color: $text-error; }
    """

    def __init__(
        self,
        title: str,
        value: str = "",
        *,
        placeholder: str = "",
        check: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        super().__init__(title, PROMPT)
        self._value = value
        self._placeholder = placeholder
        self._check = check

    def contents(self) -> Iterable[Widget]:
        """Return the input and the line for what is wrong."""
        return (
            SafeInput(self._value, placeholder=self._placeholder),
            Static(Content(""), classes="prompt--problem"),
        )

    def on_input_changed(self, event: Input.Changed) -> None:
        """Drop the complaint once the line is good; it comes first with enter."""
        if not self._check(event.value.strip()):
            self._complain("")

    def on_input_submitted(self) -> None:
        """Enter inside the input takes the line."""
        self.action_take()

    def action_take(self) -> None:
        """Take the line, or say what is wrong with it."""
        value = self.query_one(SafeInput).value.strip()
        problem = self._check(value)
        if problem:
            self._complain(f"✗ {problem}")
        else:
            self.dismiss(value)

    def _complain(self, sentence: str) -> None:
        problem = self.query_one(".prompt--problem", Static)
        problem.update(line(sentence, max(1, problem.size.width)))
