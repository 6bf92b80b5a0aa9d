"""Texts that come in again after they were archived or purged, and what follows from the reason of
that.
"""

from collections.abc import Iterator
from datetime import datetime

from workbench.core.duplicates.dedup import identity_of, text_key
from workbench.core.health import PurgedRecord
from workbench.core.record import as_list, iso, parse_time
from workbench.core.review.proposal import Proposal
from workbench.core.stream.memory import Memory
from workbench.services.context import Context
from workbench.services.duplicates.plan import WORKBENCH
from workbench.services.review.rewriting import SPLIT_INTO, rejection_of
from workbench.store.identity import mark_of, marks_key
from workbench.store.library import Library

RETURN = "return"
"""The kind of the question whether a forgotten memory that came in again should be restored."""

SESSIONS = 2
"""In how many sessions a forgotten memory has to be seen before it is asked about."""


class Purged:
    """What is known of the purged records of a store."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._key = marks_key(library.heads, library.id if library.shared else "")
        records = library.table(PurgedRecord).all()
        self._ids = {record.id: record for record in records}
        self._marks = {mark: record for record in records for mark in record.marks}

    def find(self, text: str, place: tuple[str, str] = ("", "")) -> PurgedRecord | None:
        """Return the purged record that stood at a place (table, key) or held a text, `None` for
        none.
        """
        if not self._ids:
            return None
        found = self._ids.get("/".join(place)) or (
            self._marks.get(mark_of(text, self._key)) if self._key else None
        )
        return None if found is None or self._is_back(found, text) else found

    def _is_back(self, record: PurgedRecord, text: str) -> bool:
        """Tell whether somebody brought it back knowingly."""
        table, _, key = record.id.partition("/")
        here = self._library.table_named(table)
        return here.find(key) is not None or (
            bool(text) and any(text_key(one.content) == text_key(text) for one in here.all())
        )


class Archived:
    """The archived memories of a store by their texts."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._texts: dict[str, list[Memory]] = {}
        for memory in library.memories.all():
            if memory.status == "archived":
                self._texts.setdefault(text_key(memory.content), []).append(memory)

    def find(self, memory: Memory) -> Memory | None:
        """Return the archived memory with the text of a new one, or what stands for it since a
        merge or a replacement.

        `None` for none, and where a living one has the text, too.
        """
        text, about = text_key(memory.content), identity_of(memory)
        same = [m for m in self._texts.get(text, ()) if not identity_of(m).parted(about)]
        if not same or any(
            m.status != "archived" and text_key(m.content) == text
            for m in self._library.memories.all()
        ):
            return None
        return _standing_for(self._library, max(same, key=lambda m: (m.created_at, m.id)))


def archived_at(library: Library, memory: Memory) -> datetime | None:
    """Return when a memory was archived, `None` where the history does not tell."""
    for event in library.past.events(("memories", memory.id)):
        if any(field.field == "status" and field.after == "archived" for field in event.fields):
            return parse_time(event.at)
    return rejection_of(memory).at


def question(context: Context, memory: Memory, since: datetime | None) -> Proposal | None:
    """Return the question whether to restore a memory that was seen in several sessions since it
    was forgotten.
    """
    asked = [
        p for p in context.library.proposals.all() if p.kind == RETURN and memory.id in p.evidence
    ]
    if any(p.state == "open" for p in asked):
        return None
    answered = [p.decided_at for p in asked if p.decided_at is not None]
    begin = max((iso(at) for at in (since, *answered) if at is not None), default="")
    notes = [note for note in _sightings(memory) if str(note.get("at", "")) >= begin]
    sessions = {str(note.get("session", "")) for note in notes}
    if len(sessions) < SESSIONS:
        return None
    now = context.now()
    return Proposal(
        id=f"{RETURN}-{memory.id}-{now:%Y%m%d%H%M%S}", kind=RETURN, actor=WORKBENCH, title=memory.line, created_at=now,
        evidence=(memory.id,), importance=memory.importance_score,
        reasons=(f"seen again in {len(sessions)} sessions since it was {memory.archived_reason}",),
    )  # fmt: skip


def _sightings(memory: Memory) -> Iterator[dict[str, object]]:
    return (n for n in as_list(memory.metadata.get("absorbed")) if isinstance(n, dict))


def _standing_for(library: Library, memory: Memory) -> Memory | None:
    """Return a memory, or what it was merged into or superseded by; `None` where that is no memory
    of this store.
    """
    seen = set[str]()
    found: Memory | None = memory
    while (
        found is not None
        and found.archived_reason in ("merged", "superseded")
        and found.id not in seen
    ):
        seen.add(found.id)
        into = next((found.metadata[name] for name in _SUCCESSORS if name in found.metadata), None)
        into = next(iter(into), None) if isinstance(into, list) else into
        found = library.memories.find(into) if isinstance(into, str) else None
    return found


_SUCCESSORS = ("merged_into", "superseded_by", SPLIT_INTO)
