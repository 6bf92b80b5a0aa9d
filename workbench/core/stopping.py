"""Long reading that nobody waits for any more: it is asked now and then, and gives up between two pieces."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import TypeVar

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
