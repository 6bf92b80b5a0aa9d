"""The decay formula by value, and its pitfalls."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.samples import NOW, days
from workbench.core.tuning.profile import ENGRAM_HALF_LIFE, LITERAL_FEEDBACK_HALF_LIFE
from workbench.core.tuning.recency import (
    CUT,
    decay_per_hour,
    half_life_days,
    hours_between,
    rank_recency,
    recency,
)


@pytest.mark.parametrize(
    ("hours", "value"), [(0, 1.0), (168, 0.431), (336, 0.186), (138.3, 0.5), (1, 0.995)]
)
def test_the_formula_decides(hours: float, value: float) -> None:
    """0.995 per hour; the source's printed schedule does not follow from it."""
    assert recency(hours, half_life_days(0.995)) == pytest.approx(value, abs=5e-4)


def test_half_lives_of_the_published_constants() -> None:
    """0.995 halves in 138.3 hours, 0.99 in 69."""
    assert half_life_days(0.995) * 24 == pytest.approx(138.3, abs=0.05)
    assert half_life_days(0.995) == pytest.approx(ENGRAM_HALF_LIFE)
    assert pytest.approx(2.9, abs=0.03) == LITERAL_FEEDBACK_HALF_LIFE


@given(st.floats(0.01, 1000))
def test_constant_and_half_life_are_two_names_of_one_thing(life: float) -> None:
    """There and back."""
    assert half_life_days(decay_per_hour(life)) == pytest.approx(life, rel=1e-6)


def test_slow_decays_are_not_cut_early() -> None:
    """Beyond 2000 hours a half-life of a year still counts; values below the cut are zero."""
    assert recency(2001, 365.0) == pytest.approx(0.854, abs=1e-3)
    assert recency(30 * 24, 1.0) == 0.0
    assert recency(29 * 24, 1.0) == pytest.approx(0.5**29)
    assert 0.5**29 > CUT > 0.5**30


def test_none_never_decays_and_the_future_is_fresh() -> None:
    """Hours clamp at 0."""
    assert recency(1e9, None) == 1.0
    assert recency(-5, 1.0) == 1.0
    assert hours_between(NOW + days(1), NOW) == 0.0
    assert hours_between(NOW - timedelta(minutes=90), NOW) == 1.5


def test_by_rank() -> None:
    """`decay` to the power of the place, cut by value as well."""
    assert rank_recency(0, 0.99) == 1.0
    assert rank_recency(2, 0.5) == 0.25
    assert rank_recency(40, 0.5) == 0.0
    assert rank_recency(4000, 1.0) == 1.0
