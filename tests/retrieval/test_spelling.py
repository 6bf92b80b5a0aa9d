"""Words found by others that are a typo away, held against comparing every one of them."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from workbench.retrieval.fulltext.fuzzy import (
    INSIDE,
    START_FROM,
    TYPO,
    TYPO_FROM,
    TYPO_START,
    FuzzyLines,
    is_near,
)

WORDS = st.text("abcdéя", max_size=9) | st.text("abc", min_size=30, max_size=36)


def plain(words: Sequence[str], word: str) -> tuple[set[str], set[str]]:
    """Return the words that are one typo away, and the longer ones that begin so, by comparing all."""
    if len(word) < TYPO_FROM:
        return set(), set()
    sizes = range(len(word) - 1, len(word) + 2)
    whole = {known for known in words if OSA.distance(word, known) <= 1}
    longer = (
        [known for known in words if len(known) > len(word) + 1] if len(word) >= START_FROM else []
    )
    return whole, {
        known for known in longer if any(OSA.distance(word, known[:size]) <= 1 for size in sizes)
    }


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(WORDS, unique=True, max_size=12), WORDS, st.data())
def test_words_near_another_are_those_that_comparing_all_finds(
    words: list[str], word: str, data: st.DataObject
) -> None:
    if word:  # of random words few are near one another
        at = data.draw(st.integers(0, len(word) - 1))
        more = [
            word,
            word[:at] + word[at + 1 :],
            word[:at] + "x" + word[at:],
            word[:at] + "ab" + word[at + 1 :],
        ]
        swapped = word[:at] + word[at : at + 2][::-1] + word[at + 2 :]
        words = list(
            dict.fromkeys([*words, *more, swapped, *(one + "tail" for one in (*more, swapped))])
        )
    scores = FuzzyLines(words).scores(word)[0].tolist()
    whole, longer = (
        {
            known
            for known, score in zip(words, scores, strict=True)
            if round(score * INSIDE / TYPO) == value
        }
        for value in (TYPO, TYPO_START)
    )
    typed = {known for known in words if word in known}
    assert (whole, longer) == tuple(found - typed for found in plain(words, word))
    assert {known for known in words if is_near(word, known)} == set().union(*plain(words, word))


@pytest.mark.parametrize("word", ["", "abc", "abcd" * 30])
def test_no_words_are_near_none(word: str) -> None:
    assert FuzzyLines([]).scores(word)[0].tolist() == []
    assert FuzzyLines([""]).scores(word)[0].tolist() == [0]
