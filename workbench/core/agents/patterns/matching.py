"""Which patterns apply to a task, how well, and why another one does not (source 004, 3.5)."""

import json
import math
import operator
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar

from workbench.core.agents.actors import MERGED
from workbench.core.agents.patterns.pattern import (
    Applicability,
    Application,
    Body,
    Category,
    ComplexityRange,
    Evidence,
    Feature,
    Pattern,
    Relation,
    Relationships,
    Status,
    TaskFeatures,
    Template,
)
from workbench.core.agents.patterns.schema import ConditionSyntax, Facts, holds, parsed
from workbench.core.duplicates.dedup import negations, numbers, opposites
from workbench.core.record import InvalidRecord, minute
from workbench.core.text import counted, one_line
from workbench.core.words import stop_words, words

WEIGHTS: Mapping[str, float] = {
    "confidence": 0.4,
    "success": 0.3,
    "usage": 0.15,
    "recency": 0.1,
    "match": 0.05,
}
"""What a ranking of patterns is made of, and how much each part weighs."""

FORGOTTEN_DAYS = 90.0
"""Days after which a validation counts for 1/e of a fresh one."""

USED: frozenset[Status] = frozenset({"validated"})
"""Where a pattern stands that is used."""

Obstacle = Literal[
    "status",
    "category",
    "problem_type",
    "domain",
    "complexity",
    "capability",
    "condition",
    "anti_condition",
]
"""What keeps a pattern from a task."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is known of a task. `facts` is what conditions ask about; the features are among them by
    their names.

    Problem types, domains and capabilities are in lower case. Of capabilities and complexity `None`
    means that nobody said; a problem type or domain that nobody said is none.
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
        """The facts, with the features under `problem_type`, `domain`, `complexity`,
        `capabilities`, and `task`.
        """
        own: dict[str, object] = {
            "problem_type": sorted(self.problem_types),
            "domain": sorted(self.domains),
            "complexity": self.complexity,
            "capabilities": sorted(self.capabilities or ()),
            "task": self.text,
        }
        known = {name: value for name, value in own.items() if value not in (None, "", [])}
        return known | dict(self.facts)


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
        text.strip(),
        lower(problem_types),
        lower(domains),
        complexity,
        able or None,
        category,
        dict(facts or {}),
    )


class Fit(NamedTuple):
    """A problem type or domain that a task is taken to be of, and why."""

    about: Feature
    name: str
    why: str


class LeftOut(NamedTuple):
    """Why a pattern does not apply: what stands in the way, and what the pattern asks for there.

    A condition that hangs on what the task does not say is `unknown`.
    """

    obstacle: Obstacle
    asked: tuple[str, ...] = ()
    unknown: bool = False


class Match(NamedTuple):
    """A pattern that applies: its score, and the parts that make it, each from 0 to 1 before it is
    weighted.

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


def obstacle(
    pattern: Pattern, task: Task, facts: Facts, statuses: frozenset[Status] = USED
) -> LeftOut | None:
    """Return the first thing that keeps a pattern from a task; `None` when it applies. `facts` are
    `every_fact`.
    """
    if pattern.status not in statuses:
        return LeftOut("status", (pattern.status,))
    if task.category is not None and pattern.category != task.category:
        return LeftOut("category", (pattern.category,))
    for wanted in _wanted(pattern, task):
        if wanted.lacking:
            return LeftOut(wanted.kind, wanted.lacking, not wanted.is_known)
    where = pattern.applicability
    for text in where.context_conditions:
        if not (said := _said(text, facts)):
            return LeftOut("condition", (text,), said is None)
    against = next(
        (text for text in where.anti_conditions if _said(text, facts, unreadable=True)), None
    )
    return None if against is None else LeftOut("anti_condition", (against,))


class _Wanted(NamedTuple):
    """A feature that a pattern asks for: what of it the task has and what it is `lacking`.

    Where the task says nothing of it, it is not `is_known`.
    """

    kind: Obstacle
    met: tuple[str, ...]
    lacking: tuple[str, ...]
    is_known: bool


def _wanted(pattern: Pattern, task: Task) -> Iterator[_Wanted]:
    where, features = pattern.applicability, pattern.applicability.task_features
    named: tuple[tuple[Obstacle, tuple[str, ...], frozenset[str]], ...] = (
        ("problem_type", where.problem_types, task.problem_types),
        ("domain", features.domain, task.domains),
    )
    for kind, names, given in named:
        met = tuple(name for name in names if name.casefold() in given)
        if names:
            yield _Wanted(kind, met, () if met else names, bool(given))
    hard, known = features.complexity, task.complexity
    if hard is not None and known is not None:
        lacking = () if hard.min <= known <= hard.max else (f"{hard.min:g}", f"{hard.max:g}")
        yield _Wanted("complexity", (f"{known:g}",), lacking, True)
    elif hard is not None:
        yield _Wanted("complexity", (), (), False)
    if names := features.required_capabilities:
        able = task.capabilities
        met = () if able is None else tuple(name for name in names if name.casefold() in able)
        left = tuple(name for name in names if able is not None and name not in met)
        yield _Wanted("capability", met, left, able is not None)


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
    return Match(
        pattern, math.fsum(WEIGHTS[name] * part for name, part in parts.items()), parts, met
    )


Found = TypeVar("Found", Match, "Likeness")


def ranked(found: Iterable[Found], most: int | None = None) -> tuple[Found, ...]:
    """Return what was found, the best first; ties go by id, so that an order is always the same."""
    return tuple(sorted(found, key=lambda one: (-one.score, one.pattern.id))[:most])


def _said(text: str, facts: Facts, *, unreadable: bool | None = None) -> bool | None:
    """Tell whether a condition holds; `None` where it hangs on something unknown.

    One that cannot be read any more is never for a pattern: `unreadable` is what it says.
    """
    try:
        return holds(parsed(text), facts)
    except ConditionSyntax:
        return unreadable


def _recency(pattern: Pattern, now: datetime) -> float:
    at = pattern.support.last_validated
    return (
        0.0
        if at is None
        else math.exp(-max((now - at).total_seconds() / 86_400, 0.0) / FORGOTTEN_DAYS)
    )


def _quality(pattern: Pattern, task: Task) -> tuple[float, tuple[tuple[Obstacle, str], ...]]:
    """Return the share of what a pattern asks for that the task is known to have; 0 where it asks
    for nothing.
    """
    wanted = list(_wanted(pattern, task))
    conditions = pattern.applicability.context_conditions
    met: list[tuple[Obstacle, str]] = [(one.kind, name) for one in wanted for name in one.met]
    met += [("condition", text) for text in conditions]
    had = sum(bool(one.met) for one in wanted) + len(conditions)
    return had / max(len(wanted) + len(conditions), 1), tuple(met)


# A pattern in words: what it says to do, as an agent and a person read it.


def text_of(pattern: Pattern) -> str:
    """Return a pattern as plain lines: its name and what it says, when and how, and what to mind."""
    return "\n".join(_lines(pattern))


def _lines(pattern: Pattern) -> Iterator[str]:
    yield pattern.name
    yield from dict.fromkeys(text for text in (pattern.summary, pattern.description) if text)
    where, guidance = pattern.applicability, pattern.guidance
    if pattern.detailed_explanation:
        yield pattern.detailed_explanation
    if guidance.when_to_apply:
        yield f"When: {guidance.when_to_apply}"
    for condition in where.context_conditions:
        yield f"Only when: {condition}"
    for condition in where.anti_conditions:
        yield f"Not when: {condition}"
    if guidance.how_to_apply:
        yield f"How: {guidance.how_to_apply}"
    if pattern.body is not None:
        yield from body_lines(pattern.body)
    for benefit in guidance.expected_benefits:
        yield f"Benefit: {benefit}"
    for risk in guidance.potential_risks:
        yield f"Risk: {risk}"


def body_lines(body: Body) -> Iterator[str]:
    """Yield what a pattern says to do, a line each."""
    if body.strategy is not None:
        yield f"Approach: {body.strategy.approach}"
        yield from (f"- {principle}" for principle in body.strategy.key_principles)
        if body.strategy.trade_offs:
            yield f"Trade-offs: {body.strategy.trade_offs}"
    if body.heuristic is not None:
        when = f"If {body.heuristic.condition}: " if body.heuristic.condition else ""
        yield f"{when}{body.heuristic.action}"
        if body.heuristic.rationale:
            yield f"Because: {body.heuristic.rationale}"
    if body.procedure is not None:
        for number, step in enumerate(body.procedure.steps, 1):
            after = f" (after {', '.join(step.depends_on)})" if step.depends_on else ""
            yield f"{number}. {f'[{step.id}] ' if step.id else ''}{step.text}{after}"
        yield from (
            f"If {branch.when}: go to {branch.go_to}" for branch in body.procedure.branching_logic
        )
        yield from (
            f"Done when: {condition}" for condition in body.procedure.termination_conditions
        )
    if body.template is not None:
        yield from _template(body.template)


def _template(template: Template) -> Iterator[str]:
    for one in template.parameters:
        default = (
            ""
            if one.default is None
            else f", {json.dumps(one.default, ensure_ascii=False)} unless given"
        )
        about = f": {one.about}" if one.about else ""
        choices = f" ({', '.join(one.choices)})" if one.choices else ""
        yield f"Parameter {one.name}, a {one.type}{choices}{default}{about}"
    yield from json.dumps(template.structure, ensure_ascii=False, indent=2).splitlines()


_REASONS = {
    "evidence": "by its evidence", "refined": "refined by a person", "approved": "approved by a person",
    "restored": "restored by a person", "imported": "imported", "merged": "merged",
    "superseded": "superseded", "low value": "weak",
}  # fmt: skip
"""Reasons of a status that are no person's words, as they are told."""

_BASES = {
    "recorded": "", "named": "names it", "followed": "served, and at least half of it done",
    "served": "served only, not counted", "unproven": "outcome unknown, not counted",
    "mined": "mined from it, not counted",
}  # fmt: skip
"""What is told of why an episode is among the applications."""

APPLICATIONS = 10
"""Applications that are told of one by one."""


def in_full(
    pattern: Pattern, done: Sequence[Application], when: Callable[[datetime], str] = minute
) -> Iterator[str]:
    """Yield all that is known of a pattern, a line each: where it stands, what it says, and its
    latest applications.

    `when` writes a time.
    """
    said = pattern.support
    reason = _REASONS.get(pattern.status_reason, pattern.status_reason)
    yield f"{pattern.id} · {pattern.category} · {pattern.status.replace('_', ' ')}{f', {reason}' if reason else ''}"
    yield f"version {pattern.edition} of {when(pattern.last_updated)} · made {when(pattern.created_at)}"
    if pattern.superseded_by:
        yield f"superseded by {pattern.superseded_by}"
    yield ""
    yield text_of(pattern)
    yield ""
    yield from _asked(pattern)
    yield _evidence(pattern, when)
    saved = (("time", said.avg_time_saving, " s"), ("cost", said.avg_cost_saving, ""))
    for name, value, unit in saved:
        if value is not None:
            yield f"saves {name}: {value:+.4g}{unit} on average, compared with the baseline"
    if said.success_rate_improvement is not None:
        yield f"succeeds more often by {said.success_rate_improvement:+.0%} than without"
    used = "never used" if pattern.last_used is None else f"last {when(pattern.last_used)}"
    yield f"used {pattern.usage_count:,} times, {used}" if pattern.usage_count else "never used"
    for relation, others in _relations(pattern):
        yield f"{relation}: {', '.join(others)}"
    if mined := pattern.support.mined_from:
        shown = f"{', '.join(mined[:APPLICATIONS])}{', …' if len(mined) > APPLICATIONS else ''}"
        yield f"mined from {counted(len(mined), 'episode')}, which do not validate it: {shown}"
    for one in done[:APPLICATIONS]:
        basis = "mined" if one.episode in mined else one.basis
        note = "".join(
            f" · {text}"
            for text in (_BASES.get(basis, basis), one_line(one.note or one.task, 100))
            if text
        )
        yield f"  {when(one.at)}  {one.outcome:<8} {one.episode}{note}"
    if len(done) > APPLICATIONS:
        yield f"  and {len(done) - APPLICATIONS:,} more"


def _asked(pattern: Pattern) -> Iterator[str]:
    where = pattern.applicability
    if where.problem_types:
        yield f"for problems: {', '.join(where.problem_types)}"
    if where.task_features.domain:
        yield f"in domains: {', '.join(where.task_features.domain)}"
    hard = where.task_features.complexity
    if hard is not None:
        yield f"for complexity {hard.min:g} to {hard.max:g} (of 10)"
    if where.task_features.required_capabilities:
        yield f"needs: {', '.join(where.task_features.required_capabilities)}"


def _evidence(pattern: Pattern, when: Callable[[datetime], str]) -> str:
    said = pattern.support
    if not said.num_applications and said.last_validated is None:
        return "evidence: none yet"
    at = "imported" if said.last_validated is None else f"validated {when(said.last_validated)}"
    many = counted(said.num_applications, "application")
    return (
        f"evidence: {many}, {said.success_rate:.0%} succeeded, "
        f"p = {said.statistical_significance:.3g}, confidence {said.confidence_score:.2f}, {at}"
    )


def _relations(pattern: Pattern) -> Iterator[tuple[str, tuple[str, ...]]]:
    known = pattern.relationships
    if known.specializes:
        yield "specializes", (known.specializes,)
    for name, others in (
        ("generalizes", known.generalizes), ("contradicts", known.contradicts), ("complements", known.complements),
        ("alternatives", pattern.guidance.alternative_patterns),
    ):  # fmt: skip
        if others:
            yield name, others


# Patterns beside each other: how alike two are, what becomes of several that are one, and which are
# weak.


ALIKE = 0.5
"""From which likeness on two patterns are shown as similar."""

SHARES: Mapping[str, float] = {"text": 0.5, "applicability": 0.3, "form": 0.2}
"""What each part of a likeness counts."""

INVERSE: Mapping[Relation, Relation] = {
    "specializes": "generalizes", "generalizes": "specializes",
    "contradicts": "contradicts", "complements": "complements",
}  # fmt: skip
"""What the other pattern says then."""

Weakness = Literal["low_confidence", "unused", "contradicted"]
"""Why a pattern is weak."""

LOW, UNUSED = 0.4, timedelta(days=90)
"""A confidence below this is low, a pattern that nobody applied for so long is unused."""


class Likeness(NamedTuple):
    """How alike another pattern is, from 0 to 1, and by what: text, applicability, and the form of
    what it says.
    """

    pattern: Pattern
    score: float
    parts: Mapping[str, float]


def similar(
    pattern: Pattern, others: Iterable[Pattern], least: float = ALIKE
) -> tuple[Likeness, ...]:
    """Return the patterns of the same category that resemble one, the most alike first; none that
    is deprecated.
    """
    beside = [
        likeness(pattern, other)
        for other in others
        if other.id != pattern.id
        and other.category == pattern.category
        and other.status != "deprecated"
    ]
    return ranked(one for one in beside if one.score >= least)


def likeness(one: Pattern, other: Pattern) -> Likeness:
    """Return how alike two patterns are, as what the other one is to the first."""
    forms = [pattern.body.type if pattern.body is not None else "" for pattern in (one, other)]
    parts = {
        "text": _overlap(_words(one.content), _words(other.content)),
        "applicability": _overlap(_features(one.applicability), _features(other.applicability)),
        "form": float(forms[0] == forms[1]),
    }
    return Likeness(other, math.fsum(SHARES[name] * part for name, part in parts.items()), parts)


def merged(patterns: Sequence[Pattern], id: str, now: datetime) -> Pattern:
    """Return what several patterns of one category become: the words of the surest, for all that
    they were for.

    It applies where one of them did; what one warned of stays a warning. It keeps the conditions
    that they share, and its evidence is that of all. Raises `InvalidRecord` for fewer than two, or
    those that do not go together.
    """
    unlike = {pattern.category for pattern in patterns}
    if len({pattern.id for pattern in patterns}) < 2 or len(unlike) > 1:
        what = (
            f"They are of several categories: {', '.join(sorted(unlike))}"
            if len(unlike) > 1
            else "There is one alone"
        )
        raise InvalidRecord(
            f"{what}; patterns to merge are two or more of one category.", "Nothing was changed."
        )
    gone = next((pattern for pattern in patterns if pattern.status == "deprecated"), None)
    if gone is not None:
        raise InvalidRecord(
            f"{gone.id} is deprecated and cannot be merged.", "Nothing was changed."
        )
    best = max(patterns, key=lambda p: (p.support.confidence_score, p.usage_count, p.id))
    others = partial(_union, without={pattern.id for pattern in patterns})
    of_guidance = [pattern.guidance for pattern in (best, *patterns)]
    return replace(
        best,
        id=id,
        created_at=now,
        last_updated=now,
        edition=1,
        applicability=_for_all([pattern.applicability for pattern in patterns]),
        guidance=replace(
            best.guidance,
            **_each(of_guidance, expected_benefits=_union, potential_risks=_union, alternative_patterns=others),
        ),
        support=_evidence_of_all([pattern.support for pattern in patterns]),
        status="validated" if all(p.status == "validated" for p in patterns) else "candidate",
        status_reason=MERGED,
        superseded_by=None,
        relationships=Relationships(
            **_each(
                [pattern.relationships for pattern in patterns],
                specializes=lambda above: _only(others([[one] for one in above if one])),
                generalizes=others,
                contradicts=others,
                complements=others,
            )
        ),
        **_each(patterns, usage_count=sum, last_used=_latest, evidence_since=_latest),
    )  # fmt: skip


def related(pattern: Pattern, relation: Relation, other: str, *, remove: bool = False) -> Pattern:
    """Return a pattern that says how it stands to another one, or that says so no longer."""
    known = pattern.relationships
    if relation == "specializes":
        kept = None if known.specializes == other else known.specializes
        return replace(pattern, relationships=replace(known, specializes=kept if remove else other))
    held = tuple(id for id in getattr(known, relation) if id != other)
    now = held if remove else (*held, other)
    changed: dict[str, Any] = {relation: now}
    return replace(pattern, relationships=replace(known, **changed))


def weaknesses(pattern: Pattern, now: datetime) -> tuple[Weakness, ...]:
    """Return why a pattern is weak; mostly nothing. One that is deprecated already is not
    looked at.
    """
    if pattern.status == "deprecated":
        return ()
    said, found = pattern.support, list[Weakness]()
    if said.last_validated is not None and said.confidence_score < LOW:
        found.append("low_confidence")
    if (
        now - (pattern.last_used or pattern.created_at) > UNUSED
        and pattern.status != "under_review"
    ):
        found.append("unused")
    if len(said.counter_episodes) > len(said.supporting_episodes):
        found.append("contradicted")
    return tuple(found)


Words = frozenset[object]


def _words(text: str) -> Words:
    return frozenset(words(text)) - stop_words()


def _features(where: Applicability) -> Words:
    features = where.task_features
    every = (
        ("type", where.problem_types), ("domain", features.domain), ("capability", features.required_capabilities),
        ("condition", where.context_conditions), ("anti", where.anti_conditions),
    )  # fmt: skip
    return frozenset((kind, name.casefold()) for kind, names in every for name in names)


def _overlap(one: Words, other: Words) -> float:
    """Return the share of what two have together; two that have nothing are the same."""
    return len(one & other) / len(one | other) if one or other else 1.0


def _each(records: Sequence[object], **rules: Callable[[list[Any]], object]) -> dict[str, Any]:
    """Return fields by the rules that make one value of those of several records."""
    return {name: rule([getattr(one, name) for one in records]) for name, rule in rules.items()}


def _union(lists: Iterable[Sequence[str]], without: Container[str] = ()) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in lists for item in items if item not in without))


def _only(names: Sequence[str]) -> str | None:
    return names[0] if len(names) == 1 else None


def _latest(times: Sequence[datetime | None]) -> datetime | None:
    return max((time for time in times if time is not None), default=None)


def _hull(ranges: Sequence[ComplexityRange | None]) -> ComplexityRange | None:
    known = [one for one in ranges if one is not None]
    if len(known) < len(ranges):
        return None
    return ComplexityRange(min(one.min for one in known), max(one.max for one in known))


def _or_any(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return all that one of the lists asks for; nothing where one of them asks for nothing."""
    return _union(lists) if all(lists) else ()


def _in_all(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(item for item in dict.fromkeys(lists[0]) if all(item in items for items in lists))


def _for_all(every: Sequence[Applicability]) -> Applicability:
    features = [where.task_features for where in every]
    return Applicability(
        task_features=TaskFeatures(
            **_each(features, domain=_or_any, complexity=_hull, required_capabilities=_in_all)
        ),
        **_each(every, problem_types=_or_any, context_conditions=_in_all, anti_conditions=_union),
    )


def _evidence_of_all(said: Sequence[Evidence]) -> Evidence:
    """Return the evidence of several: episodes of all, shares by the number of applications behind
    each.
    """
    total = sum(one.num_applications for one in said)
    weights = [one.num_applications or (0 if total else 1) for one in said]
    against = _union(one.counter_episodes for one in said)

    def mean(values: Sequence[float]) -> float:
        return math.fsum(map(operator.mul, values, weights)) / sum(weights)

    return Evidence(
        counter_episodes=against,
        **_each(
            said,
            supporting_episodes=partial(_union, without=against),
            num_applications=sum,
            success_rate=mean,
            confidence_score=mean,
            statistical_significance=mean,
            last_validated=_latest,
            mined_from=_union,
        ),
    )


SAME = 0.7
"""The likeness from which on two patterns may be one."""

_TEXT = (SAME - (1 - SHARES["text"])) / SHARES["text"]
"""The share of all their words that two such patterns have together, at the least, however alike
they are else.
"""


class PatternGroup(NamedTuple):
    """Patterns of one category that say the same: the surest, which `stands` for them, and the
    `others` beside it.
    """

    stands: Pattern
    others: tuple[Likeness, ...]

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """All of them, the one that stands for them first."""
        return (self.stands, *(other.pattern for other in self.others))


def pattern_groups(patterns: Iterable[Pattern]) -> tuple[PatternGroup, ...]:
    """Return the groups of patterns that say the same, each pattern in one at the most; the same
    for any order.

    Each is like the surest of its group. Two part that are related already, or of which one
    negates, counts or opposes what the other does not. One that is under review or out of use is in
    none.
    """
    left = defaultdict[Category, list[Pattern]](list)
    for one in sorted(patterns, key=_sureness):
        if one.status in ("validated", "candidate"):
            left[one.category].append(one)
    groups = (group for some in left.values() for group in _grouped(some))
    return tuple(sorted(groups, key=lambda group: group.stands.id))


def _grouped(left: list[Pattern]) -> Iterator[PatternGroup]:
    """Yield the groups among patterns of one category, of which the surest comes first."""
    told = {one.id: (_words(one.content), _features(one.applicability)) for one in left}
    while left:
        first, left = left[0], left[1:]
        beside = (
            likeness(first, one) for one in left if _may_be_one(*told[first.id], *told[one.id])
        )
        others = ranked(
            one for one in beside if one.score >= SAME and not _parted(first, one.pattern)
        )
        if others:
            taken = {one.pattern.id for one in others}
            left = [one for one in left if one.id not in taken]
            yield PatternGroup(first, others)


def _may_be_one(words: Words, asked: Words, others: Words, its: Words) -> bool:
    """Tell whether two may be one: they share words enough, and something that they ask for unless
    all words.
    """
    if _overlap(words, others) < _TEXT - 1e-9:
        return False
    return words == others or asked == its or not asked.isdisjoint(its)


def _sureness(pattern: Pattern) -> tuple[float, int, str]:
    return (-pattern.support.confidence_score, -pattern.usage_count, pattern.id)


def _parted(one: Pattern, other: Pattern) -> bool:
    if other.id in _known_to(one) or one.id in _known_to(other):
        return True
    mine, theirs = (
        (negations(text), sorted(numbers(text))) for text in (one.content, other.content)
    )
    return mine != theirs or bool(opposites(one.content, other.content))


def _known_to(pattern: Pattern) -> frozenset[str]:
    """Return the patterns that one names beside itself: somebody told them apart."""
    known, above = pattern.relationships, pattern.relationships.specializes
    others = (
        *known.generalizes,
        *known.contradicts,
        *known.complements,
        *pattern.guidance.alternative_patterns,
    )
    return frozenset((*others, above) if above else others)
