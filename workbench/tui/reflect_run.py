"""A reflection in the making: how far it is, the text as it comes in, and esc to stop it."""

import threading
from collections.abc import Callable, Iterable
from typing import ClassVar, Generic, TypeVar, cast

from textual import on, work
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from workbench.core.errors import WorkbenchError
from workbench.core.text import printable
from workbench.reflect.model import Cancelled, Step, Tell
from workbench.tui.actions import bindings
from workbench.tui.reflect_actions import RUNNING
from workbench.tui.reflect_text import step_text
from workbench.tui.widgets.dialog import Dialog

SHOWN = 8_000
"""Characters of what came in that are shown: the last ones."""

_SECONDS = 0.1
"""How often what came in is painted."""

Found = TypeVar("Found")

Make = Callable[[Tell, Cancelled], Found]
"""Reflects or asks, telling how far it is, until it is done or cancelled; raises `WorkbenchError`."""


class RunDialog(Dialog[Found | None], Generic[Found]):
    """Reflect on a thread; the result is what came of it. None: it failed (which was said), or was left alone."""

    class Went(Message):
        """A step of the reflection."""

        def __init__(self, step: Step) -> None:
            super().__init__()
            self.step = step

    class Ended(Message):
        """The reflection is over: what came of it, or why nothing did."""

        def __init__(self, outcome: object, problem: str) -> None:
            super().__init__()
            self.outcome = outcome
            self.problem = problem

    BINDINGS: ClassVar[list[BindingType]] = bindings(RUNNING)
    DEFAULT_CSS = """
    RunDialog {
        & > .dialog { width: 84; height: 70%; min-height: 12; }
        & #run-step { height: auto; max-height: 3; }
        & VerticalScroll { height: 1fr; margin-top: 1; background: $background; padding: 0 1; }
        & VerticalScroll { scrollbar-size-vertical: 1; }
    }
    """

    def __init__(self, make: Make[Found], first: Step, title: str = "Reflecting") -> None:
        super().__init__(title, RUNNING)
        self._make = make
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

    @work(thread=True, group="reflect")
    def _reflect(self) -> None:
        outcome, problem = None, ""
        try:
            outcome = self._make(self._told, self._stop.is_set)
        except WorkbenchError as error:
            problem = str(error)
        self.post_message(self.Ended(outcome, problem))

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

    @on(Ended)
    def _ended(self, event: Ended) -> None:
        if event.problem:
            self.notify(printable(event.problem, keep_newlines=True), severity="error", markup=False)
        self.dismiss(cast("Found | None", event.outcome))

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
        if self._stop.is_set():
            self.dismiss(None)
        self._stop.set()
        self._show_step()
