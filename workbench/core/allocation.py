"""Where the threads of a process take their memory from."""

import ctypes
from contextlib import suppress

_ARENA_MAX = -8
"""The number of `M_ARENA_MAX` in glibc's malloc.h."""


def share_memory() -> None:
    """Let all threads that begin later take memory from one place; meant for the start of what runs for long.

    glibc gives threads heaps of their own. A ranking makes columns of megabytes on whichever thread is free: what one
    let go of is not there for the next, which gets untouched pages, and touching them takes as long as the ranking
    itself. Other C libraries have one heap, or no such setting: there nothing changes.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
