"""What speaks for a pattern, in numbers: the exact binomial test, confidence, and savings against a
baseline.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from workbench.core.agents.actors import APPROVED, EVIDENCE, IMPORTED, REFINED, RESTORED
from workbench.core.agents.patterns.pattern import (
    Application,
    Baseline,
    Category,
    Evidence,
    Pattern,
    Status,
)
from workbench.core.binomial import at_least
from workbench.core.record import InvalidRecord, WorkbenchError

# Mining: what recurs in episodes of one domain and type, and with what their outcome differs from
# the rest.
#
# A feature is a strategy, or tools that were used one after the other. One that occurs often
# enough, and with which the share of successes is other than without it by Fisher's exact test, is
# worth a pattern: proposed, never applied. The p-values of all comparisons together are corrected
# by Benjamini and Hochberg's procedure.


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


class Case(NamedTuple):
    """What mining looks at of an episode: where it belongs, whether it succeeded, and what was done
    in it.
    """

    id: str
    domain: str
    type: str
    success: bool
    features: frozenset[Feature]


@dataclass(frozen=True, slots=True)
class Mined:
    """A feature that makes a difference in one domain and type of task; an empty `type` means all
    of the domain's.

    `good` and `bad` are the episodes with it that succeeded and that did not; without it `others`
    were looked at, of which `others_good` succeeded. `p_value` is of Fisher's exact test,
    two-sided; `compared` tests were made in all.
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
    """Return what was done in an episode: its strategies, and its tools by ones, twos and threes in
    their order.
    """
    found = {Feature("strategy", (name,)) for one in strategies if (name := _plain(one))}
    used = [name for one in tools if (name := _plain(one))]
    for length in range(1, LONGEST_RUN + 1):
        found |= {
            Feature("tools", tuple(used[at : at + length])) for at in range(len(used) - length + 1)
        }
    return frozenset(found)


def mined(runs: Iterable[Case]) -> tuple[Mined, ...]:
    """Return the features that make a difference, the surest first; the same for the same runs in
    any order.
    """
    places = defaultdict[tuple[str, str], list[Case]](list)
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
    return tuple(
        sorted(
            told.values(),
            key=lambda one: (one.p_value, -one.support, one.domain, one.type, one.feature),
        )
    )


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


def _in_place(
    domain: str, type: str, runs: Sequence[Case], seen: set[tuple[int, tuple[str, ...]]]
) -> Iterator[Mined]:
    """Test what occurs often among the runs of one domain and type; the same comparison is made
    once.
    """
    holding = defaultdict[Feature, list[Case]](list)
    for run in runs:
        for feature in run.features:
            holding[feature].append(run)
    often = {
        feature: found for feature, found in holding.items() if SUPPORT <= len(found) < len(runs)
    }
    successes = sum(run.success for run in runs)
    # Of several that always come together one is told: a strategy first, then the longest run of
    # tools.
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


WINDOW = timedelta(days=90)
"""How far back applications count."""

LEAST_EPISODES, LEAST_SUCCESS, LEAST_CONFIDENCE, MOST_CHANCE = 5, 0.7, 0.7, 0.05
"""What a pattern needs: so many episodes, this share of successes, confidence above this, a p-value
below this.
"""

CHANCE = 0.5
"""The share of successes that chance alone is held to bring."""


def confidence(success_rate: float, applications: int, p_value: float) -> float:
    """Return the confidence of source 004 (3.6), 0–1: by rate, by number, and by how unlikely
    chance is.
    """
    by_number = 1 - math.exp(-applications / 20)
    return min(max(0.5 * success_rate + 0.3 * by_number + 0.2 * (1 - p_value), 0.0), 1.0)


class Finding(NamedTuple):
    """What a validation finds in the applications that count: `episodes` of them, `successes` among
    them.

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


def counted(
    pattern: Pattern, applications: Iterable[Application], now: datetime
) -> tuple[Application, ...]:
    """Return the applications of a pattern that count now, the oldest first: one for each episode,
    the last one.
    """
    since, mined = _since(pattern, now), set(pattern.support.mined_from)
    latest = dict[str, Application]()
    for one in sorted(applications, key=lambda one: (one.at, one.id)):
        if (
            one.pattern == pattern.id
            and since <= one.at <= now
            and one.counts
            and one.episode not in mined
        ):
            latest[one.episode] = one
    return tuple(sorted(latest.values(), key=lambda one: (one.at, one.id)))


def finding(pattern: Pattern, applications: Iterable[Application], now: datetime) -> Finding:
    """Return what the applications of a pattern say for or against it now."""
    recent = counted(pattern, applications, now)
    episodes, successes = len(recent), sum(one.outcome == "success" for one in recent)
    rate = successes / episodes if episodes else 0.0
    p_value = at_least(successes, episodes, CHANCE)
    sure = confidence(rate, episodes, p_value) if episodes else 0.0
    return Finding(
        episodes, successes, rate, p_value, sure, _since(pattern, now),
        is_enough=episodes >= LEAST_EPISODES,
        holds=episodes >= LEAST_EPISODES and rate >= LEAST_SUCCESS and p_value < MOST_CHANCE,
    )  # fmt: skip


def evidence(
    pattern: Pattern, applications: Iterable[Application], found: Finding, now: datetime
) -> Evidence:
    """Return the evidence of a pattern after a validation: the finding, and its savings against the
    baseline.

    The episodes that it brought along stay among those that support it and those that speak against
    it.
    """
    recent = counted(pattern, applications, now)
    saved = savings(pattern.baseline, recent)
    known = pattern.support
    good = [one.episode for one in recent if one.outcome == "success"]
    bad = [one.episode for one in recent if one.outcome != "success"]
    again = {*good, *bad}
    return Evidence(
        supporting_episodes=tuple(
            dict.fromkeys((*(e for e in known.supporting_episodes if e not in again), *good))
        ),
        counter_episodes=tuple(
            dict.fromkeys((*(e for e in known.counter_episodes if e not in again), *bad))
        ),
        num_applications=found.episodes,
        success_rate=found.success_rate,
        avg_time_saving=saved.time,
        avg_cost_saving=saved.cost,
        success_rate_improvement=saved.success_rate,
        confidence_score=found.confidence,
        statistical_significance=found.p_value,
        last_validated=now,
        mined_from=known.mined_from,
    )


Run = tuple[bool, float | None, float | None]
"""A task: whether it succeeded, and the time and cost it took, where that is known."""


def baseline_of(runs: Sequence[Run]) -> Baseline:
    """Return how tasks went: of none, nothing is known."""
    rate = _mean([float(success) for success, _, _ in runs])
    return Baseline(
        len(runs), rate, _mean([time for _, time, _ in runs]), _mean([cost for *_, cost in runs])
    )


def savings(baseline: Baseline, applications: Sequence[Application]) -> Baseline:
    """Return what applying saves against a baseline, on average: time and cost less, success rate
    more.

    What the baseline or the applications do not say is `None`; what is dearer with the pattern is
    negative.
    """
    mine = baseline_of([(one.outcome == "success", one.time, one.cost) for one in applications])
    return Baseline(
        mine.runs, _less(mine.success_rate, baseline.success_rate), _less(baseline.time, mine.time),
        _less(baseline.cost, mine.cost),
    )  # fmt: skip


def _since(pattern: Pattern, now: datetime) -> datetime:
    start = now - WINDOW
    return start if pattern.evidence_since is None else max(start, pattern.evidence_since)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


# The life of a pattern: candidate → validated → under review → validated again, or deprecated.
#
# Every step is a function from pattern to pattern that raises `WorkbenchError` when it is
# impossible, and says why the pattern stands where it does then.


Outlook = Literal["insufficient", "candidate", "validated", "under_review"]
"""What a validation comes to: too little evidence to say, or the status that the evidence asks for."""

STEPS: Mapping[Status, tuple[Status, ...]] = {
    "candidate": ("validated", "deprecated"),
    "validated": ("under_review", "deprecated"),
    "under_review": ("validated", "deprecated"),
    "deprecated": ("candidate",),
}
"""Where a pattern may go from where it stands."""

NAMES: Mapping[Status, str] = {
    "candidate": "a candidate", "validated": "validated", "under_review": "under review", "deprecated": "deprecated",
}  # fmt: skip
UNCHANGED = "Nothing was changed."


@dataclass(frozen=True, slots=True)
class Validation:
    """A pattern that was validated: as it was, as it is now, what was found, and what that comes
    to.
    """

    before: Pattern
    after: Pattern
    finding: Finding
    outlook: Outlook

    @property
    def moves(self) -> bool:
        """Whether it stands elsewhere now."""
        return self.before.status != self.after.status


def validated(pattern: Pattern, applications: Iterable[Application], now: datetime) -> Validation:
    """Hold a pattern against its applications: a candidate may become validated, a validated one
    come under review.

    With too few applications nothing changes. One under review stays there until somebody decides
    (`refined`, `deprecated`); one that is deprecated is not looked at.
    """
    rows = tuple(applications)
    found = finding(pattern, rows, now)
    if not found.is_enough or pattern.status == "deprecated":
        return Validation(pattern, pattern, found, "insufficient")
    measured = replace(pattern, support=evidence(pattern, rows, found, now))
    if found.holds and found.confidence > LEAST_CONFIDENCE:
        outlook: Outlook = "validated"
    else:
        outlook = "candidate" if found.holds else "under_review"
    # Only what was relied upon can come under review, and what is there leaves it by a decision.
    wanted: Status = (
        outlook
        if outlook in STEPS[pattern.status] and pattern.status != "under_review"
        else pattern.status
    )
    if wanted != pattern.status:
        measured = _to(measured, wanted, EVIDENCE)
    return Validation(pattern, measured, found, outlook)


def refined(pattern: Pattern, now: datetime, reason: str = "") -> Pattern:
    """Take a pattern that is under review back into use; what was gathered so far counts no longer."""
    _require(pattern, "under_review")
    support = Evidence(mined_from=pattern.support.mined_from)
    return replace(
        _to(pattern, "validated", reason or REFINED), evidence_since=now, support=support
    )


def approved(pattern: Pattern, reason: str = "") -> Pattern:
    """Take a candidate into use on somebody's word, whatever evidence there is."""
    _require(pattern, "candidate")
    return _to(pattern, "validated", reason or APPROVED)


def deprecated(pattern: Pattern, reason: str, superseded_by: str | None = None) -> Pattern:
    """Take a pattern out of use for good; it is kept as history."""
    if not reason.strip():
        raise InvalidRecord(f"{pattern.id} needs a reason to be deprecated.", UNCHANGED)
    if superseded_by == pattern.id:
        raise InvalidRecord(f"{pattern.id} cannot be superseded by itself.", UNCHANGED)
    return replace(_to(pattern, "deprecated", reason.strip()), superseded_by=superseded_by)


def restored(pattern: Pattern) -> Pattern:
    """Make a deprecated pattern a candidate again."""
    _require(pattern, "deprecated")
    return replace(_to(pattern, "candidate", RESTORED), superseded_by=None)


def claimed(pattern: Pattern) -> Pattern:
    """Return a pattern that a file brings as its claims make it: validated where they are enough,
    else a candidate.
    """
    said = pattern.support
    enough = said.num_applications >= LEAST_EPISODES and said.confidence_score > LEAST_CONFIDENCE
    status: Status = "validated" if enough else "candidate"
    return replace(pattern, status=status, status_reason=IMPORTED)


def _require(pattern: Pattern, status: Status) -> None:
    if pattern.status != status:
        named = "a candidate" if status == "candidate" else NAMES[status]
        raise WorkbenchError(f"{pattern.id} is {NAMES[pattern.status]}, not {named}.", UNCHANGED)


def _to(pattern: Pattern, status: Status, reason: str) -> Pattern:
    if status not in STEPS[pattern.status]:
        now, then = NAMES[pattern.status], NAMES[status]
        raise WorkbenchError(
            f"{pattern.id} is {now}; from there it cannot become {then}.", UNCHANGED
        )
    return replace(pattern, status=status, status_reason=reason)
