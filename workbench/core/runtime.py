"""How this process goes about its threads and its memory.

Long reading gives up between two pieces when nobody waits for it any more, and gives way to a key there; a signal lets
the program end in order. The garbage collector is kept away from large trees, which it would walk through again and
again, and all threads take memory from one place.
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
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")

PIECE = 1000
"""How many things of many are gone through between two looks; less than a hundredth of a second of the quick ones."""


Cancelled = Callable[[], bool]
"""Tells whether nobody waits for the answer any more."""

Progress = Callable[[int, int], None]
"""Is told how much is done, and how much there is to do."""


class Stopped(Exception):
    """Nobody wants what is being read any more; nothing was changed, and what was read so far is forgotten."""


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


_withheld = False
"""Whether objects are withheld; the collector itself would count them all to answer."""

_usual: tuple[int, int, int] | None = None
"""How often there are collections when they are not seldom; `None` while they are not."""

SELDOM = 50_000
"""Young objects after which there is a collection while they are seldom; Python's own is 700. What a start makes, most
of it modules, stays: a command that takes a tenth of a second would spend a tenth of that on looking at it."""


def be_seldom() -> None:
    """Let collections come seldom from now on, until `be_usual`, and none at the end of this process.

    Then all memory goes back at once; to look for what nothing holds any more takes as long as some commands.
    """
    global _usual  # noqa: PLW0603 - the collector is the process's, too
    if _usual is None:
        _usual = gc.get_threshold()
        gc.set_threshold(SELDOM, *_usual[1:])
        atexit.unregister(gc.freeze)
        atexit.register(gc.freeze)


def be_usual() -> None:
    """Let collections come as often as before `be_seldom`; meant for what runs for long."""
    global _usual  # noqa: PLW0603
    if _usual is not None:
        gc.set_threshold(*_usual)
        _usual = None


@contextmanager
def collection_paused() -> Iterator[None]:
    """Switch cyclic garbage collection off for the block, if it was on."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            # What the block built counts as old at once, or the next collection would walk all of it;
            # where somebody withholds objects, they stay so.
            if not _withheld:
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def withhold() -> None:
    """Keep all that there is at this moment from the collector, until `give_back`."""
    global _withheld  # noqa: PLW0603 - the collector is the process's, too
    _withheld = True
    gc.freeze()


def withhold_more() -> None:
    """Keep what has come since from the collector, too, if anything is withheld."""
    if _withheld:
        gc.freeze()


def give_back() -> None:
    """Leave everything to the collector again."""
    global _withheld  # noqa: PLW0603
    _withheld = False
    gc.unfreeze()


_ARENA_MAX = -8
"""The number of `M_ARENA_MAX` in glibc's malloc.h."""


def share_memory() -> None:
    """Let all threads that begin later take memory from one place; meant for the start of what runs for long.

    glibc gives threads heaps of their own. A ranking makes columns of megabytes on whichever thread is free: what one
    let go of is not there for the next, which gets untouched pages, and touching them takes as long as the ranking
    itself. Other C libraries have one heap, or no such setting: there nothing changes.
    """
    import ctypes  # only what runs for long waits for it

    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def process(number: int) -> str:
    """Return the name of a process: its number and when it began, since numbers are given out again.

    The number alone where its beginning cannot be looked up.
    """
    try:
        said = Path(f"/proc/{number}/stat").read_bytes()
    except OSError:
        return str(number)
    # The name stands in brackets and may hold anything; the beginning is the twentieth word after it.
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
