"""What speaks for a pattern, in numbers: the exact binomial test, confidence, and savings against a baseline."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from workbench.core.agents.patterns.pattern import Application, Baseline, Evidence, Pattern

WINDOW = timedelta(days=90)
"""How far back applications count."""

LEAST_EPISODES, LEAST_SUCCESS, LEAST_CONFIDENCE, MOST_CHANCE = 5, 0.7, 0.7, 0.05
"""What a pattern needs: so many episodes, this share of successes, confidence above this, a p-value below this."""

CHANCE = 0.5
"""The share of successes that chance alone is held to bring."""


def at_least(successes: int, trials: int, chance: float = CHANCE) -> float:
    """Return the probability of so many successes or more when each comes with this chance: a one-sided exact test.

    Without trials it is 1. Raises `ValueError` for more successes than trials, or a chance outside 0–1.
    """
    if not 0 <= successes <= trials or not 0 <= chance <= 1:
        raise ValueError("successes are between 0 and the trials, a chance is between 0 and 1")
    if successes == 0:
        return 1.0
    if chance in (0.0, 1.0):
        return chance
    # In logarithms, since what a thousand trials multiply is too small and too large for a number each.
    hit, miss, whole = math.log(chance), math.log1p(-chance), math.lgamma(trials + 1)
    terms = (
        math.exp(whole - math.lgamma(k + 1) - math.lgamma(trials - k + 1) + k * hit + (trials - k) * miss)
        for k in range(successes, trials + 1)
    )
    return min(1.0, math.fsum(terms))


def confidence(success_rate: float, applications: int, p_value: float) -> float:
    """Return the confidence of source 004 (3.6), 0–1: by rate, by number, and by how unlikely chance is."""
    by_number = 1 - math.exp(-applications / 20)
    return min(max(0.5 * success_rate + 0.3 * by_number + 0.2 * (1 - p_value), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a validation finds in the applications that count: `episodes` of them, `successes` among them.

    `is_enough` says that they suffice for a decision, `holds` that they speak for the pattern.
    """

    episodes: int
    successes: int
    success_rate: float
    p_value: float
    confidence: float
    since: datetime
    is_enough: bool
    holds: bool


def counted(pattern: Pattern, applications: Iterable[Application], now: datetime) -> tuple[Application, ...]:
    """Return the applications of a pattern that count now, the oldest first: one for each episode, the last one."""
    since = _since(pattern, now)
    latest = dict[str, Application]()
    for one in sorted(applications, key=lambda one: (one.at, one.id)):
        if one.pattern == pattern.id and since <= one.at <= now:
            latest[one.episode] = one
    return tuple(sorted(latest.values(), key=lambda one: (one.at, one.id)))


def finding(pattern: Pattern, applications: Iterable[Application], now: datetime) -> Finding:
    """Return what the applications of a pattern say for or against it now."""
    recent = counted(pattern, applications, now)
    episodes, successes = len(recent), sum(one.outcome == "success" for one in recent)
    rate = successes / episodes if episodes else 0.0
    p_value = at_least(successes, episodes)
    sure = confidence(rate, episodes, p_value) if episodes else 0.0
    return Finding(
        episodes, successes, rate, p_value, sure, _since(pattern, now),
        is_enough=episodes >= LEAST_EPISODES,
        holds=episodes >= LEAST_EPISODES and rate >= LEAST_SUCCESS and p_value < MOST_CHANCE,
    )  # fmt: skip


def evidence(pattern: Pattern, applications: Iterable[Application], found: Finding, now: datetime) -> Evidence:
    """Return the evidence of a pattern after a validation: the finding, and its savings against the baseline.

    The episodes that it brought along stay among those that support it and those that speak against it.
    """
    recent = counted(pattern, applications, now)
    saved = savings(pattern.baseline, recent)
    known = pattern.support
    good = [one.episode for one in recent if one.outcome == "success"]
    bad = [one.episode for one in recent if one.outcome != "success"]
    again = {*good, *bad}
    return Evidence(
        supporting_episodes=tuple(dict.fromkeys((*(e for e in known.supporting_episodes if e not in again), *good))),
        counter_episodes=tuple(dict.fromkeys((*(e for e in known.counter_episodes if e not in again), *bad))),
        num_applications=found.episodes,
        success_rate=found.success_rate,
        avg_time_saving=saved.time,
        avg_cost_saving=saved.cost,
        success_rate_improvement=saved.success_rate,
        confidence_score=found.confidence,
        statistical_significance=found.p_value,
        last_validated=now,
    )


def savings(baseline: Baseline, applications: Sequence[Application]) -> Baseline:
    """Return what applying saves against a baseline, on average: time and cost less, success rate more.

    What the baseline or the applications do not say is `None`; what is dearer with the pattern is negative.
    """
    times = [one.time for one in applications if one.time is not None]
    costs = [one.cost for one in applications if one.cost is not None]
    rate = sum(one.outcome == "success" for one in applications) / len(applications) if applications else None
    better = None if rate is None or baseline.success_rate is None else rate - baseline.success_rate
    return Baseline(len(applications), better, _less(baseline.time, times), _less(baseline.cost, costs))


@dataclass(frozen=True, slots=True)
class ComparableRun:
    """A task that was done without a pattern: whether it succeeded, and what it took, where that is known."""

    success: bool
    time: float | None = None
    cost: float | None = None


def baseline_of(runs: Sequence[ComparableRun]) -> Baseline:
    """Return how comparable tasks went: of none, nothing is known."""
    rate = sum(run.success for run in runs) / len(runs) if runs else None
    times = [run.time for run in runs if run.time is not None]
    costs = [run.cost for run in runs if run.cost is not None]
    return Baseline(len(runs), rate, _mean(times), _mean(costs))


def _since(pattern: Pattern, now: datetime) -> datetime:
    start = now - WINDOW
    return start if pattern.evidence_since is None else max(start, pattern.evidence_since)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _less(before: float | None, values: Sequence[float]) -> float | None:
    mean = _mean(values)
    return None if before is None or mean is None else before - mean
