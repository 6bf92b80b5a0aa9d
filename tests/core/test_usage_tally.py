"""A log of runs, counted so that the runs come back."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.samples import NOW
from workbench.core.document import from_doc, to_doc
from workbench.core.playbook.usage import Run, UsageTally, tallied

RUNS = st.lists(
    st.builds(Run, st.frozensets(st.sampled_from(["a-1", "b-2", "c-3"])), st.booleans()),
    max_size=20,
)


@pytest.mark.slow
@given(RUNS)
def test_every_run_comes_back_also_from_the_store(runs: list[Run]) -> None:
    tally = tallied("book", "/logs/x.jsonl", runs, NOW)
    again = from_doc(UsageTally, to_doc(tally))
    assert again == tally
    assert Counter(again.runs()) == Counter(runs)
    assert again.count == len(runs)


def test_the_same_log_makes_the_same_tally() -> None:
    runs = [
        Run(frozenset({"b", "a"}), True),
        Run(frozenset(), False),
        Run(frozenset({"a", "b"}), False),
    ]
    assert tallied("x", "log", runs, NOW) == tallied("x", "log", reversed(runs), NOW)
    assert tallied("x", "log", runs, NOW).id == "x/log"
