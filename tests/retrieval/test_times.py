"""Many times at once are read as one by one."""

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.record import iso, parse_time
from workbench.retrieval.ranking.times import micros, parsed_micros

moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(lambda at: parse_time(at.isoformat()))
odd = st.sampled_from(
    ["2026-03-01T12:00:00", "2026-03-01", "20260301T120000Z", "2026-03-01T12:00:00+02:00", "2026-03-01 12:00:00Z",
     "2026-03-01T12:00:00.5+00:00", "2026-W10-1T12:00:00Z"]
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.lists(moments.map(iso) | moments.map(lambda at: iso(at.replace(microsecond=0))) | odd, max_size=8))
def test_as_one_by_one(texts: list[str]) -> None:
    assert parsed_micros(texts).tolist() == [micros(parse_time(text)) for text in texts]


@pytest.mark.parametrize(
    "text",
    ["0000-01-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:01Z",
     "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:0éZ", "x" * 20, ""],
)  # fmt: skip
def test_a_broken_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"[Ii]nvalid|must be|out of range"):
        parsed_micros(["2026-01-01T00:00:00Z", text])


def test_none() -> None:
    assert parsed_micros([]).dtype == np.int64
