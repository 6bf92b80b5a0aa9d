"""Many words at once have the stems that each has alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.words import split
from workbench.retrieval.fulltext.terms import stems
from workbench.retrieval.fulltext.thesaurus import present

WORDS = st.one_of(
    st.sampled_from(
        [
            "retries",
            "running",
            "naïve",
            "cafés",
            "größe",
            "漢字",
            "e\u0301tat",
            "1st",
            "42",
            "x" * 80,
            "\ud800",
        ]
    ),
    st.text(st.characters(categories=["L", "N", "M", "P"]), min_size=1, max_size=12).map(str.lower),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, max_size=30))
def test_words_have_the_stems_that_each_has_alone(words: list[str]) -> None:
    assert stems(words) == [stems([word])[0] for word in words]


def test_the_stem_of_a_word_is_its_beginning_without_accents() -> None:
    assert stems(["retries", "naïve", "123", "—", "running"]) == [
        "retri",
        "naiv",
        "123",
        "—",
        "run",
    ]


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, max_size=12), st.data())
def test_what_a_text_has_of_related_stems_is_what_all_its_words_say(
    words: list[str], data: st.DataObject
) -> None:
    text = " ".join(words)
    known = stems(split(text))
    offered = st.sampled_from(["agent", "memori", *filter(None, known)])
    related = [(stem, 0.5) for stem in data.draw(st.lists(offered, unique=True, max_size=6))]
    assert present(text, related) == tuple(pair for pair in related if pair[0] in set(known))
