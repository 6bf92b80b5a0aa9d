"""How this process goes about its threads and its memory.

Long reading gives up between two pieces when nobody waits for it any more; a signal lets the
program end in order. The garbage collector comes seldom, and all threads take memory from one
place.
"""

import atexit
import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

# Light entries: something that is named where it is listed, and imported when it is first used.


@cache
def implementation(name: str) -> Any:
    """Import what an entry names: `package.module:name`."""
    module, _, inner = name.partition(":")
    return getattr(import_module(module), inner)


T = TypeVar("T")

PIECE = 1000
"""How many things of many are gone through between two looks; less than a hundredth of a second of
the quick ones.
"""


Cancelled = Callable[[], bool]
"""Tells whether nobody waits for the answer any more."""

Progress = Callable[[int, int], None]
"""Is told how much is done, and how much there is to do."""


class Stopped(Exception):
    """Nobody wants what is being read any more; nothing was changed, and what was read so far is
    forgotten.
    """


_stopped: ContextVar[Cancelled | None] = ContextVar("stopped", default=None)


@contextmanager
def stoppable(stopped: Cancelled) -> Iterator[None]:
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
    """Go through many things, and look after every thousand whether anybody still waits; raises
    `Stopped`.
    """
    left = iter(many)
    while piece := list(islice(left, PIECE)):
        may_stop()
        yield from piece


ASKING = tuple(getattr(signal, name) for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name))
"""The signals that ask a program to end."""

PATIENCE_S = 3.0
"""How long a program that was asked to end is left to do so in order, whatever else it is sent."""


@contextmanager
def asked_to_end(end: Callable[[int], object]) -> Iterator[None]:
    """Call `end` with the exit code (128 and the signal's number) at the first signal that asks the
    program to end.

    `end` may raise, or let somebody else end in order. Those that follow at once do nothing, also
    after this: a shell passes on a hang-up that its jobs had already. One after `PATIENCE_S` is
    somebody who asks again: it ends the process there and then. A signal that is ignored from
    outside (nohup) stays ignored; beside the main thread nothing is done.
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
        before.update(
            {each: was for each in ASKING if (was := signal.getsignal(each)) != signal.SIG_IGN}
        )
        for each in tuple(before):
            signal.signal(each, ask)
    try:
        yield
    finally:
        for each, was in before.items():
            signal.signal(each, was)


def _ask_again(number: int, asked: float) -> None:
    """Let a signal pass while the program ends, and end it as the signal does by itself when that
    takes too long.
    """
    if time.monotonic() - asked > PATIENCE_S:
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)


SELDOM = 50_000
"""Young objects after which there is a collection; Python's own is 700. What a start makes, most of
it modules, stays: a command that takes a tenth of a second would spend a tenth of that on looking
at it.
"""


def collect_seldom() -> None:
    """Let garbage collections come seldom in this process, and none at its end, where all memory
    goes back at once.
    """
    gc.set_threshold(SELDOM, *gc.get_threshold()[1:])
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)


@contextmanager
def collection_paused() -> Iterator[None]:
    """Switch garbage collection off while a store is read into memory: a tenth of the time would go
    into it.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            # What was read counts as old at once, or the next collection would walk through all of
            # it.
            gc.freeze()
            gc.unfreeze()
            gc.enable()


_ARENA_MAX = -8
"""The number of `M_ARENA_MAX` in glibc's malloc.h."""


def share_memory() -> None:
    """Let all threads that begin later take memory from one place; meant for the start of what runs
    for long.

    glibc gives threads heaps of their own. A ranking makes columns of megabytes on whichever thread
    is free: what one let go of is not there for the next, which gets untouched pages, and touching
    them takes as long as the ranking itself. Other C libraries have one heap, or no such setting:
    there nothing changes.
    """
    import ctypes  # only what runs for long waits for it

    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def process(number: int) -> str:
    """Return the name of a process: its number and when it began, since numbers are given out
    again.

    The number alone where its beginning cannot be looked up.
    """
    try:
        said = Path(f"/proc/{number}/stat").read_bytes()
    except OSError:
        return str(number)
    # The name stands in brackets and may hold anything; the beginning is the twentieth word after
    # it.
    after = said.rpartition(b")")[2].split()
    return f"{number}-{after[19].decode('ascii', 'replace')}" if len(after) > 19 else str(number)


def is_running(name: str) -> bool:
    """Tell whether the process of a name still runs; a name that is none runs never."""
    digits = name.partition("-")[0]
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 10) or int(digits) == 0:
        return False
    try:
        os.kill(int(digits), 0)
    except ProcessLookupError:
        return False
    except OSError:  # it runs as another user
        pass
    return process(int(digits)) == name
