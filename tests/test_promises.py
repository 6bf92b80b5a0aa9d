"""The promises: those without a figure have tests, and one with a figure is kept or not by its bar
and its cost.
"""

import pytest

from tests.benchmarks.promises import PROMISES, TESTS, Figures, judged
from tests.faults.checkout import ROOT, named_tests


@pytest.mark.parametrize("promise", TESTS)
def test_what_proves_a_promise_is_there(promise: str) -> None:
    assert [name for name in TESTS[promise] if name not in named_tests(ROOT)] == []


def good() -> Figures:
    """Return figures that keep every promise."""
    bars = {
        promise.figure: promise.least if promise.most is None else promise.most
        for promise in PROMISES
    }
    return {name: 1.0 if bar is None else bar for name, bar in bars.items()}


def broken(now: Figures, before: Figures | None = None) -> list[object]:
    return [row["promise"] for row in judged(now, before) if not row.get("ok", True)]


def test_a_promise_is_kept_up_to_its_bar() -> None:
    assert broken(good()) == []
    assert broken(good() | {"slider_ms": 3.1, "vote_times_stock": 999.0}) == [
        "votes in the time of one vote of plain TinyDB", "a step of a slider, ms",
    ]  # fmt: skip


def test_a_cost_may_be_a_tenth_higher_than_before() -> None:
    before = good() | {"vote_ms": 0.5, "query_ms": 20.0}
    assert broken(good() | {"vote_ms": 0.54, "query_ms": 22.0}, before) == []
    assert broken(good() | {"vote_ms": 0.56, "query_ms": 22.1}, before) == [
        "a vote, ms", "from a query to its ranking, ms",
    ]  # fmt: skip
