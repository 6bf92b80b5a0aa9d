"""What a query names: who, and which month; and how much of a text asks."""

from datetime import UTC, datetime

import pytest

from tests.oracle.conversation import month_share
from workbench.core.tuning.naming import (
    Month,
    actors_named,
    answering,
    months_named,
    names_question,
    question_share,
)

NAMES = ("Joanna Reed", "Nate", "Will", "user", "Mark Lee", "Mark Hill")


@pytest.mark.parametrize(
    ("query", "months"),
    [
        ("what did she cook in March", [Month(3)]),
        ("what happened on 8 May, 2023", [Month(5, 8, 2023)]),
        ("the 3rd of june", [Month(6, 3)]),
        ("notes of 2023-05-08 and of 2024-01", [Month(5, 8, 2023), Month(1, None, 2024)]),
        ("October 13th 2022", [Month(10, 13, 2022)]),
        ("december", [Month(12)]),
        ("may the retry loop march on", []),
        ("May 2023", [Month(5, None, 2023)]),
        ("you may fail in may", []),
        ("release 2023-13-01", []),
    ],
)
def test_months_are_read_off_a_query(query: str, months: list[Month]) -> None:
    assert list(months_named(query)) == months


def test_a_memory_of_another_day_of_the_month_counts_half() -> None:
    made = datetime(2023, 5, 8, 23, tzinfo=UTC)
    assert [
        month_share([Month(5, day, year)], made)
        for day, year in ((None, None), (8, 2023), (9, None))
    ] == [
        1,
        1,
        0.5,
    ]
    assert month_share([Month(5, 8, 2022)], made) == 0.0
    assert month_share([Month(4), Month(5)], made) == 1.0
    assert month_share([], made) == 0.0


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("what did joanna say", {"Joanna Reed"}),
        ("Nate's recipe", {"Nate"}),
        ("donated", set()),
        ("will it rain", set()),
        ("Will it rain", set()),
        ("what did Will cook", {"Will"}),
        ("does the user want tabs", set()),
        ("Mark a test as slow", set()),
        ("who is Mark Hill", {"Mark Hill"}),
        ("Joanna Reed and Nate", {"Joanna Reed", "Nate"}),
    ],
)
def test_who_is_named(query: str, named: set[str]) -> None:
    assert actors_named(query, NAMES) == named


@pytest.mark.parametrize(
    "query", ["what did I buy", "my dog's name", "who told me?", "where i’ve been", "is it mine"]
)
def test_an_assistant_answers_a_query_about_who_asks(query: str) -> None:
    assert answering(query, ("user", "assistant", "tool", "Nate")) == {"assistant"}
    assert answering(query, ("Human", "AI")) == {"AI"}
    # Somebody who goes by a name is not known by a role.
    assert not answering(query, ("Nate", "Assistant Joanna")) | answering(
        query, ("Nate", "assistant")
    )


@pytest.mark.parametrize(
    "query", ["what does Nate own", "myth", "the I/O error", "about.me", "me-too", ""]
)
def test_nobody_answers_a_query_about_others(query: str) -> None:
    assert not answering(query, ("user", "assistant"))


@pytest.mark.parametrize(
    "query", ["Nate asks Joanna why", "what did we ask the vendor", "the question of the 3rd"]
)
def test_a_query_may_look_for_a_question(query: str) -> None:
    assert names_question(query)


@pytest.mark.parametrize("query", ["why did it fail?", "a questionable task", "unasked", ""])
def test_a_query_that_asks_looks_for_no_question(query: str) -> None:
    assert not names_question(query)


def test_how_much_of_a_text_asks() -> None:
    assert question_share("") == question_share("No. It fails!") == 0.0
    assert question_share("Does it fail?") == 1.0
    assert question_share("It fails. Why?") == pytest.approx(5 / 14)
    assert question_share("Why?!\nSo.") == 0.0


def test_a_long_sentence_tells_before_it_asks() -> None:
    asks = "can you tell me who of them won the game?"
    assert question_share(f"so {asks}") == 1.0
    assert (
        question_share(
            f"I met Michael at the festival on the fifteenth, he plays the cello, {asks}"
        )
        == 0.0
    )
