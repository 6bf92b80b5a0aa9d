"""Changes that wait for a store that somebody else is writing to, off the app's thread: the app
goes on meanwhile.
"""

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial, wraps
from operator import attrgetter
from typing import Any, ParamSpec, TypeVar

from textual.app import App
from textual.dom import DOMNode
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer

from workbench.core.files.locks import Holder, Patience, StoreBusy, patience, waiting
from workbench.core.record import WorkbenchError
from workbench.core.runtime import asked_to_end

Result = TypeVar("Result")


def run_in_order(app: App[Result]) -> Result | None:
    """Run an app until it ends, also when a signal asks for that: its screens close and the
    terminal is given back.

    Nobody is asked anything then; what is being typed is kept as a draft. The exit code is the
    app's `return_code`.
    """
    runner = asyncio.Runner()

    def end(code: int) -> None:
        runner.get_loop().call_soon_threadsafe(partial(app.exit, None, code))

    with asked_to_end(end), runner:
        return runner.run(app.run_async())


# Actions that open a dialog and wait for its answer, so that keys typed ahead reach the dialog.


Node = TypeVar("Node", bound=DOMNode)

_TURNS = 3
"""Turns of the event loop in which a worker comes as far as opening its dialog."""


def asking(
    action: Callable[[Node], Coroutine[Any, Any, None]],
) -> Callable[[Node], Awaitable[None]]:
    """Run an action as a worker (which may wait for a dialog) and let it open the dialog before the
    next key.
    """

    @wraps(action)
    async def asked(node: Node) -> None:
        await started(node, action(node))

    return asked


async def started(node: DOMNode, action: Coroutine[Any, Any, None]) -> None:
    """Run something that may wait for a dialog as a worker, and come back when the dialog can be
    open.
    """
    node.run_worker(action)
    for _ in range(_TURNS):
        await asyncio.sleep(0)


async def done(node: DOMNode, path: str) -> None:
    """Call what a path of attributes leads to from a screen or dialog; a coroutine runs as one of
    `asking` does.
    """
    begun = attrgetter(path)(node)()
    if isinstance(begun, Coroutine):
        await started(node, begun)


P = ParamSpec("P")
R = TypeVar("R")

Step = Callable[[], None]
Failed = Callable[[WorkbenchError], None]

AT_ONCE = 0.03
"""Seconds that a change may take the app's thread for another writer, which is mostly done by then."""

AGAIN = 0.05
"""Seconds between two looks whether the store is free."""

SILENT = 0.5
"""Seconds after which a thread that does not ask any more whether to go on waiting has what it
waited for.
"""


class ThreadWaits(Message):
    """A thread of the app began to wait for somebody else to let go of the store."""

    def __init__(self, holder: Holder | None) -> None:
        super().__init__()
        self.holder = holder


@dataclass(frozen=True, slots=True)
class Change:
    """What changes the store, who is told when that goes wrong (`None`: the app says it), and the
    dialog it is of.

    The step of a dialog closes it or shows in it what was done. So it waits while another dialog
    lies on this one, and is dropped when its dialog is gone: it was asked for twice then, and made
    once.
    """

    step: Step
    failed: Failed | None = None
    dialog: Screen[object] | None = None

    @property
    def is_over(self) -> bool:
        """Whether its dialog is gone."""
        return self.dialog is not None and not (
            self.dialog.is_attached and self.dialog in self.dialog.app.screen_stack
        )

    @property
    def is_covered(self) -> bool:
        """Whether another dialog lies on its own."""
        return self.dialog is not None and self.dialog.app.screen is not self.dialog


class Threads(ThreadPoolExecutor):
    """The threads of the app's workers; what runs on one has the context of who began it, its
    patience with it.
    """

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Run something on a thread."""
        return super().submit(copy_context().run, partial(fn, *args, **kwargs))


class Waits:
    """The changes that wait, in the order they were asked for, and the threads that do.

    `patience` is what every write of the app has: on the app's own thread none, so that no key ever
    waits; on the others as long as the person lets them, and until the app ends where what is
    stored was paid for. `say` tells the person a sentence and how grave it is; `show` draws anew
    what is waited for.
    """

    def __init__(
        self, app: App[Any], say: Callable[[str, str], None], show: Callable[[], None]
    ) -> None:
        self._app = app
        self._say = say
        self._show = show
        self._changes: deque[Change] = deque()
        self._holder: Holder | None = None
        self._timer: Timer | None = None
        self._home = threading.get_ident()
        self._asked = self._asked_paid = -math.inf
        self._waiting: set[int] = set()
        self._ended: set[int] = set()
        self._over = False
        self.patience = Patience(math.inf, self._gives_up, self._waits_for, self._abandons)

    @property
    def sentence(self) -> str:
        """What is waited for, in words; empty when nothing is."""
        if not self._changes and not self._thread_waits:
            return (
                f"waiting for {_named(self._holder)} · then the paid reply is stored"
                if self._paid_waits
                else ""
            )
        count = f" · {len(self._changes)} changes" if len(self._changes) > 1 else ""
        return f"waiting for {_named(self._holder)}{count} · esc gives up"

    @property
    def unsaved(self) -> str:
        """What would be lost if the app ended now, in words; empty when nothing would."""
        count, who = len(self._changes), _named(self._holder)
        changes = "1 change waits" if count == 1 else f"{count} changes wait"
        said = [f"{changes} for {who}, not stored yet."] if count else []
        if self._paid_waits:
            said.append(f"Claude's reply waits for {who}, not stored yet.")
        return " ".join(said)

    def change(self, change: Change) -> None:
        """Make a change: at once, or when the store is free and what waits before it is done.

        Its step runs again from its beginning when the store was busy, so it opens one transaction,
        and that first.
        """
        if self._changes or not self._made(change, AT_ONCE):
            self._changes.append(change)
            self._look_again()

    def thread_waits(self, holder: Holder | None) -> None:
        self._holder = holder
        self._look_again()

    def give_up(self) -> bool:
        """Let everything go that waits; return whether anything did. Nothing of it was changed.

        What was paid for waits on, so it is nothing that lets go.
        """
        if not self._changes and not self._thread_waits:
            return False
        count = len(self._changes)
        if self._thread_waits:
            self._ended = set(self._waiting)
        self._changes.clear()
        what = "The change was" if count < 2 else f"{count} changes were"
        self._say(
            f"Given up: {_named(self._holder)} still holds the store. {what} not made.", "warning"
        )
        self._look()
        return True

    def end(self) -> None:
        """Let nothing wait any more: the app ends."""
        self._over = True
        self._changes.clear()

    @property
    def _thread_waits(self) -> bool:
        return time.monotonic() - self._asked < SILENT

    @property
    def _paid_waits(self) -> bool:
        return time.monotonic() - self._asked_paid < SILENT

    def _look_again(self) -> None:
        if self._timer is None:
            self._timer = self._app.set_interval(AGAIN, self._look)
        self._show()

    def _look(self) -> None:
        """Make the changes that can be made by now."""
        while self._changes and (self._changes[0].is_over or self._made(self._changes[0], 0.0)):
            self._changes.popleft()
        if not self._thread_waits:
            self._waiting, self._ended = set(), set()
        if not self.sentence and self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._show()

    def _made(self, change: Change, seconds: float) -> bool:
        """Run a step; return `False` when the store is busy, or nobody can see it. What else goes
        wrong is said.
        """
        if change.is_covered:
            return False
        try:
            with waiting(Patience(seconds)):
                change.step()
        except StoreBusy as busy:
            self._holder = busy.holder
            return False
        except WorkbenchError as error:
            (change.failed or self._complain)(error)
        return True

    def _complain(self, error: WorkbenchError) -> None:
        self._say(str(error), "error")

    # On whichever thread waits

    def _gives_up(self) -> bool:
        thread = threading.get_ident()
        if thread == self._home:
            return True
        self._asked = time.monotonic()
        if thread in self._ended:
            self._ended.discard(thread)  # what it waits for next was asked for after that
            return True
        self._waiting.add(thread)
        return self._over

    def _abandons(self) -> bool:
        if threading.get_ident() == self._home:
            return True
        self._asked_paid = time.monotonic()
        return self._over

    def _waits_for(self, holder: Holder | None) -> None:
        if threading.get_ident() == self._home or self._over:
            return
        if patience().gives_up == self._abandons:
            self._asked_paid = time.monotonic()
        else:
            self._asked = time.monotonic()
        self._app.post_message(ThreadWaits(holder))


def change(node: DOMNode, step: Step, failed: Failed | None = None) -> None:
    """Make what a screen, or something in it, changes of the store; every change of the app goes
    this way.

    It is made at once, or as soon as others let go of the store: the app goes on meanwhile, its
    footer says for whom it waits, and esc gives up. `step` opens one transaction, and that first;
    what it says and closes comes after that. `failed` is told what else goes wrong; without it the
    app says so.
    """
    screen = node.screen
    dialog = screen if screen.is_modal else None
    waits = getattr(node.app, "waits", None)
    if isinstance(waits, Waits):
        waits.change(Change(step, failed, dialog))
        return
    try:
        step()
    except WorkbenchError as error:
        if failed is None:
            raise
        failed(error)


def _named(holder: Holder | None) -> str:
    if holder is None:
        return "another process"
    if holder.own:
        return "a task of this app"
    return f"PID {holder.pid}" + (f" ({holder.command})" if holder.command else "")
