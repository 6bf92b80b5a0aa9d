"""Where a ranking changes along one weight: exact, because totals are linear in the weights.

Along a weight every candidate is a straight line, `offset + weight · slope`; equal totals are
ordered by `tie_rank`. Slopes that differ by no more than `PARALLEL` count as equal.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workbench.core.tuning.flips import Direction, Flip, shortest_between
from workbench.retrieval.arrays import Column, Rows

PARALLEL = 1e-12

_FEW, _DEEPEST = 64, 12
"""A stretch of the scale is parted while more rows than this compete in it, so often at most."""


class Lines(NamedTuple):
    """The candidates as lines over one weight, from `low` to `high`; one number per candidate."""

    offset: Column
    slope: Column
    tie_rank: Rows
    low: float
    high: float


def flips(lines: Lines, k: int) -> tuple[Flip, ...]:
    """Return every swap within the best `k`, and of the last of them with the one after, by value."""
    totals = _at(lines, lines.low)
    # Where totals are equal, the flatter line stood first: that swap belongs to this very value.
    top = np.lexsort((lines.tie_rank, lines.slope, -totals))[:k]
    found: list[Flip] = []
    for low, high, rows in _stretches(lines, np.arange(len(totals)), k, lines.low, lines.high):
        top = _sweep(lines, top, np.setdiff1d(rows, top), (low, high), found)
    ends = ((lines.low, True), (lines.high, False))
    return tuple(f for f in found if (f.value, f.swapped) not in ends)


def admitting(
    lines: Lines, position: int, k: int, value: float
) -> tuple[float | None, float | None]:
    """Return the nearest weights below and above `value` at which a candidate is among the best
    `k`.

    `None` where the scale has none; made for a candidate that is not among them at `value`.
    """
    gap = lines.offset - lines.offset[position]
    lean = lines.slope[position] - lines.slope
    leans = np.abs(lean) > PARALLEL
    crossing = np.full(len(gap), np.nan)
    crossing[leans] = gap[leans] / lean[leans]
    ahead = gap - value * lean
    above = (ahead > 0) | ((ahead == 0) & (lines.tie_rank < lines.tie_rank[position]))
    return (
        _admitted(crossing, lean, above, k, value, lines.low, -1),
        _admitted(crossing, lean, above, k, value, lines.high, 1),
    )


def _at(lines: Lines, value: float) -> Column:
    totals: Column = lines.offset + value * lines.slope
    return totals


def _stretches(
    lines: Lines, rows: Rows, k: int, low: float, high: float, depth: int = 0
) -> Iterator[tuple[float, float, Rows]]:
    """Part the scale until few of the rows can be among the best `k` in each part; yield parts and
    those rows.
    """
    rows = _contenders(lines, rows, k, low, high)
    middle = (low + high) / 2
    if len(rows) <= _FEW + 2 * k or depth == _DEEPEST or middle in (low, high):
        yield low, high, rows
    else:
        yield from _stretches(lines, rows, k, low, middle, depth + 1)
        yield from _stretches(lines, rows, k, middle, high, depth + 1)


def _contenders(lines: Lines, rows: Rows, k: int, low: float, high: float) -> Rows:
    """Return those of the rows that can be among the best `k` somewhere between two weights."""
    if k >= len(rows):
        return rows
    offset, slope = lines.offset[rows], lines.slope[rows]
    left, right = offset + low * slope, offset + high * slope
    least, most = np.minimum(left, right), np.maximum(left, right)
    kept: Rows = rows[most >= np.partition(least, len(least) - k)[len(least) - k]]
    return kept


def _sweep(
    lines: Lines, top: Rows, rest: Rows, stretch: tuple[float, float], found: list[Flip]
) -> Rows:
    """Note the swaps of one stretch, one after the other; return the best rows at its end."""
    value, high = stretch
    top = top.copy()
    while (step := _next(lines, top, rest, value)) is not None and step[0] <= high:
        value, place, other = step
        falls, rises = int(top[place]), int(top[place + 1] if other is None else rest[other])
        found.append(
            Flip(
                value, place + 1, falls, rises, bool(lines.tie_rank[rises] < lines.tie_rank[falls])
            )
        )
        top[place] = rises
        if other is None:
            top[place + 1] = falls
        else:
            rest[other] = falls
    return top


def _next(
    lines: Lines, top: Rows, rest: Rows, value: float
) -> tuple[float, int, int | None] | None:
    """Return the next swap: its value, the place (from 0) and, for one from outside, its index in
    `rest`.
    """
    best: tuple[float, int, int | None] | None = None
    if len(top) > 1:
        crossing = _crossings(lines, top[:-1], top[1:], value)
        place = int(np.argmin(crossing))
        if math.isfinite(crossing[place]):
            best = float(crossing[place]), place, None
    if len(rest) and len(top):
        crossing = _crossings(lines, top[-1:], rest, value)
        # Of several that arrive together, the steepest is the one that stays, of twins the first by
        # id.
        other = int(np.lexsort((lines.tie_rank[rest], -lines.slope[rest], crossing))[0])
        if math.isfinite(crossing[other]) and (best is None or crossing[other] < best[0]):
            best = float(crossing[other]), len(top) - 1, other
    return best


def _crossings(lines: Lines, upper: Rows, lower: Rows, value: float) -> Column:
    """Return where each lower one overtakes, never before `value`; infinity where it does not."""
    lean = lines.slope[lower] - lines.slope[upper]
    gap = lines.offset[upper] - lines.offset[lower]
    crossing = np.full(lean.shape, np.inf)
    np.divide(gap, lean, out=crossing, where=lean > PARALLEL)
    later: Column = np.maximum(crossing, value)
    return later


def _admitted(
    crossing: Column,
    lean: Column,
    above: Column,
    k: int,
    value: float,
    limit: float,
    direction: Direction,
) -> float | None:
    """Walk from `value` to the limit, counting who stands above, until fewer than `k` do."""
    low, high = min(value, limit), max(value, limit)
    events = np.flatnonzero((crossing >= low) & (crossing <= high))
    events = events[np.argsort(crossing[events] * direction, kind="stable")]
    places = [*crossing[events].tolist(), limit]
    count = int(np.count_nonzero(above))
    state = above.copy()
    for index, (here, after) in enumerate(pairwise(places)):
        event = events[index]
        stands_above = lean[event] * direction < 0
        count += int(stands_above) - int(state[event])
        state[event] = stands_above
        if count < k and after != here:
            return shortest_between(here, after, last=index == len(events) - 1)
    return None
