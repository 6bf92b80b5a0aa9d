"""Memories and bullets as rows of named values: what the plain formats (JSON, YAML, CSV) write."""

from collections.abc import Mapping
from typing import Any

from workbench.core.memory import Memory
from workbench.core.playbook import Bullet, Playbook
from workbench.core.record import iso

Row = Mapping[str, Any]


def memory_row(memory: Memory) -> Row:
    """Return what a person would want of a memory in another tool: no bookkeeping, times as ISO 8601."""
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
    }


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
