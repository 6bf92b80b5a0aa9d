"""The vectors most like a given one: for duplicates and for "nearest existing"."""

import numpy as np

from workbench.retrieval.arrays import Mask, Rows, Scores, Vectors
from workbench.retrieval.selecting import top_positions


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
