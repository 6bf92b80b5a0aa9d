"""What one log of runs tells about the bullets of a playbook, as it is stored: which were used, and how it ended."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from workbench.core.playbook.usage import Run


@dataclass(frozen=True, slots=True)
class Outcome:
    """All runs that used the same bullets, by their places in the tally: how many there were, how many were right."""

    used: tuple[int, ...]
    correct: int
    runs: int


@dataclass(frozen=True, slots=True)
class UsageTally:
    """The runs of one log, for one playbook; reading the log again replaces it."""

    id: str
    book: str
    source: str
    bullets: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    at: datetime
    version: int = 1

    @property
    def count(self) -> int:
        """How many runs it holds."""
        return sum(outcome.runs for outcome in self.outcomes)

    def runs(self) -> Iterator[Run]:
        """Yield every run."""
        for outcome in self.outcomes:
            used = frozenset(self.bullets[place] for place in outcome.used)
            for number in range(outcome.runs):
                yield Run(used, number < outcome.correct)


def tallied(book: str, source: str, runs: Iterable[Run], at: datetime) -> UsageTally:
    """Count the runs of the log `source`."""
    every, right = Counter[frozenset[str]](), Counter[frozenset[str]]()
    for run in runs:
        every[run.bullets] += 1
        right[run.bullets] += run.correct
    bullets = tuple(sorted({id for used in every for id in used}))
    place = {id: index for index, id in enumerate(bullets)}
    outcomes = sorted((tuple(sorted(place[id] for id in used)), right[used], every[used]) for used in every)
    return UsageTally(f"{book}/{source}", book, source, bullets, tuple(Outcome(*each) for each in outcomes), at)
