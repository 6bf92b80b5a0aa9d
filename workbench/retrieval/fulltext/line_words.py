"""The words of many lines, and which lines hold a word as it is typed, or spelled almost like it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from workbench.core.stopping import in_pieces
from workbench.retrieval.arrays import Mask, Rows

TYPO_FROM = 4
"""Letters a word needs before a typo is forgiven."""

START_FROM = 6
"""Letters a word needs before a typo is forgiven against the start of a longer word."""

WORD = re.compile(r"\w+")

Values = NDArray[np.int8]
"""How well each of some chunks or lines holds a word: one of the values below, 0 for not at all."""

EXACT, START, INSIDE = 100, 95, 90
"""Values of a word that is a whole word of the line, starts one, or stands inside one."""

TYPO, TYPO_START = 80, 75
"""Values of a word that is a word of the line, or starts one, but for one typo."""


class LineWords:
    """The words of lower-case `lines`; immutable.

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
        self._chunk_at: Rows = np.array(at, np.intp)
        self._filled = np.flatnonzero(sizes)
        starts = np.cumsum(sizes) - sizes
        self._starts = starts[self._filled]
        self._in_head: Mask = np.arange(len(at)) < np.repeat(starts + shown, sizes)
        self._words, self._word_in, self._in_chunk = _vocabulary(self._chunks)

    def held(self, word: str) -> Values:
        """Return how well each chunk holds a word as it is typed."""
        values = np.zeros(len(self._chunks), np.int8)
        if WORD.fullmatch(word) is not None:
            holding = [number for number, known in enumerate(self._words) if word in known]
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
        whole, start = self.near(word)
        if not whole and not start:
            return np.zeros(len(self._chunks), np.int8)
        of_words = np.zeros(len(self._words), np.int8)
        for near, value in ((start, TYPO_START), (whole, TYPO)):
            of_words[[self._number[word] for word in near]] = value
        return self._of_words(of_words)

    def in_lines(self, chunks: Values) -> Values:
        """Return the best value that any chunk of a line has, for each line."""
        found = np.zeros(self._count, np.int8)
        if chunks.any():
            found[self._filled] = np.maximum.reduceat(chunks[self._chunk_at], self._starts)
        return found

    def in_heads(self, chunks: Values) -> Mask:
        """Tell for each line whether a chunk that shows of it has a value."""
        found = np.zeros(self._count, np.bool_)
        if chunks.any():
            shown = (chunks > 0)[self._chunk_at] & self._in_head
            found[self._filled] = np.logical_or.reduceat(shown, self._starts)
        return found

    def near(self, word: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return the words that are `word` with one typo, and the longer words that start so.

        One typo is a letter wrong, missing or added, or two neighbours swapped.
        """
        if len(word) < TYPO_FROM:
            return frozenset(), frozenset()
        sizes = range(len(word) - 1, len(word) + 2)
        whole = frozenset(_within_one(word, list(chain(*(self._of_length.get(size, ()) for size in sizes)))))
        if len(word) < START_FROM:
            return whole, frozenset()
        longer: set[str] = set()
        for size in sizes:
            beginnings = self._beginnings(size)
            longer |= set(chain(*(beginnings[near] for near in _within_one(word, list(beginnings)))))
        return whole, frozenset(known for known in longer if len(known) > len(word) + 1)

    @cached_property
    def _number(self) -> Mapping[str, int]:
        return {word: number for number, word in enumerate(self._words)}

    def _of_words(self, values: Values) -> Values:
        """Return the best value that any word of a chunk has, for each chunk."""
        found = np.zeros(len(self._chunks), np.int8)
        of_pairs = values[self._word_in]
        hits = np.flatnonzero(of_pairs)
        np.maximum.at(found, self._in_chunk[hits], of_pairs[hits])
        return found

    @cached_property
    def _of_length(self) -> Mapping[int, list[str]]:
        found: dict[int, list[str]] = {}
        for word in self._words:
            found.setdefault(len(word), []).append(word)
        return found

    @cached_property
    def _known_beginnings(self) -> dict[int, dict[str, list[str]]]:
        return {}

    def _beginnings(self, size: int) -> Mapping[str, list[str]]:
        """Return the words that are longer than `size`, by how they begin."""
        found = self._known_beginnings.get(size)
        if found is None:
            found = {}
            for word in chain(*(words for length, words in self._of_length.items() if length > size)):
                found.setdefault(word[:size], []).append(word)
            self._known_beginnings[size] = found
        return found


def _vocabulary(chunks: Sequence[str]) -> tuple[list[str], Rows, Rows]:
    """Return the distinct words of chunks, and which of them stands in which chunk."""
    numbers: dict[str, int] = {}
    pairs = [
        (numbers.setdefault(word, len(numbers)), chunk)
        for chunk, text in enumerate(chunks)
        for word in WORD.findall(text)
    ]
    words, at = np.array(pairs, np.intp).reshape(-1, 2).T
    return list(numbers), words, at


def _value(word: str, known: str) -> int:
    return EXACT if known == word else START if known.startswith(word) else INSIDE


def _within_one(word: str, words: Sequence[str]) -> Iterable[str]:
    if not words:
        return ()
    distances = process.cdist([word], words, scorer=OSA.distance, score_cutoff=1)[0]
    return [words[i] for i in np.flatnonzero(distances <= 1).tolist()]
