"""Every pair of vectors that is close enough, block by block, so that a hundred thousand rows fit
into memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np

from workbench.core.duplicates.dedup import content_words
from workbench.core.runtime import Progress
from workbench.core.stream.memory import MAX_CONTENT
from workbench.retrieval.arrays import Column, Rows, Vectors

ROUNDING = 1e-6
"""How much lower than in a block of products the cosine of two single vectors may come out."""

_PRODUCT = 1 << 24
"""Numbers of one block's product at most: 64 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class ClosePairs:
    """Pairs of rows by falling cosine, `left` before `right`; `floor` is the cosine from which on
    all are there.
    """

    left: Rows
    right: Rows
    cosines: Column
    floor: float


def reaches(cosine: float, floor: float) -> bool:
    """Tell whether the cosine of two vectors is the floor or more, as far as rounding lets one
    tell.
    """
    return cosine >= floor - ROUNDING


def close_pairs(
    vectors: Vectors, floor: float, most: int, step: Progress, block: int = 512
) -> ClosePairs:
    """Return the pairs of rows of `vectors` (n, dim; unit length) with a cosine of `floor` or more.

    Of more than `most` pairs only the closest are kept, and the floor is theirs. `step` is told
    after every block how many rows are through, of how many; what it raises ends the search.
    """
    left, right, cosines = np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0)
    rows = max(1, min(block, _PRODUCT // max(1, len(vectors))))
    step(0, len(vectors))
    for start in range(0, len(vectors), rows):
        a, b, close = _block(vectors, start, rows, floor)
        left, right, cosines = (
            np.concatenate([left, a]),
            np.concatenate([right, b]),
            np.concatenate([cosines, close]),
        )
        if len(cosines) > most:
            kept = np.argpartition(-cosines, most)[:most]
            left, right, cosines = left[kept], right[kept], cosines[kept]
            floor = float(cosines.min())
        step(min(start + rows, len(vectors)), len(vectors))
    order = np.lexsort((right, left, -cosines))
    return ClosePairs(left[order], right[order], cosines[order], floor)


def _block(vectors: Vectors, start: int, rows: int, floor: float) -> tuple[Rows, Rows, Column]:
    """Return the close pairs of some rows with all later ones."""
    product = vectors[start : start + rows] @ vectors[start:].T
    # A flat view is searched many times faster than two dimensions.
    a, b = np.divmod(np.flatnonzero((product >= floor).reshape(-1)), product.shape[1])
    later = b > a
    a, b = a[later], b[later]
    return a + start, b + start, np.minimum(product[a, b].astype(np.float64), 1.0)


# Texts that the model does not know, as vectors of their words: what is close among them is found
# like all else.


VERSION = "words-1"
"""Names the vectors that are kept; another one makes them anew."""

_SHARED = 0.5
"""What all of them have in common: a word of ten that differs leaves a cosine as close as the model
would.
"""


def with_words(vectors: Vectors, texts: Sequence[str]) -> Vectors:
    """Return the vectors of texts (n, dim), with one made of its words for each text whose own is
    zero.

    Such vectors are for finding what may be a duplicate, never for ranking.
    """
    rows = unknown(vectors)
    if not len(rows):
        return vectors
    filled = np.array(vectors)
    filled[rows] = worded([texts[row] for row in rows.tolist()], vectors.shape[1])
    return filled


def unknown(vectors: Vectors) -> Rows:
    """Return the rows of texts that the model does not know."""
    return np.flatnonzero(~vectors.any(axis=1))


def worded(texts: Sequence[str], dim: int) -> Vectors:
    """Return the vectors of texts by their words, shape (n, dim)."""
    return np.array([_worded(text[:MAX_CONTENT], dim) for text in texts], np.float32).reshape(
        -1, dim
    )


def _worded(text: str, dim: int) -> Vectors:
    marks = np.fromiter(map(_mark, dict.fromkeys(content_words(text))), np.int64)
    common, counts = _common(dim), np.bincount((marks >> 1) % dim, 2 * (marks & 1) - 1, dim)
    found = counts - (counts @ common) * common
    length = np.linalg.norm(found)
    if not length:
        return np.zeros(dim, np.float32)
    mixed: Vectors = (np.sqrt(_SHARED) * common + np.sqrt(1 - _SHARED) * found / length).astype(
        np.float32
    )
    return mixed


@lru_cache(1 << 16)
def _mark(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))


@lru_cache
def _common(dim: int) -> Vectors:
    found = np.random.default_rng(dim).standard_normal(dim)
    unit: Vectors = found / np.linalg.norm(found)
    return unit
