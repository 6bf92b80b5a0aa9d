"""Progress of long work on a terminal's stderr, and ctrl+c as a polite request to stop."""

import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from workbench.core.files.locks import Holder, patience, waiting, who
from workbench.core.text import clip, printable

if TYPE_CHECKING:
    from workbench.services.open import Workbench

_BAR = 24


class ProgressLine:
    """One line on stderr that is rewritten in place; silent when stderr is no terminal or the work
    is short.

    With `seconds`, a clock that never goes back, it says how many a second were done since it was
    made.
    """

    def __init__(
        self, what: str = "", least: int = 0, seconds: Callable[[], float] | None = None
    ) -> None:
        self._what = what
        self._least = least
        self._drawn = False
        self._seconds = seconds
        self._start = seconds() if seconds else 0.0

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` are done."""
        if total <= self._least or not sys.stderr.isatty():
            return
        full = _BAR * done // total
        line = f"{'▓' * full}{'░' * (_BAR - full)} {done:,} of {total:,} · {self._what}{self._rate(done)}"
        # A line that wraps could not be rewritten in place.
        sys.stderr.write("\r" + clip(printable(line), shutil.get_terminal_size().columns - 1))
        sys.stderr.flush()
        self._drawn = True

    def go_on(self, what: str) -> bool:
        """Tell of something else from now on; return whether it is."""
        if what == self._what:
            return False
        self.clear()
        self._what = what
        return True

    def _rate(self, done: int) -> str:
        passed = self._seconds() - self._start if self._seconds else 0.0
        return f" · {done / passed:,.0f}/s" if passed > 0 else ""

    def clear(self) -> None:
        """Take the line away."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False


@contextmanager
def progressing(*lines: ProgressLine) -> "Iterator[Callable[[], bool]]":
    """Be `interruptible` while lines show progress, and take them away at the end."""
    with interruptible() as cancelled:
        try:
            yield cancelled
        finally:
            for line in lines:
                line.clear()


def read_memories(bench: "Workbench") -> None:
    """Read the memories that are ranked; where many of them are embedded first, that is shown."""
    line = ProgressLine("reading the memories", 2_000)
    with progressing(line) as cancelled:
        bench.retriever.load(line, cancelled)


@contextmanager
def waits_said() -> Iterator[None]:
    """Say on stderr for whom what was paid for waits: it is not given up, so that may take long."""

    def tell(holder: Holder | None) -> None:
        said = "The paid reply is stored when the store is free; ctrl+c twice discards it."
        sys.stderr.write(f"workbench: {printable(who(holder))} is writing to the store. {said}\n")

    with waiting(patience()._replace(waits_for=tell)):
        yield


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Let the first ctrl+c only be noticed (the yielded function then says true); a second one
    interrupts.
    """
    pressed = threading.Event()

    def _note(_number: int, _frame: FrameType | None) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set
        return
    before = signal.signal(signal.SIGINT, _note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
