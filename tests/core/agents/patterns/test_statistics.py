"""The numbers behind a pattern: the exact test is scipy's, confidence the source's, savings by
hand.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.core.agents.patterns.samples import NOW, applied, full
from workbench.core.agents.patterns.pattern import Baseline
from workbench.core.agents.patterns.statistics import (
    baseline_of,
    confidence,
    counted,
    evidence,
    finding,
    savings,
)
from workbench.core.binomial import at_least


def test_the_exact_test_is_that_of_scipy() -> None:
    from scipy.stats import binomtest  # type: ignore[import-untyped]

    for trials in (*range(1, 60), 300, 1_000, 5_000):
        for successes in {
            0,
            1,
            trials // 3,
            trials // 2,
            trials // 2 + 1,
            (trials * 7) // 10,
            trials - 1,
            trials,
        }:
            for chance in (0.5, 0.1, 0.93):
                expected = binomtest(successes, trials, chance, alternative="greater").pvalue
                assert at_least(successes, trials, chance) == pytest.approx(
                    expected, rel=1e-8, abs=1e-300
                )


def test_the_test_at_its_edges() -> None:
    assert (at_least(0, 0, 0.5), at_least(0, 9, 0.5)) == (1.0, 1.0)
    assert at_least(5, 5, 0.5) == pytest.approx(1 / 32)
    assert (at_least(1, 2, 0.0), at_least(1, 2, 1.0)) == (0.0, 1.0)
    for wrong in ((3, 2, 0.5), (-1, 2, 0.5), (1, 2, 1.5)):
        with pytest.raises(ValueError, match="between"):
            at_least(*wrong)


def test_confidence_is_the_sources() -> None:
    assert confidence(1.0, 5, 1 / 32) == pytest.approx(0.7601, abs=1e-4)
    assert confidence(0.0, 0, 1.0) == 0.0
    assert confidence(1.0, 10_000, 0.0) == 1.0


def test_what_counts_is_recent_and_once_for_each_episode() -> None:
    pattern = full()
    rows = applied(pattern, "sssff")
    again = replace(rows[0], id="other", outcome="failure", at=rows[0].at + timedelta(hours=1))
    old = replace(rows[1], episode="old", at=NOW - timedelta(days=91))
    coming = replace(rows[1], episode="coming", at=NOW + timedelta(days=1))
    strange = replace(rows[1], episode="strange", pattern="pat-other")
    found = counted(pattern, [*rows, again, old, coming, strange], NOW)
    assert [one.episode for one in found] == ["e4", "e3", "e2", "e1", "e0"]
    assert found[-1].outcome == "failure"
    since = replace(pattern, evidence_since=NOW - timedelta(days=3, hours=1))
    assert len(counted(since, rows, NOW)) == 3


def test_a_finding_and_the_evidence_of_it() -> None:
    from scipy.stats import binomtest

    pattern = full()
    rows = applied(pattern, "sssssssspf", time=90.0)
    found = finding(pattern, rows, NOW)
    assert (found.episodes, found.successes, found.is_enough, found.holds) == (10, 8, True, False)
    assert found.p_value == pytest.approx(binomtest(8, 10, 0.5, alternative="greater").pvalue)
    known = evidence(pattern, rows, found, NOW)
    assert known.supporting_episodes[:2] == ("ep-1", "ep-2")
    assert (len(known.supporting_episodes), len(known.counter_episodes)) == (10, 3)
    assert (known.avg_time_saving, known.avg_cost_saving) == (30.0, None)
    assert known.success_rate_improvement == pytest.approx(0.3)
    assert known.last_validated == NOW


def test_savings_need_something_to_be_held_against() -> None:
    rows = applied(full(), "sf", time=10.0)
    assert savings(Baseline(), rows) == Baseline(2)
    assert savings(Baseline(3, 0.75, 5.0, 1.0), rows) == Baseline(2, -0.25, -5.0)
    assert savings(Baseline(3, 0.75, 5.0), ()) == Baseline(0)
    assert baseline_of([]) == Baseline(0)
    assert baseline_of([(True, 10.0, None), (False, 20.0, 4.0)]) == Baseline(2, 0.5, 15.0, 4.0)
