"""Groups of memories that say the same, for the batch deduplication (source 003): what joins them, what parts them.

A high cosine never joins two memories by itself. Two texts join when most of their words are the same and nothing
in one says something else than the other: what is negated, opposite words, numbers, identifiers, symbols, order,
or a content word of each that the other does not hold (mom, dad).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, NamedTuple

from workbench.core.duplicates.dedup import (
    PairVerdict,
    content_words,
    identifiers,
    judge_pair,
    negations,
    numbers,
    opposites,
    symbols,
    word_conflicts,
)
from workbench.core.duplicates.identity import identity_of
from workbench.core.limits import DedupThresholds
from workbench.core.review.lifecycle import LADDER
from workbench.core.stream.memory import Memory

COMMON_WORDS = 0.5
"""Which share of all their words two memories need in common to be taken for the same; below it they are related."""

PairKind = Literal["same", "alike", "apart"]
"""Nothing differs but the form; other words, but nothing against it; something speaks against it."""

SAME_TEXT = PairVerdict("absorb", ("the same text",))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories by id, their cosine (−1…1), and what speaks for and against merging them."""

    older: str
    newer: str
    similarity: float
    verdict: PairVerdict

    @property
    def kind(self) -> PairKind:
        """How far apart they are."""
        if self.verdict.conflicts:
            return "apart"
        return "same" if self.verdict.action == "absorb" else "alike"


def word_set(text: str) -> frozenset[str]:
    """Return the stems of a text's words, each once, without numbers and identifiers: those are compared apart."""
    named = {word for name in set(identifiers(text)) for word in content_words(name)}
    return frozenset(stem for stem in content_words(text) if stem not in named and not stem[0].isdigit())


def common_words(one: frozenset[str], other: frozenset[str], opposed: int = 0) -> float:
    """Return which share of the words of two texts both have, 0…1 (two without words have all in common).

    Of so many `opposed` pairs, such as passed and failed, each counts as one word that both have.
    """
    together = len(one | other) - opposed
    return (len(one & other) + opposed) / together if together > 0 else 1.0


def much_alike(one: str, other: str, words: frozenset[str], other_words: frozenset[str]) -> bool:
    """Tell whether two texts have so many words in common that they may say the same, or the opposite.

    `words` and `other_words` are their word sets.
    """
    share = common_words(words, other_words)
    if share >= COMMON_WORDS:
        return True
    # Opposites are worth looking for only where they can make up for what is missing.
    return share >= COMMON_WORDS / 2 and common_words(words, other_words, len(opposites(one, other))) >= COMMON_WORDS


class Rule(NamedTuple):
    """The words of a short text, and those of them that it rules out."""

    words: frozenset[str]
    ruled_out: frozenset[str]


def rule_of(text: str) -> Rule:
    return Rule(frozenset(content_words(text)), frozenset(w for said in negations(text) for w in content_words(said)))


def two_sides(wanted: Rule, other: Rule, related: Callable[[str, str], bool]) -> tuple[str, str] | None:
    """Return what one text wants in place of what the other rules out: "use pnpm", "don't use npm".

    The two words are related, or all that the texts say beside them is the same.
    """
    shared, mine, theirs = wanted.words & other.words, wanted.words - other.words, other.words - wanted.words
    if wanted.ruled_out or not shared or not mine or len(theirs) != 1 or not theirs <= other.ruled_out:
        return None
    (out,) = theirs
    alone = len(mine) == 1 and len(shared) > 1
    return next(((one, out) for one in sorted(mine) if alone or related(one, out)), None)


def facts_of(text: str) -> tuple[object, ...]:
    """Return what two texts that say the same must share exactly: numbers, negations, symbols."""
    return numbers(text), negations(text), symbols(text)


def parted_by(verdict: PairVerdict, differing: tuple[str, ...]) -> PairVerdict:
    """Return what is to do with two texts whose records are told apart by something else than their texts, if any."""
    if not differing:
        return verdict
    return verdict._replace(
        action="propose" if verdict.action == "absorb" else verdict.action,
        reasons_against=_each_once(differing, verdict.reasons_against),
        conflicts=_each_once(differing, verdict.conflicts),
    )


def read_texts(new: str, old: str, similarity: float, order: float, thresholds: DedupThresholds) -> PairVerdict:
    """Judge two texts that were chosen by their cosine; `order` is their ordered text similarity (0–100).

    Unless they say the same in every respect, content words that only one of them holds speak against it as well.
    """
    # The pair was chosen by its cosine already, and rounding must not turn that decision over.
    limits = thresholds._replace(flag=min(thresholds.flag, similarity))
    verdict = judge_pair(new, old, similarity, order, limits)
    words = word_conflicts(new, old) if verdict.action != "absorb" else ()
    return verdict._replace(
        reasons_for=verdict.reasons_for[1:],
        reasons_against=_each_once(verdict.reasons_against, words),
        conflicts=_each_once(verdict.conflicts, words),
    )


def _each_once(*some: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for texts in some for text in texts))


def same_text(one: Memory, other: Memory) -> Pair:
    """Return the pair of two memories about the same thing whose texts differ in white space at most."""
    older, newer = by_age((one, other))
    return Pair(older.id, newer.id, 1.0, SAME_TEXT)


def by_age(memories: Iterable[Memory]) -> list[Memory]:
    """Return memories with the oldest first."""
    return sorted(memories, key=lambda m: (m.created_at, m.id))


def in_merge_order(memories: Iterable[Memory]) -> tuple[Memory, ...]:
    """Return the newest first, and last the one whose id a merge keeps.

    That is the one with a name, which its file knows it by; of several the most trusted, of those the oldest.
    """
    aged = by_age(memories)

    def rank(memory: Memory) -> tuple[bool, bool, int]:
        ladder = LADDER.index(memory.status) if memory.status in LADDER else -1
        return bool(identity_of(memory).names), memory.pinned, ladder

    kept = max(aged, key=rank)
    return (*(m for m in reversed(aged) if m is not kept), kept)


def text_mark(text: str) -> str:
    """Return a short mark of a text, equal only for equal texts."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def group_mark(members: Iterable[Memory]) -> str:
    """Return a short mark of a group: the same as long as its members and their texts are."""
    names = sorted(f"{m.id}\0{text_mark(m.content)}" for m in members)
    return blake2b("\0".join(names).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def complete_groups(
    pairs: Iterable[tuple[int, int]], fits: Callable[[int, int], bool], most: int
) -> list[tuple[int, ...]]:
    """Join items into groups in which every two fit each other, at most `most` in each.

    `pairs` come with the closest first and fit; two groups become one only when all their members fit one another,
    so that no chain of small steps ever joins two that differ. Each group is in ascending order; the groups come
    in the order of their first pair.
    """
    groups: dict[int, list[int]] = {}
    for one, other in pairs:
        left, right = groups.setdefault(one, [one]), groups.setdefault(other, [other])
        if left is right or len(left) + len(right) > most:
            continue
        if all(fits(a, b) for a in left for b in right):
            left += right
            for item in right:
                groups[item] = left
    found = {id(group): group for group in groups.values() if len(group) > 1}
    return [tuple(sorted(group)) for group in found.values()]
