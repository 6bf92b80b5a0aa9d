"""What differs between two texts of a file."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.services.files.threeway import NO_LAST_END, DiffLine, diff_texts, split_lines

TEXTS = st.text(alphabet="ab\n\r\u2028\x85\x0c", max_size=30)


def test_a_changed_line_with_its_surroundings() -> None:
    old = "".join(f"{n}\n" for n in range(1, 9))
    assert diff_texts(old, old.replace("5", "five"), 1) == (
        DiffLine("place", "lines 4–6", 4),
        DiffLine("same", "4", 4),
        DiffLine("removed", "5", 5),
        DiffLine("added", "five", 5),
        DiffLine("same", "6", 6),
    )


def test_a_missing_last_line_end_is_a_difference_one_can_see() -> None:
    shown = [str(line) for line in diff_texts("a\n", "a")]
    assert shown == ["@@ lines 1–1", "-a", "+a", f"\\ {NO_LAST_END}"]


def test_other_line_ends_are_a_difference_one_can_see() -> None:
    assert [line.text for line in diff_texts("a\n", "a\r\n") if line.kind == "added"] == ["a\r"]


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_splitting_loses_nothing_and_splits_at_line_feeds_only(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert all("\n" not in line[:-1] for line in lines)


@settings(max_examples=200, deadline=None)
@given(TEXTS, TEXTS)
def test_the_changes_account_for_every_line(old: str, new: str) -> None:
    lines = diff_texts(old, new, 1)
    assert bool(lines) == (old != new)
    added = sum(line.kind == "added" for line in lines)
    removed = sum(line.kind == "removed" for line in lines)
    assert added - removed == len(split_lines(new)) - len(split_lines(old))
