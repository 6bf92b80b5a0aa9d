"""Times and numbers as people read them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.tui.widgets import figures

NOW = datetime(2025, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gone", "text"),
    [
        (timedelta(0), "now"), (timedelta(seconds=59), "now"), (timedelta(minutes=5), "5m"),
        (timedelta(hours=3, minutes=59), "3h"), (timedelta(days=2), "2d"), (timedelta(days=13), "13d"),
        (timedelta(weeks=5), "5w"), (timedelta(days=100), "3mo"), (timedelta(days=800), "2y"),
        (timedelta(days=-2), "in 2d"), (timedelta(seconds=-5), "now"),
    ],
)  # fmt: skip
def test_times_are_relative(gone: timedelta, text: str) -> None:
    assert figures.ago(NOW - gone, NOW).replace("\u00a0", " ") == text


def test_scores_get_the_digits_they_need_to_differ() -> None:
    assert figures.scores([0.5, 0.25]) == ["0.50", "0.25"]
    assert figures.scores([0.5, 0.5001]) == ["0.5000", "0.5001"]
    assert figures.scores([0.5, 0.5]) == ["0.50", "0.50"]
    assert figures.scores([0.5, 0.50000000001]) == ["0.500000", "0.500000"]
    assert figures.scores([]) == []


@pytest.mark.slow
@given(st.lists(st.floats(0, 1e6), max_size=6), st.integers(0, 200))
def test_shares_are_exact_and_fair(parts: list[float], cells: int) -> None:
    found = figures.shares(parts, cells)
    total = sum(parts)
    assert sum(found) == (cells if total > 0 else 0)
    if total > 0:
        assert all(abs(n - p / total * cells) < 1 + 1e-6 for n, p in zip(found, parts, strict=True))


@pytest.mark.parametrize(
    ("gone", "text"),
    [(0, "at once"), (59, "at once"), (-59, "at once"), (60, "1m ago"), (-60, "in 1m")],
)
def test_a_time_in_a_sentence_is_past_present_or_ahead(gone: int, text: str) -> None:
    assert (
        figures.since(NOW - timedelta(seconds=gone), NOW, "at once").replace("\u00a0", " ") == text
    )
