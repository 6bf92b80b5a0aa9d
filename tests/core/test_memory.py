"""The data model's limits, value by value."""

from typing import Any

import pytest

from tests.core.samples import NOW, memory
from workbench.core.record import InvalidRecord, WorkbenchError
from workbench.core.stream.memory import check_memory
from workbench.core.text import MAX_KEPT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"id": ""}, r"\(no id\): it has no id"),
        ({"content": " \n\t"}, "its content is empty"),
        ({"content": "x" * (MAX_KEPT + 1)}, "longer than 65,536 characters"),
        ({"memory_type": "dream"}, "unknown memory type “dream”"),
        ({"status": "lost"}, "unknown status “lost”"),
        ({"importance_score": -0.1}, "importance is outside 0–10"),
        ({"importance_score": 10.1}, "importance is outside 0–10"),
        ({"importance_score": float("nan")}, "importance is outside 0–10"),
        ({"confidence": 6}, "confidence is outside 0–5"),
        ({"confidence": -1}, "confidence is outside 0–5"),
        ({"helpful_votes": -1}, "a count is negative"),
        ({"access_count": -1}, "a count is negative"),
        ({"archived_reason": "done"}, "it has an archive reason but is not archived"),
        ({"created_at": NOW.replace(tzinfo=None)}, "a time has no timezone"),
        ({"last_accessed_at": NOW.replace(tzinfo=None)}, "a time has no timezone"),
        ({"review_after": NOW.replace(tzinfo=None)}, "a time has no timezone"),
        ({"last_feedback_at": NOW.replace(tzinfo=None)}, "a time has no timezone"),
    ],
)
def test_what_breaks_a_rule_is_refused(fields: dict[str, Any], says: str) -> None:
    """The sentence says which rule, and that nothing was written."""
    with pytest.raises(InvalidRecord, match=says) as caught:
        check_memory(memory(**fields))
    assert caught.value.hint == "Nothing was written."


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"content": "x" * MAX_KEPT},
        {"importance_score": 0.0, "confidence": 0},
        {"importance_score": 10.0, "confidence": 5},
        {"status": "archived", "archived_reason": "done"},
        {"status": "archived"},
    ],
)
def test_the_limits_themselves_are_allowed(fields: dict[str, Any]) -> None:
    """Bounds are inclusive."""
    check_memory(memory(**fields))


def test_counts_add_up() -> None:
    """Four helpful parts, two harmful ones."""
    one = memory(
        helpful_imported=1,
        helpful_created=2,
        helpful_absorbed=4,
        helpful_votes=8,
        harmful_imported=16,
        harmful_votes=32,
    )
    assert (one.helpful_count, one.harmful_count) == (15, 48)


def test_the_line_is_the_summary_or_the_first_line_with_text() -> None:
    """Blank lines are passed over; nothing but blanks is an empty line."""
    assert memory(content="\n  \n  first \nsecond").line == "first"
    assert memory(content="first", summary="short").line == "short"
    assert memory(content=" \n ").line == ""


def test_an_error_reads_as_message_and_hint() -> None:
    """Without a hint there is no stray space."""
    assert str(WorkbenchError("It broke.", "Nothing was lost.")) == "It broke. Nothing was lost."
    assert str(WorkbenchError("It broke.")) == "It broke."
