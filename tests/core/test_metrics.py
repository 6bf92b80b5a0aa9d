"""The metrics by value and by property."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.tuning.measure import ndcg, precision, recall, reciprocal_rank, unjudged

GRADES = {"a": 3, "b": 1, "c": 0, "d": 2}
rankings = st.permutations(["a", "b", "c", "d", "x", "y"])


def test_ndcg_is_linear_gain_over_the_best_order() -> None:
    got = ndcg(["b", "x", "a"], GRADES, 3)
    ideal = 3 + 2 / math.log2(3) + 1 / math.log2(4)
    assert got == pytest.approx((1 + 3 / math.log2(4)) / ideal)


def test_a_cut_ideal_has_k_places_only() -> None:
    assert ndcg(["a"], GRADES, 1) == 1
    assert ndcg(["a", "d"], GRADES, 2) == 1


def test_the_others_by_value() -> None:
    ranked = ["x", "c", "d", "y", "a"]
    assert reciprocal_rank(ranked, GRADES, 10) == pytest.approx(1 / 3)
    assert reciprocal_rank(ranked, GRADES, 2) == 0
    assert recall(ranked, GRADES, 3) == pytest.approx(1 / 3)
    assert recall(ranked, GRADES, 10) == pytest.approx(2 / 3)
    assert precision(ranked, GRADES, 4) == 0.25
    assert precision(ranked, GRADES, 10) == 0.2
    assert unjudged(ranked, GRADES, 4) == 2


def test_nothing_relevant_is_zero_not_an_error() -> None:
    for metric in (ndcg, reciprocal_rank, recall, precision):
        assert metric(["a"], {"a": 0}, 5) == metric([], {}, 5) == 0


@given(rankings, st.integers(1, 8))
def test_bounds_and_the_best_ranking(ranked: list[str], k: int) -> None:
    assert all(
        0 <= metric(ranked, GRADES, k) <= 1 for metric in (ndcg, reciprocal_rank, recall, precision)
    )
    assert (
        ndcg(ranked, GRADES, k) <= ndcg(["a", "d", "b", "c"], GRADES, k) + 1e-12 == pytest.approx(1)
    )
