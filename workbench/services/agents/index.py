"""An overview of a store in Markdown, for people and for agents: counts, what was confirmed lately, top patterns."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from workbench.core.served import is_served
from workbench.core.stream.feedback import effective_importance
from workbench.core.stream.memory import STATUSES, Memory
from workbench.core.text import one_line
from workbench.core.tuning.profile import WORKBENCH

RECENT, TOP = 10, 10
"""How many memories are listed that were confirmed lately, and how many patterns."""

_PATTERNS = ("pattern", "convention", "insight")
_LINE = 200


def overview(
    memories: Sequence[Memory], told: Iterable[Memory], now: datetime, unreviewed: Collection[str] = ()
) -> str:
    """Return the overview: all memories are counted, and only what is `told` is spoken of, with its ids and lines.

    The lines of those that are `unreviewed`, by their ids as they are told, say so: agents read this, too.
    """
    told = [m for m in told if is_served(m, now)]
    confirmed = sorted((m for m in told if m.status in ("confirmed", "promoted")), key=_newest, reverse=True)
    patterns = [m for m in told if m.observation_type in _PATTERNS or m.is_synthetic]
    patterns.sort(key=lambda m: (-effective_importance(m, now, WORKBENCH.feedback, WORKBENCH.feedback_half_life), m.id))
    statuses = Counter(m.status for m in memories)
    held = ", ".join(f"{statuses[status]:,} {status}" for status in STATUSES if statuses[status])
    parts = [
        "# Memory index",
        f"{len(memories):,} memories: {held or 'none'}",
        _counts("By type", (m.observation_type for m in told)),
        _counts("By category", (m.category for m in told if m.category)),
        _listed("Confirmed lately", confirmed[:RECENT], unreviewed),
        _listed("Top patterns", patterns[:TOP], unreviewed),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _newest(memory: Memory) -> tuple[datetime, str]:
    return memory.created_at, memory.id


def _counts(title: str, names: Iterable[str]) -> str:
    rows = [f"- {one_line(name, 60)}: {count:,}" for name, count in Counter(names).most_common()]
    return "\n".join((f"## {title}", "", *rows)) if rows else ""


def _listed(title: str, memories: Sequence[Memory], unreviewed: Collection[str]) -> str:
    marks = dict.fromkeys(unreviewed, ", unreviewed")
    rows = [f"- {one_line(m.line, _LINE)} ({m.id}, {m.created_at:%Y-%m-%d} UTC{marks.get(m.id, '')})" for m in memories]
    return "\n".join((f"## {title}", "", *rows)) if rows else ""
