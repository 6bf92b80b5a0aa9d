"""Times as they are typed: `36h`, `7d`, `3mo`, `now`, `yesterday`, `monday`, a month, a date, a
date with a time.
"""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from workbench.core.record import InvalidQuery, clock_time

FORMS = "36h, 7d, 2w, 3mo, now, today, yesterday, monday, 2026-11, 2026-11-21 or 2026-11-21T09:15"
"""What can be typed, for messages."""

_SPAN = re.compile(r"(\d{1,6})(min|h|d|w|mo|y)", re.ASCII)
_HOURS = {"min": 1 / 60, "h": 1.0, "d": 24.0, "w": 168.0}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = re.compile(r"(\d{4})-(\d\d)", re.ASCII)


def instant(
    text: str, now: datetime, *, last: bool = False, zone: tzinfo | None = None
) -> datetime:
    """Return the time that a text means: of a day or a month its beginning, or with `last` its end.

    Days and times without an offset are those of `zone`, the machine's when none is given. A
    weekday is the latest one before today. Raises `InvalidQuery`.
    """
    value, here = text.strip().lower(), clock_time(now, zone)
    try:
        if value == "now":
            return here
        if span := _SPAN.fullmatch(value):
            return _before(here, int(span[1]), span[2], zone)
        if days := _days(value, here.date()):
            naive = (
                datetime.combine(days[1], time.max) if last else datetime.combine(days[0], time.min)
            )
            return _placed(naive, zone)
        at = datetime.fromisoformat(value.upper())
        at = at if at.tzinfo else _placed(at, zone)
        at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidQuery(f"“{text}” is not a time.", f"Write {FORMS}.") from error
    return at


def _days(value: str, today: date) -> tuple[date, date] | None:
    """Return the first and the last of the days that are meant."""
    if month := _MONTH.fullmatch(value):
        first = date(int(month[1]), int(month[2]), 1)
        return first, first.replace(day=_days_in(first.year, first.month))
    if value in ("today", "yesterday"):
        day = today - timedelta(days=value == "yesterday")
    elif value in _WEEKDAYS:
        day = today - timedelta(days=(today.weekday() - _WEEKDAYS.index(value) - 1) % 7 + 1)
    else:
        try:
            day = date.fromisoformat(value.upper())
        except ValueError:
            return None
    return day, day


def _before(here: datetime, count: int, unit: str, zone: tzinfo | None) -> datetime:
    """Go back from `here`: hours and days as elapsed time, months and years by the calendar."""
    if unit in _HOURS:
        return clock_time(here.astimezone(UTC) - timedelta(hours=count * _HOURS[unit]), zone)
    year, month = divmod(here.year * 12 + here.month - 1 - count * (12 if unit == "y" else 1), 12)
    if year < 1:
        raise ValueError(year)
    day = min(here.day, _days_in(year, month + 1))
    return _placed(here.replace(year=year, month=month + 1, day=day, tzinfo=None), zone)


def _days_in(year: int, month: int) -> int:
    from calendar import (
        monthrange,
    )  # every command starts with this module, and hardly any is told a month

    return monthrange(year, month)[1]


def _placed(at: datetime, zone: tzinfo | None) -> datetime:
    """Return a time of `zone`; in UTC where the calendar ends."""
    try:
        return at.astimezone() if zone is None else at.replace(tzinfo=zone)
    except (OverflowError, ValueError, OSError):
        return at.replace(tzinfo=UTC)
