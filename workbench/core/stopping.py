"""Stopping: long reading that nobody waits for any more, and the program when a signal asks it to end.

Reading is asked now and then, and gives up between two pieces; what nobody waits for gives way to a key there. A signal
is what a closed terminal or `kill` sends.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

PIECE = 1000
"""How many things of many are gone through between two looks; less than a hundredth of a second of the quick ones."""


class Stopped(Exception):
    """Nobody wants what is being read any more; nothing was changed, and what was read so far is forgotten."""


_stopped: ContextVar[Callable[[], bool] | None] = ContextVar("stopped", default=None)


@contextmanager
def stoppable(stopped: Callable[[], bool]) -> Iterator[None]:
    """Let what this thread or task reads within the block raise `Stopped` once `stopped` says so."""
    token = _stopped.set(stopped)
    try:
        yield
    finally:
        _stopped.reset(token)


def may_stop() -> None:
    """Raise `Stopped` if nobody waits any more; meant for places where nothing is half done."""
    stopped = _stopped.get()
    if stopped is not None and stopped():
        raise Stopped


def in_pieces(many: Iterable[T]) -> Iterator[T]:
    """Go through many things, and look after every thousand whether anybody still waits; raises `Stopped`."""
    left = iter(many)
    while piece := list(islice(left, PIECE)):
        may_stop()
        yield from piece


KEY_S = 0.1
"""Seconds after a key in which what gives way leaves the interpreter to who answers it."""

_answered = (0, -KEY_S)
"""The thread that answers keys, and when it got the last one."""


def answer_first() -> None:
    """Let what gives way wait: this thread, which never does, has a key to answer."""
    global _answered  # noqa: PLW0603 - the interpreter is the process's, too
    _answered = threading.get_ident(), time.monotonic()


def give_way() -> None:
    """Wait while a key is answered, once; meant for threads between two pieces that keep the interpreter for long."""
    thread, pressed = _answered
    left = pressed + KEY_S - time.monotonic()
    if left > 0 and threading.get_ident() != thread:
        time.sleep(left)


ASKING = tuple(getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name))
"""The signals that ask a program to end."""

PATIENCE_S = 3.0
"""How long a program that was asked to end is left to do so in order, whatever else it is sent."""


@contextmanager
def asked_to_end(end: Callable[[int], object]) -> Iterator[None]:
    """Call `end` with the exit code (128 and the signal's number) at the first signal that asks the program to end.

    `end` may raise, or let somebody else end in order. Those that follow at once do nothing, also after this: a shell
    passes on a hang-up that its jobs had already. One after `PATIENCE_S` is somebody who asks again: it ends the
    process there and then. A signal that is ignored from outside (nohup) stays ignored; beside the main thread nothing
    is done.
    """
    before: dict[signal.Signals, Any] = {}

    def ask(number: int, frame: FrameType | None) -> None:
        del frame
        asked = time.monotonic()
        for each in before:
            signal.signal(each, lambda number, _: _ask_again(number, asked))
        before.clear()
        end(128 + number)

    if threading.current_thread() is threading.main_thread():
        before.update({each: was for each in ASKING if (was := signal.getsignal(each)) != signal.SIG_IGN})
        for each in tuple(before):
            signal.signal(each, ask)
    try:
        yield
    finally:
        for each, was in before.items():
            signal.signal(each, was)


def _ask_again(number: int, asked: float) -> None:
    """Let a signal pass while the program ends, and end it as the signal does by itself when that takes too long."""
    if time.monotonic() - asked > PATIENCE_S:
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)
