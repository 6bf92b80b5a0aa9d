"""At which place a few memories stand under many weights at once, without sorting.

A memory's place is the number of candidates with a larger total, plus those with the same total and a smaller
id, plus 1. Totals are added in the order of `core.scoring`, so the places equal those of the ranking to the bit.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from workbench.retrieval.arrays import Column, Mask, Rows

Places: TypeAlias = NDArray[np.int64]

CELLS = 1 << 15
"""Cells that all factors together are divided into, 32 steps each for three, to find rows beaten everywhere."""

BLOCK = 128
"""Rows combined at a time: a block stays in a processor's cache, and a count of it fits a byte."""


def contenders(columns: Column, depth: int) -> Mask:
    """Tell which rows some weights could put among the first `depth`.

    `columns` has shape (n, factors), values 0…1, rows in the order of ids. The other rows are beaten in every factor
    that has a spread by at least `depth` rows, clearly enough that no rounding and no tie matters. Leaving them
    out changes no place up to `depth`.
    """
    factors = columns.shape[1]
    steps = int(CELLS ** (1 / factors) + 1e-9)
    cell = np.minimum((columns * steps).astype(np.intp), steps - 1)
    flat = np.ravel_multi_index(tuple(cell.T), (steps,) * factors)
    count = np.bincount(flat, minlength=steps**factors).reshape((steps,) * factors)
    for axis in range(factors):
        count = np.flip(np.cumsum(np.flip(count, axis), axis=axis), axis)
    # Two cells up: at least one whole cell better, wherever in their cells the two rows lie.
    up = np.where(np.ptp(columns, axis=0) > 0, 2, 0)
    ahead = np.zeros((steps + 2,) * factors, count.dtype)
    ahead[(slice(steps),) * factors] = count
    if not up.any():
        return np.ones(len(columns), np.bool_)
    keep: Mask = ahead[tuple((cell + up).T)] < depth
    # When all weight is on factors without spread, the order is that of the ids.
    keep[:depth] = True
    return keep


def places(columns: Column, weights: Column, targets: Rows) -> Places:
    """Return the places, from 1, of the rows `targets` under each row of `weights`: shape (targets, weights).

    `columns`, shape (n, factors), are in the order of ids, `weights` in that of the factors.
    """
    # One row per factor: contiguous for the multiplications.
    factors = np.ascontiguousarray(weights.T)
    goal = np.empty((len(targets), len(weights)))
    _combine(columns[targets], factors, goal, np.empty_like(goal))
    result = np.ones((len(targets), len(weights)), np.int64)
    totals, scratch = np.empty((BLOCK, len(weights))), np.empty((BLOCK, len(weights)))
    hit = np.empty((BLOCK, len(weights)), np.bool_)
    for start in range(0, len(columns), BLOCK):
        part = columns[start : start + BLOCK]
        _combine(part, factors, totals[: len(part)], scratch[: len(part)])
        for j, target in enumerate(targets.tolist()):
            # Rows before the target in the order of ids win ties against it.
            cut = min(max(target - start, 0), len(part))
            np.greater_equal(totals[:cut], goal[j], out=hit[:cut])
            np.greater(totals[cut : len(part)], goal[j], out=hit[cut : len(part)])
            result[j] += np.add.reduce(hit[: len(part)].view(np.uint8), axis=0, dtype=np.uint8)
    return result


def _combine(columns: Column, factors: Column, out: Column, scratch: Column) -> None:
    """Write the totals of some rows under all weights, shape (rows, weights), term by term."""
    np.multiply(columns[:, :1], factors[0], out=out)
    for number in range(1, len(factors)):
        out += np.multiply(columns[:, number : number + 1], factors[number], out=scratch)
