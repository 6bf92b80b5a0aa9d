"""Words that are another one but for a typo, and longer words that begin so."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from workbench.retrieval.arrays import Mask, Rows

TYPO_FROM = 4
"""Letters a word needs before a typo is forgiven."""

START_FROM = 6
"""Letters a word needs before a typo is forgiven against the start of a longer word."""

_LOOKED_AT = 32
"""Characters of a word whose letters are compared before its spelling is."""

_KINDS = 63
"""Kinds of letters that are told apart: one bit of a set each, and none for no letter."""

_BIT = np.concatenate(([0], 1 << np.arange(_KINDS, dtype=np.uint64))).astype(np.uint64)

Letters = NDArray[np.uint64]
"""Which kinds of letters a word has, a bit each, for each of some words."""


def is_near(word: str, other: str) -> bool:
    """Tell whether another word is `word` with one typo, or a longer one that starts so: what `Spelling` finds."""
    size = len(word)
    if size < TYPO_FROM or len(other) < size - 1:
        return False
    # A typo leaves one of the first two letters where it is, or moves it by one place.
    if word[0] != other[0] and word[1] != other[1] and word[0] != other[1] and word[1] != other[0]:
        return False
    if len(other) <= size + 1:
        return OSA.distance(word, other, score_cutoff=1) <= 1
    starts = (other[:end] for end in range(size - 1, size + 2)) if size >= START_FROM else ()
    return any(OSA.distance(word, start, score_cutoff=1) <= 1 for start in starts)


class Spelling:
    """Distinct words, found by others that are one typo away; immutable, but for what is kept of earlier questions.

    One typo is a letter wrong, missing or added, or two neighbours swapped. It takes away one kind of letter at most
    and brings in one: only words whose letters allow it are compared letter by letter.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._sizes = np.fromiter(map(len, words), np.int32, len(words))
        self._kinds = _kinds(words)
        self._letters: list[Letters] = [np.zeros(len(words), np.uint64)]

    def near(self, word: str) -> tuple[Rows, Rows]:
        """Return the places of the words that are `word` with one typo, and of the longer words that start so."""
        whole: list[Rows] = []
        longer: list[Rows] = []
        if len(word) >= TYPO_FROM:
            own = _letters_of(word)
            for size in range(len(word) - 1, len(word) + 2):
                alike = np.bitwise_count(self._first(size) ^ own) <= 2
                whole.append(self._within_one(word, size, alike & (self._sizes == size)))
                if len(word) >= START_FROM:
                    longer.append(self._within_one(word, size, alike & (self._sizes > len(word) + 1)))
        return _joined(whole), _distinct(_joined(longer))

    def _first(self, size: int) -> Letters:
        """Return the letters among the first so many characters of each word, as far as they are looked at."""
        while len(self._letters) <= min(size, len(self._kinds)):
            self._letters.append(self._letters[-1] | _BIT[self._kinds[len(self._letters) - 1]])
        return self._letters[min(size, len(self._kinds))]

    def _within_one(self, word: str, size: int, alike: Mask) -> Rows:
        places = np.flatnonzero(alike)
        if not len(places):
            return places
        begun = [self._words[place][:size] for place in places.tolist()]
        close: Mask = process.cdist([word], begun, scorer=OSA.distance, score_cutoff=1)[0] <= 1
        return places[close]


def _kinds(words: Sequence[str]) -> NDArray[np.uint8]:
    """Return the kind of each looked-at character of the words, 0 behind their end, shape (characters, words)."""
    width = min(max(map(len, words), default=0), _LOOKED_AT)
    if not width:
        return np.zeros((0, len(words)), np.uint8)
    codes = np.array(words, f"<U{width}").view(np.uint32).reshape(len(words), width).T
    return np.where(codes > 0, codes % _KINDS + 1, 0).astype(np.uint8)


def _letters_of(word: str) -> np.uint64:
    found: np.uint64 = np.bitwise_or.reduce(_BIT[_kinds([word])[:, 0]])
    return found


def _joined(places: Sequence[Rows]) -> Rows:
    return np.concatenate([np.zeros(0, np.intp), *places])


def _distinct(places: Rows) -> Rows:
    """Return the different ones of some places, in order; `np.unique` would load masked arrays first, in 20 ms."""
    ordered = np.sort(places)
    new = np.ones(len(ordered), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]
