"""The words of many lines, and which lines hold a word as it is typed, or spelled almost like it."""

import re
from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.core.runtime import in_pieces
from workbench.core.words import word_pattern
from workbench.retrieval.arrays import Mask, Rows
from workbench.retrieval.fulltext.spelling import Spelling

Values = NDArray[np.int8]
"""How well each of some chunks or lines holds a word: one of the values below, 0 for not at all."""

EXACT, START, INSIDE = 100, 95, 90
"""Values of a word that is a whole word of the line, starts one, or stands inside one."""

TYPO, TYPO_START = 80, 75
"""Values of a word that is a word of the line, or starts one, but for one typo."""

_FEW = 16
"""Of so many places of chunks in lines one holds what is looked for, where each of those is gone to by itself."""

_OFTEN = 2000
"""Words that hold what is looked for, from which on all words are asked and not the text of all."""


class LineWords:
    """The words of `lines`, which are folded (`core.words.folded`); immutable.

    Each distinct chunk between spaces is kept once, and so is each distinct word of the chunks: a word is looked for
    in those. The first `heads` characters of a line are what shows of it; without them all does.
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
            shown[row] = len(found) if is_whole or heads is None else len(line[: heads[row]].split())
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
        start, whole = (re.compile(rf"(?<!\w){re.escape(word)}{end}").search for end in ("", r"(?!\w)"))
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
        """Return for each line the best value that any of its chunks has, and whether one with a value shows of it."""
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
    """Where the chunks stand: `at` is the chunk at each place, line after line, `sizes` and `shown` count them by line.

    The places are known in two orders, that of the lines and that of the chunks: what few hold is gone to by these.
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
        """Write the best value of a line's chunks to `found`, and to `shows` whether one with a value shows of it."""
        holding = np.flatnonzero(chunks)
        ends = self._ends[holding]
        begins = np.where(holding > 0, self._ends[holding - 1], 0)
        many = int((ends - begins).sum())
        if not many:
            return
        if many * _FEW > len(self._at):
            values = np.zeros(len(self._at) + 1, np.int8)
            np.take(chunks, self._at, out=values[:-1], mode="clip")  # checked places are gathered half as fast
            best = np.maximum.reduceat(values, self._edges).reshape(-1, 2) * self._is_there
            head, rest = best.T
            found[self._filled], shows[self._filled] = np.maximum(head, rest), head > 0
            return
        # One range of the places, sorted by chunk, after the other: each begins that far from where it would go on.
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
