"""When an insight needs no further round (source 000, algorithm 9)."""

import pytest

from workbench.core.reflection.llm import Substance, needs_round, substance

LONG = "x" * 100


def test_only_whole_distinct_words_count() -> None:
    assert substance("Because users reuse what ensures whenever").actionable == ("because",)
    assert substance("Never, NEVER use it; never.").actionable == ("never", "use")
    assert substance(" abc\n") == Substance(3, ())


@pytest.mark.parametrize(
    ("text", "enough"),
    [
        (f"{LONG} always verify", True),
        (f"{LONG} always always", False),
        (f"{LONG} because of houses", False),
        ("Always verify.", False),
        (("always verify " + LONG)[:100], True),
        (("always verify " + LONG)[:99], False),
        ("always verify" + " " * 100, False),
    ],
)
def test_a_hundred_characters_and_two_actionable_words_are_enough(text: str, enough: bool) -> None:
    assert substance(text).enough == enough
    assert needs_round(text, 0, 3) == (not enough)


def test_the_limit_of_rounds_ends_it() -> None:
    assert [needs_round("short", made, 3) for made in range(5)] == [True, True, True, False, False]
