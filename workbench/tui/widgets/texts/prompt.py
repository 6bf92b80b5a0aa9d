"""One line asked of a person, checked while it is written."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.tui.actions import PROMPT
from workbench.tui.app.actions import bindings
from workbench.tui.app.surviving import survives
from workbench.tui.app.waiting import change
from workbench.tui.widgets.content import body
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.texts.safe_input import SafeInput

Check = Callable[[str], str | None]
"""Says what is to be said of a line before it is taken, or None."""


@survives
class CheckedLine(Vertical):
    """An input, and below it what is wrong with it.

    `check` returns a sentence that says what is wrong with a line, or None when it can be taken; `preview` one that
    is to be read before a good line is taken, or None.
    """

    DEFAULT_CSS = """
    CheckedLine {
        height: auto;
        .prompt--problem { height: auto; min-height: 1; max-height: 3; color: $text-error; }
    }
    """

    def __init__(self, value: str, placeholder: str, check: Check, preview: Check = lambda _: None) -> None:
        self._input = SafeInput(value, placeholder=placeholder)
        self._problem = Static(Content(""), classes="prompt--problem")
        super().__init__(self._input, self._problem)
        self._check = check
        self._preview = preview

    def on_input_changed(self, event: Input.Changed) -> None:
        """Drop the complaint once the line is good; it comes first with enter."""
        if not self._check(event.value.strip()):
            self.complain("")

    def taken(self) -> str | None:
        """Return the line without outer spaces; None when it cannot be taken, and then it says why."""
        value = self._input.value.strip()
        problem = self._check(value) or (self._preview(value) if value else None)
        if problem:
            self.complain(problem)
        return None if problem else value

    def complain(self, sentence: str) -> None:
        """Say what is wrong, or nothing."""
        self._problem.update(body(f"✗ {sentence}" if sentence else ""))


class Prompt(Dialog[str | None]):
    """Ask for one line; the result is the line without outer spaces, or None.

    `check` and `preview` are those of a `CheckedLine`. `take` does with it what changes the store, while this is
    still open: what goes wrong is said here, and the line stays.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings(PROMPT)

    def __init__(
        self,
        title: str,
        value: str = "",
        *,
        placeholder: str = "",
        check: Check = lambda _: None,
        take: Callable[[str], object] | None = None,
        preview: Check = lambda _: None,
    ) -> None:
        super().__init__(title, PROMPT)
        self._line = CheckedLine(value, placeholder, check, preview)
        self._take = take

    def contents(self) -> Iterable[Widget]:
        """Return the input and the line for what is wrong."""
        return (self._line,)

    def on_input_submitted(self) -> None:
        """Enter inside the input takes the line."""
        self.action_take()

    def action_take(self) -> None:
        """Take the line, or say what is wrong with it."""
        value, take = self._line.taken(), self._take
        if value is None:
            return
        if take is None or not value:
            self.dismiss(value)
            return

        def taken() -> None:
            take(value)
            self.dismiss(value)

        change(self, taken, lambda error: self._line.complain(str(error)))
