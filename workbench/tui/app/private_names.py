"""The private names of Textual that the app uses: these four, in this file only, each with its
reason.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import isawaitable
from typing import Any, TypeVar

from textual._xterm_parser import XTermParser
from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import ModalScreen
from textual.worker import WorkerFailed

from workbench.core.record import WorkbenchError

__all__ = ["Guarded", "GuardedApp", "OneFrame", "XTermParser"]

R = TypeVar("R")

# `_xterm_parser`: makes keys of what a terminal sends. Textual's own driver decodes strictly before
# it, so that one byte that is no UTF-8 ends the app; `terminal` does it with replacement.


class Guarded(MessagePump):
    """Goes on after an error that a person can act on, whichever of its handlers raised it.

    `_dispatch_message`: Textual ends the message loop then, so that a screen whose record another
    process took away would be deaf from then on.
    """

    async def _dispatch_message(self, message: Message) -> None:
        try:
            with _going_on():
                await super()._dispatch_message(message)
        except WorkbenchError as error:
            self.app._handle_exception(error)

    def call_next(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        async def call() -> None:
            with _going_on():
                done = callback(*args, **kwargs)
                if isawaitable(done):
                    await done

        super().call_next(call)


@contextmanager
def _going_on() -> Iterator[None]:
    """Go on when what is waited for is given up, a widget that goes with its dialog: Textual ends
    the app then, without a word.
    """
    try:
        yield
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise


class GuardedApp(Guarded, App[R]):
    """Says what a person can act on, and goes on.

    `_handle_exception`: all errors come here, of workers and timers too; Textual ends with any.
    """

    def _handle_exception(self, error: Exception) -> None:
        met = error.error if isinstance(error, WorkerFailed) else error
        if isinstance(met, WorkbenchError):
            self.go_on_after(met)
        else:
            self.end_with(error)
            super()._handle_exception(error)

    def go_on_after(self, error: WorkbenchError) -> None:
        """Say what a person can act on."""
        self.notify(str(error), severity="error", markup=False)

    def end_with(self, error: Exception) -> None:
        """Do what is to be done before an error that nobody foresaw ends the app."""


class OneFrame(Guarded, ModalScreen[R]):
    """A dialog that is painted only once it is laid out.

    `_compositor_refresh`: opening lays a dialog out several times, and Textual paints each of them,
    with all that is behind it.
    """

    is_laid_out = False
    stands = False

    def on_mount(self) -> None:
        self.screen_layout_refresh_signal.subscribe(self, self.note_layout, immediate=True)
        self.call_after_refresh(self.paint_once_it_stands, 4)

    def note_layout(self, _screen: object) -> None:
        self.is_laid_out = True

    def paint_once_it_stands(self, rounds: int) -> None:
        """Paint when a round has passed in which nothing was laid out, or so many rounds have."""
        if self.is_laid_out and rounds:
            self.is_laid_out = False
            self.call_after_refresh(self.paint_once_it_stands, rounds - 1)
        else:
            self.stands = True
            self.refresh()

    def _compositor_refresh(self) -> None:
        if self.stands:
            super()._compositor_refresh()
