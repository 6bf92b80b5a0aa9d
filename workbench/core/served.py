"""What an agent is served: the filter that retrieval and its preview share."""

from datetime import datetime

from workbench.core.stream.memory import Memory, Status

SERVED: frozenset[Status] = frozenset({"signal", "confirmed", "promoted"})
"""Statuses an agent may see; candidates and anything archived never."""

SETTLED: frozenset[Status] = SERVED - {"signal"}
"""Those among them that say more than that something was seen: it was confirmed, or promoted."""


def hidden_because(memory: Memory, now: datetime) -> str | None:
    """Return why an agent is not served `memory` at `now`, or `None` when it is served."""
    if memory.status == "candidate":
        return "waits for review"
    if memory.status == "archived":
        return f"archived ({memory.archived_reason or 'no reason given'})"
    if memory.created_at > now:
        return "created after this moment"
    return None


def is_served(memory: Memory, now: datetime) -> bool:
    """Tell whether an agent asking at `now` may be given `memory`; reflections included."""
    return memory.status in SERVED and memory.created_at <= now
