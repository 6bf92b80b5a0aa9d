"""A reflection in the making: how far it is, the text as it comes in, and esc to stop it."""

import threading
from collections.abc import Callable, Iterable
from typing import ClassVar, Generic, TypeVar

from textual import on, work
from textual.app import App
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.errors import WorkbenchError
from workbench.core.reflection.reflector import Cancelled, Step, Tell
from workbench.core.text import printable
from workbench.tui.app.actions import bindings
from workbench.tui.reflection.actions import RUNNING
from workbench.tui.reflection.text import step_text
from workbench.tui.widgets.dialog import Dialog

SHOWN = 8_000
"""Characters of what came in that are shown: the last ones."""

_SECONDS = 0.1
"""How often what came in is painted."""

Found = TypeVar("Found")

Make = Callable[[Tell, Cancelled], Found]
"""Reflects or asks, telling how far it is, until it is done or cancelled; raises `WorkbenchError`."""


class RunDialog(Dialog[Found | None], Generic[Found]):
    """Reflect on a thread; the result is what came of it. None: it failed (which was said), or was left alone.

    `alone` is given what comes once nobody waits for it here any more, for what `make` does not store itself.
    """

    class Went(Message):
        """A step of the reflection."""

        def __init__(self, step: Step) -> None:
            super().__init__()
            self.step = step

    BINDINGS: ClassVar[list[BindingType]] = bindings(RUNNING)
    DEFAULT_CSS = """
    RunDialog {
        & > .dialog { width: 84; height: 70%; min-height: 12; }
        & #run-step { height: auto; max-height: 3; }
        & VerticalScroll { height: 1fr; margin-top: 1; background: $background; padding: 0 1; }
        & VerticalScroll { scrollbar-size-vertical: 1; }
    }
    """

    def __init__(
        self,
        make: Make[Found],
        first: Step,
        title: str = "Reflecting",
        alone: Callable[[Found], None] = lambda _: None,
    ) -> None:
        super().__init__(title, RUNNING)
        self._make = make
        self._alone = alone
        self._left = False
        self._step = first
        self._text = ""
        self._painted = -1
        self._stop = threading.Event()

    def contents(self) -> Iterable[Widget]:
        """Return how far it is, and the text."""
        yield Static(Content(""), id="run-step")
        yield VerticalScroll(Static(Content(""), id="run-text"), can_focus=False)

    def on_mount(self) -> None:
        """Begin."""
        self._show_step()
        self.set_interval(_SECONDS, self._paint)
        self._reflect()

    def on_unmount(self) -> None:
        """Let nothing go on that nobody waits for."""
        self._stop.set()
        self._left = True

    @work(thread=True, group="reflect")
    def _reflect(self) -> None:
        outcome, problem, app = None, "", self.app
        try:
            outcome = self._make(self._told, self._stop.is_set)
        except WorkbenchError as error:
            problem = str(error)
        # The app takes it, not this dialog, which may be gone.
        app.call_later(self._ended, app, outcome, problem)

    def _told(self, step: Step) -> None:
        """Pass a step on; called on the reflector's thread."""
        self.post_message(self.Went(step))

    @on(Went)
    def _went(self, event: Went) -> None:
        if self._text and (event.step.stage, event.step.done) != (self._step.stage, self._step.done):
            # A line for each proposal on this machine, a paragraph for each reply of Claude.
            self._text = self._text.rstrip("\n") + ("\n" if event.step.stage == "cluster" else "\n\n")
        self._step = event.step
        self._text = (self._text + event.step.text)[-SHOWN:]
        self._show_step()

    def _ended(self, app: App[object], outcome: Found | None, problem: str) -> None:
        """Close with what came of it, or why nothing did; what nobody waits for any more is not lost."""
        if problem:
            app.notify(printable(problem, keep_newlines=True), severity="error", markup=False)
        if not self._left:
            self.dismiss(outcome)
        elif outcome is not None:
            self._alone(outcome)

    def _show_step(self) -> None:
        self.query_one("#run-step", Static).update(step_text(self._step, self._stop.is_set()))

    def _paint(self) -> None:
        """Show what came in since the last time; each piece at once would be too often."""
        if hash(self._text) == self._painted:
            return
        self._painted = hash(self._text)
        self.query_one("#run-text", Static).update(Content(printable(self._text, keep_newlines=True)))
        self.query_one(VerticalScroll).scroll_end(animate=False)

    def action_stop(self) -> None:
        """Stop; the second time, leave it alone: what it still finds goes to Review by itself."""
        if self._stop.is_set() and not self._left:
            self._left = True
            self.dismiss(None)
        self._stop.set()
        self._show_step()
