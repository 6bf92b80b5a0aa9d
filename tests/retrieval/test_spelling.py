"""Words found by others that are a typo away, held against comparing every one of them."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from workbench.retrieval.fulltext.fuzzy import START_FROM, TYPO_FROM, Spelling, is_near

WORDS = st.text("abcdé𝐚", max_size=9) | st.text("abß", min_size=30, max_size=36)


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
    spelling = Spelling(words)
    for _ in range(2):  # what was kept of the first question answers the second as well
        whole, longer = (
            [words[place] for place in places.tolist()] for places in spelling.near(word)
        )
        assert len(whole) == len(set(whole))
        assert (set(whole), set(longer)) == plain(words, word)
    assert {known for known in words if is_near(word, known)} == set(whole) | set(longer)


@pytest.mark.parametrize("word", ["", "abc", "abcd" * 30])
def test_no_words_are_near_none(word: str) -> None:
    assert [len(places) for places in Spelling([]).near(word)] == [0, 0]
    assert [len(places) for places in Spelling([""]).near(word)] == [0, 0]
