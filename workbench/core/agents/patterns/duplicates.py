"""Patterns that say the same: what joins them into a group that one pattern could stand for, and what parts them."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.core.agents.patterns.combining import SHARES, Likeness, Said, likeness, most_alike, said_by
from workbench.core.agents.patterns.pattern import Pattern
from workbench.core.duplicates.dedup import negations, numbers, opposites

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
    every = sorted((one for one in patterns if one.status in ("validated", "candidate")), key=_sureness)
    said = [said_by(one) for one in every]
    near, taken, found = _Near(said), set[str](), list[PatternGroup]()
    for stands in said:
        if stands.pattern.id in taken:
            continue
        beside = (likeness(stands, other) for other in near.to(stands) if other.pattern.id not in taken)
        others = most_alike(one for one in beside if one.score >= SAME and not _parted(stands.pattern, one.pattern))
        taken |= {stands.pattern.id, *(one.pattern.id for one in others)}
        if others:
            found.append(PatternGroup(stands.pattern, others))
    return tuple(sorted(found, key=lambda group: group.stands.id))


class _Near:
    """Finds the patterns that could share enough words with one, by its rarest words, without a look at all of them.

    Of two that share so many, each holds one of the other's rarest: those that could be left out without falling
    short.
    """

    def __init__(self, said: Sequence[Said]) -> None:
        self._held = Counter(word for one in said for word in one.words)
        self._by_word: defaultdict[tuple[str, str], list[Said]] = defaultdict(list)
        for one in said:
            for word in self._rarest(one):
                self._by_word[one.pattern.category, word].append(one)

    def to(self, one: Said) -> Iterable[Said]:
        """Return the patterns of its category that come into question, each once."""
        found = (other for word in self._rarest(one) for other in self._by_word[one.pattern.category, word])
        return {other.pattern.id: other for other in found if other.pattern.id != one.pattern.id}.values()

    def _rarest(self, one: Said) -> Sequence[str]:
        count = len(one.words) - math.ceil(_TEXT * len(one.words) - 1e-9) + 1
        return sorted(one.words, key=lambda word: (self._held[word], word))[:count]


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
