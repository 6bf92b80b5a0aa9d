"""Patterns that say the same: what joins them into a group that one pattern could stand for, and what parts them."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from workbench.core.agents.actors import MERGED
from workbench.core.agents.patterns.pattern import (
    Applicability,
    Category,
    ComplexityRange,
    Evidence,
    Guidance,
    Pattern,
    Relation,
    Relationships,
    TaskFeatures,
)
from workbench.core.duplicates.dedup import negations, numbers, opposites
from workbench.core.record import InvalidRecord
from workbench.core.words import stop_words, words

# Patterns beside each other: how alike two are, what becomes of several that are one, and which are worth little.


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
"""Why a pattern is worth little."""

LOW, UNUSED = 0.4, timedelta(days=90)
"""A confidence below this is low, a pattern that nobody applied for so long is unused."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike another pattern is, from 0 to 1, and by what: text, applicability, and the form of what it says."""

    pattern: Pattern
    score: float
    parts: Mapping[str, float]


def similar(pattern: Pattern, others: Iterable[Pattern], least: float = ALIKE) -> tuple[Likeness, ...]:
    """Return the patterns of the same category that resemble one, the most alike first; none that is deprecated."""
    beside = [
        likeness(pattern, other)
        for other in others
        if other.id != pattern.id and other.category == pattern.category and other.status != "deprecated"
    ]
    return most_alike(one for one in beside if one.score >= least)


def most_alike(found: Iterable[Likeness]) -> tuple[Likeness, ...]:
    """Return what resembles a pattern in order, the most alike first."""
    return tuple(sorted(found, key=lambda one: (-one.score, one.pattern.id)))


def likeness(one: Pattern, other: Pattern) -> Likeness:
    """Return how alike two patterns are, as what the other one is to the first."""
    forms = [pattern.body.type if pattern.body is not None else "" for pattern in (one, other)]
    parts = {
        "text": _overlap(_words(one.content), _words(other.content)),
        "applicability": _overlap(_asked(one.applicability), _asked(other.applicability)),
        "form": float(forms[0] == forms[1]),
    }
    return Likeness(other, math.fsum(SHARES[name] * part for name, part in parts.items()), parts)


def merged(patterns: Sequence[Pattern], id: str, now: datetime) -> Pattern:
    """Return what several patterns of one category become: the words of the surest, for all that they were for.

    It applies where one of them did; what one warned of stays a warning. It keeps the conditions that they share, and
    its evidence is that of all. Raises `InvalidRecord` for fewer than two, or those that do not go together.
    """
    unlike = {pattern.category for pattern in patterns}
    if len({pattern.id for pattern in patterns}) < 2 or len(unlike) > 1:
        what = (
            f"They are of several categories: {', '.join(sorted(unlike))}" if len(unlike) > 1 else "There is one alone"
        )
        raise InvalidRecord(f"{what}; patterns to merge are two or more of one category.", "Nothing was changed.")
    gone = next((pattern for pattern in patterns if pattern.status == "deprecated"), None)
    if gone is not None:
        raise InvalidRecord(f"{gone.id} is deprecated and cannot be merged.", "Nothing was changed.")
    best = max(patterns, key=lambda p: (p.support.confidence_score, p.usage_count, p.id))
    starts = [pattern.evidence_since for pattern in patterns if pattern.evidence_since is not None]
    return replace(
        best,
        id=id,
        created_at=now,
        last_updated=now,
        edition=1,
        applicability=_for_all([pattern.applicability for pattern in patterns]),
        guidance=_guidance(best, patterns),
        support=_evidence(patterns),
        status="validated" if all(pattern.status == "validated" for pattern in patterns) else "candidate",
        status_reason=MERGED,
        usage_count=sum(pattern.usage_count for pattern in patterns),
        last_used=max((p.last_used for p in patterns if p.last_used is not None), default=None),
        superseded_by=None,
        evidence_since=max(starts, default=None),
        relationships=_relationships(patterns),
    )


def related(pattern: Pattern, relation: Relation, other: str, *, remove: bool = False) -> Pattern:
    """Return a pattern that says how it stands to another one, or that says so no longer."""
    known = pattern.relationships
    if relation == "specializes":
        kept = None if known.specializes == other else known.specializes
        return replace(pattern, relationships=replace(known, specializes=kept if remove else other))
    held = tuple(id for id in getattr(known, relation) if id != other)
    now = held if remove else (*held, other)
    match relation:
        case "generalizes":
            known = replace(known, generalizes=now)
        case "contradicts":
            known = replace(known, contradicts=now)
        case "complements":
            known = replace(known, complements=now)
    return replace(pattern, relationships=known)


def weaknesses(pattern: Pattern, now: datetime) -> tuple[Weakness, ...]:
    """Return why a pattern is worth little; mostly nothing. One that is deprecated already is not looked at."""
    if pattern.status == "deprecated":
        return ()
    said, found = pattern.support, list[Weakness]()
    if said.last_validated is not None and said.confidence_score < LOW:
        found.append("low_confidence")
    if now - (pattern.last_used or pattern.created_at) > UNUSED and pattern.status != "under_review":
        found.append("unused")
    if len(said.counter_episodes) > len(said.supporting_episodes):
        found.append("contradicted")
    return tuple(found)


Words = frozenset[object]


def _words(text: str) -> Words:
    return frozenset(words(text)) - stop_words()


def _asked(where: Applicability) -> Words:
    features = where.task_features
    every = (
        ("type", where.problem_types), ("domain", features.domain), ("capability", features.required_capabilities),
        ("condition", where.context_conditions), ("anti", where.anti_conditions),
    )  # fmt: skip
    return frozenset((kind, name.casefold()) for kind, names in every for name in names)


def _overlap(one: Words, other: Words) -> float:
    """Return the share of what two have together; two that have nothing are the same."""
    return len(one & other) / len(one | other) if one or other else 1.0


def _union(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in lists for item in items))


def _or_any(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return all that one of the lists asks for; nothing where one of them asks for nothing."""
    return _union(lists) if all(lists) else ()


def _in_all(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(item for item in dict.fromkeys(lists[0]) if all(item in items for items in lists))


def _for_all(every: Sequence[Applicability]) -> Applicability:
    features = [where.task_features for where in every]
    ranges = [one.complexity for one in features if one.complexity is not None]
    hull = ComplexityRange(min(r.min for r in ranges), max(r.max for r in ranges)) if ranges else None
    return Applicability(
        problem_types=_or_any([where.problem_types for where in every]),
        task_features=TaskFeatures(
            domain=_or_any([one.domain for one in features]),
            complexity=hull if len(ranges) == len(features) else None,
            required_capabilities=_in_all([one.required_capabilities for one in features]),
        ),
        context_conditions=_in_all([where.context_conditions for where in every]),
        anti_conditions=_union(where.anti_conditions for where in every),
    )


def _guidance(best: Pattern, patterns: Sequence[Pattern]) -> Guidance:
    ids = {pattern.id for pattern in patterns}
    every = [pattern.guidance for pattern in (best, *(p for p in patterns if p is not best))]
    return replace(
        best.guidance,
        expected_benefits=_union(one.expected_benefits for one in every),
        potential_risks=_union(one.potential_risks for one in every),
        alternative_patterns=tuple(i for i in _union(one.alternative_patterns for one in every) if i not in ids),
    )


def _evidence(patterns: Sequence[Pattern]) -> Evidence:
    """Return the evidence of several: episodes of all, shares by the number of applications behind each."""
    said = [pattern.support for pattern in patterns]
    total = sum(one.num_applications for one in said)

    def mean(name: str) -> float:
        weights = [one.num_applications or (0 if total else 1) for one in said]
        return math.fsum(getattr(one, name) * weight for one, weight in zip(said, weights, strict=True)) / sum(weights)

    against = _union(one.counter_episodes for one in said)
    return Evidence(
        supporting_episodes=tuple(e for e in _union(one.supporting_episodes for one in said) if e not in against),
        counter_episodes=against,
        num_applications=total,
        success_rate=mean("success_rate"),
        confidence_score=mean("confidence_score"),
        statistical_significance=mean("statistical_significance"),
        last_validated=max((one.last_validated for one in said if one.last_validated is not None), default=None),
        mined_from=_union(one.mined_from for one in said),
    )


def _relationships(patterns: Sequence[Pattern]) -> Relationships:
    ids = {pattern.id for pattern in patterns}
    said = [pattern.relationships for pattern in patterns]

    def others(every: Iterable[Sequence[str]]) -> tuple[str, ...]:
        return tuple(id for id in _union(every) if id not in ids)

    above = {one.specializes for one in said if one.specializes and one.specializes not in ids}
    return Relationships(
        specializes=above.pop() if len(above) == 1 else None,
        generalizes=others(one.generalizes for one in said),
        contradicts=others(one.contradicts for one in said),
        complements=others(one.complements for one in said),
    )


SAME = 0.7
"""The likeness from which on two patterns may be one."""

_TEXT = (SAME - (1 - SHARES["text"])) / SHARES["text"]
"""The share of all their words that two such patterns have together, at the least, however alike they are else."""


@dataclass(frozen=True, slots=True)
class PatternGroup:
    """Patterns of one category that say the same: the surest, which `stands` for them, and the `others` beside it."""

    stands: Pattern
    others: tuple[Likeness, ...]

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """All of them, the one that stands for them first."""
        return (self.stands, *(other.pattern for other in self.others))


def pattern_groups(patterns: Iterable[Pattern]) -> tuple[PatternGroup, ...]:
    """Return the groups of patterns that say the same, each pattern in one at the most; the same for any order.

    Each is like the surest of its group. Two part that are related already, or of which one negates, counts or opposes
    what the other does not. One that is under review or out of use is in none.
    """
    left = defaultdict[Category, list[Pattern]](list)
    for one in sorted(patterns, key=_sureness):
        if one.status in ("validated", "candidate"):
            left[one.category].append(one)
    groups = (group for some in left.values() for group in _grouped(some))
    return tuple(sorted(groups, key=lambda group: group.stands.id))


def _grouped(left: list[Pattern]) -> Iterator[PatternGroup]:
    """Yield the groups among patterns of one category, of which the surest comes first."""
    told = {one.id: (_words(one.content), _asked(one.applicability)) for one in left}
    while left:
        first, left = left[0], left[1:]
        beside = (likeness(first, one) for one in left if _may_be_one(*told[first.id], *told[one.id]))
        others = most_alike(one for one in beside if one.score >= SAME and not _parted(first, one.pattern))
        if others:
            taken = {one.pattern.id for one in others}
            left = [one for one in left if one.id not in taken]
            yield PatternGroup(first, others)


def _may_be_one(words: Words, asked: Words, others: Words, its: Words) -> bool:
    """Tell whether two may be one: they share words enough, and something that they ask for unless all words."""
    if _overlap(words, others) < _TEXT - 1e-9:
        return False
    return words == others or asked == its or not asked.isdisjoint(its)


def _sureness(pattern: Pattern) -> tuple[float, int, str]:
    return (-pattern.support.confidence_score, -pattern.usage_count, pattern.id)


def _parted(one: Pattern, other: Pattern) -> bool:
    if other.id in _known_to(one) or one.id in _known_to(other):
        return True
    mine, theirs = ((negations(text), sorted(numbers(text))) for text in (one.content, other.content))
    return mine != theirs or bool(opposites(one.content, other.content))


def _known_to(pattern: Pattern) -> frozenset[str]:
    """Return the patterns that one names beside itself: somebody told them apart."""
    known, above = pattern.relationships, pattern.relationships.specializes
    others = (*known.generalizes, *known.contradicts, *known.complements, *pattern.guidance.alternative_patterns)
    return frozenset((*others, above) if above else others)
