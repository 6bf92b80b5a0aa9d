"""A floor under relevance: what a store reaches for questions that it has nothing to do with.

The relevance of a memory to a query is the mean of its own cosine and its own full-text score,
plain scores that no profile moves; where the model does not know one of the two, words alone tell.
A query reaches the mean of the best cosine and the best full-text score, two separate maxima.
Background questions from many fields, in the script of the query, are put to the same store; a
query that stays below what nearly all of them reach is told that nothing is relevant. A single
memory is compared with the best single memory of those questions.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from workbench.core.words import ENGLISH, Script, latin_language, script_of, split

OF_TEN = 9
"""Of ten background questions so many stay below the floor."""

OF_OTHERS = 0.97
"""The share of them in other languages of Latin letters than English: whatever is asked comes near
to their texts, as a model of English sees the same few pieces of words in all of them.
"""

OF_FOUR = 3
"""Of four background questions so many find a memory that is better than a weak one.

It is far below the floor on purpose. An answer may stand beside the words that were asked for and
share none of them: judged by the floor itself, agents would lose up to a quarter of the right
memories, and so they lose one in a hundred.
"""

DIGITS = 6
"""Digits of a floor behind the point: what two processors compute differently lies below them."""

ENOUGH = 0.33
"""Full text from which on a query is not empty, and a memory not weak, whatever the background
questions reach.
"""

CHANGED = 0.2
"""The share of the texts from which on a store that changed gets another floor."""

LEAST = 30
"""Memories from which on a store counts as large, and in a large one those of a script that make a
floor for it.
"""

NoFloor = Literal["off", "none", "unknown"]
"""Why there is no floor: the settings say so, no memory can be served, or it is not computed yet."""


def relevance(cosine: float, lexical: float, known: bool = True) -> float:
    """Return how relevant a memory with these scores is, up to 1; words alone tell where the model
    knows no better.
    """
    return (cosine + lexical) / 2 if known else lexical


class Reach(NamedTuple):
    """What a question reaches: the best cosine, the best full-text score, and the best relevance of
    one memory.

    `known` tells whether the model knows the question and one of the texts.
    """

    cosine: float
    lexical: float
    memory: float
    known: bool = True

    @property
    def together(self) -> float:
        """The mean of both maxima, which may be those of two memories."""
        return relevance(self.cosine, self.lexical, self.known)


class Floor(NamedTuple):
    """What background questions reach on a store: nine of ten stay below `query`, and three of four
    find a better memory than one that stays below `memory`. With `by_words` no cosine takes part.
    """

    query: float
    memory: float
    by_words: bool = False

    def is_empty(self, reach: Reach) -> bool:
        """Tell whether nothing is relevant to a query that reaches so much."""
        return reach.together < self.query and reach.lexical < ENOUGH

    def is_weak(self, cosine: float, lexical: float, known: bool = True) -> bool:
        """Tell whether a memory with these scores is one that any question could have found."""
        return relevance(cosine, lexical, known) < self.memory and lexical < ENOUGH


BY_WORDS = Floor(0.2, 0.05, by_words=True)
"""The floor where nothing is asked in a script, or too little is written in it; where words alone
tell, the least.

Of a hundred literal words of one or two memories all reach the former, of as many unrelated
questions hardly any.
"""


class Standard(NamedTuple):
    """What a query and its memories are held against: a floor, or why there is none."""

    floor: Floor | None = None
    why: NoFloor | None = None


OFF, NONE, UNKNOWN = Standard(None, "off"), Standard(None, "none"), Standard(None, "unknown")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A query against the floor of a store: what it reaches (`None` where no memory takes part),
    and the floor.
    """

    standard: Standard
    reach: Reach | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing is relevant."""
        floor = self.standard.floor
        return floor is not None and self.reach is not None and floor.is_empty(self.reach)

    def is_weak(self, cosine: float, lexical: float, known: bool = True) -> bool:
        """Tell whether a memory with these scores is weak; all of them are where nothing is
        relevant.
        """
        floor = self.standard.floor
        return floor is not None and (self.empty or floor.is_weak(cosine, lexical, known))


def floor_of(reached: Sequence[Reach], share: float = OF_TEN / 10) -> Floor:
    """Return the floor of a store whose background questions reach this, at least one, that a share
    stays below.
    """
    query = percentile([reach.together for reach in reached], share)
    memory = percentile([reach.memory for reach in reached], 1 - OF_FOUR / 4)
    if not any(reach.known for reach in reached):
        query, memory = max(query, BY_WORDS.query), max(memory, BY_WORDS.memory)
    return Floor(round(query, DIGITS), round(memory, DIGITS))


def written(texts: Iterable[str]) -> set[Script]:
    """Return the scripts of some texts in which questions tell a floor: all of a few texts, else
    those of many.
    """
    counts = Counter(map(script_of, texts))
    least = LEAST if counts.total() >= LEAST else 1
    return {script for script, count in counts.items() if count >= least}


def floor_for(query: str, floors: Mapping[str, Floor]) -> Floor:
    """Return the floor of a query, of those by language for Latin letters, else by script.

    A query whose language cannot be told, or is none of the store's, has the one of English.
    """
    script = script_of(query)
    if script in ("latin", "none"):
        return floors.get(latin_language(query, split(query)), floors.get(ENGLISH, BY_WORDS))
    return floors.get(script, BY_WORDS)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share (0…1) of them lies, between two of them by their
    distance.

    Raises `ValueError` for none.
    """
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    below, part = divmod(share * (len(ordered) - 1), 1)
    low = ordered[int(below)]
    return low + (ordered[min(int(below) + 1, len(ordered) - 1)] - low) * part


def has_changed(before: int, now: int, common: int) -> bool:
    """Tell whether a store of `before` texts that has `now`, `common` of them as before, needs
    another floor.

    A text that was changed counts once, as do one that came and one that went.
    """
    return max(before, now) - common >= CHANGED * before
