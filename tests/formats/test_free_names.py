"""Names of which none is given twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.shared.values import FreeNames

_NAMES = st.lists(st.sampled_from(["a", "b", "a-2", "a-3", "a-2-2", ""]), max_size=30)


@pytest.mark.slow
@given(_NAMES, _NAMES)
def test_a_name_is_the_first_one_that_is_free(taken: list[str], wanted: list[str]) -> None:
    names, given_already = FreeNames(taken), set(taken)
    for one in wanted:
        free = [one, *(f"{one}-{number}" for number in range(2, 70))]
        expected = next(name for name in free if name not in given_already)
        assert names.give(one) == expected
        given_already.add(expected)


def test_what_joins_the_number_can_be_chosen() -> None:
    names = FreeNames(["key"], joined="_")
    assert [names.give("key"), names.give("key")] == ["key_2", "key_3"]


@pytest.mark.slow
def test_a_name_that_is_asked_for_again_and_again_is_counted_once() -> None:
    names = FreeNames()
    assert [names.give("a") for _ in range(100_000)][-1] == "a-100000"
