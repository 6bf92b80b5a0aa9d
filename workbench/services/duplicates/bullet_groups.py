"""Bullets that may be one (source 003, grow-and-refine): equal texts, and groups above a
similarity.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from workbench.core.duplicates.dedup import (
    Conflict,
    PairVerdict,
    conflicts,
    identity_of,
    parted,
    same_words,
    text_key,
    word_conflicts,
)
from workbench.core.duplicates.groups import (
    SAME_TEXT,
    by_age,
    complete_groups,
    facts_of,
    in_merge_order,
    much_alike,
    parted_by,
    read_texts,
    word_set,
)
from workbench.core.limits import DEFAULT_THRESHOLDS, DedupThresholds
from workbench.core.playbook.book import Bullet
from workbench.core.review.contradiction import contradictions
from workbench.core.stream.memory import MAX_CONTENT, Memory
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.retrieval.arrays import Vectors
    from workbench.retrieval.embedding.close_pairs import ClosePairs


# The engine that finds what says the same, for every kind of record.
#
# Records with one text come first. Of the others every close pair is taken from their vectors and
# compared in words, once; a group is made of records of which every two fit. In what the kinds
# differ, a `Kind` says. Nothing is written.


R = TypeVar("R", bound=Memory | Bullet)

FLOOR = 0.6
"""Cosine below which two records are never compared in words."""

LARGEST = 12
"""Members of a group of near-duplicates at most; what is left over forms the next group."""

Relation = Literal["near", "opposed", "apart", "related"]
"""Nothing speaks against two being one; a contradiction; something speaks against it; only the
subject is the same.
"""

NEAR: frozenset[Relation] = frozenset(("near",))
OPPOSED: frozenset[Relation] = frozenset(("opposed",))
DIFFERING: frozenset[Relation] = frozenset(("apart", "related"))

Place = tuple[int, int]
"""Two records by their places, the smaller one first."""

Step = Callable[[int, int], None]
"""Told how many of how many records are compared (0 of 0: only asked whether to go on); raises to
stop.
"""

_CONTRARY = frozenset((Conflict.OPPOSITES, Conflict.NEGATION, Conflict.NUMBERS))
"""What of two texts must differ before they contradict each other; if two of these do, they are
about two things.
"""

_ELSEWHERE = Conflict.IDENTIFIERS
"""What lets two texts be about two things, whatever else differs."""

_EVERY = 64
"""Pairs that are compared between two looks at whether to stop."""

_SENTENCE = 100
"""Characters of a sentence that are quoted at most."""


@dataclass(frozen=True, slots=True)
class ComparisonKind(Generic[R]):
    """In what one kind of record differs from others when it is compared.

    Only records of one `type_of` become one. `forms` of two equal texts are equal, the strictest
    first; `keeps_first` returns the members of a group with the one that is kept first;
    `oldest_first` two records as they are read. Where `opposites` are asked for, contradictions are
    told from other differences.
    """

    type_of: Callable[[R], str]
    forms: tuple[Callable[[str], str], ...]
    keeps_first: Callable[[Iterable[R]], Sequence[R]]
    oldest_first: Callable[[R, R], Sequence[R]]
    opposites: bool = False


def ranked(bullets: Iterable[Bullet]) -> tuple[Bullet, ...]:
    """Return the one to keep first: pinned, then the most helpful, then as they stand."""
    return tuple(sorted(bullets, key=lambda b: (not b.pinned, b.harmful_count - b.helpful_count)))


MEMORIES: ComparisonKind[Memory] = ComparisonKind(
    type_of=lambda memory: memory.memory_type,
    forms=(lambda text: " ".join(text.split()),),
    keeps_first=lambda memories: in_merge_order(memories)[::-1],
    oldest_first=lambda one, other: by_age((one, other)),
)

BULLETS: ComparisonKind[Bullet] = ComparisonKind(
    type_of=lambda _: "",
    forms=(str, text_key),
    keeps_first=ranked,
    oldest_first=lambda one, other: (one, other),
    opposites=True,
)


def classes(
    records: Iterable[R], kind: ComparisonKind[R], form: Callable[[str], str]
) -> list[list[R]]:
    """Return the records parted by type, by what they are about, and by a form of their texts; some
    stand alone.
    """
    found: defaultdict[object, list[R]] = defaultdict(list)
    for record in records:
        found[kind.type_of(record), form(record.content), identity_of(record)].append(record)
    return list(found.values())


class Judge(Generic[R]):
    """Compares two records in words: what speaks for and against their being one. What it said it
    remembers.

    `remembered` is how many answers it keeps, `None` for all. It may be asked from any thread.
    """

    def __init__(
        self, kind: ComparisonKind[R], thresholds: DedupThresholds, remembered: int | None = None
    ) -> None:
        self.kind = kind
        self._order = thresholds.order
        self._words = lru_cache(maxsize=remembered)(word_set)
        self._read = lru_cache(maxsize=remembered)(self._compared)
        self._related = lru_cache(maxsize=remembered)(self._relation_of)

    def relation(self, one: R, other: R) -> Relation:
        """Tell how two records are related whose vectors are close."""
        if self.kind.type_of(one) != self.kind.type_of(other):
            return "related"
        old, new = self._texts(one, other)
        if old == new and one.content != other.content:
            return (
                "apart"  # only beginnings are compared, and what follows these says something else
            )
        found = self._related(old, new)
        return "apart" if found == "near" and parted(one, other) else found

    def verdict(self, one: R, other: R) -> PairVerdict:
        """Return what speaks for and against two records being one."""
        return parted_by(self.read(*self._texts(one, other)), parted(one, other))

    def read(self, old: str, new: str) -> PairVerdict:
        """Return what speaks for and against two texts saying the same."""
        return self._read(old[:MAX_CONTENT], new[:MAX_CONTENT])

    def much_alike(self, one: str, other: str) -> bool:
        """Tell whether two texts have so many words in common that they may say the same, or the
        opposite.
        """
        return much_alike(one, other, self._words(one), self._words(other))

    def _texts(self, one: R, other: R) -> tuple[str, str]:
        old, new = self.kind.oldest_first(one, other)
        return old.content[:MAX_CONTENT], new.content[:MAX_CONTENT]

    def _relation_of(self, old: str, new: str) -> Relation:
        # Most pairs have few words in common, and of the others a first look settles most.
        if not self.much_alike(old, new):
            return "related"
        first = conflicts(new, old)
        if self.kind.opposites and _contrary(first) and contradictions(old, [("", new)]):
            return "opposed"
        if first:
            return "apart"
        # Letters take longest to compare, and only where words differ and yet agree in order do
        # they decide.
        if not word_conflicts(new, old):
            return "near"
        return "apart" if not same_words(new, old) or self._read(old, new).conflicts else "near"

    def _compared(self, old: str, new: str) -> PairVerdict:
        verdict = read_texts(new, old, 1.0, self._similarity(old, new), self._limits)
        if not self.kind.opposites:
            return verdict
        told, short = list[str](), list[str]()
        if not self.much_alike(old, new):
            told, short = [Conflict.FEW_WORDS], [Conflict.FEW_WORDS]
        elif _contrary(verdict.conflicts) and (found := contradictions(old, [("", new)])):
            mine, theirs = one_line(found[0].mine, _SENTENCE), one_line(found[0].theirs, _SENTENCE)
            told, short = [f"the other way round: “{mine}” / “{theirs}”"], [Conflict.CONTRADICTION]
        against, conflicts = (*told, *verdict.reasons_against), (*short, *verdict.conflicts)
        return verdict._replace(reasons_against=against, conflicts=conflicts)

    @property
    def _limits(self) -> DedupThresholds:
        """Whether two texts are close enough to be read is known before they are."""
        return DedupThresholds(flag=DEFAULT_THRESHOLDS.flag, order=self._order)

    @staticmethod
    def _similarity(one: str, other: str) -> float:
        from workbench.retrieval.fulltext.fuzzy import order_similarity

        return order_similarity(one, other)


class Comparison(Generic[R]):
    """Records whose close pairs are known by their cosines; how they are related is found out where
    it is asked for.

    `cosines` are those of `floor` or more by falling cosine, of each type after the other when
    `by_type`; of more than `most` pairs only the closest are known, and it `looks_up` the others
    where a group is to be complete. Pairs that are `kept` apart are in no group, and are counted
    when they would be. Of more than `enough` pairs that differ the others are looked at less
    closely.
    """

    def __init__(
        self,
        records: Sequence[R],
        vectors: "Vectors",
        judge: Judge[R],
        kept: Callable[[R, R], bool],
        *,
        floor: float = FLOOR,
        most: int,
        by_type: bool = False,
        looks_up: bool = False,
        enough: int | None = None,
        step: Step = lambda _done, _of: None,
    ) -> None:
        self.records = tuple(records)
        self.floor = floor
        self.cosines: dict[Place, float] = {}
        self.judge = judge
        self._step = step
        self._enough = enough
        self._relations: dict[Place, Relation] = {}
        self._facts: dict[int, tuple[object, ...]] = {}
        self._is_kept = kept
        self._differing = 0
        from workbench.retrieval.embedding.close_pairs import with_words

        vectors = with_words(vectors, [record.content for record in self.records])
        self.held: set[frozenset[str]] = set()
        """The pairs that would be in a group if nobody kept them apart, by their ids."""
        for rows, found in self._close(vectors, floor, most, by_type):
            places = (
                (rows[a], rows[b])
                for a, b in zip(found.left.tolist(), found.right.tolist(), strict=True)
            )
            self.cosines.update(zip(places, found.cosines.tolist(), strict=True))
            self.floor = max(self.floor, found.floor)
        self._kept = {
            place for place in self.cosines if kept(*(self.records[row] for row in place))
        }
        self._vectors = vectors if looks_up else None

    def closest(self, limit: float) -> list[Place]:
        """Return the pairs whose cosine is `limit` or more, in their order."""
        return [place for place, cosine in self.cosines.items() if cosine >= limit]

    def relation(self, place: Place) -> Relation:
        """Tell how two of the records are related."""
        known = self._relations.get(place)
        if known is None:
            known = self._relations[place] = self._compare(place)
        return known

    def is_kept(self, place: Place) -> bool:
        """Tell whether somebody keeps two of the records apart; of close ones, when they were
        compared.
        """
        if place in self.cosines:
            return place in self._kept
        return self._is_kept(self.records[place[0]], self.records[place[1]])

    def groups(
        self, relations: Collection[Relation], limit: float, without: Collection[int] = ()
    ) -> list[tuple[int, ...]]:
        """Return groups of places in which every two are that close and related in one of these
        ways.
        """
        found: dict[Place, None] = {}
        for count, place in enumerate(self.closest(limit)):
            if count % _EVERY == 0:
                self._step(0, 0)
            known = self._relations.get(place) or self.relation(place)
            if (
                known in relations
                and self._is_free(place)
                and not (place[0] in without or place[1] in without)
            ):
                found[place] = None

        def fits(a: int, b: int) -> bool:
            """Tell whether two fit, in whichever order they come."""
            place = (a, b) if a < b else (b, a)
            unknown = self._vectors is not None and place not in self.cosines
            return place in found or (unknown and self.fits(place, relations, limit))

        return complete_groups(found, fits, LARGEST)

    def cosine(self, place: Place) -> float:
        """Return the cosine of two of the records; 0 when it is not known."""
        known = self.cosines.get(place)
        if known is not None or self._vectors is None:
            return known or 0.0
        return min(1.0, float(self._vectors[place[0]] @ self._vectors[place[1]]))

    def _close(
        self, vectors: "Vectors", floor: float, most: int, by_type: bool
    ) -> Iterable[tuple[Sequence[int], "ClosePairs"]]:
        from workbench.retrieval.embedding.close_pairs import close_pairs

        types: defaultdict[str, list[int]] = defaultdict(list)
        for place, record in enumerate(self.records):
            types[self.judge.kind.type_of(record) if by_type else ""].append(place)
        done = 0
        for rows in types.values():
            mine = vectors if len(types) == 1 else vectors[rows]
            yield (
                rows,
                close_pairs(
                    mine,
                    floor,
                    most,
                    lambda n, _, before=done: self._step(before + n, len(vectors)),  # type: ignore[misc]
                ),
            )
            done += len(rows)

    def _is_close(self, place: Place, limit: float) -> bool:
        known = self.cosines.get(place)
        if known is not None or self._vectors is None:
            return known is not None and known >= limit
        from workbench.retrieval.embedding.close_pairs import reaches

        return reaches(self.cosine(place), limit)

    def fits(self, place: Place, relations: Collection[Relation], limit: float) -> bool:
        """Tell whether two are that close, related in one of these ways, and not kept apart."""
        return (
            self._is_close(place, limit)
            and self.relation(place) in relations
            and self._is_free(place)
        )

    def _is_free(self, place: Place) -> bool:
        """Tell whether nobody keeps two apart that would be in a group, and count it when somebody
        does.
        """
        if not self.is_kept(place):
            return True
        self.held.add(frozenset(self.records[row].id for row in place))
        return False

    def _compare(self, place: Place) -> Relation:
        one, other = (self.records[row] for row in place)
        judge = self.judge
        enough = self._enough is not None and self._differing >= self._enough
        # Comparing takes long, and only some of those that differ are shown with their reasons.
        if enough and not (
            judge.much_alike(one.content, other.content)
            and self._fact(place[0]) == self._fact(place[1])
        ):
            return "related"
        found = judge.relation(one, other)
        self._differing += found == "apart"
        return found

    def _fact(self, row: int) -> tuple[object, ...]:
        if row not in self._facts:
            self._facts[row] = facts_of(self.records[row].content)
        return self._facts[row]


def _contrary(conflicts: Collection[str]) -> bool:
    """Tell whether two texts may contradict each other, by what differs in them."""
    return len(_CONTRARY.intersection(conflicts)) == 1 and _ELSEWHERE not in conflicts


SAME_FORM = PairVerdict("absorb", ("the same text but for case and white space",))

Kind = Literal["exact", "case", "near", "opposed", "apart"]
"""The same text; the same but for case; nothing speaks against it; a contradiction; something
speaks against it.
"""

_EQUAL: tuple[tuple[Kind, PairVerdict], ...] = (("exact", SAME_TEXT), ("case", SAME_FORM))
"""What bullets are whose texts have one form, the strictest form first."""


@dataclass(frozen=True, slots=True)
class BulletPair:
    """Two bullets and their cosine (−1…1). They are compared in words when somebody asks for the
    verdict.
    """

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
    """How much the bullets of a playbook resemble each other, measured once; groups at any
    threshold cost little.

    `flag` is the threshold that holds for duplicates unless somebody chooses another one; `kept`
    counts the pairs that somebody keeps apart, which are in no group. The first look below a
    threshold compares more pairs in words.
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
        """Return what resembles each other at a cosine: equal texts, near ones, contradictions,
        then all others.

        In a near group nothing speaks against any two being one. Contradictions ("always", "never")
        come in pairs, and no two bullets of another group contradict each other. Within each kind
        the closest come first.
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
        return (
            *self.same,
            *(group for kind, some in every for group in _groups(kind, some, found)),
        )


def living(bullets: Sequence[Bullet]) -> list[Bullet]:
    """Return the bullets that count: deprecated ones take no part."""
    return [b for b in bullets if b.state != "deprecated"]


def equal_groups(bullets: Sequence[Bullet], judge: Judge[Bullet]) -> list[BulletGroup]:
    """Return the groups with one text in one section, then those with one text but for case and
    white space.
    """
    found, gone = list[BulletGroup](), set[str]()
    for (kind, verdict), form in zip(_EQUAL, BULLETS.forms, strict=True):
        parts = [
            ranked(part)
            for part in classes((b for b in bullets if b.id not in gone), BULLETS, form)
        ]
        for first, *others in (part for part in parts if len(part) > 1):
            gone.update(b.id for b in others)
            pairs = tuple(BulletPair(first, b, 1.0, judge, verdict) for b in others)
            found.append(BulletGroup(kind, (first, *others), pairs))
    return found


def _groups(
    kind: Kind, some: Iterable[Sequence[int]], found: Comparison[Bullet]
) -> list[BulletGroup]:
    """Return groups of places as groups of bullets, the closest first."""
    return sorted((_group(kind, rows, found) for rows in some), key=lambda group: -group.similarity)


def _group(kind: Kind, rows: Sequence[int], found: Comparison[Bullet]) -> BulletGroup:
    bullets, places = found.records, combinations(rows, 2)
    pairs = tuple(
        BulletPair(bullets[p[0]], bullets[p[1]], found.cosine(p), found.judge) for p in places
    )
    return BulletGroup(kind, ranked([bullets[row] for row in rows]), pairs)


def _but_first(rows: Sequence[int], bullets: Sequence[Bullet]) -> list[int]:
    """Return the places of a group's members that a merge would take away."""
    kept = ranked([bullets[row] for row in rows])[0].id
    return [row for row in rows if bullets[row].id != kept]
