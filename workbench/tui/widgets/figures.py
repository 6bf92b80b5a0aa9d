"""Times and numbers as people read them: short, aligned, with enough digits to differ."""

import math
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, tzinfo

from textual.content import Content
from textual.widgets import Static

from workbench.core.record import minute
from workbench.core.tuning.recency import decay_per_hour
from workbench.tui.widgets.content import BLANK

_STEPS = (
    (60, 60, "m"),
    (3600, 24, "h"),
    (86_400, 14, "d"),
    (7 * 86_400, 9, "w"),
    (30.44 * 86_400, 24, "mo"),
)
_YEAR = 365.25 * 86_400

_LOOKED_AT = 200
"""How many times are looked at to tell whether they differ."""

_ALIKE = 0.8
"""Which share of them may say the same."""

NO_BREAK = "\u00a0"
"""Keeps a number and its unit, or the groups of its digits, on one line."""


def ago(at: datetime, now: datetime) -> str:
    """Return how long ago `at` was: "now", "20m", "3h", "5w"; "in 2d" when it lies ahead."""
    seconds = (now - at).total_seconds()
    text = _span(abs(seconds))
    return f"in{NO_BREAK}{text}" if seconds <= -60 else text


def brief(at: datetime, now: datetime) -> str:
    """Return how long ago `at` was, for a column: "+2d" when it lies ahead."""
    return ago(at, now).replace(f"in{NO_BREAK}", "+")


AGE = 4
"""Cells of the column of it."""


def since(at: datetime, now: datetime, present: str = "just now") -> str:
    """Return how long ago `at` was as part of a sentence: "3h ago", "in 2d", or `present` within a
    minute.
    """
    seconds = (now - at).total_seconds()
    if abs(seconds) < _STEPS[0][0]:
        return present
    return ago(at, now) if seconds < 0 else f"{ago(at, now)} ago"


def tell_apart(times: Sequence[datetime], now: datetime) -> bool:
    """Tell whether it says something of many times how long ago they were, or nearly all say the
    same of other days.
    """
    some = times[:: len(times) // _LOOKED_AT + 1]
    said = Counter(ago(at, now) for at in some)
    if len(some) < 2 or said.most_common(1)[0][1] <= _ALIKE * len(some):
        return True
    return len({day(at) for at in some}) < 2


def day(at: datetime) -> str:
    """Return the day of a time, in the machine's zone: "2026-11-24"."""
    return absolute(at)[:10]


def absolute(at: datetime, zone: tzinfo | None = None) -> str:
    """Return a time in full, in the given zone (by default the machine's)."""
    return minute(at, zone)


def number(value: int) -> str:
    """Return a whole number with its digits in groups of three."""
    return f"{value:,}".replace(",", NO_BREAK)


def amount(count: int, one: str, many: str = "") -> str:
    """Say how many there are of something; `many` is what more than one are called, where that is
    not `one` and s.
    """
    return f"{number(count)} {one if count == 1 else many or f'{one}s'}"


def signed(value: int) -> str:
    """Return a whole number with its sign, "−0" never: "+3", "−1", "0"."""
    return f"+{value}" if value > 0 else f"−{-value}" if value else "0"


def votes(helpful: int, harmful: int) -> str:
    """Return the counts of votes that there are: "+3 −1", "+3", "−1", or nothing."""
    return " ".join(
        filter(None, (f"+{helpful}" if helpful else "", f"−{harmful}" if harmful else ""))
    )


def days(half_life: float | None) -> str:
    """Return a duration in days in two or three digits: "5.8 d", "12 h"; `None` is "never"."""
    if half_life is None:
        return "never"
    if half_life < 1:
        return f"{half_life * 24:.3g}{NO_BREAK}h"
    return f"{half_life:.3g}{NO_BREAK}d" if half_life < 1000 else f"{half_life:.0f}{NO_BREAK}d"


def hourly(half_life: float) -> str:
    """Return the constant that a half-life in days stands for, as the sources print it: "× 0.99500
    an hour".
    """
    return f"×{NO_BREAK}{decay_per_hour(half_life):.5f}{NO_BREAK}an{NO_BREAK}hour"


def scores(values: Sequence[float]) -> list[str]:
    """Return the values with as few decimals as let different ones look different, 2 to 6."""
    different = len(set(values))
    for digits in range(2, 6):
        texts = [f"{v:.{digits}f}" for v in values]
        if len(set(texts)) == different:
            return texts
    return [f"{v:.6f}" for v in values]


def shares(parts: Sequence[float], cells: int) -> list[int]:
    """Split `cells` in proportion to the parts by largest remainder; the sum is exact unless all
    parts are 0.
    """
    clean = [p if math.isfinite(p) and p > 0 else 0.0 for p in parts]
    total = math.fsum(clean)
    if total <= 0 or cells <= 0:
        return [0] * len(clean)
    exact = [p / total * cells for p in clean]
    whole = [math.floor(e) for e in exact]
    order = sorted(range(len(exact)), key=lambda i: (whole[i] - exact[i], i))
    for i in order[: cells - sum(whole)]:
        whole[i] += 1
    return whole


def _span(seconds: float) -> str:
    if seconds < 60:
        return "now"
    for unit, below, name in _STEPS:
        if seconds < unit * below:
            return f"{int(seconds / unit)}{name}"
    return f"{int(seconds / _YEAR)}y"


# Text in a box of a fixed size: it is drawn anew only when it is another, and never moves what is
# around it.


class FixedText(Static):
    """A `Static` whose size its style gives, so that another text needs no layout of the screen."""

    ALLOW_SELECT = False

    def write(self, text: Content) -> None:
        shown = self.content
        if not (isinstance(shown, Content) and shown.is_same(text)):
            self.update(text, layout=False)


def whole_words(text: Content, width: int) -> Content:
    """Return one line that fits: cut after a word, with "…", where there is too little room."""
    if text.cell_length <= width:
        return text
    room = text.truncate(max(0, width - 2))
    end = room.plain.rfind(" ")
    return (room[:end] if end > 0 else room).rstrip() + Content(" …") if width > 2 else BLANK
