"""A part of the full-text index: the postings and word sequences of some rows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.retrieval.arrays import Rows
from workbench.retrieval.vocabulary import Encoded, Terms

Counts = NDArray[np.int64]


class Segment:
    """Postings of `rows`, one row per encoded text; immutable.

    `lengths` counts each row's words without stop words and compounds (BM25's document length).
    """

    def __init__(self, rows: Rows, texts: Encoded, stop: frozenset[int]) -> None:
        self.rows = rows
        self.texts = texts
        sizes = np.diff(texts.ends, prepend=0)
        owner = np.repeat(np.arange(len(rows), dtype=np.int64), sizes)
        kept = ~np.isin(texts.words, np.fromiter(stop, np.int32, len(stop)))
        self.lengths: Counts = np.bincount(owner[kept], minlength=len(rows)).astype(np.int64)
        terms = np.concatenate([texts.words[kept], texts.wholes]).astype(np.int64)
        owners = np.concatenate([owner[kept], texts.whole_text])
        pairs, self._count = np.unique((terms << 32) | owners, return_counts=True)
        self._term, self._owner = pairs >> 32, pairs & 0xFFFFFFFF

    def postings(self, term: int) -> tuple[Rows, Counts]:
        """Return the local rows that contain a term, and how often."""
        left, right = np.searchsorted(self._term, (term, term + 1))
        return self._owner[left:right], self._count[left:right]

    def phrase(self, terms: Sequence[int]) -> tuple[Rows, Counts]:
        """Return the local rows in which the terms follow each other, and how often."""
        words, last = self.texts.words, len(terms) - 1
        at = np.flatnonzero(words[: len(words) - last] == terms[0]) if len(words) > last else np.zeros(0, np.intp)
        for step, term in enumerate(terms[1:], 1):
            at = at[words[at + step] == term]
        owner = np.searchsorted(self.texts.ends, at, side="right")
        inside = at + last < self.texts.ends[owner]
        rows, counts = np.unique(owner[inside], return_counts=True)
        return rows, counts


def joined(parts: Sequence[tuple[Encoded, Rows]]) -> Encoded:
    """Return the chosen texts of several encodings as one, in the given order."""
    words: list[Terms] = []
    sizes: list[Counts] = []
    wholes: list[Terms] = []
    whole_text: list[Counts] = []
    done = 0
    for texts, chosen in parts:
        size = np.diff(texts.ends, prepend=0)
        place = np.full(len(texts.ends), -1, np.int64)
        place[chosen] = np.arange(done, done + len(chosen))
        done += len(chosen)
        words.append(texts.words[np.repeat(place >= 0, size)])
        sizes.append(size[place >= 0])
        kept = place[texts.whole_text] >= 0
        wholes.append(texts.wholes[kept])
        whole_text.append(place[texts.whole_text[kept]])
    return Encoded(
        np.concatenate(words), np.cumsum(np.concatenate(sizes)), np.concatenate(wholes), np.concatenate(whole_text)
    )
