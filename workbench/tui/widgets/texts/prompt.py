"""One line asked of a person, checked while it is written."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.tui.app.actions import bindings
from workbench.tui.app.areas import PROMPT
from workbench.tui.app.waiting import change
from workbench.tui.widgets.content import body
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.texts.safe_input import SafeInput


class Prompt(Dialog[str | None]):
    """Ask for one line; the result is the line without outer spaces, or None.

    `check` returns a sentence that says what is wrong with a line, or None when it can be taken; `preview` one that
    is to be read before a good line is taken, or None. `take` does with it what changes the store, while this is
    still open: what goes wrong is said here, and the line stays.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(PROMPT)
    DEFAULT_CSS = """
    Prompt .prompt--problem { height: auto; min-height: 1; max-height: 3; color: $text-error; }
    """

    def __init__(
        self,
        title: str,
        value: str = "",
        *,
        placeholder: str = "",
        check: Callable[[str], str | None] = lambda _: None,
        take: Callable[[str], object] | None = None,
        preview: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        super().__init__(title, PROMPT)
        self._value = value
        self._placeholder = placeholder
        self._check = check
        self._take = take
        self._preview = preview

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
        problem = self._check(value) or (self._preview(value) if value else None)
        if problem:
            self._complain(f"✗ {problem}")
        elif self._take is None or not value:
            self.dismiss(value)
        else:
            take = self._take

            def taken() -> None:
                take(value)
                self.dismiss(value)

            change(self, taken, lambda error: self._complain(f"✗ {error}"))

    def _complain(self, sentence: str) -> None:
        self.query_one(".prompt--problem", Static).update(body(sentence))
