"""Times as they are typed: days are those of a zone, of a day its beginning or its end."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from workbench.core.record import InvalidQuery
from workbench.core.stream.filter import parse_filter
from workbench.core.stream.times import FORMS, instant

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)  # a Saturday
END = timedelta(microseconds=-1)


def at(month: int, day: int, hour: int = 0, minute: int = 0, *, year: int = 2026) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("now", NOW, NOW),
        ("36h", NOW - timedelta(hours=36), NOW - timedelta(hours=36)),
        ("3mo", at(8, 21, 9, 30), at(8, 21, 9, 30)),
        ("Yesterday", at(11, 20), at(11, 21) + END),
        ("monday", at(11, 16), at(11, 17) + END),
        ("saturday", at(11, 14), at(11, 15) + END),
        ("2026-11", at(11, 1), at(12, 1) + END),
        ("2026-12", at(12, 1), at(1, 1, year=2027) + END),
        ("2026-11-03", at(11, 3), at(11, 4) + END),
        ("2026-11-03T08:15", at(11, 3, 8, 15), at(11, 3, 8, 15)),
    ],
)
def test_of_a_day_or_a_month_the_beginning_or_the_end(
    text: str, first: datetime, last: datetime
) -> None:
    assert (instant(text, NOW, zone=UTC), instant(text, NOW, last=True, zone=UTC)) == (first, last)


@pytest.mark.parametrize(
    "text", ["soon", "", "2026-13", "2026-11-31", "30m", "mon day", "42", "99999y"]
)
def test_what_is_no_time_is_refused_with_what_is(text: str) -> None:
    with pytest.raises(InvalidQuery) as caught:
        instant(text, NOW)
    assert FORMS in caught.value.hint


def test_every_form_that_is_named_can_be_read() -> None:
    for text in FORMS.replace(" or ", ", ").split(", "):
        assert instant(text, NOW) <= NOW + timedelta(days=30)


def test_days_are_those_of_the_machine(tokyo: None) -> None:
    late = at(11, 20, 16)  # the 21st in Tokyo
    assert instant("today", late) == at(11, 20, 15)
    assert instant("yesterday", late, last=True) == at(11, 20, 15) + END
    assert instant("2026-11-03T08:15", late) == at(11, 2, 23, 15)
    assert instant("2026-11-03T08:15Z", late) == at(11, 3, 8, 15)
    assert parse_filter("since:2026-11-21", late).clauses[0].at == at(11, 20, 15)
    assert parse_filter("until:2026-11", late).clauses[0].at == at(11, 30, 15) + END
    assert parse_filter("since:today", late, zone=UTC).clauses[0].at == at(11, 20)


def test_a_day_of_the_other_half_of_the_year_has_the_offset_of_then() -> None:
    assert instant("2026-07-01", NOW, zone=ZoneInfo("Europe/Berlin")) == at(6, 30, 22)
    assert instant("2026-11-01", NOW, zone=ZoneInfo("Europe/Berlin")) == at(10, 31, 23)


def test_where_the_calendar_ends_a_day_is_that_of_utc(tokyo: None) -> None:
    assert instant("0001-01-01", NOW) == at(1, 1, year=1)
    with pytest.raises(InvalidQuery):
        instant("0001-01-01T00:00+14:00", NOW, zone=timezone(timedelta(hours=14)))
