"""How a record is stored and found: its key, its document, the ids of memories, the counted fields.

Kept apart from the record types, so that a hook that adds one memory need not load them all.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from workbench.core.record import to_doc
from workbench.store.entry import Doc

COUNTERS = frozenset(
    {
        "helpful_imported", "helpful_created", "helpful_absorbed", "helpful_votes",
        "harmful_imported", "harmful_votes", "neutral_count", "access_count", "observations_since_last",
        "accumulated_importance",
    }
)  # fmt: skip
"""Fields that change by increments, so that two actors who count at once do not clash."""

TOTALS = frozenset({"reflection"})
"""Tables of running totals: taking back a change takes its share out, whatever came on top since."""

WITNESSES = frozenset({"files"})
"""Tables of what was seen outside the store. Where such a record was renewed since, taking back a change forgets it:
what it says is then true of neither moment, and no reason to keep somebody from an undo."""

PAIRS = "kept_pairs"
"""The table of the decisions to keep two records apart."""

PAIRS_SCHEMA = 2
"""The schema of a journal that holds such decisions about memories: older versions do not know of them."""

_ONLY = {"books": "main", "reflection": "reflection"}
"""Ids that go without saying: record version 0 left a default id out."""

_IN_BOOKS = ("bullets", "sections")
"""Tables of the parts of a playbook."""

_MEMORY_ID = re.compile(r"mem-\d{8}-(\d{7,15})\Z", re.ASCII)

FARTHEST = 10**12
"""A number in an id that somebody else chose moves the counter no farther than this, so that it can always go on."""


def key_of(table: str, doc: Doc) -> str | None:
    """Return the key of a record: its id, and for parts of a playbook the book's id before it."""
    name = doc.get("id", _ONLY.get(table))
    if not isinstance(name, str):
        return None
    return f"{doc.get('book', 'main')}/{name}" if table in _IN_BOOKS else name


def schema_for(table: str, fields: Mapping[str, object]) -> int:
    """Return the least schema of a journal that holds a record with these fields."""
    return PAIRS_SCHEMA if table == PAIRS and fields.get("book") == "" else 1


def to_document(record: object) -> Doc:
    """Return a record as it is stored: always with its `id` and `version`, even where they are the default."""
    return to_doc(record)


def record_key(table: str, record: Any) -> str:
    """Return the key of a record that is not written as a document (see `key_of`)."""
    return f"{record.book}/{record.id}" if table in _IN_BOOKS else str(record.id)


def memory_number(name: str) -> int | None:
    """Return the number in a memory id of our own form, `mem-YYYYMMDD-nnnnnnn`."""
    match = _MEMORY_ID.match(name)
    return int(match[1]) if match else None


def memory_id(day: datetime, number: int) -> str:
    """Name a memory: prefix, date, number."""
    return f"mem-{day:%Y%m%d}-{number:07d}"
