"""Where two neighbours of a ranking swap as one weight moves, and the values just behind such a
place.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

Direction = Literal[-1, 1]


class Flip(NamedTuple):
    """Where the candidate at `place` (from 1) and the next one swap as the weight grows past
    `value`.

    `falls` stands first below the value and `rises` above it; `swapped` tells which of them stands
    first exactly there, where their totals are equal.
    """

    value: float
    place: int
    falls: int
    rises: int
    swapped: bool


def nearest_flip(found: Sequence[Flip], value: float, direction: Direction) -> Flip | None:
    """Return the first flip from `value` on to the left (−1) or right (+1) that has not happened
    there.
    """
    if direction > 0:
        return next(
            (f for f in found if f.value > value or (f.value == value and not f.swapped)), None
        )
    return next(
        (f for f in reversed(found) if f.value < value or (f.value == value and f.swapped)), None
    )


def just_beyond(
    found: Sequence[Flip], flip: Flip, direction: Direction, limit: float
) -> float | None:
    """Return the shortest decimal behind a flip and before the next one, or `None` when the scale
    ends there.
    """
    values = [f.value for f in found if (f.value - flip.value) * direction > 0]
    nearest = (min if direction > 0 else max)(values, default=None)
    return shortest_between(flip.value, limit if nearest is None else nearest, last=nearest is None)


def shortest_between(start: float, end: float, *, last: bool = False) -> float | None:
    """Return the number with the fewest decimals (at least two) strictly between two, the nearest
    to `start`.

    With `last`, `end` itself counts too. `None` when there is no number between them.
    """
    right = end > start
    for digits in range(2, 16):
        unit = 10.0**digits
        whole = math.floor(start * unit) + 1 if right else math.ceil(start * unit) - 1
        value = round(whole / unit, digits)
        if start < value < end if right else end < value < start:
            return value
        if last and value == end != start:
            return value
    middle = (start + end) / 2
    if middle not in (start, end):
        return middle
    return end if last and end != start else None
