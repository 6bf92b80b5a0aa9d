"""Patterns that say the same: what joins them into a group that one pattern could stand for, and what parts them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from workbench.core.agents.patterns.combining import SHARES, Likeness, Said, likeness, most_alike, said_by
from workbench.core.agents.patterns.names import Category
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
    marked, left = _Marked(), defaultdict[Category, list[_Row]](list)
    for one in every:
        left[one.category].append(marked.row(said_by(one)))
    found = (group for rows in left.values() for group in _grouped(rows))
    return tuple(sorted(found, key=lambda group: group.stands.id))


class _Row(NamedTuple):
    """A pattern beside others: a bit for each of its words, and how many they are."""

    said: Said
    words: int
    size: int


class _Marked:
    """Gives each word a bit, so that what two have together is counted at once."""

    def __init__(self) -> None:
        self._bits: dict[str, int] = {}

    def row(self, said: Said) -> _Row:
        """Return a pattern with its words as bits."""
        words = sum(1 << self._bits.setdefault(word, len(self._bits)) for word in said.words)
        return _Row(said, words, len(said.words))


def _grouped(rows: Sequence[_Row]) -> Iterator[PatternGroup]:
    """Yield the groups among patterns of one category, of which the surest comes first."""
    left = list(rows)
    while left:
        first, left = left[0], left[1:]
        beside = (likeness(first.said, other.said) for other in left if _may_be_one(first, other))
        stands = first.said.pattern
        others = most_alike(one for one in beside if one.score >= SAME and not _parted(stands, one.pattern))
        if others:
            taken = {one.pattern.id for one in others}
            left = [row for row in left if row.said.pattern.id not in taken]
            yield PatternGroup(stands, others)


def _may_be_one(row: _Row, other: _Row) -> bool:
    """Tell whether two may be one: they share words enough, and something that they ask for unless all words."""
    both = (row.words & other.words).bit_count()
    if both < _TEXT * (row.size + other.size - both) - 1e-9:
        return False
    if row.words == other.words or row.said.asked == other.said.asked:
        return True
    return not row.said.asked.isdisjoint(other.said.asked)


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
