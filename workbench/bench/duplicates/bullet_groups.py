"""Bullets that may be one (source 003, grow-and-refine): equal texts, and groups above a similarity."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

from workbench.core.duplicates.dedup import PairVerdict
from workbench.core.duplicates.groups import complete_groups, parted_by
from workbench.core.duplicates.identity import identity_of, parted, text_key
from workbench.core.playbook.book import Bullet

LARGEST = 12
"""Members of a group of near-duplicates at most."""

LONG = 4_000
"""Characters of a group's texts from which comparing them in words takes longer than a row may."""

FLOOR = 0.6
"""Cosine below which two bullets are never compared in words."""

CONTRADICTION = "contradiction"
"""Says, in short words, that two texts say it the other way round."""

Kind = Literal["exact", "case", "near", "opposed", "apart"]
"""The same text; the same but for case; nothing speaks against it; a contradiction; something speaks against it."""

Relation = Literal["near", "opposed", "apart"]

Judge = Callable[[str, str, float], PairVerdict]
"""Says what speaks for and against two texts, of that cosine, being one."""

Relate = Callable[[str, str, float], Relation]
"""Says in which way two texts, of that cosine, resemble each other; it remembers what it said."""

Place = tuple[int, int]
"""Two bullets by their places, the smaller one first."""


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
        told = self.judge(self.left.content, self.right.content, self.similarity)
        return parted_by(told, parted(self.left, self.right))


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

    `cosines` are those of `floor` or more, by the places in `bullets`; `flag` is the threshold that holds for
    duplicates unless somebody chooses another one; `kept` counts the pairs that somebody keeps apart, which are in no
    group. The first look below a threshold compares more pairs in words.
    """

    same: tuple[BulletGroup, ...]
    bullets: tuple[Bullet, ...]
    cosines: Mapping[Place, float]
    floor: float
    flag: float
    judge: Judge
    relate: Relate
    kept: int = 0

    def groups(self, threshold: float | None = None) -> tuple[BulletGroup, ...]:
        """Return what resembles each other at a cosine: equal texts, near ones, contradictions, then all others.

        In a near group nothing speaks against any two being one. Contradictions ("always", "never") come in pairs,
        and no two bullets of another group contradict each other. Within each kind the closest come first.
        """
        limit = self.flag if threshold is None else threshold
        close = sorted((p for p, cosine in self.cosines.items() if cosine >= limit), key=self._closest)
        near = self._complete(close, "near")
        gone = {place for group in near for place in _but_first(group, self.bullets)}
        opposed = [pair for pair in close if self._relation(pair) == "opposed"]
        apart = self._complete([p for p in close if not gone.intersection(p)], "apart")
        found = [*self.same, *self._groups("near", near)]
        return (*found, *self._groups("opposed", opposed), *self._groups("apart", apart))

    def compare(self) -> None:
        """Compare in words what takes long, so that neither the list nor a step of the slider has to wait for it."""
        for limit in (FLOOR, self.flag):
            for pair in (pair for group in self.groups(limit) if group.is_long for pair in group.pairs):
                _ = pair.verdict

    def _closest(self, pair: Place) -> tuple[float, Place]:
        return (-self.cosines[pair], pair)

    def _relation(self, pair: Place) -> Relation:
        one, other = (self.bullets[place] for place in pair)
        relation = self.relate(one.content, other.content, self.cosines[pair])
        return "apart" if relation == "near" and parted(one, other) else relation

    def _complete(self, close: Sequence[Place], relation: Relation) -> list[tuple[int, ...]]:
        """Return groups of places in which every two are close and related that way."""
        related = [pair for pair in close if self._relation(pair) == relation]
        known = frozenset(related)
        return complete_groups(related, lambda a, b: (min(a, b), max(a, b)) in known, LARGEST)

    def _groups(self, kind: Relation, some: Iterable[tuple[int, ...]]) -> list[BulletGroup]:
        """Return groups of places as groups of bullets, the closest first."""
        return sorted((self._group(kind, places) for places in some), key=lambda group: -group.similarity)

    def _group(self, kind: Relation, places: Sequence[int]) -> BulletGroup:
        pairs = tuple(
            BulletPair(self.bullets[a], self.bullets[b], self.cosines[a, b], self.judge)
            for a, b in combinations(places, 2)
        )
        return BulletGroup(kind, ranked([self.bullets[i] for i in places]), pairs)


def _but_first(places: Sequence[int], bullets: Sequence[Bullet]) -> list[int]:
    """Return the places of a group's members that a merge would take away."""
    kept = ranked([bullets[i] for i in places])[0].id
    return [i for i in places if bullets[i].id != kept]


def living(bullets: Sequence[Bullet]) -> list[Bullet]:
    """Return the bullets that count: deprecated ones take no part."""
    return [b for b in bullets if b.state != "deprecated"]


def equal_groups(bullets: Sequence[Bullet]) -> list[BulletGroup]:
    """Return the groups with one text in one section, then those with one text but for case and white space."""
    exact = [group for group in _by(bullets, lambda b: (identity_of(b), b.content)) if len(group) > 1]
    inside = {b.id for group in exact for b in ranked(group)[1:]}
    folded = _by([b for b in bullets if b.id not in inside], lambda b: (identity_of(b), text_key(b.content)))
    found = [_equal("exact", group) for group in exact]
    return found + [_equal("case", group) for group in folded if len(group) > 1]


def ranked(bullets: Sequence[Bullet]) -> tuple[Bullet, ...]:
    """Return the one to keep first: pinned, then the most helpful, then as they stand."""
    return tuple(sorted(bullets, key=lambda b: (not b.pinned, b.harmful_count - b.helpful_count)))


def _equal(kind: Kind, bullets: Sequence[Bullet]) -> BulletGroup:
    said = "the same text" if kind == "exact" else "the same text but for case and white space"
    verdict, members = PairVerdict("absorb", (said,)), ranked(bullets)
    return BulletGroup(kind, members, tuple(BulletPair(members[0], b, 1.0, lambda *_: verdict) for b in members[1:]))


def _by(bullets: Sequence[Bullet], key: Callable[[Bullet], object]) -> list[list[Bullet]]:
    found: defaultdict[object, list[Bullet]] = defaultdict(list)
    for bullet in bullets:
        found[key(bullet)].append(bullet)
    return list(found.values())
