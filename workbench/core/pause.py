"""Keeping the garbage collector away from large trees: it would walk through them again and again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_withheld = False
"""Whether objects are withheld; the collector itself would count them all to answer."""


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
