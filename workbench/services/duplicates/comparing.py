"""The engine that finds what says the same, for memories and for bullets.

Records with one text come first. Of the others every close pair is taken from their vectors and
compared in words, once; a group is made of records of which every two fit. In what the kinds
differ, a `ComparisonKind` says. Nothing is written.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from workbench.core.duplicates.dedup import (
    Conflict,
    PairVerdict,
    conflicts,
    identity_of,
    judge_pair,
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
    group_mark,
    kept_first,
    much_alike,
    parted_by,
    word_set,
)
from workbench.core.limits import DedupThresholds, Thresholds
from workbench.core.playbook.book import Bullet
from workbench.core.review.contradiction import contradictions
from workbench.core.stream.memory import MAX_CONTENT, Memory
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.retrieval.arrays import Vectors


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
"""Told how many of how many records are compared; raises to stop."""

_CONTRARY = frozenset((Conflict.OPPOSITES, Conflict.NEGATION, Conflict.NUMBERS))
"""What of two texts must differ before they contradict each other; if two of these do, they are
about two things.
"""

_ELSEWHERE = Conflict.IDENTIFIERS
"""What lets two texts be about two things, whatever else differs."""

_SENTENCE = 100
"""Characters of a sentence that are quoted at most."""

_REMEMBERED = 1 << 17
"""Answers of each kind that a judge keeps."""


class ComparisonKind(NamedTuple, Generic[R]):
    """In what one kind of record differs from others when it is compared.

    Only records of one `type_of` become one. `forms` of two equal texts are equal, the strictest
    first; `keeps_first` returns the members of a group with the one that is kept first;
    `oldest_first` two records as they are read. Where `opposites` are asked for, contradictions are
    told from other differences.
    """

    type_of: Callable[[R], str]
    forms: tuple[Callable[[str], str], ...]
    keeps_first: Callable[[Iterable[R]], tuple[R, ...]]
    oldest_first: Callable[[R, R], Sequence[R]]
    opposites: bool = False


def ranked(bullets: Iterable[Bullet]) -> tuple[Bullet, ...]:
    """Return the one to keep first: pinned, then the most helpful, then as they stand."""
    return tuple(sorted(bullets, key=lambda b: (not b.pinned, b.harmful_count - b.helpful_count)))


MEMORIES: ComparisonKind[Memory] = ComparisonKind(
    type_of=lambda memory: memory.memory_type,
    forms=(lambda text: " ".join(text.split()),),
    keeps_first=kept_first,
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
    remembers. It may be asked from any thread.
    """

    def __init__(self, kind: ComparisonKind[R], thresholds: DedupThresholds) -> None:
        self.kind = kind
        self._order = thresholds.order
        self._words = lru_cache(_REMEMBERED)(word_set)
        self._read = lru_cache(_REMEMBERED)(self._compared)
        self._related = lru_cache(_REMEMBERED)(self._relation_of)

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
        verdict = judge_pair(new, old, self._similarity(old, new), self._order)
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

    @staticmethod
    def _similarity(one: str, other: str) -> float:
        from workbench.retrieval.fulltext.fuzzy import order_similarity

        return order_similarity(one, other)


def _contrary(conflicts: Collection[str]) -> bool:
    """Tell whether two texts may contradict each other, by what differs in them."""
    return len(_CONTRARY.intersection(conflicts)) == 1 and _ELSEWHERE not in conflicts


Kind = Literal["exact", "case", "near", "opposed", "apart"]
"""The same text; the same but for case; nothing speaks against it; a contradiction; something
speaks against it.
"""

ORDINARY = ("exact", "case", "near")
"""Kinds of groups against which nothing speaks."""

_EQUAL: dict[Kind, PairVerdict] = {
    "exact": SAME_TEXT,
    "case": PairVerdict("absorb", ("the same text but for case and white space",)),
}


@dataclass(frozen=True, slots=True)
class Pair(Generic[R]):
    """Two records and their cosine (−1…1), the older memory first.

    They are compared in words when somebody asks for the verdict.
    """

    left: R
    right: R
    similarity: float
    judged: Callable[[R, R], PairVerdict] = field(compare=False, repr=False)

    @property
    def verdict(self) -> PairVerdict:
        """What speaks for and against making one of them."""
        return self.judged(self.left, self.right)


class Group(NamedTuple, Generic[R]):
    """Records that resemble each other, and in which way; the first is proposed to be kept.

    The `pairs` of that one come first; of equal texts there are no others.
    """

    kind: Kind
    members: tuple[R, ...]
    pairs: tuple[Pair[R], ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its members, which name the group."""
        return tuple(record.id for record in self.members)

    @property
    def name(self) -> str:
        """The id of the proposal to merge it: the same as long as the members and their texts are."""
        return f"merge-{group_mark(self.members)}"

    @property
    def ordinary(self) -> bool:
        """Whether nothing speaks against making one of them."""
        return self.kind in ORDINARY

    @property
    def similarity(self) -> float:
        """The cosine of the two that are least alike."""
        return min((pair.similarity for pair in self.pairs), default=0.0)

    @property
    def conflicts(self) -> tuple[str, ...]:
        """What lets two of them say different things, in short words, each once."""
        return tuple(dict.fromkeys(text for pair in self.pairs for text in pair.verdict.conflicts))

    def between(self, one: str, other: str) -> Pair[R] | None:
        """Return the pair of two of its members, if they were compared."""
        return next((p for p in self.pairs if {p.left.id, p.right.id} == {one, other}), None)


def equal_group(kind: Kind, records: Iterable[R], told: ComparisonKind[R]) -> Group[R]:
    """Return the group of records with one text, of which each is held against the kept one."""
    first, *others = told.keeps_first(records)

    aged = [told.oldest_first(first, other) for other in others]
    pairs = tuple(Pair(old, new, 1.0, lambda *_: _EQUAL[kind]) for old, new in aged)
    return Group(kind, (first, *others), pairs)


class Comparison(Generic[R]):
    """Records whose close pairs are known by their cosines; how they are related is found out where
    it is asked for.

    `cosines` are those of `floor` or more by falling cosine, of each type after the other; of more
    than `most` pairs only the closest are known, and the others are looked up where a group is to be
    complete. Pairs that are `kept` apart are in no group. Of more than
    `enough` pairs that differ the others are looked at less closely.
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
        enough: int = sys.maxsize,
        step: Step = lambda _done, _of: None,
    ) -> None:
        self.records = tuple(records)
        self.floor = floor
        self.cosines: dict[Place, float] = {}
        self.judge = judge
        self._enough = enough
        self._relations: dict[Place, Relation] = {}
        self._facts: dict[int, tuple[object, ...]] = {}
        self._kept = kept
        self._differing = 0
        from workbench.retrieval.embedding.close_pairs import close_pairs, with_words

        self._vectors = with_words(vectors, [record.content for record in self.records])
        types: defaultdict[str, list[int]] = defaultdict(list)
        for place, record in enumerate(self.records):
            types[judge.kind.type_of(record)].append(place)
        done = 0
        for rows in types.values():
            found = close_pairs(
                self._vectors if len(rows) == len(records) else self._vectors[rows],
                floor,
                most,
                lambda here, _, before=done: step(before + here, len(records)),  # type: ignore[misc]
            )
            places = zip(found.left.tolist(), found.right.tolist(), strict=True)
            pairs = ((rows[a], rows[b]) for a, b in places)
            self.cosines.update(zip(pairs, found.cosines.tolist(), strict=True))
            self.floor = max(self.floor, found.floor)
            done += len(rows)

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
        """Tell whether somebody keeps two of the records apart."""
        return self._kept(self.records[place[0]], self.records[place[1]])

    def cosine(self, place: Place) -> float:
        """Return the cosine of two of the records."""
        known = self.cosines.get(place)
        if known is not None:
            return known
        return min(1.0, float(self._vectors[place[0]] @ self._vectors[place[1]]))

    def fits(self, place: Place, relations: Collection[Relation], limit: float) -> bool:
        """Tell whether two are that close, related in one of these ways, and not kept apart."""
        from workbench.retrieval.embedding.close_pairs import reaches

        known = self.cosines.get(place)
        is_close = reaches(self.cosine(place), limit) if known is None else known >= limit
        return is_close and self.relation(place) in relations and not self.is_kept(place)

    def complete(
        self, relations: Collection[Relation], limit: float, without: Collection[int] = ()
    ) -> list[tuple[int, ...]]:
        """Return the places of the members of each group in which every two are that close and
        related in one of these ways.
        """
        found = {
            place: None
            for place in self.closest(limit)
            if self.relation(place) in relations
            and not (self.is_kept(place) or place[0] in without or place[1] in without)
        }

        def fits(a: int, b: int) -> bool:
            """Tell whether two fit, in whichever order they come."""
            place = (a, b) if a < b else (b, a)
            return place in found or (
                place not in self.cosines and self.fits(place, relations, limit)
            )

        return complete_groups(found, fits, LARGEST)

    def group(self, kind: Kind, rows: Iterable[int]) -> Group[R]:
        """Return some of the records as a group."""
        place = {self.records[row].id: row for row in rows}
        members = self.judge.kind.keeps_first(self.records[row] for row in place.values())
        pairs = (
            self._pair(*sorted((place[one.id], place[other.id])))
            for one, other in combinations(members, 2)
        )
        return Group(kind, members, tuple(pairs))

    def _pair(self, a: int, b: int) -> Pair[R]:
        left, right = self.judge.kind.oldest_first(self.records[a], self.records[b])
        return Pair(left, right, self.cosine((a, b)), self.judge.verdict)

    def near(self, limit: float) -> list[Group[R]]:
        """Return the groups at a cosine in which nothing speaks against any two being one."""
        return [self.group("near", rows) for rows in self.complete(NEAR, limit)]

    def groups(self, limit: float) -> list[Group[R]]:
        """Return what resembles each other at a cosine: near ones, contradictions, then all others.

        Contradictions ("always", "never") come in pairs, and no two records of another group
        contradict each other. Within each kind the closest come first.
        """
        near = self.near(limit)
        merged = {id for group in near for id in group.ids[1:]}
        gone = {row for row, record in enumerate(self.records) if record.id in merged}
        opposed = [place for place in self.closest(limit) if self.fits(place, OPPOSED, limit)]
        apart = self.complete(DIFFERING, limit, gone)
        return [
            *sorted(near, key=_least),
            *sorted((self.group("opposed", place) for place in opposed), key=_least),
            *sorted((self.group("apart", rows) for rows in apart), key=_least),
        ]

    def _compare(self, place: Place) -> Relation:
        one, other = (self.records[row] for row in place)
        # Comparing takes long, and only some of those that differ are shown with their reasons.
        if self._differing >= self._enough and not (
            self.judge.much_alike(one.content, other.content)
            and self._fact(place[0]) == self._fact(place[1])
        ):
            return "related"
        found = self.judge.relation(one, other)
        self._differing += found == "apart"
        return found

    def _fact(self, row: int) -> tuple[object, ...]:
        if row not in self._facts:
            self._facts[row] = facts_of(self.records[row].content)
        return self._facts[row]


def _least(group: Group[R]) -> float:
    return -group.similarity


@dataclass(frozen=True, slots=True, eq=False)
class Likeness(Generic[R]):
    """How much records resemble each other, measured once; groups at any threshold cost little.

    `same` are the groups of equal texts, `limits` the thresholds that hold unless somebody chooses
    others; `kept` counts the pairs that somebody keeps apart, which are in no group, of so many
    that were `compared`.
    """

    same: tuple[Group[R], ...]
    comparison: Comparison[R]
    limits: Thresholds
    compared: int = 0
    kept: int = 0

    @property
    def floor(self) -> float:
        """The cosine from which on every pair is known."""
        return self.comparison.floor

    def groups(self, threshold: float | None = None) -> tuple[Group[R], ...]:
        """Return what resembles each other at a cosine: equal texts first, then as
        `Comparison.groups` does.
        """
        limit = self.limits.flag if threshold is None else threshold
        return (*self.same, *self.comparison.groups(limit))
