"""The words of many lines, and which lines hold a word that is spelled almost like another."""

import re
from collections.abc import Sequence

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from workbench.retrieval.arrays import Mask

TYPO_FROM = 4
"""Letters a word needs before a typo is forgiven."""

START_FROM = 6
"""Letters a word needs before a typo is forgiven against the start of a longer word."""

WORD = re.compile(r"\w+")


class LineWords:
    """The words of lower-case `lines`, each distinct word kept once; immutable."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._count = len(lines)
        # Chunks without spaces are numbered first: splitting is much faster than matching words.
        chunks: list[str] = []
        sizes: list[int] = []
        for line in lines:
            found = line.split()
            chunks += found
            sizes.append(len(found))
        chunk_id = {chunk: i for i, chunk in enumerate(dict.fromkeys(chunks))}
        self._line_of = np.repeat(np.arange(self._count), np.array(sizes, np.intp))
        self._chunk_at = np.fromiter(map(chunk_id.__getitem__, chunks), np.intp, len(chunks))
        self._chunks = len(chunk_id)
        word_id: dict[str, int] = {}
        pairs = [(word_id.setdefault(w, len(word_id)), c) for chunk, c in chunk_id.items() for w in WORD.findall(chunk)]
        self._word_in, self._in_chunk = np.array(pairs, np.intp).reshape(-1, 2).T
        self._words = list(word_id)

    def near(self, word: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return the words that are `word` with one typo, and the longer words that start so.

        One typo is a letter wrong, missing or added, or two neighbours swapped.
        """
        if len(word) < TYPO_FROM or not self._words:
            return frozenset(), frozenset()
        whole = frozenset(self._within_one(word, self._words))
        if len(word) < START_FROM:
            return whole, frozenset()
        longer = [known for known in self._words if len(known) > len(word) + 1]
        sizes = range(len(word) - 1, len(word) + 2)
        starts = set(self._within_one(word, list({known[:size] for known in longer for size in sizes})))
        return whole, frozenset(known for known in longer if any(known[:size] in starts for size in sizes))

    def lines_with(self, words: frozenset[str]) -> Mask:
        """Tell for each line whether it holds one of `words`."""
        found = np.zeros(self._count, np.bool_)
        if words:
            known = np.array([word in words for word in self._words], np.bool_)
            chunk = np.zeros(self._chunks, np.bool_)
            chunk[self._in_chunk[known[self._word_in]]] = True
            found[self._line_of[chunk[self._chunk_at]]] = True
        return found

    @staticmethod
    def _within_one(word: str, words: list[str]) -> list[str]:
        if not words:
            return []
        distances = process.cdist([word], words, scorer=OSA.distance, score_cutoff=1)[0]
        return [words[i] for i in np.flatnonzero(distances <= 1).tolist()]
