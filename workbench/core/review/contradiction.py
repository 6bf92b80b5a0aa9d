"""Contradictions as far as cheap rules see them: two sentences about the same thing that say it the
other way round.

Each text is taken sentence by sentence. Sentences that share most of their words are compared:
opposite words ("before" and "after"), something that only one of them negates, and numbers that
differ. A rule that fires is a reason to look, never a verdict.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from workbench.core.duplicates.dedup import content_words, negated, numbers, opposites

SHARED = 0.6
"""From which share of their words (twice the common ones over all) two sentences are about the same
thing.
"""

SAME = 0.8
"""From which share they differ in little else than a number."""

LEAST = 2
"""How many words two sentences must share at least."""

_WEAK = frozenset({"in", "into", "to", "out", "from"})
"""Words that are opposites of a direction only; most often they are not."""

_LONGER = "longer"
"""What "no longer" negates is what follows."""

_SENTENCES, _LONGEST = 40, 1_000
"""How many sentences of a text are compared, and characters of one: what goes on longer is none."""

_ENDS = re.compile(r"(?<=[.!?;؟؛।])\s+|(?<=[。！？；])|\n+")


class Contradiction(NamedTuple):
    """Why a text may contradict another one: a reason, and the two sentences that it comes from.

    `other` is the id of the other text.
    """

    other: str
    reason: str
    mine: str
    theirs: str


class _Sentence(NamedTuple):
    text: str
    stems: frozenset[str]
    negated: tuple[tuple[str, str], ...]
    numbers: tuple[str, ...]


def contradictions(text: str, others: Iterable[tuple[str, str]]) -> tuple[Contradiction, ...]:
    """Return the first contradiction of `text` with each of `others`, which are (id, text), in
    their order.
    """
    mine = _sentences(text)
    found = (_between(id, mine, _sentences(other)) for id, other in others)
    return tuple(one for one in found if one is not None)


def _between(
    id: str, mine: tuple[_Sentence, ...], theirs: tuple[_Sentence, ...]
) -> Contradiction | None:
    for one, other in product(mine, theirs):
        if reason := _reason(one, other):
            return Contradiction(id, reason, one.text, other.text)
    return None


def _reason(one: _Sentence, other: _Sentence) -> str:
    shared = len(one.stems & other.stems)
    share = 2 * shared / max(1, len(one.stems) + len(other.stems))
    if shared < LEAST or share < SHARED:
        return ""
    opposed = next(
        (pair for pair in opposites(one.text, other.text) if not _WEAK.intersection(pair)), None
    )
    if opposed:
        return f"this says “{opposed[0]}”, the other “{opposed[1]}”"
    if word := _negated_only_in(one, other):
        return f"this negates “{word}”, the other does not"
    if word := _negated_only_in(other, one):
        return f"the other negates “{word}”, this does not"
    here, there = (
        set(a) - set(b) for a, b in ((one.numbers, other.numbers), (other.numbers, one.numbers))
    )
    if share >= SAME and len(here) == len(there) == 1:
        return f"this says {here.pop()}, the other {there.pop()}"
    return ""


def _negated_only_in(one: _Sentence, other: _Sentence) -> str:
    """Return a word that `one` negates and `other` says plainly, or an empty text."""
    denied, said = {stem for stem, _ in other.negated}, other.stems.union(other.numbers)
    return next((word for stem, word in one.negated if stem in said and stem not in denied), "")


@lru_cache(512)
def _sentences(text: str) -> tuple[_Sentence, ...]:
    parts = [
        part[:_LONGEST]
        for raw in _ENDS.split(text[: _SENTENCES * _LONGEST])
        if (part := raw.strip())
    ]
    return tuple(
        _Sentence(part, _stems(part), _negated(part), numbers(part)) for part in parts[:_SENTENCES]
    )


def _stems(sentence: str) -> frozenset[str]:
    return frozenset(stem for stem in content_words(sentence) if not stem[0].isdigit())


def _negated(sentence: str) -> tuple[tuple[str, str], ...]:
    """Return the word that each negation is about, as its stem and as written: the next one with a
    meaning.
    """
    found = (beside[0] for beside in reversed(negated(sentence, 1, (_LONGER,))) if beside)
    return tuple((stems[0], word) for word in found if (stems := content_words(word)))
