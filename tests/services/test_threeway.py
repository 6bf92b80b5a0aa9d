"""What differs between two texts of a file, and both sides' changes put together where they do not
collide.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.services.files.threeway import NO_LAST_END, diff_texts, split_lines, three_way

TEXTS = st.text(alphabet="ab\n\r\u2028\x85\x0c", max_size=30)


def test_a_change_is_shown_with_its_surroundings_and_its_line_ends() -> None:
    old = "".join(f"{n}\n" for n in range(1, 9))
    lines = diff_texts(old, old.replace("5", "five"), 1)
    assert [str(line) for line in lines] == ["@@ lines 4–6", " 4", "-5", "+five", " 6"]
    assert [line.number for line in lines] == [4, 4, 5, 5, 6]
    shown = [str(line) for line in diff_texts("a\n", "a")]
    assert shown == ["@@ lines 1–1", "-a", "+a", f"\\ {NO_LAST_END}"]
    assert [line.text for line in diff_texts("a\n", "a\r\n") if line.kind == "added"] == ["a\r"]


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
def test_the_changes_account_for_every_line(old: str, new: str) -> None:
    lines, parts = diff_texts(old, new, 1), split_lines(old)
    assert bool(lines) == (old != new)
    assert "".join(parts) == old
    assert all("\n" not in part[:-1] for part in parts)
    signs = [line.kind for line in lines]
    assert signs.count("added") - signs.count("removed") == len(split_lines(new)) - len(parts)


BASE = "a\nb\nc\nd\ne\nf\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "merged", "changes"),
    [
        ("a\nB\nc\nd\ne\nf\n", f"{BASE}last\n", "a\nB\nc\nd\ne\nf\nlast\n",
         "ours-b ours+B theirs>last"),
        ("a\nB\nc\nd\ne\nf\n", "a\nb\nC\nmore\nd\ne\nf\n", "a\nB\nC\nmore\nd\ne\nf\n",
         "ours-b ours+B theirs-c theirs>C theirs>more"),
        ("a\nours\nc\nd\ne\nf\n", "a\ntheirs\nc\nd\ne\nf\n", None, None),
        ("a\nours\nb\nc\nd\ne\nf\n", "a\ntheirs\nb\nc\nd\ne\nf\n", None, None),
        ("a\nX\nd\ne\nf\n", "a\nb\nC\nd\ne\nf\n", None, None),
    ],
)  # fmt: skip
def test_changes_beside_each_other_are_both_taken_and_of_one_place_collide(
    ours: str, theirs: str, merged: str | None, changes: str | None
) -> None:
    both = three_way(BASE, ours, theirs)
    assert both.merged == merged
    assert bool(both.conflicts) == (merged is None)
    told = [f"{who}{sign}{line}" for who, _, lines in both.changed() for sign, line in lines]
    assert changes is None or told == changes.split()


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "e\r\n"]), max_size=12).map("".join)


@given(LINES, LINES, LINES)
def test_no_line_is_lost_the_sides_may_be_swapped_and_one_alone_is_taken_as_it_is(
    base: str, ours: str, theirs: str
) -> None:
    both = three_way(base, ours, theirs)
    for side, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        assert "".join(line for chunk in both.chunks for line in getattr(chunk, side)) == text
    assert both.merged == three_way(base, theirs, ours).merged
    alone = [(ours, base), (base, ours), (ours, ours)]
    assert {three_way(base, *sides).merged for sides in alone} == {ours}
