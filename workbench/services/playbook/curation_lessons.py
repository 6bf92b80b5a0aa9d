"""What a Curator may be told: memories that were confirmed, all since the last curation or the latest ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from workbench.core.record import parse_time
from workbench.core.stream.memory import Memory
from workbench.services.context import Context

CURATED = "curator"
"""What a run is called (with the playbook's name behind a colon) that covered all confirmed until then."""

KNOWN = ("confirmed", "promoted")
LATEST = 30
"""How many of the latest confirmed memories are taken when nothing was curated before."""


@dataclass(frozen=True, slots=True)
class Lessons:
    """Memories to be told, the oldest first, and how many more there would be.

    `since` is the last curation that they follow, or `None` when they are simply the latest or were `chosen` by hand.
    With `covers` the next curation begins after this one.
    """

    memories: tuple[Memory, ...]
    since: datetime | None = None
    left_out: int = 0
    covers: bool = False
    chosen: bool = False


def last_curation(context: Context, book: str) -> datetime | None:
    """Return when a playbook was last curated with a reply that somebody could read."""
    wanted = f"{CURATED}:{book}"
    return max(
        (run.made_at for run in context.library.runs.all() if run.what == wanted and not run.unread), default=None
    )


def unseen(context: Context, book: str) -> Lessons:
    """Return what was confirmed or promoted since the last curation; before the first one, the latest."""
    since = last_curation(context, book)
    if since is None:
        return replace(latest(context), covers=True)
    fresh = _changed_since(context, since)
    memories = context.library.memories
    found = [m for m in _known(context) if m.created_at > since or memories.doc_id_of(m.id) in fresh]
    most = context.settings.claude.memories
    return Lessons(tuple(found[-most:]), since, max(0, len(found) - most), covers=True)


def latest(context: Context) -> Lessons:
    """Return the latest confirmed or promoted memories."""
    found = _known(context)
    return Lessons(tuple(found[-LATEST:]), left_out=max(0, len(found) - LATEST))


def chosen(memories: Sequence[Memory]) -> Lessons:
    """Return memories that a person marked."""
    return Lessons(tuple(sorted(memories, key=_when)), chosen=True)


def _known(context: Context) -> list[Memory]:
    return sorted((m for m in context.library.memories.all() if m.status in KNOWN), key=_when)


def _when(memory: Memory) -> tuple[datetime, str]:
    return memory.created_at, memory.id


def _changed_since(context: Context, since: datetime) -> frozenset[str]:
    """Return the documents of memories whose status was written after a moment."""
    found: set[str] = set()
    for entry in context.library.changes_back():
        if parse_time(entry.at) <= since:
            break
        found.update(c.doc for c in entry.changes if c.table == "memories" and "status" in c.fields)
    return frozenset(found)
