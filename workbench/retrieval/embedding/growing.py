"""A matrix that rows are added to."""

import numpy as np

from workbench.retrieval.arrays import Vectors

_SPARE = 1_024
"""The least number of rows there is room for when the matrix has to move."""


class GrowingMatrix:
    """Hands out a matrix that grows at its end without being copied each time.

    What was handed out before keeps its rows. `rows` (n, dim) is copied when the first row is added.
    """

    def __init__(self, rows: Vectors) -> None:
        self.rows = rows
        self._room = rows

    def add(self, more: Vectors) -> Vectors:
        """Return the matrix with `more` rows at the end."""
        size = len(self.rows) + len(more)
        if size > len(self._room):
            self._room = np.empty((size + max(_SPARE, size // 8), self.rows.shape[1]), np.float32)
            self._room[: len(self.rows)] = self.rows
        self._room[len(self.rows) : size] = more
        self.rows = self._room[:size]
        return self.rows
