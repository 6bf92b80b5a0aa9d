"""Mining: support, Fisher's exact test as scipy has it, one feature for each set of episodes, any
order.
"""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.agents.patterns.statistics import Case, Feature, features_of, fisher, mined

COUNT = st.integers(0, 60)


@pytest.mark.slow
@given(COUNT, COUNT, COUNT, COUNT)
def test_the_test_is_that_of_scipy(good: int, bad: int, others_good: int, others_bad: int) -> None:
    from scipy.stats import fisher_exact  # type: ignore[import-untyped]

    judged = fisher_exact([[good, bad], [others_good, others_bad]]).pvalue
    assert fisher(good, bad, others_good, others_bad) == pytest.approx(float(judged), abs=1e-6)


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        fisher(1, -1, 0, 0)


def runs(
    good_with: int, bad_with: int, good_without: int, bad_without: int, *more: str
) -> list[Case]:
    """Return runs of one domain and type, of which some used a strategy."""
    used = features_of(["canary", *more], [])
    counts = ((good_with, True, used), (bad_with, False, used), (good_without, True, frozenset[Feature]()),
              (bad_without, False, frozenset[Feature]()))  # fmt: skip
    made = [(success, features) for count, success, features in counts for _ in range(count)]
    return [
        Case(f"e{n:02}", "infra", "deploy", success, features)
        for n, (success, features) in enumerate(made)
    ]


def test_a_strategy_with_which_more_succeed_is_found_with_its_numbers() -> None:
    from scipy.stats import fisher_exact

    (one,) = mined(runs(8, 1, 2, 8))
    assert (one.domain, one.type, one.feature.text, one.category) == (
        "infra",
        "deploy",
        "canary",
        "strategy",
    )
    assert (one.support, len(one.good), len(one.bad), one.others, one.others_good) == (
        9,
        8,
        1,
        10,
        2,
    )
    assert one.p_value == pytest.approx(float(fisher_exact([[8, 1], [2, 8]]).pvalue))
    assert one.helps


def test_one_with_which_fewer_succeed_is_a_pattern_of_failure() -> None:
    (one,) = mined(runs(1, 8, 9, 1))
    assert (one.category, one.helps) == ("failure", False)


def test_what_is_rare_or_everywhere_or_no_different_is_not_told() -> None:
    assert mined(runs(4, 0, 0, 12)) == ()
    assert mined(runs(9, 3, 0, 0)) == ()
    assert mined(runs(6, 4, 6, 4)) == ()


def test_what_always_comes_together_is_told_once() -> None:
    assert [one.feature.text for one in mined(runs(8, 1, 2, 8, "apart"))] == ["apart"]


def test_tools_are_looked_at_in_their_order() -> None:
    assert {one.names for one in features_of([], ["build", " test ", "deploy"])} == {
        ("build",), ("test",), ("deploy",), ("build", "test"), ("test", "deploy"), ("build", "test", "deploy"),
    }  # fmt: skip
    good = [
        Case(f"g{n}", "infra", "deploy", True, features_of([], ["test", "deploy"]))
        for n in range(7)
    ]
    bad = [
        Case(f"b{n}", "infra", "deploy", False, features_of([], ["deploy", "test"]))
        for n in range(7)
    ]
    found = {one.feature.names: one.category for one in mined([*good, *bad])}
    assert found == {("test", "deploy"): "sequence", ("deploy", "test"): "failure"}


def test_the_order_of_the_episodes_does_not_matter() -> None:
    every = [
        *runs(8, 1, 2, 8),
        *(Case(f"x{n}", "web", "fix", n % 2 == 0, features_of(["a"], [])) for n in range(9)),
    ]
    shuffled = every[:]
    random.Random(7).shuffle(shuffled)
    assert mined(shuffled) == mined(every)


def test_episodes_of_no_domain_and_no_type_say_nothing() -> None:
    assert (
        mined([Case(one.id, "", "", one.success, one.features) for one in runs(8, 1, 2, 8)]) == ()
    )


def chance(seed: int, better: str = "") -> list[Case]:
    """Return 1,000 runs whose outcome hangs on nothing, or on one strategy alone, which one in six
    has.
    """
    dice = random.Random(seed)
    made = []
    for n in range(1_000):
        strategy = dice.choice("abcdef")
        tools = [
            dice.choice(["read", "edit", "test", "grep", "build", "push"])
            for _ in range(dice.randint(2, 6))
        ]
        place = dice.choice(["ci", "web", "db", "infra"]), dice.choice(["fix", "feature", "deploy"])
        success = dice.random() < (0.95 if strategy == better else 0.6)
        made.append(Case(f"e{n:04}", *place, success, features_of([strategy], tools)))
    return made


@pytest.mark.slow
def test_noise_makes_no_pattern_and_what_is_true_is_found_in_it() -> None:
    """All comparisons together are corrected: without that, there are dozens for each seed."""
    assert sum(len(mined(chance(seed))) for seed in range(10)) <= 1
    for seed in range(10):
        domains = {
            one.domain
            for one in mined(chance(seed, "c"))
            if one.feature.names == ("c",) and one.helps
        }
        assert len(domains) >= 2
