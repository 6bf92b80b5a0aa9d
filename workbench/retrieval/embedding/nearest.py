"""The vectors most like a given one: for duplicates and for "nearest existing"."""

import numpy as np

from workbench.retrieval.arrays import Mask, Rows, Scores, Vectors
from workbench.retrieval.ranking.selecting import top_positions

_BLOCK = 16_384
"""Rows of a product that is looked through at once."""


def nearest(vector: Vectors, matrix: Vectors, k: int, mask: Mask | None = None) -> tuple[Rows, Scores]:
    """Return up to `k` rows of `matrix` (n, dim) by falling cosine to `vector` (dim,), and the cosines.

    All vectors have unit length. Only rows whose flag in `mask` is set take part; equal cosines come in row order.
    """
    rows = np.arange(len(matrix)) if mask is None else np.flatnonzero(mask)
    if not len(rows) or k < 1:
        return np.zeros(0, np.intp), np.zeros(0, np.float32)
    # The whole product is cheaper than copying the chosen rows out, unless they are few.
    few = len(rows) < len(matrix) // 8
    cosines = np.clip(matrix[rows] @ vector if few else (matrix @ vector)[rows], -1.0, 1.0)
    best = top_positions(cosines, rows, k)
    return rows[best], cosines[best]


def near_pairs(vectors: Vectors, matrix: Vectors, least: float) -> tuple[Rows, Rows, Scores]:
    """Return every pair of a row of `vectors` (m, dim) and one of `matrix` (n, dim) with a cosine of `least` or more.

    The answer is the rows in `vectors`, the rows in `matrix` and the cosines, in the order of the former, then of
    the latter. All vectors have unit length. The product is made block by block, so that it stays small.
    """
    found: list[tuple[Rows, Rows, Scores]] = []
    for start in range(0, len(matrix), _BLOCK):
        cosines = matrix[start : start + _BLOCK] @ vectors.T
        # A flat view is searched many times faster than two dimensions.
        others, mine = np.divmod(np.flatnonzero((cosines >= least).reshape(-1)), max(1, len(vectors)))
        if len(mine):
            found.append((mine, others + start, np.clip(cosines[others, mine], -1.0, 1.0)))
    if not found:
        return np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0, np.float32)
    mine, others, cosines = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((others, mine))
    return mine[order], others[order], cosines[order]
