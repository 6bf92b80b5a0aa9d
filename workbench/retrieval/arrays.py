"""The array types that retrieval passes around."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""A matrix of shape (n, dim), one vector a row, or a single vector of shape (dim,)."""

Scores = NDArray[np.float32]
"""One score per row, shape (n,)."""

Column = NDArray[np.float64]
"""One exact number per candidate, shape (n,)."""

Rows = NDArray[np.intp]
"""Row numbers."""

Mask = NDArray[np.bool_]
"""One flag per row, shape (n,)."""

Embed = Callable[[Sequence[str]], Vectors]
"""Turns n texts into a matrix of shape (n, dim)."""
