"""Free-word filtering that forgives a typo, and ordered similarity of two texts."""

import re
import threading
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from workbench.core.duplicates.dedup import said_words
from workbench.core.runtime import in_pieces
from workbench.core.words import folded, letters, word_pattern
from workbench.retrieval.arrays import Column, Mask, Rows

# Words that are another one but for a typo, and longer words that begin so.


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
    """Tell whether another word is `word` with one typo, or a longer one that starts so: what
    `Spelling` finds.
    """
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
    """Distinct words, found by others that are one typo away; immutable, but for what is kept of
    earlier questions.

    One typo is a letter wrong, missing or added, or two neighbours swapped. It takes away one kind
    of letter at most and brings in one: only words whose letters allow it are compared letter by
    letter.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._sizes = np.fromiter(map(len, words), np.int32, len(words))
        self._kinds = _kinds(words)
        self._letters: list[Letters] = [np.zeros(len(words), np.uint64)]

    def near(self, word: str) -> tuple[Rows, Rows]:
        """Return the places of the words that are `word` with one typo, and of the longer words
        that start so.
        """
        whole: list[Rows] = []
        longer: list[Rows] = []
        if len(word) >= TYPO_FROM:
            own = _letters_of(word)
            for size in range(len(word) - 1, len(word) + 2):
                alike = np.bitwise_count(self._first(size) ^ own) <= 2
                whole.append(self._within_one(word, size, alike & (self._sizes == size)))
                if len(word) >= START_FROM:
                    longer.append(
                        self._within_one(word, size, alike & (self._sizes > len(word) + 1))
                    )
        return _joined(whole), _distinct(_joined(longer))

    def _first(self, size: int) -> Letters:
        """Return the letters among the first so many characters of each word, as far as they are
        looked at.
        """
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
    """Return the kind of each looked-at character of the words, 0 behind their end, shape
    (characters, words).
    """
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
    """Return the different ones of some places, in order; `np.unique` would load masked arrays
    first, in 20 ms.
    """
    ordered = np.sort(places)
    new = np.ones(len(ordered), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


# The words of many lines, and which lines hold a word as it is typed, or spelled almost like it.


Values = NDArray[np.int8]
"""How well each of some chunks or lines holds a word: one of the values below, 0 for not at all."""

EXACT, START, INSIDE = 100, 95, 90
"""Values of a word that is a whole word of the line, starts one, or stands inside one."""

TYPO, TYPO_START = 80, 75
"""Values of a word that is a word of the line, or starts one, but for one typo."""

_FEW = 16
"""Of so many places of chunks in lines one holds what is looked for, where each of those is gone to
by itself.
"""

_OFTEN = 2000
"""Words that hold what is looked for, from which on all words are asked and not the text of all."""


class LineWords:
    """The words of `lines`, which are folded (`core.words.folded`); immutable.

    Each distinct chunk between spaces is kept once, and so is each distinct word of the chunks: a
    word is looked for in those. The first `heads` characters of a line are what shows of it;
    without them all does.
    """

    def __init__(self, lines: Sequence[str], heads: Sequence[int] | None = None) -> None:
        self._count = len(lines)
        numbers: dict[str, int] = {}
        at: list[int] = []
        sizes, shown = np.zeros(len(lines), np.intp), np.zeros(len(lines), np.intp)
        for row, line in enumerate(in_pieces(lines)):
            found = line.split()
            at += [numbers.setdefault(chunk, len(numbers)) for chunk in found]
            is_whole = heads is None or heads[row] >= len(line)
            sizes[row] = len(found)
            shown[row] = (
                len(found) if is_whole or heads is None else len(line[: heads[row]].split())
            )
        self._chunks = list(numbers)
        self._places = _Places(np.array(at, np.intp), sizes, shown, len(numbers))
        self._words, self._word_in, self._in_chunk = _vocabulary(self._chunks)
        self._text = "\n".join(self._words)
        self._begin = np.cumsum([0, *(len(word) + 1 for word in self._words)])
        self._spelling = Spelling(self._words)

    def held(self, word: str) -> Values:
        """Return how well each chunk holds a word as it is typed."""
        values = np.zeros(len(self._chunks), np.int8)
        if word_pattern(word).fullmatch(word) is not None:
            holding = self._holding(word)
            of_words = np.zeros(len(self._words), np.int8)
            of_words[holding] = [_value(word, self._words[number]) for number in holding]
            return self._of_words(of_words)
        # What has more in it than letters may go across words, but never across spaces.
        start, whole = (
            re.compile(rf"(?<!\w){re.escape(word)}{end}").search for end in ("", r"(?!\w)")
        )
        for number, chunk in enumerate(self._chunks):
            if word in chunk:
                values[number] = (EXACT if whole(chunk) else START) if start(chunk) else INSIDE
        return values

    def misspelt(self, word: str) -> Values:
        """Return how well each chunk holds a word that is `word` but for one typo, or begins so."""
        whole, start = self._spelling.near(word)
        of_words = np.zeros(len(self._words), np.int8)
        of_words[start] = TYPO_START
        of_words[whole] = TYPO
        return self._of_words(of_words)

    def in_lines(self, chunks: Values) -> tuple[Values, Mask]:
        """Return for each line the best value that any of its chunks has, and whether one with a
        value shows of it.
        """
        found, shows = np.zeros(self._count, np.int8), np.zeros(self._count, np.bool_)
        self._places.spread(chunks, found, shows)
        return found, shows

    def _holding(self, word: str) -> list[int]:
        """Return the numbers of the words that hold another one."""
        if self._text.count(word) > _OFTEN:
            return [number for number, known in enumerate(self._words) if word in known]
        found: list[int] = []
        place = self._text.find(word)
        while place >= 0:
            found.append(bisect_right(self._begin, place) - 1)
            place = self._text.find(word, int(self._begin[found[-1] + 1]))
        return found

    def _of_words(self, values: Values) -> Values:
        """Return the best value that any word of a chunk has, for each chunk."""
        found = np.zeros(len(self._chunks), np.int8)
        of_pairs = values[self._word_in]
        hits = np.flatnonzero(of_pairs)
        np.maximum.at(found, self._in_chunk[hits], of_pairs[hits])
        return found


class _Places:
    """Where the chunks stand: `at` is the chunk at each place, line after line, `sizes` and `shown`
    count them by line.

    The places are known in two orders, that of the lines and that of the chunks: what few hold is
    gone to by these.
    """

    def __init__(self, at: Rows, sizes: Rows, shown: Rows, chunks: int) -> None:
        self._at = at
        self._line = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        starts = np.cumsum(sizes) - sizes
        self._filled = np.flatnonzero(sizes)
        heads = (starts + shown)[self._filled]
        # What shows of a line and what does not, one after the other; either may be empty.
        self._edges = np.stack((starts[self._filled], heads), axis=1).ravel()
        self._is_there: Mask = np.stack((shown > 0, shown < sizes), axis=1)[self._filled]
        self._shows: Mask = np.arange(len(at)) < np.repeat(starts + shown, sizes)
        self._sorted = np.argsort(at.astype(np.int32), kind="stable").astype(np.int32)
        self._ends = np.cumsum(np.bincount(at, minlength=chunks))

    def spread(self, chunks: Values, found: Values, shows: Mask) -> None:
        """Write the best value of a line's chunks to `found`, and to `shows` whether one with a
        value shows of it.
        """
        holding = np.flatnonzero(chunks)
        ends = self._ends[holding]
        begins = np.where(holding > 0, self._ends[holding - 1], 0)
        many = int((ends - begins).sum())
        if not many:
            return
        if many * _FEW > len(self._at):
            values = np.zeros(len(self._at) + 1, np.int8)
            np.take(
                chunks, self._at, out=values[:-1], mode="clip"
            )  # checked places are gathered half as fast
            best = np.maximum.reduceat(values, self._edges).reshape(-1, 2) * self._is_there
            head, rest = best.T
            found[self._filled], shows[self._filled] = np.maximum(head, rest), head > 0
            return
        # One range of the places, sorted by chunk, after the other: each begins that far from where
        # it would go on.
        steps = np.repeat(begins - np.cumsum(ends - begins) + (ends - begins), ends - begins)
        places = self._sorted[np.arange(many) + steps]
        lines = self._line[places]
        np.maximum.at(found, lines, chunks[self._at[places]])
        shows[lines[self._shows[places]]] = True


def _vocabulary(chunks: Sequence[str]) -> tuple[list[str], Rows, Rows]:
    """Return the distinct words of chunks, and which of them stands in which chunk."""
    numbers: dict[str, int] = {}
    pairs = [
        (numbers.setdefault(word, len(numbers)), chunk)
        for chunk, text in enumerate(chunks)
        for word in word_pattern(text).findall(text)
    ]
    words, at = np.array(pairs, np.intp).reshape(-1, 2).T
    return list(numbers), words, at


def _value(word: str, known: str) -> int:
    return EXACT if known == word else START if known.startswith(word) else INSIDE


MOST = EXACT
"""The highest score of a line."""

SPANNED = 2_000
"""Characters of a line in which matches are marked; nobody is shown more of one."""

_KEPT = 32
"""Words that were looked for and are not looked for again: who types looks for the same ones with
each key.
"""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FuzzyMatch:
    """A matching line: its index, its score (0–100) and the parts to highlight, as [start, end) of
    the line.
    """

    index: int
    score: float
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """How well each line holds one word: as it is typed, or misspelt; and whether that shows of the
    line.
    """

    literal: Values
    misspelt: Values
    shows: Mask


class FuzzyLines:
    """Lines prepared for filtering at every keystroke. Any thread may ask.

    The first `heads` characters of a line are what shows of it; without them all does.
    """

    def __init__(self, lines: Sequence[str], heads: Sequence[int] | None = None) -> None:
        self._lines = tuple(lines)
        shown = [
            head if line.isascii() else len(folded(line[:head]))
            for line, head in zip(lines, heads, strict=True)
        ] if heads is not None else None  # fmt: skip
        self._words = LineWords([folded(line) for line in lines], shown)
        self._held: dict[str, _Held] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._lines)

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
        held = [self._looked_up(word) for word in words]
        literal = np.logical_and.reduce([one.literal > 0 for one in held])
        scores = np.where(
            literal, sum((one.literal for one in held), np.zeros(len(self))) / len(words), 0.0
        )
        if any(len(word) >= TYPO_FROM for word in words):
            scores = np.maximum(scores, _misspelt(held, literal))
        return scores, np.logical_or.reduce([one.shows for one in held])

    def rank(self, query: str, limit: int | None = None, cutoff: float = 0.0) -> list[FuzzyMatch]:
        """Return the lines that match every word of `query` (see `scores`), best first, equals in
        their own order.

        `cutoff` is the lowest score that is returned.
        """
        if limit == 0:
            return []
        scores, _ = self.scores(query)
        rows = np.flatnonzero((scores > 0) & (scores >= cutoff))
        best = rows[np.argsort(-scores[rows], kind="stable")][:limit]
        return [
            FuzzyMatch(row, float(scores[row]), self.spans(row, query)) for row in best.tolist()
        ]

    def spans(self, row: int, query: str) -> tuple[Span, ...]:
        """Return the parts of a line to highlight, as [start, end)."""
        return spans_in(self._lines[row], query)

    def _looked_up(self, word: str) -> _Held:
        with self._lock:
            known = self._held.pop(word, None)
            if known is None:
                known = self._look_up(word)
            self._held[word] = known  # now the last to go
            if len(self._held) > _KEPT:
                del self._held[next(iter(self._held))]
            return known

    def _look_up(self, word: str) -> _Held:
        # A word as it is typed is worth more than any typo: of the best in a line one can tell
        # which of the two it is.
        best, shows = self._words.in_lines(
            np.maximum(self._words.held(word), self._words.misspelt(word))
        )
        literal = best >= INSIDE
        return _Held(np.where(literal, best, 0), np.where(literal, 0, best), shows)


def _words_of(query: str) -> list[str]:
    return list(dict.fromkeys(folded(query).split()))


def _misspelt(held: Sequence[_Held], literal: Mask) -> Column:
    """Return the mean score of lines in which at least one word has a typo; 0 for all others."""
    total, every = np.zeros(len(literal)), ~literal
    for one in held:
        best = np.where(one.literal > 0, INSIDE, one.misspelt)
        total += best
        every &= best > 0
    # Scaled so that a line with any typo stays below every line without one.
    return np.where(every, total / len(held) * (TYPO / INSIDE), 0.0)


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
