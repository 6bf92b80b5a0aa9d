"""Flip points: held against the order computed anew at every place of the scale."""

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.core.tuning.flips import just_beyond, nearest_flip, shortest_between
from workbench.retrieval.ranking.flips import Lines, admitting, flips

Rows = list[tuple[int, int]]

# Whole offsets and slopes cross at plain fractions, so the reference below is exact.
ROWS = st.lists(st.tuples(st.integers(-40, 40), st.integers(0, 12)), min_size=1, max_size=14)


def lines(rows: Rows, low: float = 0.0, high: float = 4.0) -> Lines:
    offset, slope = (np.array(column, float) for column in zip(*rows, strict=True))
    return Lines(offset, slope, np.arange(len(rows))[::-1].copy(), low, high)


def order(rows: Rows, value: Fraction) -> list[int]:
    """Rank as the ranker does: by total, equal ones by the tie rank."""
    return sorted(range(len(rows)), key=lambda i: (-(rows[i][0] + value * rows[i][1]), -i))


def crossings(rows: Rows, low: int, high: int) -> list[Fraction]:
    """Return every value at which any two rows are equal."""
    found = {
        Fraction(a[0] - b[0], b[1] - a[1]) for a, b in combinations(rows, 2) if a[1] != b[1]
    }  # fmt: skip
    return sorted(value for value in found if low <= value <= high)


@given(ROWS, st.integers(1, 16))
@example([(0, 0), (0, 1)], 1)
@example([(2, 0), (1, 1), (0, 2)], 2)
def test_the_order_of_the_best_changes_at_flips_and_nowhere_else(rows: Rows, k: int) -> None:
    found = flips(lines(rows), k)
    values = sorted({round(f.value, 9) for f in found})
    expected = []
    places = [Fraction(0), *crossings(rows, 0, 4), Fraction(4)]
    for left, here, right in zip(places, places[1:], places[2:], strict=False):
        before, after = order(rows, (left + here) / 2), order(rows, (here + right) / 2)
        if left < here < right and before[:k] != after[:k]:
            expected.append(round(float(here), 9))
    assert [v for v in values if 0 < v < 4] == expected


@given(ROWS, st.integers(1, 16))
def test_swapping_flip_by_flip_leads_from_one_end_to_the_other(rows: Rows, k: int) -> None:
    inner = [Fraction(0), *[c for c in crossings(rows, 0, 4) if 0 < c < 4], Fraction(4)]
    top = order(rows, (inner[0] + inner[1]) / 2)[:k]
    for flip in flips(lines(rows), k):
        if not 0 < flip.value < 4:
            continue
        assert top[flip.place - 1] == flip.falls
        top[flip.place - 1] = flip.rises
        if flip.place < len(top):
            assert top[flip.place] == flip.rises
            top[flip.place] = flip.falls
    assert top == order(rows, (inner[-2] + inner[-1]) / 2)[:k]


@given(ROWS, st.integers(1, 16), st.integers(0, 16))
def test_jumping_beyond_the_nearest_flip_changes_the_order_and_short_of_it_does_not(
    rows: Rows, k: int, quarter: int
) -> None:
    every, here = lines(rows), Fraction(quarter, 4)
    found = flips(every, k)
    now = order(rows, here)[:k]
    for direction, limit in ((1, 4.0), (-1, 0.0)):
        flip = nearest_flip(found, float(here), 1 if direction > 0 else -1)
        between = [c for c in crossings(rows, 0, 4) if (c - here) * direction > 0]
        if flip is None:
            inner = (
                here + (min(between, key=lambda c: abs(c - here)) if between else Fraction(limit))
            ) / 2
            assert order(rows, inner)[:k] == now or inner == here
            continue
        beyond = just_beyond(found, flip, 1 if direction > 0 else -1, limit)
        assert (flip.value - float(here)) * direction >= 0
        if beyond is None:
            assert flip.value == limit
            continue
        assert (beyond - flip.value) * direction > 0
        reached = order(rows, Fraction(beyond))[:k]
        # Two swaps at one value can undo each other only by being different swaps.
        assert reached != now or sum(f.value == flip.value for f in found) > 1


@pytest.mark.slow
@given(ROWS, st.integers(1, 5), st.integers(0, 16))
def test_admitting_weights_let_the_row_in_and_no_nearer_one_does(
    rows: Rows, k: int, quarter: int
) -> None:
    here = Fraction(quarter, 4)
    standing = order(rows, here)
    for row in standing[k:]:
        for found, direction, limit in zip(
            admitting(lines(rows), row, k, float(here)), (-1, 1), (0, 4), strict=True
        ):
            marks = [
                here,
                *[c for c in crossings(rows, 0, 4) if (c - here) * direction > 0],
                Fraction(limit),
            ]
            marks.sort(key=lambda c: c * direction)
            open_parts = [(a + b) / 2 for a, b in pairwise(marks) if a != b]
            first = next((m for m in open_parts if row in order(rows, m)[:k]), None)
            if found is None:
                assert first is None
            else:
                assert row in order(rows, Fraction(found))[:k]
                assert first is not None
                assert abs(Fraction(found) - here) <= abs(
                    next(m for m in marks if (m - first) * direction > 0) - here
                )


def test_a_flip_says_where_who_and_which_of_them_stands_first_exactly_there() -> None:
    (flip,) = flips(
        Lines(np.array([1.0, 0.0]), np.array([0.0, 2.0]), np.array([0, 1]), 0.0, 1.0), 2
    )
    assert (flip.value, flip.place, flip.falls, flip.rises, flip.swapped) == (0.5, 1, 0, 1, False)


def test_parallel_lines_never_flip() -> None:
    same = Lines(np.array([1.0, 1.0]), np.array([0.25, 0.25]), np.array([1, 0]), 0.0, 1.0)
    assert flips(same, 2) == ()


def test_many_rows_are_parted_into_stretches_without_losing_a_flip() -> None:
    rng = np.random.default_rng(7)
    n = 3000
    every = Lines(rng.random(n) * 0.1, rng.random(n), np.arange(n), 0.0, 1.0)
    values = sorted({f.value for f in flips(every, 10)})
    assert len(values) > 20
    places = [0.0, *values, 1.0]
    for left, here, right in zip(places, places[1:], places[2:], strict=False):
        early, late, after = (
            best(every, w)
            for w in ((9 * left + here) / 10, (left + 9 * here) / 10, (here + right) / 2)
        )
        assert early == late != after


def best(every: Lines, value: float) -> list[int]:
    totals = every.offset + value * every.slope
    return [int(row) for row in np.lexsort((every.tie_rank, -totals))[:10]]


@pytest.mark.parametrize(
    ("start", "end", "last", "found"),
    [
        (0.3671, 0.9, False, 0.37), (0.3671, 0.3682, False, 0.368), (0.3671, 0.1, False, 0.36),
        (0.37, 0.38, False, 0.371), (0.99, 1.0, True, 1.0), (0.99, 1.0, False, 0.991), (1.0, 1.0, True, None),
        (0.0, 1.0, False, 0.01),
    ],
)  # fmt: skip
def test_the_value_to_jump_to_is_short(
    start: float, end: float, last: bool, found: float | None
) -> None:
    assert shortest_between(start, end, last=last) == found
