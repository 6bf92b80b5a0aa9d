"""What two much alike texts say differently, and what is only another form of the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.duplicates.dedup import Conflict, differing, same_word, word_conflicts


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (
            "What is the highest degree your mom completed?",
            "What’s the highest degree your dad completed?",
            "mom dad",
        ),
        ("Klaus is sleeping", "Klaus is idle", "sleeping idle"),
        ("Deploy the web app on Friday", "Deploy the web app on Monday", "friday monday"),
        ("Wash the car", "Wash with care", "car care"),
    ],
)
def test_a_word_of_each_is_a_difference(one: str, other: str, words: str) -> None:
    left, right = words.split()
    assert differing(one, other) == ((left,), (right,))
    assert differing(other, one) == ((right,), (left,))
    assert word_conflicts(one, other) == (f"words differ: {left} / {right}",)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use pnpm for installs here", "Using pnpm for the installs"),
        ("The colour of the banner was organised", "the color of this banner is organized"),
        ("Commit the lock file", "Committed the lockfile"),
        ("He wrote the parser", "He writes a parser"),
        ("Maria’s sister planned it", "Maria's sister plans it"),
        ("Carries two keys", "carry two keys"),
        ("Restart the `web-1` worker", "Restart the `web-1` workers"),
    ],
)
def test_forms_spellings_and_function_words_are_none(one: str, other: str) -> None:
    assert differing(one, other) == ((), ())
    assert word_conflicts(one, other) == ()


def test_who_says_much_more_says_something_else() -> None:
    assert word_conflicts("Bye Joanna!", "Bye Joanna! Take care") == ("only one says: take, care",)
    assert (
        word_conflicts(
            "Deploys on Friday need a second person", "Deploys on Friday need a second person today"
        )
        == ()
    )
    assert word_conflicts("Nate: Bye Joanna", "Joanna: Bye, Nate") == (Conflict.ORDER,)


@given(st.text(max_size=30), st.text(max_size=30))
def test_it_holds_both_ways(one: str, other: str) -> None:
    assert differing(one, other) == differing(other, one)[::-1]
    assert differing(one, one) == ((), ())
    assert bool(word_conflicts(one, other)) == bool(word_conflicts(other, one))


@pytest.mark.parametrize(
    ("one", "other"), [("car", "care"), ("sleep", "sweep"), ("mom", "dad"), ("on", "one")]
)
def test_short_words_that_look_alike_are_two(one: str, other: str) -> None:
    assert not same_word(one, other)
