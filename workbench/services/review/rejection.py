"""When and why a memory was rejected, as it is kept with the memory."""

from dataclasses import dataclass
from datetime import datetime

from workbench.core.record import parse_time
from workbench.core.stream.memory import Memory

REJECTED_AT, REJECTED_BECAUSE = "rejected_at", "rejected_because"
"""Metadata keys of a rejected memory."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """When a memory was rejected and why, as far as that is known."""

    at: datetime | None = None
    reason: str = ""


def rejection_of(memory: Memory) -> Rejection:
    """Return when and why a rejected memory was rejected."""
    at, reason = memory.metadata.get(REJECTED_AT), memory.metadata.get(REJECTED_BECAUSE)
    try:
        when = parse_time(at) if isinstance(at, str) else None
    except ValueError:
        when = None
    return Rejection(when, reason if isinstance(reason, str) else "")
