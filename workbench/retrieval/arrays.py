"""The array types that retrieval passes around, times as numbers, and the best rows of a column."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

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

Micros = NDArray[np.int64]
"""Times as microseconds since 1970 in UTC, whole, so that differences are exact."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(at: datetime) -> int:
    """Return an aware time as microseconds since 1970."""
    gone = at - EPOCH
    return (gone.days * 86_400 + gone.seconds) * 1_000_000 + gone.microseconds


def top_positions(values: Column | Scores, tie_rank: Rows, k: int) -> Rows:
    """Return the positions of the `k` largest values, best first; equal values by the smaller
    `tie_rank`.

    `tie_rank` holds distinct whole numbers, one per value. Equals a full sort by (−value,
    tie_rank), cut after `k`, also where a tie lies across the cut.
    """
    n = len(values)
    k = min(k, n)
    if k <= 0:
        return np.zeros(0, np.intp)
    if k == n:
        chosen = np.arange(n)
    else:
        cut = np.partition(values, n - k)[n - k]
        above = np.flatnonzero(values > cut)
        tied = np.flatnonzero(values == cut)
        wanted = k - len(above)
        if len(tied) > wanted:
            tied = tied[np.argpartition(tie_rank[tied], wanted - 1)[:wanted]]
        chosen = np.concatenate([above, tied])
    return chosen[np.lexsort((tie_rank[chosen], -values[chosen]))]


def place_of(values: Column, tie_rank: Rows, position: int) -> int:
    """Return the place, from 1, that `position` has in the order of `top_positions`, without
    sorting.
    """
    value = values[position]
    ahead = np.count_nonzero(values > value)
    tied = np.flatnonzero(values == value)
    return int(ahead) + int(np.count_nonzero(tie_rank[tied] < tie_rank[position])) + 1
