"""Keeping the garbage collector still while a large tree is built: it would walk it again and again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
            # where somebody keeps objects frozen, they stay so.
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
