"""Texts that the model does not know, as vectors of their words: what is close among them is found like all else."""

from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np

from workbench.core.duplicates.dedup import content_words
from workbench.core.stream.memory import MAX_CONTENT
from workbench.retrieval.arrays import Rows, Vectors

VERSION = "words-1"
"""Names the vectors that are kept; another one makes them anew."""

_SHARED = 0.5
"""What all of them have in common: a word of ten that differs leaves a cosine as close as the model would."""


def with_words(vectors: Vectors, texts: Sequence[str]) -> Vectors:
    """Return the vectors of texts (n, dim), with one made of its words for each text whose own is zero.

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
    return np.array([_worded(text[:MAX_CONTENT], dim) for text in texts], np.float32).reshape(-1, dim)


def _worded(text: str, dim: int) -> Vectors:
    marks = np.fromiter(map(_mark, dict.fromkeys(content_words(text))), np.int64)
    common, counts = _common(dim), np.bincount((marks >> 1) % dim, 2 * (marks & 1) - 1, dim)
    found = counts - (counts @ common) * common
    length = np.linalg.norm(found)
    if not length:
        return np.zeros(dim, np.float32)
    mixed: Vectors = (np.sqrt(_SHARED) * common + np.sqrt(1 - _SHARED) * found / length).astype(np.float32)
    return mixed


@lru_cache(1 << 16)
def _mark(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))


@lru_cache
def _common(dim: int) -> Vectors:
    found = np.random.default_rng(dim).standard_normal(dim)
    unit: Vectors = found / np.linalg.norm(found)
    return unit
