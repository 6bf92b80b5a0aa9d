"""When a memory came into this store, where what it tells of was earlier: a session of last winter, read today."""

from datetime import datetime

from workbench.core.record import parse_time
from workbench.core.stream.memory import Memory

ARRIVED = "arrived"
"""Metadata key of when a memory came into the store, as ISO 8601; left out where that was when it was made."""


def arrived(memory: Memory) -> datetime:
    """Return from when on a memory waits for a person: when it came here, else when it was made."""
    said = memory.metadata.get(ARRIVED)
    try:
        at = parse_time(said) if isinstance(said, str) else memory.created_at
    except ValueError:
        return memory.created_at
    return max(at, memory.created_at)
