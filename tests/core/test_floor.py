"""The floor: what background questions reach decides what is relevant at all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.tuning.floor import (
    CHANGED,
    DIGITS,
    OF_FOUR,
    OF_TEN,
    UNKNOWN,
    Floor,
    Reach,
    Standard,
    Verdict,
    floor_of,
    has_changed,
    percentile,
    relevance,
)

_SCORE = st.floats(-1, 1)
_REACHED = st.lists(
    st.tuples(_SCORE, _SCORE, _SCORE).map(
        lambda t: Reach(t[0], t[1], min(t[2], relevance(t[0], t[1])))
    ),
    min_size=1,
    max_size=60,
)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=40), st.floats(0, 1))
def test_a_percentile_is_what_numpy_calls_one(values: list[float], share: float) -> None:
    assert percentile(values, share) == pytest.approx(float(np.quantile(values, share)), abs=1e-9)


def test_there_is_no_percentile_of_nothing() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


@pytest.mark.slow
@given(_REACHED)
def test_nine_of_ten_background_questions_are_empty_themselves(reached: list[Reach]) -> None:
    floor = floor_of(reached)
    near = 10**-DIGITS
    empty = sum(reach.together < floor.query - near for reach in reached)
    same = sum(abs(reach.together - floor.query) <= near for reach in reached)
    assert empty <= OF_TEN / 10 * len(reached) <= empty + 1 + same
    weak = sum(reach.memory < floor.memory - near for reach in reached)
    assert weak <= (1 - OF_FOUR / 4) * (len(reached) - 1) + 1
    # No single memory reaches more than the two maxima together.
    assert floor.memory <= floor.query


@pytest.mark.slow
@given(_REACHED, _SCORE, _SCORE, st.floats(0, 0.5), st.floats(0, 0.5))
def test_a_better_match_is_never_emptier_or_weaker(
    reached: list[Reach], cosine: float, lexical: float, more: float, words: float
) -> None:
    floor = floor_of(reached)
    worse, better = Reach(cosine, lexical, 0.0), Reach(cosine + more, lexical + words, 0.0)
    assert floor.is_empty(worse) or not floor.is_empty(better)
    assert floor.is_weak(cosine, lexical) or not floor.is_weak(cosine + more, lexical + words)


def test_the_two_maxima_may_be_those_of_two_memories() -> None:
    floor = Floor(0.35, 0.25)
    assert not floor.is_empty(Reach(0.5, 0.3, 0.25))
    assert floor.is_empty(Reach(0.4, 0.29, 0.345))


def test_everything_is_weak_where_nothing_is_relevant_and_nothing_without_a_floor() -> None:
    standard = Standard(Floor(0.35, 0.25))
    empty, other = Verdict(standard, Reach(0.4, 0.2, 0.3)), Verdict(standard, Reach(0.6, 0.2, 0.4))
    assert (empty.empty, empty.is_weak(0.4, 0.2)) == (True, True)
    assert (other.empty, other.is_weak(0.4, 0.2), other.is_weak(0.4, 0.05)) == (False, False, True)
    for without in (Verdict(UNKNOWN, Reach(0.0, 0.0, 0.0)), Verdict(standard)):
        assert not without.empty
    assert not Verdict(UNKNOWN, Reach(0.0, 0.0, 0.0)).is_weak(-1.0, 0.0)


@pytest.mark.slow
@given(st.sets(st.integers(0, 200), min_size=30), st.sets(st.integers(0, 200)))
def test_a_fifth_of_the_texts_is_a_change(before: set[int], now: set[int]) -> None:
    changed = has_changed(len(before), len(now), len(before & now))
    assert changed == (max(len(before - now), len(now - before)) >= CHANGED * len(before))
    assert not has_changed(len(before), len(before), len(before))
