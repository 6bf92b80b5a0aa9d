"""Texts are found by their content, wherever they stand."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.retrieval.text_keys import (
    KEY_SIZE,
    KeyTable,
    first_of_equals,
    first_places,
    keys_of,
    text_key,
    text_keys,
)

texts = st.lists(st.sampled_from("abcdefgh"), max_size=12)


def test_keys_stand_one_after_the_other() -> None:
    keys = text_keys(["a", "b"])
    assert keys.shape == (2, 2)
    assert keys.tobytes() == text_key("a") + text_key("b")
    np.testing.assert_array_equal(keys_of(keys.tobytes()), keys)
    assert len(text_keys([])) == 0


def test_a_lone_surrogate_has_a_key_of_its_own() -> None:
    assert text_key("\ud800") != text_key("?")
    assert len(text_key("")) == KEY_SIZE


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from("abcdefgh"), unique=True), texts)
def test_each_key_is_found_where_it_stands(known: list[str], asked: list[str]) -> None:
    found = KeyTable(text_keys(known)).find(text_keys(asked))
    assert found.tolist() == [known.index(text) if text in known else -1 for text in asked]


def test_keys_that_share_a_half_are_told_apart() -> None:
    table = KeyTable(np.array([[1, 5], [2, 6]], np.uint64))
    assert table.find(np.array([[2, 7], [2, 6], [3, 6], [0, 0]], np.uint64)).tolist() == [
        -1,
        1,
        -1,
        -1,
    ]


@given(texts)
def test_the_first_of_equal_keys(asked: list[str]) -> None:
    assert first_places(text_keys(asked)).tolist() == sorted(
        asked.index(text) for text in set(asked)
    )
    firsts = first_of_equals(text_keys(asked))
    assert (list(range(len(asked))) if firsts is None else firsts.tolist()) == [
        asked.index(text) for text in asked
    ]
    assert (firsts is None) == (len(set(asked)) == len(asked))
