"""The best rows of a column without sorting all of it."""

import numpy as np

from workbench.retrieval.arrays import Column, Rows, Scores


def top_positions(values: Column | Scores, tie_rank: Rows, k: int) -> Rows:
    """Return the positions of the `k` largest values, best first; equal values by the smaller `tie_rank`.

    `tie_rank` holds distinct whole numbers, one per value. Equals a full sort by (−value, tie_rank),
    cut after `k`, also where a tie lies across the cut.
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
    """Return the place, from 1, that `position` has in the order of `top_positions`, without sorting."""
    value = values[position]
    ahead = np.count_nonzero(values > value)
    tied = np.flatnonzero(values == value)
    return int(ahead) + int(np.count_nonzero(tie_rank[tied] < tie_rank[position])) + 1
