"""How a record is stored and found: its key, its document, the ids of memories, the counted fields.

Kept apart from the record types, so that a hook that adds one memory need not load them all.
"""

import re
from datetime import datetime

_MEMORY_ID = re.compile(r"mem-\d{8}-(\d{7,15})\Z", re.ASCII)

FARTHEST = 10**12
"""A number in an id that somebody else chose moves the counter no farther than this, so that it can always go on."""


def memory_number(name: str) -> int | None:
    """Return the number in a memory id of our own form, `mem-YYYYMMDD-nnnnnnn`."""
    match = _MEMORY_ID.match(name)
    return int(match[1]) if match else None


def memory_id(day: datetime, number: int) -> str:
    """Name a memory: prefix, date, number."""
    return numbered_id("mem", day, number)


def numbered_id(prefix: str, day: datetime, number: int) -> str:
    """Name a record of a kind that goes by a prefix: prefix, date, number."""
    return f"{prefix}-{day:%Y%m%d}-{number:07d}"
