"""Replies as values: what is read, and that the rest comes back as unread."""

import pytest

from tests.reflect.samples import IDS, MEMORIES
from tests.reflect.server import REPLIES
from workbench.reflect.replies import (
    NO_LIST,
    OUTSIDE,
    complete_lines,
    cut_off,
    read_insights,
    read_questions,
    read_ratings,
    read_text,
)


def recorded(name: str) -> str:
    return (REPLIES / name).read_text("utf-8")


def test_questions_in_many_dresses() -> None:
    found = read_questions(recorded("questions_odd.txt"), 3)
    assert found.texts == (
        "What keeps breaking the build?",
        "Who decides about the schema?",
        "Why are tokens refreshed so late?",
    )
    assert found.unread == ()


def test_questions_without_a_list_are_the_lines_that_ask() -> None:
    found = read_questions("Let me think.\nWhat breaks?\nWhy?\n", 3)
    assert found.texts == ("What breaks?", "Why?")
    assert [(u.reply, u.reason) for u in found.unread] == [("Let me think.", OUTSIDE)]


def test_surplus_questions_are_kept_and_repeated_ones_asked_once() -> None:
    found = read_questions("1. a?\n2. a?\n3. b?\n4. c?", 2)
    assert found.texts == ("a?", "b?")
    assert [u.reply for u in found.unread] == ["c?"]


def test_a_reply_without_a_list_is_kept_whole() -> None:
    prose = recorded("prose.txt")
    assert [(u.reply, u.reason) for u in read_questions(prose, 3).unread] == [(prose, NO_LIST)]
    unread = read_insights(prose, MEMORIES, "Why?").unread
    assert [(u.stage, u.reply, u.question) for u in unread] == [("insights", prose, "Why?")]


def test_insights_with_citations_out_of_range_are_kept_and_say_so() -> None:
    found = read_insights(recorded("insights_out_of_range.txt"), MEMORIES, "Why?").found
    assert [(i.citations, i.unresolved, i.question) for i in found] == [
        ((IDS[1],), ("40",), "Why?"),
        ((), ("99",), "Why?"),
        ((), (), "Why?"),
    ]


def test_an_item_of_citations_only_and_text_outside_are_kept() -> None:
    found = read_insights("Gladly.\n1. (because of 2)\n2. x [1]\n\nMore?", MEMORIES)
    assert [i.text for i in found.found] == ["x"]
    assert sorted(u.reply for u in found.unread) == ["1. (because of 2)", "Gladly.", "More?"]


def test_a_line_without_citations_is_no_part_of_the_insight_before_it() -> None:
    found = read_insights(
        "- Pin Node (because of 1)\nNobody knows why.\n- Use pnpm,\n  never npm [2]\n", MEMORIES
    )
    assert [(one.text, one.citations) for one in found.found] == [
        ("Pin Node", (IDS[0],)),
        ("Use pnpm, never npm", (IDS[1],)),
    ]
    assert [(one.reply, one.reason) for one in found.unread] == [("Nobody knows why.", OUTSIDE)]


def test_ratings_go_by_their_numbers() -> None:
    assert read_ratings("2. 7.5\n1: Rating: 3/10\n- 9 because it matters", 3)[0] == {
        1: 7.5,
        0: 3.0,
        2: 9.0,
    }


@pytest.mark.parametrize("reply", ["1. 0", "1. 11", "1. high", "5. 7", "0. 7", "seven"])
def test_a_rating_that_is_none_is_kept(reply: str) -> None:
    ratings, unread = read_ratings(reply, 3)
    assert ratings == {}
    assert [u.reply for u in unread] == [reply]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ('Refined insight: "Pin it."', "Pin it."),
        ("**Refined insight:** Pin it.\n", "Pin it."),
        ("“Pin it.”", "Pin it."),
        ("## Note:\n\nPin it.", "Pin it."),
        ('"Pin" and "unpin"', '"Pin" and "unpin"'),
        ('"', '"'),
        ("", ""),
    ],
)
def test_what_stands_around_a_text_is_taken_off(reply: str, text: str) -> None:
    assert read_text(reply) == text


def test_a_reply_that_was_cut_off_is_parted_behind_its_last_whole_line() -> None:
    assert complete_lines("1. a\n2. b") == ("1. a\n", "2. b")
    assert complete_lines("1. a") == ("", "1. a")
    assert cut_off("insights", " ", "Gone.") == ()
    assert cut_off("insights", "2. b", "Gone.", "q?")[0].reason == "Gone. The line is not complete."
