"""Memories and bullets as rows of named values: what the plain formats (JSON, YAML, CSV) write.

Every row has the columns a person would look for; the others stand only where they say something, so that nothing
is lost on the way back. Counts are totals, times ISO 8601.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.record import iso
from workbench.core.stream.memory import FILE_KEY, NO_SOURCE, Memory
from workbench.formats.lifecycle.values import write_source

Row = Mapping[str, Any]


def memory_row(memory: Memory) -> Row:
    """Return all that a memory says but which parts its counts have, and how its file wrote it."""
    return {
        "id": memory.id,
        "content": memory.content,
        "summary": memory.summary,
        "memory_type": memory.memory_type,
        "observation_type": memory.observation_type,
        "status": memory.status,
        "importance": memory.importance_score,
        "helpful": memory.helpful_count,
        "harmful": memory.harmful_count,
        "pinned": memory.pinned,
        "confidence": memory.confidence,
        "section": memory.section,
        "tags": list(memory.tags),
        "session_id": memory.session_id,
        "created_at": iso(memory.created_at),
        "last_accessed_at": iso(memory.last_accessed_at),
        "citations": list(memory.citations),
        "promoted_to": memory.promoted_to,
        "archived_reason": memory.archived_reason,
        **_said(
            category=memory.category,
            related=list(memory.related),
            source=write_source(memory.source) if memory.source != NO_SOURCE else None,
            user_id=memory.user_id if memory.user_id != "local" else "",
            aliases=list(memory.aliases),
            is_synthetic=memory.is_synthetic,
            access_count=memory.access_count,
            last_feedback_at=_time(memory.last_feedback_at),
            review_after=_time(memory.review_after),
            metadata=_notes(memory.metadata),
        ),
    }


def bullet_row(bullet: Bullet, section: str) -> Row:
    """Return a bullet under the title of its section."""
    return {
        "id": bullet.id,
        "section": section,
        "content": bullet.content,
        "helpful": bullet.helpful_count,
        "harmful": bullet.harmful_count,
        "pinned": bullet.pinned,
        "state": bullet.state,
        "aliases": list(bullet.aliases),
        **_said(
            neutral=bullet.neutral_count,
            created_at=_time(bullet.created_at),
            last_feedback_at=_time(bullet.last_feedback_at),
            metadata=_notes(bullet.metadata),
        ),
    }


def _said(**values: Any) -> Row:
    """Return the values that say something."""
    return {name: value for name, value in values.items() if value}


def _time(moment: datetime | None) -> str | None:
    return iso(moment) if moment else None


def _notes(metadata: Mapping[str, Any]) -> Row:
    return {name: value for name, value in metadata.items() if name != FILE_KEY}


def book_rows(playbook: Playbook) -> list[Row]:
    """Return the bullets in the order of the file, deprecated ones too."""
    sections = sorted(playbook.sections, key=lambda section: section.order)
    rows = [
        bullet_row(bullet, section.title or section.key)
        for section in sections
        for bullet in sorted(playbook.in_section(section.id), key=lambda bullet: bullet.order)
    ]
    known = {section.id for section in sections}
    return rows + [bullet_row(bullet, "") for bullet in playbook.bullets if bullet.section not in known]
