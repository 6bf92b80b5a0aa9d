"""How this process goes about its memory: it has the garbage collector kept away from large trees, which would be
walked through again and again, and all its threads take memory from one place."""

import atexit
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress

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
