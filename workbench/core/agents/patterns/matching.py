"""Which patterns apply to a task, how well, and why another one does not (source 004, 3.5)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from workbench.core.agents.patterns.pattern import Applicability, Category, ComplexityRange, Feature, Pattern, Status
from workbench.core.agents.patterns.templates import ConditionSyntax, Facts, holds, parsed

WEIGHTS: Mapping[str, float] = {"confidence": 0.4, "success": 0.3, "usage": 0.15, "recency": 0.1, "match": 0.05}
"""What a ranking of patterns is made of, and how much each part weighs."""

FORGOTTEN_DAYS = 90.0
"""Days after which a validation counts for 1/e of a fresh one."""

USED: frozenset[Status] = frozenset({"validated"})
"""Where a pattern stands that is used."""

Obstacle = Literal[
    "status", "category", "problem_type", "domain", "complexity", "capability", "condition", "anti_condition"
]
"""What keeps a pattern from a task."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is known of a task. `facts` is what conditions ask about; the features are among them by their names.

    Problem types, domains and capabilities are in lower case. Of capabilities and complexity `None` means that nobody
    said; a problem type or domain that nobody said is none.
    """

    text: str = ""
    problem_types: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    complexity: float | None = None
    capabilities: frozenset[str] | None = None
    category: Category | None = None
    facts: Facts = field(default_factory=dict)

    @property
    def every_fact(self) -> Facts:
        """The facts, with the features under `problem_type`, `domain`, `complexity`, `capabilities`, and `task`."""
        own: dict[str, object] = {}
        if self.problem_types:
            own["problem_type"] = sorted(self.problem_types)
        if self.domains:
            own["domain"] = sorted(self.domains)
        if self.complexity is not None:
            own["complexity"] = self.complexity
        if self.capabilities is not None:
            own["capabilities"] = sorted(self.capabilities)
        if self.text:
            own["task"] = self.text
        return own | dict(self.facts)


def task_of(
    text: str,
    problem_types: Iterable[str] = (),
    domains: Iterable[str] = (),
    complexity: float | None = None,
    capabilities: Iterable[str] = (),
    category: Category | None = None,
    facts: Facts | None = None,
) -> Task:
    """Return a task as somebody states it; capabilities of which nobody names one are not known."""

    def lower(names: Iterable[str]) -> frozenset[str]:
        return frozenset(plain for name in names if (plain := name.strip().casefold()))

    able = lower(capabilities)
    return Task(
        text.strip(), lower(problem_types), lower(domains), complexity, able or None, category, dict(facts or {})
    )


@dataclass(frozen=True, slots=True)
class Fit:
    """A problem type or domain that a task is taken to be of, and why."""

    about: Feature
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Why a pattern does not apply: what stands in the way, and what the pattern asks for there.

    A condition that hangs on what the task does not say is `unknown`.
    """

    obstacle: Obstacle
    asked: tuple[str, ...] = ()
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A pattern that applies: its score, and the parts that make it, each from 0 to 1 before it is weighted.

    `met` names what the pattern asks for and the task has.
    """

    pattern: Pattern
    score: float
    parts: Mapping[str, float]
    met: tuple[tuple[Obstacle, str], ...] = ()

    @property
    def weighted(self) -> dict[str, float]:
        """What each part adds to the score."""
        return {name: WEIGHTS[name] * part for name, part in self.parts.items()}


def obstacle(pattern: Pattern, task: Task, facts: Facts, statuses: frozenset[Status] = USED) -> LeftOut | None:
    """Return the first thing that keeps a pattern from a task; `None` when it applies. `facts` are `every_fact`."""
    where, features = pattern.applicability, pattern.applicability.task_features
    if pattern.status not in statuses:
        return LeftOut("status", (pattern.status,))
    if task.category is not None and pattern.category != task.category:
        return LeftOut("category", (pattern.category,))
    for name, asked, given in (
        ("problem_type", where.problem_types, task.problem_types),
        ("domain", features.domain, task.domains),
    ):
        if asked and given.isdisjoint(map(str.casefold, asked)):
            return LeftOut("problem_type" if name == "problem_type" else "domain", asked, not given)
    if task.complexity is not None and not _within(features.complexity, task.complexity):
        assert features.complexity is not None
        return LeftOut("complexity", (f"{features.complexity.min:g}", f"{features.complexity.max:g}"))
    if task.capabilities is not None:
        lacking = tuple(one for one in features.required_capabilities if one.casefold() not in task.capabilities)
        if lacking:
            return LeftOut("capability", lacking)
    return _by_conditions(where, facts)


def match(pattern: Pattern, task: Task, now: datetime) -> Match:
    """Return how well a pattern that applies fits a task."""
    quality, met = _quality(pattern, task)
    parts = {
        "confidence": pattern.support.confidence_score,
        "success": pattern.support.success_rate,
        "usage": min(math.log1p(pattern.usage_count) / 10, 1.0),
        "recency": _recency(pattern, now),
        "match": quality,
    }
    return Match(pattern, math.fsum(WEIGHTS[name] * part for name, part in parts.items()), parts, met)


def ranked(matches: Sequence[Match], most: int | None = None) -> tuple[Match, ...]:
    """Return matches, the best first; ties go by id, so that an order is always the same."""
    return tuple(sorted(matches, key=lambda one: (-one.score, one.pattern.id))[:most])


def _within(asked: ComplexityRange | None, given: float) -> bool:
    return asked is None or asked.min <= given <= asked.max


def _by_conditions(where: Applicability, facts: Facts) -> LeftOut | None:
    for text in where.context_conditions:
        found = _said(text, facts)
        if not found:
            return LeftOut("condition", (text,), found is None)
    for text in where.anti_conditions:
        if _said(text, facts):
            return LeftOut("anti_condition", (text,))
    return None


def _said(text: str, facts: Facts) -> bool | None:
    """Tell whether a condition holds; one that cannot be read any more is as one that hangs on something unknown."""
    try:
        return holds(parsed(text), facts)
    except ConditionSyntax:
        return None


def _recency(pattern: Pattern, now: datetime) -> float:
    at = pattern.support.last_validated
    return 0.0 if at is None else math.exp(-max((now - at).total_seconds() / 86_400, 0.0) / FORGOTTEN_DAYS)


def _quality(pattern: Pattern, task: Task) -> tuple[float, tuple[tuple[Obstacle, str], ...]]:
    """Return the share of what a pattern asks for that the task is known to have; 0 where it asks for nothing."""
    where, features = pattern.applicability, pattern.applicability.task_features
    shares, met = list[float](), list[tuple[Obstacle, str]]()
    asked: tuple[tuple[Obstacle, tuple[str, ...], frozenset[str]], ...] = (
        ("problem_type", where.problem_types, task.problem_types),
        ("domain", features.domain, task.domains),
    )
    for kind, names, given in asked:
        if names:
            found = [name for name in names if name.casefold() in given]
            shares.append(1.0 if found else 0.0)
            met += [(kind, name) for name in found]
    if features.complexity is not None:
        known = task.complexity is not None
        shares.append(1.0 if known else 0.0)
        met += [("complexity", f"{task.complexity:g}")] if task.complexity is not None else []
    if features.required_capabilities:
        shares.append(1.0 if task.capabilities is not None else 0.0)
        met += [("capability", name) for name in features.required_capabilities if task.capabilities is not None]
    shares += [1.0] * len(where.context_conditions)
    met += [("condition", text) for text in where.context_conditions]
    return (math.fsum(shares) / len(shares) if shares else 0.0), tuple(met)
