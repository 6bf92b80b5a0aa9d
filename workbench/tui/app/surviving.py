"""What keeps the app alive when the store under it is not what it was: one guard for every handler and action."""

import asyncio
from functools import partial
from typing import TypeVar

from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen

from workbench.core.record import WorkbenchError
from workbench.core.runtime import asked_to_end

Result = TypeVar("Result")
Pump = TypeVar("Pump", bound=type[MessagePump])


def survives(cls: Pump) -> Pump:
    """Let a class of screens or widgets go on after an error that a person can act on; a class decorator.

    A record that another process took away, a change that came first, a store that cannot be read: such an error,
    raised by any handler, action or watcher that runs on the class, ends that handler only. The app is told as it is
    of every other error (`App._handle_exception`), and says it; Textual alone would let the class's message loop end.
    So it would when something that is waited for is given up by somebody else, a widget that goes with its dialog:
    the app's own loop ends then, and the app with it, without a word.
    """
    dispatch, flush = cls._dispatch_message, cls._flush_next_callbacks

    async def dispatch_and_survive(self: MessagePump, message: Message) -> None:
        try:
            await dispatch(self, message)
        except WorkbenchError as error:
            self.app._handle_exception(error)
        except asyncio.CancelledError:
            if _is_given_up():
                raise

    async def flush_and_survive(self: MessagePump) -> None:
        try:
            await flush(self)
        except asyncio.CancelledError:
            if _is_given_up():
                raise

    cls._dispatch_message = dispatch_and_survive  # type: ignore[method-assign]
    cls._flush_next_callbacks = flush_and_survive  # type: ignore[method-assign]
    return cls


def _is_given_up() -> bool:
    """Tell whether this very task is, not only what it waits for."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def run_in_order(app: App[Result]) -> Result | None:
    """Run an app until it ends, also when a signal asks for that: its screens close and the terminal is given back.

    Nobody is asked anything then; what is being typed is kept as a draft. The exit code is the app's `return_code`.
    """

    def end(code: int) -> None:
        if app._loop is None:
            raise SystemExit(code)
        app._loop.call_soon_threadsafe(partial(app.exit, None, code))

    with asked_to_end(end):
        return app.run()


def close_unbuilt(pump: MessagePump) -> None:
    """Close a dialog that an error kept from being built: nothing in it could be used, and nothing closes it."""
    if isinstance(pump, Screen) and pump.is_modal and not pump.is_mounted:
        pump.call_later(_close, pump)


def _close(dialog: Screen[object]) -> None:
    """Close a dialog from its own message loop, which must not wait for the end of itself."""
    dialog.dismiss(None)
