"""What runs tell about bullets: how often the answer was right with a bullet, and without it."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from workbench.core.document import Record

LEAST = 5
"""Runs needed on either side before a difference is called one."""

Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: intervals hold 95 %."""


class Run(NamedTuple):
    """One run of an agent: the bullets it used, and whether its answer was right."""

    bullets: frozenset[str]
    correct: bool


class Rate(NamedTuple):
    """So many of so many runs were right, with the Wilson interval of the share at 95 %."""

    correct: int
    runs: int
    low: float
    high: float

    @property
    def share(self) -> float | None:
        """The share of right answers; `None` without runs."""
        return self.correct / self.runs if self.runs else None


class BulletUsage(NamedTuple):
    """A bullet's runs: with it, without it, and the difference of the shares with its 95 % interval
    (Newcombe).

    `difference` is `None` when one side has no runs.
    """

    bullet: str
    used: Rate
    unused: Rate
    difference: float | None
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """`helps`, `hurts`, or `unclear` when the interval spans zero or there are too few runs."""
        if self.difference is None or min(self.used.runs, self.unused.runs) < LEAST:
            return "unclear"
        return "helps" if self.low > 0 else "hurts" if self.high < 0 else "unclear"


def usages(
    runs: Iterable[Run], bullets: Iterable[str], aliases: Mapping[str, str] | None = None
) -> list[BulletUsage]:
    """Return the usage of each of `bullets`, in their order; `aliases` leads from an old id to the
    bullet it became.
    """
    heirs = aliases or {}
    all_runs = [
        Run(frozenset(heirs.get(id, id) for id in run.bullets), run.correct) for run in runs
    ]
    right, count = sum(run.correct for run in all_runs), len(all_runs)
    used: dict[str, list[bool]] = {}
    for run in all_runs:
        for id in run.bullets:
            used.setdefault(id, []).append(run.correct)
    found = []
    for id in bullets:
        mine = used.get(id, [])
        found.append(compared(id, sum(mine), len(mine), right - sum(mine), count - len(mine)))
    return found


def compared(bullet: str, used_right: int, used: int, other_right: int, other: int) -> BulletUsage:
    """Compare two shares: Wilson intervals, and Newcombe's hybrid score interval of their
    difference.
    """
    with_it, without = rate(used_right, used), rate(other_right, other)
    if not used or not other:
        return BulletUsage(bullet, with_it, without, None, -1.0, 1.0)
    p, q = used_right / used, other_right / other
    difference = p - q
    low = difference - math.hypot(p - with_it.low, without.high - q)
    high = difference + math.hypot(with_it.high - p, q - without.low)
    return BulletUsage(bullet, with_it, without, difference, low, high)


def rate(correct: int, runs: int) -> Rate:
    """Return a share with its Wilson score interval; without runs it is anything from 0 to 1."""
    if not runs:
        return Rate(0, 0, 0.0, 1.0)
    share = correct / runs
    middle = (share + Z * Z / (2 * runs)) / (1 + Z * Z / runs)
    half = (
        Z * math.sqrt(share * (1 - share) / runs + Z * Z / (4 * runs * runs)) / (1 + Z * Z / runs)
    )
    return Rate(correct, runs, max(0.0, middle - half), min(1.0, middle + half))


def disagrees(usage: BulletUsage, helpful: int, harmful: int) -> bool:
    """Tell whether votes and outcomes contradict each other: mostly helpful but it hurts, or the
    other way round.
    """
    return (usage.verdict == "hurts" and helpful > harmful) or (
        usage.verdict == "helps" and harmful > helpful
    )


# What one log of runs tells about the bullets of a playbook, as it is stored: which were used, and
# how it ended.


class Outcome(Record, frozen=True):
    """All runs that used the same bullets, by their places in the tally: how many there were, how
    many were right.
    """

    used: tuple[int, ...]
    correct: int
    runs: int


class UsageTally(Record, frozen=True):
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
    outcomes = sorted(
        (tuple(sorted(place[id] for id in used)), right[used], every[used]) for used in every
    )
    return UsageTally(
        f"{book}/{source}", book, source, bullets, tuple(Outcome(*each) for each in outcomes), at
    )
