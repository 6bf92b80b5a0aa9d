"""The share of helpful marks and its band."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.playbook.budget import MOST, helpful_share

COUNTS = st.integers(min_value=0, max_value=10**13)


@pytest.mark.parametrize(
    ("helpful", "harmful", "mean", "low", "high"),
    [
        (0, 0, 0.5, 0.05, 0.95),  # the uniform prior itself
        (9, 0, 10 / 11, 0.7411344491, 0.9948838),  # Beta(10, 1): quantile p is p ** (1 / 10)
        (5, 1, 6 / 8, 0.4793, 0.9466244996),
        (0, 4, 1 / 6, 0.010206218, 0.450719717),  # Beta(1, 5): quantile p is 1 − (1 − p) ** (1 / 5)
    ],
)
def test_known_posteriors(helpful: int, harmful: int, mean: float, low: float, high: float) -> None:
    share = helpful_share(helpful, harmful)
    assert share.mean == pytest.approx(mean)
    assert share.low == pytest.approx(low, abs=1e-5)
    assert share.high == pytest.approx(high, abs=1e-5)
    assert share.count == helpful + harmful


def test_negative_counts_are_no_marks() -> None:
    assert helpful_share(-3, -1) == helpful_share(0, 0)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(COUNTS, COUNTS)
def test_the_band_is_ordered_and_inside_the_range_whatever_the_counts(
    helpful: int, harmful: int
) -> None:
    share = helpful_share(helpful, harmful)
    assert 0 <= share.low <= share.high <= 1
    # With hardly any mark of one kind the mean may leave the band, by less than is shown.
    assert share.low - 1e-3 <= share.mean <= share.high + 1e-3


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 500), st.integers(0, 500))
def test_swapping_the_verdicts_mirrors_the_band(helpful: int, harmful: int) -> None:
    one, other = helpful_share(helpful, harmful), helpful_share(harmful, helpful)
    assert one.low == pytest.approx(1 - other.high, abs=1e-6)
    assert one.mean == pytest.approx(1 - other.mean)


@pytest.mark.parametrize("harmful", [0, 1, 30, 400])
def test_the_band_of_many_marks_goes_on_where_that_of_few_ends(harmful: int) -> None:
    few, many = (helpful_share(count - harmful, harmful) for count in (MOST, MOST + 1))
    assert (few.low, few.high) == pytest.approx((many.low, many.high), abs=2e-3)


def test_more_marks_make_the_band_narrower() -> None:
    widths = [helpful_share(3 * n, n).high - helpful_share(3 * n, n).low for n in (1, 4, 16, 64)]
    assert widths == sorted(widths, reverse=True)
