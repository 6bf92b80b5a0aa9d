"""Bullets that may be one (source 003, grow-and-refine): equal texts, and groups above a similarity."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from workbench.core.duplicates.dedup import PairVerdict
from workbench.core.duplicates.groups import SAME_TEXT
from workbench.core.playbook.book import Bullet
from workbench.services.duplicates.comparison import (
    BULLETS,
    DIFFERING,
    FLOOR,
    LARGEST,
    NEAR,
    OPPOSED,
    Comparison,
    Judge,
    classes,
    ranked,
)

__all__ = [
    "FLOOR", "LARGEST", "BulletGroup", "BulletPair", "Kind", "Likeness", "equal_groups", "living",
    "ranked",
]  # fmt: skip

LONG = 4_000
"""Characters of a group's texts from which comparing them in words takes longer than a row may."""

SAME_FORM = PairVerdict("absorb", ("the same text but for case and white space",))

Kind = Literal["exact", "case", "near", "opposed", "apart"]
"""The same text; the same but for case; nothing speaks against it; a contradiction; something speaks against it."""

_EQUAL: tuple[tuple[Kind, PairVerdict], ...] = (("exact", SAME_TEXT), ("case", SAME_FORM))
"""What bullets are whose texts have one form, the strictest form first."""


@dataclass(frozen=True, slots=True)
class BulletPair:
    """Two bullets and their cosine (−1…1). They are compared in words when somebody asks for the verdict."""

    left: Bullet
    right: Bullet
    similarity: float
    judge: Judge[Bullet] = field(compare=False, repr=False)
    same: PairVerdict | None = field(default=None, compare=False, repr=False)

    @property
    def verdict(self) -> PairVerdict:
        """What speaks for and against making one of them."""
        return self.same or self.judge.verdict(self.left, self.right)


@dataclass(frozen=True, slots=True)
class BulletGroup:
    """Bullets that resemble each other, and in which way.

    The first one is proposed to be kept: the most helpful, of those the first in the file.
    """

    kind: Kind
    bullets: tuple[Bullet, ...]
    pairs: tuple[BulletPair, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its bullets, which name the group."""
        return tuple(b.id for b in self.bullets)

    @property
    def ordinary(self) -> bool:
        """Whether nothing speaks against making one bullet of them."""
        return self.kind in ("exact", "case", "near")

    @property
    def is_long(self) -> bool:
        """Whether comparing its texts in words takes so long that a key would wait."""
        return sum(len(bullet.content) for bullet in self.bullets) > LONG

    @property
    def similarity(self) -> float:
        """The cosine of the two that are least alike."""
        return min(pair.similarity for pair in self.pairs)

    @property
    def conflicts(self) -> tuple[str, ...]:
        """What lets two of them say different things, in short words, each once."""
        return tuple(dict.fromkeys(text for pair in self.pairs for text in pair.verdict.conflicts))

    def between(self, one: str, other: str) -> BulletPair | None:
        """Return the pair of two of its bullets, if it was compared."""
        return next((p for p in self.pairs if {p.left.id, p.right.id} == {one, other}), None)


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """How much the bullets of a playbook resemble each other, measured once; groups at any threshold cost little.

    `flag` is the threshold that holds for duplicates unless somebody chooses another one; `kept` counts the pairs
    that somebody keeps apart, which are in no group. The first look below a threshold compares more pairs in words.
    """

    same: tuple[BulletGroup, ...]
    comparison: Comparison[Bullet] | None
    flag: float
    kept: int = 0

    @property
    def floor(self) -> float:
        """The cosine from which on every pair is known."""
        return FLOOR if self.comparison is None else self.comparison.floor

    def groups(self, threshold: float | None = None) -> tuple[BulletGroup, ...]:
        """Return what resembles each other at a cosine: equal texts, near ones, contradictions, then all others.

        In a near group nothing speaks against any two being one. Contradictions ("always", "never") come in pairs,
        and no two bullets of another group contradict each other. Within each kind the closest come first.
        """
        limit, found = self.flag if threshold is None else threshold, self.comparison
        if found is None:
            return self.same
        near = found.groups(NEAR, limit)
        gone = {row for rows in near for row in _but_first(rows, found.records)}
        opposed = [place for place in found.closest(limit) if found.fits(place, OPPOSED, limit)]
        apart = found.groups(DIFFERING, limit, gone)
        every: tuple[tuple[Kind, Sequence[tuple[int, ...]]], ...] = (
            ("near", near), ("opposed", opposed), ("apart", apart),
        )  # fmt: skip
        return (*self.same, *(group for kind, some in every for group in _groups(kind, some, found)))

    def compare(self) -> None:
        """Compare in words what takes long, so that neither the list nor a step of the slider has to wait for it."""
        for limit in (FLOOR, self.flag):
            for pair in (pair for group in self.groups(limit) if group.is_long for pair in group.pairs):
                _ = pair.verdict


def living(bullets: Sequence[Bullet]) -> list[Bullet]:
    """Return the bullets that count: deprecated ones take no part."""
    return [b for b in bullets if b.state != "deprecated"]


def equal_groups(bullets: Sequence[Bullet], judge: Judge[Bullet]) -> list[BulletGroup]:
    """Return the groups with one text in one section, then those with one text but for case and white space."""
    found, gone = list[BulletGroup](), set[str]()
    for (kind, verdict), form in zip(_EQUAL, BULLETS.forms, strict=True):
        parts = [ranked(part) for part in classes((b for b in bullets if b.id not in gone), BULLETS, form)]
        for first, *others in (part for part in parts if len(part) > 1):
            gone.update(b.id for b in others)
            pairs = tuple(BulletPair(first, b, 1.0, judge, verdict) for b in others)
            found.append(BulletGroup(kind, (first, *others), pairs))
    return found


def _groups(kind: Kind, some: Iterable[Sequence[int]], found: Comparison[Bullet]) -> list[BulletGroup]:
    """Return groups of places as groups of bullets, the closest first."""
    return sorted((_group(kind, rows, found) for rows in some), key=lambda group: -group.similarity)


def _group(kind: Kind, rows: Sequence[int], found: Comparison[Bullet]) -> BulletGroup:
    bullets, places = found.records, combinations(rows, 2)
    pairs = tuple(BulletPair(bullets[p[0]], bullets[p[1]], found.cosine(p), found.judge) for p in places)
    return BulletGroup(kind, ranked([bullets[row] for row in rows]), pairs)


def _but_first(rows: Sequence[int], bullets: Sequence[Bullet]) -> list[int]:
    """Return the places of a group's members that a merge would take away."""
    kept = ranked([bullets[row] for row in rows])[0].id
    return [row for row in rows if bullets[row].id != kept]
