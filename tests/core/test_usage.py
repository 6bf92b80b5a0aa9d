"""Accuracy with a bullet and without it: shares, intervals, and when they say anything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.playbook.usage import Run, compared, disagrees, rate, usages

RUNS = st.lists(st.builds(Run, st.frozensets(st.sampled_from("abc")), st.booleans()), max_size=40)


@pytest.mark.slow
@given(RUNS)
def test_every_run_is_on_one_side(runs: list[Run]) -> None:
    for usage in usages(runs, "abc"):
        assert usage.used.runs + usage.unused.runs == len(runs)
        assert usage.used.correct + usage.unused.correct == sum(run.correct for run in runs)
        assert usage.used.runs == sum(usage.bullet in run.bullets for run in runs)
        if usage.difference is not None:
            assert -1 <= usage.low <= usage.difference <= usage.high <= 1


def test_the_interval_of_a_share_is_wilsons() -> None:
    # Newcombe (1998), method 3: 81 of 263.
    found = rate(81, 263)
    assert (round(found.low, 4), round(found.high, 4)) == (0.2553, 0.3662)
    assert rate(0, 0).share is None


def test_the_interval_of_a_difference_is_newcombes() -> None:
    # Newcombe (1998b), method 10: 56/70 against 48/80.
    found = compared("x", 56, 70, 48, 80)
    assert found.difference == pytest.approx(0.2)
    assert (round(found.low, 4), round(found.high, 4)) == (0.0524, 0.3339)
    assert found.verdict == "helps"


@pytest.mark.parametrize(
    ("used", "unused", "verdict"),
    [((20, 20), (2, 20), "helps"), ((2, 20), (20, 20), "hurts"), ((10, 20), (11, 20), "unclear"),
     ((4, 4), (0, 50), "unclear"), ((0, 0), (5, 9), "unclear")],
)  # fmt: skip
def test_verdicts(used: tuple[int, int], unused: tuple[int, int], verdict: str) -> None:
    assert compared("x", *used, *unused).verdict == verdict


def test_votes_and_outcomes_may_contradict_each_other() -> None:
    hurts, helps = compared("x", 2, 20, 20, 20), compared("x", 20, 20, 2, 20)
    assert disagrees(hurts, 5, 1)
    assert disagrees(helps, 1, 5)
    assert not disagrees(hurts, 1, 5)
    assert not disagrees(compared("x", 1, 2, 1, 2), 9, 0)


def test_an_old_id_counts_for_the_bullet_it_became() -> None:
    runs = [Run(frozenset({"old"}), True), Run(frozenset({"old", "new"}), False)]
    (found,) = usages(runs, ["new"], {"old": "new"})
    assert (found.used.runs, found.used.correct) == (2, 1)
