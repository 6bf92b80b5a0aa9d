"""How long a writer waits for another one, and who that other one is."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from workbench.core.errors import StoreProblem


class Holder(NamedTuple):
    """Who holds a lock: the process id, the command's name (empty when unknown), and whether it is this process."""

    pid: int
    command: str = ""
    own: bool = False


class Patience(NamedTuple):
    """How long to wait for a lock that somebody else holds.

    `seconds`: 0 does not wait at all, infinity waits without end; `gives_up` is asked again and again and ends the
    waiting when it says so; `waits_for` is told whom the waiting is for (`None`: it cannot be known), when it begins
    and whenever that changes. `abandons` is asked in place of `gives_up` where something is stored that cannot be had
    again (see `irreplaceable`). All are called on the thread that waits.
    """

    seconds: float = 10.0
    gives_up: Callable[[], bool] | None = None
    waits_for: Callable[[Holder | None], None] | None = None
    abandons: Callable[[], bool] | None = None


_patience: ContextVar[Patience] = ContextVar("patience", default=Patience())  # noqa: B039 (frozen)


def patience() -> Patience:
    """Return how long this thread or task is willing to wait."""
    return _patience.get()


@contextmanager
def waiting(how: Patience) -> Iterator[None]:
    """Let every write within the block wait for a busy store as `how` says (this thread's or task's writes only)."""
    token = _patience.set(how)
    try:
        yield
    finally:
        _patience.reset(token)


@contextmanager
def irreplaceable() -> Iterator[None]:
    """Let every write within the block wait without end: what it stores was paid for, and cannot be had again."""
    how = patience()
    with waiting(how._replace(seconds=math.inf, gives_up=how.abandons)):
        yield


class StoreBusy(StoreProblem):
    """Somebody else does not let go of a store's lock; nothing was changed.

    `folder` is the store, `holder` who holds it (`None` when that cannot be known), `seconds` how long was waited.
    """

    def __init__(
        self, folder: Path, holder: Holder | None, seconds: float, hint: str = "Nothing was changed; try again."
    ) -> None:
        self.folder = folder
        self.holder = holder
        self.seconds = seconds
        since = f"has been writing to {folder} for {seconds:.0f} seconds" if seconds >= 1 else f"is writing to {folder}"
        super().__init__(f"{who(holder)} {since}.", hint)


def who(holder: Holder | None) -> str:
    """Name the holder of a lock, as the beginning of a sentence."""
    if holder is None:
        return "Another process"
    if holder.own:
        return "Another thread"
    return f"Another process ({holder.command}, {holder.pid})" if holder.command else f"Another process ({holder.pid})"
