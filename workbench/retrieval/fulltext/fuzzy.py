"""Free-word filtering that forgives a typo, and ordered similarity of two texts."""

import re
import threading
import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from workbench.core.duplicates.dedup import said_words
from workbench.core.runtime import in_pieces
from workbench.core.words import folded, letters, word_pattern
from workbench.retrieval.arrays import Column, Mask

TYPO_FROM = 4
"""Letters a word needs before a typo is forgiven."""

START_FROM = 6
"""Letters a word needs before a typo is forgiven against the start of a longer word."""

EXACT, START, INSIDE = 100, 95, 90
"""Values of a word that is a whole word of the line, starts one, or stands inside one."""

TYPO, TYPO_START = 80, 75
"""Values of a word that is a word of the line, or starts one, but for one typo."""

MOST = EXACT
"""The highest score of a line."""

SPANNED = 2_000
"""Characters of a line in which matches are marked; nobody is shown more of one."""

_KEPT = 32
"""Words that were looked for and are not looked for again: who types looks for the same ones with
each key.
"""

Values = NDArray[np.int8]
"""How well each of some words or lines holds a word: one of the values above, 0 for not at all."""

Span = tuple[int, int]


def is_near(word: str, other: str) -> bool:
    """Tell whether another word is `word` with one typo, or a longer one that starts so: what
    begins with `word` as it would with at most one typo in it.
    """
    size = len(word)
    if size < TYPO_FROM or len(other) < size - 1:
        return False
    if len(other) <= size + 1:
        return OSA.distance(word, other, score_cutoff=1) <= 1
    starts = (other[:end] for end in range(size - 1, size + 2)) if size >= START_FROM else ()
    return any(OSA.distance(word, start, score_cutoff=1) <= 1 for start in starts)


class FuzzyLines:
    """Lines prepared for filtering at every keystroke. Any thread may ask.

    The first `heads` characters of a line are what shows of it; without them all does.
    """

    def __init__(self, lines: Sequence[str], heads: Sequence[int] | None = None) -> None:
        # Two parts of each line, what shows and the rest; each begins with the empty word, so that
        # none has no words.
        self._parts = [
            folded(part)
            for line, head in zip(lines, heads or map(len, lines), strict=True)
            for part in (line[:head], line[head:])
        ]
        numbers, at, begins = {"": 0}, list[int](), list[int]()
        for part in in_pieces(self._parts):
            begins.append(len(at))
            found = word_pattern(part).findall(part)
            at += [0, *(numbers.setdefault(word, len(numbers)) for word in found)]
        self._words = list(numbers)
        self._at, self._begins = np.array(at, np.int32), np.array(begins, np.intp)
        self._sizes = np.fromiter(map(len, self._words), np.int32)
        self._first_two = _first_two(self._words)
        self._held: dict[str, tuple[Values, Mask]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._parts) // 2

    def scores(self, query: str) -> tuple[Column, Mask]:
        """Return how well each line matches every word of `query`, 0 for not at all; and whether
        that shows of it.

        A word matches as a substring, case ignored, or with one typo as one of the line's words.
        Lines where every word is a substring score 90–100, all others below 80. An empty query
        matches nothing.
        """
        words = _words_of(query)
        if not words:
            return np.zeros(len(self)), np.zeros(len(self), np.bool_)
        found = [self._looked_up(word) for word in words]
        values = np.array([value for value, _ in found], np.float64)
        is_literal = (values >= INSIDE).all(axis=0)
        # Scaled so that a line with any typo stays below every line without one.
        typed = np.minimum(values, INSIDE).mean(axis=0) * (TYPO / INSIDE)
        scores = np.where(is_literal, values.mean(axis=0), typed)
        scores[(values == 0).any(axis=0)] = 0.0
        return scores, np.logical_or.reduce([shows for _, shows in found])

    def _looked_up(self, word: str) -> tuple[Values, Mask]:
        """Return how well each line holds a word, and whether that shows of it."""
        with self._lock:
            known = self._held.pop(word, None) or self._look_up(word)
            self._held[word] = known  # now the last to go
            if len(self._held) > _KEPT:
                del self._held[next(iter(self._held))]
            return known

    def _look_up(self, word: str) -> tuple[Values, Mask]:
        values = np.zeros(len(self._words), np.int8)
        for number in self._maybe_near(word):
            if is_near(word, known := self._words[number]):
                values[number] = TYPO if len(known) <= len(word) + 1 else TYPO_START
        is_plain = word_pattern(word).fullmatch(word) is not None
        for number, known in enumerate(self._words if is_plain else ()):
            if word in known:
                begins = START if known.startswith(word) else INSIDE
                values[number] = EXACT if known == word else begins
        best = np.maximum.reduceat(values[self._at], self._begins)
        if not is_plain:  # it may go across words, but never across spaces
            start = re.compile(rf"(?<!\w){re.escape(word)}")
            whole = re.compile(rf"{start.pattern}(?!\w)")
            for number, part in enumerate(self._parts):
                if word in part:
                    begins = START if start.search(part) else INSIDE
                    best[number] = EXACT if whole.search(part) else begins
        head, rest = best.reshape(-1, 2).T
        return np.maximum(head, rest), head > 0

    def _maybe_near(self, word: str) -> list[int]:
        """Return the words that may be another one with a typo: that leaves one of the first two
        letters where it is, or moves it by one place.
        """
        if len(word) < TYPO_FROM:
            return []
        alike = (self._first_two == _first_two([word])) | (
            self._first_two == _first_two([word[1::-1]])
        )
        return np.flatnonzero(alike.any(axis=1) & (self._sizes >= len(word) - 1)).tolist()


def _first_two(words: Sequence[str]) -> NDArray[np.uint32]:
    """Return the first two letters of words, shape (n, 2)."""
    return np.array([word[:2] for word in words], "<U2").view(np.uint32).reshape(-1, 2)


def _words_of(query: str) -> list[str]:
    return list(dict.fromkeys(folded(query).split()))


def spans_in(text: str, query: str) -> tuple[Span, ...]:
    """Return the parts of a text that match the words of a query, as [start, end)."""
    line, begins, ends = _placed(text[:SPANNED])
    found: list[Span] = []
    for word in _words_of(query):
        places = [(m.start(), m.end()) for m in re.finditer(re.escape(word), line)]
        if not places and len(word) >= TYPO_FROM:
            places = [m.span() for m in word_pattern(line).finditer(line) if is_near(word, m[0])]
        found += [(begins[start], ends[end - 1]) for start, end in places]
    return _merged(found)


def _placed(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """Return a text folded, and where in it the letter begins and ends that each character comes
    from.
    """
    if text.isascii():
        return text.lower(), range(len(text)), range(1, len(text) + 1)
    whole: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    place = 0
    for letter in letters(text):
        whole.append(folded(letter))
        begins += [place] * len(whole[-1])
        place += len(letter)
        ends += [place] * len(whole[-1])
    return "".join(whole), begins, ends


def order_similarity(a: str, b: str) -> float:
    """Return how alike two texts are in order, 0–100: the smaller of letter by letter and word by
    word.

    Case, spacing, Unicode form and (between words) punctuation do not count. The words see what a
    static embedding cannot: "always pnpm, never npm" and its reverse share 95 % of their letters
    but 50 % of their words.
    """
    a, b = _plain(a), _plain(b)
    words_a, words_b = (
        word_pattern(t).findall(t) if t.isascii() else said_words(t) for t in (a, b)
    )
    words = float(fuzz.ratio(words_a, words_b)) if words_a or words_b else 100.0
    # That the letters are more alike than the words is mostly so, and sooner known than how alike
    # they are.
    return words if fuzz.ratio(a, b, score_cutoff=words) else float(fuzz.ratio(a, b))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _merged(spans: list[Span]) -> tuple[Span, ...]:
    """Return the spans in order, with those that overlap or touch joined."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
