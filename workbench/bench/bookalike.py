"""Bullets that may be one (source 003, grow-and-refine): equal texts, and groups above a similarity."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from workbench.core.dedup import PairVerdict
from workbench.core.duplicates import complete_groups
from workbench.core.playbook import Bullet

LARGEST = 12
"""Members of a group of near-duplicates at most."""

FLOOR = 0.6
"""Cosine below which two bullets are never compared in words."""

Kind = Literal["exact", "case", "near"]

Judge = Callable[[str, str, float], PairVerdict]
"""Says what speaks for and against two texts, of that cosine, being one."""


@dataclass(frozen=True, slots=True)
class BulletPair:
    """Two bullets and their cosine (−1…1). They are compared in words when somebody asks for the verdict."""

    left: Bullet
    right: Bullet
    similarity: float
    judge: Judge = field(compare=False, repr=False)

    @property
    def verdict(self) -> PairVerdict:
        """What speaks for and against making one of them."""
        return self.judge(self.left.content, self.right.content, self.similarity)


@dataclass(frozen=True, slots=True)
class BulletGroup:
    """Bullets that may be one: byte for byte the same, the same but for case, or near each other.

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

    `cosines` are those of `floor` or more, by the places in `bullets`; `flag` is the threshold that holds for
    duplicates unless somebody chooses another one.
    """

    same: tuple[BulletGroup, ...]
    bullets: tuple[Bullet, ...]
    cosines: Mapping[tuple[int, int], float]
    floor: float
    flag: float
    judge: Judge

    def groups(self, threshold: float | None = None) -> tuple[BulletGroup, ...]:
        """Return equal texts first, then groups in which every two have this cosine, the closest first."""
        limit = self.flag if threshold is None else threshold
        near = {pair: cosine for pair, cosine in self.cosines.items() if cosine >= limit}
        ranked = sorted(near, key=lambda pair: (-near[pair], pair))
        members = complete_groups(ranked, lambda a, b: (min(a, b), max(a, b)) in near, LARGEST)
        found = [self._group(group) for group in members]
        return (*self.same, *sorted(found, key=lambda group: -group.similarity))

    def _group(self, places: Sequence[int]) -> BulletGroup:
        pairs = tuple(
            BulletPair(self.bullets[a], self.bullets[b], self.cosines[a, b], self.judge)
            for a, b in combinations(places, 2)
        )
        return BulletGroup("near", ranked([self.bullets[i] for i in places]), pairs)


def living(bullets: Sequence[Bullet]) -> list[Bullet]:
    """Return the bullets that count: deprecated ones take no part."""
    return [b for b in bullets if b.state != "deprecated"]


def equal_groups(bullets: Sequence[Bullet]) -> list[BulletGroup]:
    """Return the groups with one text, then those with one text but for case and white space."""
    exact = [group for group in _by(bullets, lambda b: b.content) if len(group) > 1]
    inside = {b.id for group in exact for b in ranked(group)[1:]}
    folded = _by([b for b in bullets if b.id not in inside], lambda b: " ".join(b.content.casefold().split()))
    found = [_equal("exact", group) for group in exact]
    return found + [_equal("case", group) for group in folded if len(group) > 1]


def ranked(bullets: Sequence[Bullet]) -> tuple[Bullet, ...]:
    """Return the one to keep first: pinned, then the most helpful, then as they stand."""
    return tuple(sorted(bullets, key=lambda b: (not b.pinned, b.harmful_count - b.helpful_count)))


def _equal(kind: Kind, bullets: Sequence[Bullet]) -> BulletGroup:
    said = "the same text" if kind == "exact" else "the same text but for case and white space"
    verdict, members = PairVerdict("absorb", (said,)), ranked(bullets)
    return BulletGroup(kind, members, tuple(BulletPair(members[0], b, 1.0, lambda *_: verdict) for b in members[1:]))


def _by(bullets: Sequence[Bullet], key: Callable[[Bullet], str]) -> list[list[Bullet]]:
    found: defaultdict[str, list[Bullet]] = defaultdict(list)
    for bullet in bullets:
        found[key(bullet)].append(bullet)
    return list(found.values())
