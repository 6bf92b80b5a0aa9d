"""Stopping: long reading that nobody waits for any more, and the program when a signal asks it to end.

Reading is asked now and then, and gives up between two pieces. A signal is what a closed terminal or `kill` sends.
"""

import signal
import threading
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


ASKING = tuple(getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name))
"""The signals that ask a program to end."""


@contextmanager
def asked_to_end(end: Callable[[int], object]) -> Iterator[None]:
    """Call `end` with the exit code (128 and the signal's number) at the first signal that asks the program to end.

    `end` may raise, or let somebody else end in order. Further ones do nothing, also after this: a shell passes on a
    hang-up that its jobs had already. A signal that is ignored from outside (nohup) stays ignored; beside the main
    thread nothing is done.
    """
    before: dict[signal.Signals, Any] = {}

    def ask(number: int, frame: FrameType | None) -> None:
        del frame
        for each in before:
            signal.signal(each, _do_nothing)
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


def _do_nothing(number: int, frame: FrameType | None) -> None:
    """Let a signal pass: the program ends already."""
