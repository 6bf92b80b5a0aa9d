"""Mining: what recurs in episodes of one domain and type, and with what their outcome differs from the rest.

A feature is a strategy, or tools that were used one after the other. One that occurs often enough, and with which the
share of successes is other than without it by Fisher's exact test, is worth a pattern: proposed, never applied. The
p-values of all comparisons together are corrected by Benjamini and Hochberg's procedure.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.core.agents.patterns.pattern import Category

SUPPORT = 5
"""Episodes in which a feature has to occur."""

FALSE_SHARE = 0.05
"""The share of what is found that may be due to chance (q, the false discovery rate)."""

LONGEST_RUN = 3
"""Tools in a row that are looked at as one feature, at the most."""

FeatureKind = Literal["strategy", "tools"]


@dataclass(frozen=True, slots=True, order=True)
class Feature:
    """Something that recurs: the name of a strategy, or tools in the order in which they were used."""

    kind: FeatureKind
    names: tuple[str, ...]

    @property
    def text(self) -> str:
        """What it is, in words of the episodes."""
        return " → ".join(self.names)


@dataclass(frozen=True, slots=True)
class Run:
    """What mining looks at of an episode: where it belongs, whether it succeeded, and what was done in it."""

    id: str
    domain: str
    type: str
    success: bool
    features: frozenset[Feature]


@dataclass(frozen=True, slots=True)
class Mined:
    """A feature that makes a difference in one domain and type of task; an empty `type` means all of the domain's.

    `good` and `bad` are the episodes with it that succeeded and that did not; without it `others` were looked at, of
    which `others_good` succeeded. `p_value` is of Fisher's exact test, two-sided; `compared` tests were made in all.
    """

    domain: str
    type: str
    feature: Feature
    good: tuple[str, ...]
    bad: tuple[str, ...]
    others: int
    others_good: int
    p_value: float
    compared: int

    @property
    def support(self) -> int:
        """In how many episodes it occurs."""
        return len(self.good) + len(self.bad)

    @property
    def rate(self) -> float:
        """The share of successes with it, 0–1."""
        return len(self.good) / self.support

    @property
    def helps(self) -> bool:
        """Whether more succeed with it than without it."""
        return self.rate > (self.others_good / self.others if self.others else 0.0)

    @property
    def category(self) -> Category:
        """The category of the pattern that it makes."""
        if not self.helps:
            return "failure"
        if self.feature.kind == "strategy":
            return "strategy"
        return "sequence" if len(self.feature.names) > 1 else "tool_selection"


def features_of(strategies: Sequence[str], tools: Sequence[str]) -> frozenset[Feature]:
    """Return what was done in an episode: its strategies, and its tools by ones, twos and threes in their order."""
    found = {Feature("strategy", (name,)) for one in strategies if (name := _plain(one))}
    used = [name for one in tools if (name := _plain(one))]
    for length in range(1, LONGEST_RUN + 1):
        found |= {Feature("tools", tuple(used[at : at + length])) for at in range(len(used) - length + 1)}
    return frozenset(found)


def mined(runs: Iterable[Run]) -> tuple[Mined, ...]:
    """Return the features that make a difference, the surest first; the same for the same runs in any order."""
    places = defaultdict[tuple[str, str], list[Run]](list)
    for run in sorted(runs, key=lambda one: one.id):
        for place in {(run.domain, run.type), (run.domain, "")} - {("", "")}:
            places[place].append(run)
    # What is true of one type of task is told of that type, and not of the whole domain again.
    narrow_first = sorted(places, key=lambda place: (place[1] == "", place))
    seen = set[tuple[int, tuple[str, ...]]]()
    tests = [one for place in narrow_first for one in _in_place(*place, places[place], seen)]
    most = _highest_p([one.p_value for one in tests])
    told: dict[tuple[str, ...], Mined] = {}
    for one in tests:
        if one.p_value <= most:
            told.setdefault((*one.good, "", *one.bad), replace(one, compared=len(tests)))
    return tuple(sorted(told.values(), key=lambda one: (one.p_value, -one.support, one.domain, one.type, one.feature)))


def _highest_p(p_values: Sequence[float]) -> float:
    """Return the highest p-value that counts (Benjamini and Hochberg); below 0 where none does."""
    step = FALSE_SHARE / max(1, len(p_values))
    return max((p for rank, p in enumerate(sorted(p_values), 1) if p <= rank * step), default=-1.0)


def fisher(good: int, bad: int, others_good: int, others_bad: int) -> float:
    """Return the two-sided p-value of Fisher's exact test over a table of two by two counts.

    Raises `ValueError` for a negative count.
    """
    if min(good, bad, others_good, others_bad) < 0:
        raise ValueError("counts are 0 or more")
    with_it, successes = good + bad, good + others_good
    total = with_it + others_good + others_bad
    lowest, highest = max(0, with_it + successes - total), min(with_it, successes)
    whole = _log_choose(total, with_it)
    chances = [
        math.exp(_log_choose(successes, k) + _log_choose(total - successes, with_it - k) - whole)
        for k in range(lowest, highest + 1)
    ]
    here = chances[good - lowest]
    return min(1.0, math.fsum(chance for chance in chances if chance <= here * (1 + 1e-7)))


def _in_place(domain: str, type: str, runs: Sequence[Run], seen: set[tuple[int, tuple[str, ...]]]) -> Iterator[Mined]:
    """Test what occurs often among the runs of one domain and type; the same comparison is made once."""
    holding = defaultdict[Feature, list[Run]](list)
    for run in runs:
        for feature in run.features:
            holding[feature].append(run)
    often = {feature: found for feature, found in holding.items() if SUPPORT <= len(found) < len(runs)}
    successes = sum(run.success for run in runs)
    # Of several that always come together one is told: a strategy first, then the longest run of tools.
    for feature in sorted(often, key=lambda one: (one.kind, -len(one.names), one.names)):
        found = often[feature]
        comparison = len(runs), tuple(run.id for run in found)
        if comparison in seen:
            continue
        seen.add(comparison)
        good = tuple(run.id for run in found if run.success)
        bad = tuple(run.id for run in found if not run.success)
        others, others_good = len(runs) - len(found), successes - len(good)
        p_value = fisher(len(good), len(bad), others_good, others - others_good)
        yield Mined(domain, type, feature, good, bad, others, others_good, p_value, 0)


def _plain(name: str) -> str:
    return " ".join(name.split())


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
