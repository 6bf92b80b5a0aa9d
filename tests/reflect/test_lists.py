"""Reading the lists that models write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.reflect.replies import read_list


@pytest.mark.parametrize(
    "mark",
    [
        "1. ",
        "1) ",
        "(1) ",
        "1: ",
        "Q1: ",
        "Q1. ",
        "q1) ",
        "Question 1: ",
        "- ",
        "* ",
        "• ",
        "– ",
        "  2. ",
    ],
)
@pytest.mark.parametrize("text", ["What breaks the build?", "Use 1.5 of 3) and - dashes: always"])
def test_every_mark_is_understood(mark: str, text: str) -> None:
    assert [item.text for item in read_list(f"{mark}{text}\n{mark}Next").items] == [text, "Next"]


@pytest.mark.parametrize(
    "line",
    ["**1.** What breaks", "**1. What breaks**", "1. **What breaks**", "**Q1:** __What breaks__"],
)
def test_emphasis_is_taken_off(line: str) -> None:
    assert [item.text for item in read_list(line).items] == ["What breaks"]


def test_items_go_on_in_the_lines_below_them() -> None:
    listing = read_list(
        "Here they are:\n\n1. one\n   and a half\nand more\n\n   and the end\n2. two\n\nBye."
    )
    assert [item.text for item in listing.items] == ["one and a half and more and the end", "two"]
    assert listing.items[0].raw.startswith("1. one\n   and a half")
    assert listing.rest == ("Bye.",)


def test_below_an_item_that_has_ended_only_indented_lines_go_on() -> None:
    listing = read_list(
        "- one)\n   of them\nother\nmore\n- two\nand a half)\nend", lambda item: ")" in item
    )
    assert [item.text for item in listing.items] == ["one) of them", "two and a half)"]
    assert listing.rest == ("other", "more", "end")


def test_headings_rules_and_fences_are_no_content() -> None:
    listing = read_list("# Insights\n---\n```text\n1. one\n```\n***\n**Answer:**\n")
    assert [item.text for item in listing.items] == ["one"]
    assert listing.rest == ()


def test_numbers_are_kept_and_decimals_are_no_marks() -> None:
    assert [item.number for item in read_list("3. a\n- b\nQ7: c").items] == [3, None, 7]
    assert read_list("1.5 times").rest == ("1.5 times",)
    assert read_list("").items == ()


@pytest.mark.slow
@given(st.text(alphabet="aQ1.)( -*\n#_:`é"))
def test_no_word_is_lost(text: str) -> None:
    listing = read_list(text)
    kept = "\n".join((*(item.raw for item in listing.items), *listing.rest))
    for line in text.splitlines():
        is_frame = line.lstrip().startswith(("#", "```")) or line.rstrip(" *_").endswith(":")
        if "a" in line and not is_frame:
            assert line.strip() in kept


@pytest.mark.slow
@given(st.lists(st.text(alphabet="abc é", min_size=1).filter(str.strip), min_size=1, max_size=20))
def test_a_plain_list_is_read_back(texts: list[str]) -> None:
    reply = "\n".join(f"{n}. {text}" for n, text in enumerate(texts, start=1))
    assert [item.text for item in read_list(reply).items] == [
        " ".join(text.split()) for text in texts
    ]
