"""How capturing went so far for a store: what was followed, what was passed over and why, and what went wrong."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from workbench.core.agents.transcript.passed import PASSED
from workbench.services.agents.capture import spool
from workbench.services.agents.capture.log import HookFailure, failures
from workbench.services.agents.capture.progress import folder_of, passed_over, sessions


class Past(NamedTuple):
    """How many sessions were followed, what was passed over in them by reason, and the latest failures of hooks.

    `waiting` is how many events the next one stores, since somebody else held the store. Failures are those of all
    stores: what went wrong may have kept a hook from finding its store.
    """

    sessions: int
    passed: Counter[str]
    failures: tuple[HookFailure, ...]
    waiting: int = 0

    @property
    def passed_words(self) -> tuple[str, ...]:
        """What was passed over, in words and numbers, the most first."""
        words: dict[str, str] = dict(PASSED.items())
        return tuple(f"{words.get(reason, reason)} ({count:,})" for reason, count in self.passed.most_common())


def past(captures: Path, store: Path) -> Past:
    """Return how it went; files that cannot be read count as nothing. `captures` is the user's folder for it."""
    folder = folder_of(captures, store)
    return Past(sessions(folder), passed_over(folder), failures(captures), len(spool.files(folder)))
