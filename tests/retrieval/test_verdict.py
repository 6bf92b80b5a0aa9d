"""Verdicts: the test by value and by brute force, the estimate of further queries, and the stated
error rate.
"""

from itertools import product
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.tuning.autotune import EXACT, Verdict, signed
from workbench.evaluation.tuner import (
    bootstrap_band,
    compare,
    further_queries,
    hold_together,
    sign_flip_p,
)

steps = st.integers(-4, 4).map(lambda n: n / 8)


def brute_force(differences: list[float]) -> float:
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return fmean(total >= abs(sum(differences)) - 1e-12 for total in sums)


@given(st.lists(steps, min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_it_tries_every_assignment_of_signs(differences: list[float]) -> None:
    assert sign_flip_p(differences) == pytest.approx(brute_force(differences))


def test_the_smallest_p_of_six_queries_and_of_five() -> None:
    assert sign_flip_p([0.1] * 6) == 2 / 64
    assert sign_flip_p([0.1] * 5) == 2 / 32
    assert compare([0.5] * 6, [0.6] * 6).outcome == "better"
    assert compare([0.6] * 6, [0.5] * 6).outcome == "worse"
    assert compare([0.5] * 5, [0.6] * 5).outcome == "unclear"


def test_queries_that_do_not_differ_change_nothing() -> None:
    assert sign_flip_p([]) == sign_flip_p([0.0] * 40) == 1.0
    assert sign_flip_p([0.1] * 6 + [0.0] * 100) == 2 / 64


def test_rounding_makes_no_difference() -> None:
    verdict = compare([0.1 + 0.2] * 20, [0.3] * 20)
    assert (verdict.wins, verdict.losses, verdict.ties, verdict.delta, verdict.p) == (
        0,
        0,
        20,
        0.0,
        1.0,
    )
    assert sign_flip_p([0.1, 0.2, -0.3, 0.7] * 3) == pytest.approx(
        brute_force([0.1, 0.2, -0.3, 0.7] * 3)
    )


def test_the_random_form_agrees_with_the_exact_one() -> None:
    differences = np.random.default_rng(5).normal(0.1, 0.2, EXACT).tolist()
    exact = sign_flip_p(differences)
    # Thirteen differences, one of them too small to matter, take the random way.
    assert sign_flip_p([*differences, 1e-15]) == pytest.approx(exact, abs=0.02)


def test_it_is_the_same_every_time_and_both_ways() -> None:
    random = np.random.default_rng(1)
    base, new = random.random(30).tolist(), random.random(30).tolist()
    one, again, other = compare(base, new), compare(base, new), compare(new, base)
    assert one == again
    assert (other.wins, other.losses, other.p) == (one.losses, one.wins, one.p)
    assert other.delta == pytest.approx(-one.delta)
    assert compare(base, new, seed=3).p == pytest.approx(one.p, abs=0.03)


def test_the_band_holds_the_mean_and_shrinks() -> None:
    few = np.random.default_rng(2).normal(0.1, 0.2, 20)
    low, high = bootstrap_band(few.tolist())
    wide = high - low
    assert low < few.mean() < high
    assert wide == pytest.approx(2 * 1.96 * few.std() / np.sqrt(20), rel=0.1)
    low, high = bootstrap_band(np.tile(few, 16).tolist())
    assert high - low == pytest.approx(wide / 4, rel=0.1)
    assert bootstrap_band([0.25] * 3) == (0.25, 0.25)


def test_how_many_more_queries() -> None:
    # Mean 0.1, deviation 0.2: ((1.96 + 0.84) · 2)² = 31.4 queries in all.
    spread = [0.3, -0.1] * 10
    spread = [0.1 + (d - 0.1) * 0.975 for d in spread]
    assert further_queries(spread) == 32 - 20
    assert further_queries([0.1] * 4) == EXACT - 4
    assert further_queries([0.1]) == EXACT - 1
    assert further_queries([0.0] * 20) is None
    assert further_queries([0.5, -0.4999] * 10) is None
    assert (further_queries([0.3, -0.2] * 3) or 0) > 100


def test_the_sentence() -> None:
    verdict = Verdict("nDCG@10", 9, 2, 4, 0.064, -0.01, 0.13, 0.08, "unclear", 8)
    assert verdict.sentence == (
        "9 better, 2 worse, 4 equal · Δ nDCG@10 +0.06 [−0.01, +0.13] · inconclusive, about 8 more judged queries needed"
    )
    assert not verdict.provisional
    assert compare([0.1] * 3, [0.1] * 3).conclusion == "no difference on any query, provisional"
    assert compare([0.1] * 11, [0.2] * 11).conclusion == "better (p < 0.001), provisional"
    assert compare([0.1] * 12, [0.2] * 12).conclusion == "better (p < 0.001)"
    assert signed(-0.001) == "0.00"


def test_verdicts_read_together_share_the_error_rate() -> None:
    p = [0.01, 0.04, 0.03]
    single = [Verdict("m", 5, 1, 0, 0.1, 0.0, 0.2, value, "better", None) for value in p]
    together = hold_together(single)
    assert [v.p for v in together] == pytest.approx([0.03, 0.06, 0.06])
    assert [v.outcome for v in together] == ["better", "unclear", "unclear"]
    assert together[1].conclusion.startswith("inconclusive when 3 are compared at once")
    assert hold_together(single[:1]) == (single[0],)
    assert hold_together([]) == ()


def test_wrong_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        compare([0.1, 0.2], [0.1])
    with pytest.raises(ValueError, match="no query"):
        compare([], [])


def share_of(outcome: str, mean: float, runs: int) -> float:
    random = np.random.default_rng(7)
    found = [
        compare([0.0] * 25, random.normal(mean, 0.2, 25).tolist()).outcome for _ in range(runs)
    ]
    return found.count(outcome) / runs  # type: ignore[arg-type]


@pytest.mark.slow
def test_equal_settings_are_rarely_called_different() -> None:
    assert 1 - share_of("unclear", 0.0, 2_000) <= 0.065


@pytest.mark.slow
def test_skewed_differences_keep_the_error_rate() -> None:
    random = np.random.default_rng(8)
    draws = (random.exponential(0.2, 25) - 0.2 for _ in range(2_000))
    found = [compare([0.0] * 25, d.tolist()).outcome for d in draws]
    # The test is exact only for symmetric differences; a strong skew costs a little.
    assert 1 - found.count("unclear") / 2_000 <= 0.09


@pytest.mark.slow
def test_a_real_difference_is_found() -> None:
    assert share_of("better", 0.15, 2_000) >= 0.85
