"""Working out what waits without being stored, on a thread: when Review comes into sight, and when a person asks."""

import threading
from dataclasses import dataclass
from functools import partial

from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from workbench.services.open import Workbench
from workbench.services.review.suggestion_finder import WorkedOut


@dataclass(frozen=True, slots=True)
class Look:
    """What is looked for: some kinds (all when empty), also in a large store when `asked`, or only what is `quick`."""

    only: frozenset[str] = frozenset()
    asked: bool = False
    quick: bool = False

    def and_then(self, other: "Look | None") -> "Look":
        """Return what is looked for when both are."""
        if other is None:
            return self
        only = self.only | other.only if self.only and other.only else frozenset[str]()
        return Look(only, self.asked or other.asked, self.quick and other.quick)


class Looked(Message):
    """A look is over, or was `stopped`; Review knows what was found."""

    def __init__(self, look: Look, out: WorkedOut, *, stopped: bool = False) -> None:
        super().__init__()
        self.look = look
        self.out = out
        self.stopped = stopped


class SuggestionSearch:
    """One look at a time for a screen, which is told of each by a `Looked` and calls `took`.

    `unasked` are the kinds that wait until a person asks, since the store is large; `is_asked` tells that one did, and
    that this goes on.
    """

    def __init__(self, screen: Screen[object], bench: Workbench) -> None:
        self._screen = screen
        self._bench = bench
        self._revision = -1
        self._unready: frozenset[str] = frozenset()
        self._next: Look | None = None
        self._stop = threading.Event()
        self.is_looking = self.is_asked = False
        self.unasked: tuple[str, ...] = ()

    def come(self) -> None:
        """Look when the queue comes into sight, first around the store, then at every memory if anything changed."""
        revision = self._bench.library.revision
        self._look(Look(quick=True))
        if revision != self._revision:
            self._look(Look())
        self._revision = revision

    def saw(self) -> None:
        """Note that what changed was in sight: only what changes elsewhere is looked for when one comes back."""
        if self._revision >= 0:
            self._revision = self._bench.library.revision

    def ready(self) -> None:
        """Look for what needed the model, now that it is loaded."""
        if self._unready:
            self._look(Look(self._unready))

    def again(self) -> None:
        """Look at what lies around the store once more."""
        self._look(Look(quick=True))

    def all(self) -> None:
        """Look for everything, in a large store, too."""
        self._look(Look(asked=True))

    def stop(self) -> bool:
        """Stop what a person asked for; tell whether there was anything."""
        if self.is_asked:
            self._stop.set()
        return self.is_asked

    def took(self, event: Looked) -> None:
        """Note what came of a look, and begin the next one that was asked for."""
        self.is_looking = self.is_asked = False
        if event.stopped:
            self._next = None
        elif not event.look.quick:
            self._unready, self.unasked = frozenset(event.out.unready), event.out.unasked
        if (following := self._next) is not None:
            self._next = None
            self._look(following)

    def _look(self, look: Look) -> None:
        if self.is_looking:
            self._next = look.and_then(self._next)
            return
        self.is_looking, self.is_asked = True, look.asked
        self._stop.clear()
        self._screen.run_worker(partial(self._run, look), thread=True, group="found", exit_on_error=False)

    def _run(self, look: Look) -> None:
        worker, stop, only = get_current_worker(), self._stop, look.only

        def cancelled() -> bool:
            return worker.is_cancelled or stop.is_set()

        out = self._bench.working_out.run(cancelled, only=only, asked=look.asked, quick=look.quick)
        if not worker.is_cancelled:
            self._screen.post_message(Looked(look, out, stopped=stop.is_set()))
