"""Both sides' changes to one text: put together where they do not collide."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.services.files.threeway import three_way

BASE = "a\nb\nc\nd\ne\nf\n"
TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "e\r\n"]), max_size=12).map("".join)


def test_changes_in_different_places_are_both_taken() -> None:
    both = three_way(BASE, "a\nB\nc\nd\ne\nf\n", "a\nb\nc\nd\ne\nf\nlast\n")
    assert both.merged == "a\nB\nc\nd\ne\nf\nlast\n"
    assert [(who, sign, line) for who, _, lines in both.changed() for sign, line in lines] == [
        ("ours", "-", "b"),
        ("ours", "+", "B"),
        ("theirs", ">", "last"),
    ]


def test_the_same_line_changed_differently_collides() -> None:
    both = three_way(BASE, "a\nours\nc\nd\ne\nf\n", "a\ntheirs\nc\nd\ne\nf\n")
    assert both.merged is None
    assert [(c.base, c.ours, c.theirs) for c in both.conflicts] == [
        (("b\n",), ("ours\n",), ("theirs\n",))
    ]


def test_lines_side_by_side_that_one_side_each_changed_do_not_collide() -> None:
    both = three_way(BASE, "a\nB\nc\nd\ne\nf\n", "a\nb\nC\nand more\nd\ne\nf\n")
    assert both.merged == "a\nB\nC\nand more\nd\ne\nf\n"
    assert [(who, sign, line) for who, _, lines in both.changed() for sign, line in lines] == [
        ("ours", "-", "b"),
        ("ours", "+", "B"),
        ("theirs", "-", "c"),
        ("theirs", ">", "C"),
        ("theirs", ">", "and more"),
    ]
    assert three_way(BASE, "a\nours\nb\nc\nd\ne\nf\n", "a\ntheirs\nb\nc\nd\ne\nf\n").merged is None
    assert three_way(BASE, "a\nX\nd\ne\nf\n", "a\nb\nC\nd\ne\nf\n").merged is None


@pytest.mark.slow
@given(TEXTS, TEXTS)
def test_one_side_alone_is_taken_as_it_is(base: str, changed: str) -> None:
    assert three_way(base, changed, base).merged == changed
    assert three_way(base, base, changed).merged == changed
    assert three_way(base, changed, changed).merged == changed


@pytest.mark.slow
@given(TEXTS, TEXTS, TEXTS)
def test_the_chunks_hold_every_line_of_all_three(base: str, ours: str, theirs: str) -> None:
    chunks = three_way(base, ours, theirs).chunks
    assert "".join(line for chunk in chunks for line in chunk.base) == base
    assert "".join(line for chunk in chunks for line in chunk.ours) == ours
    assert "".join(line for chunk in chunks for line in chunk.theirs) == theirs


@given(TEXTS, TEXTS, TEXTS)
def test_the_sides_may_be_swapped(base: str, ours: str, theirs: str) -> None:
    assert three_way(base, ours, theirs).merged == three_way(base, theirs, ours).merged
