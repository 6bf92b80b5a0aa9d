"""The fields of a LIFECYCLE entry (source 001, section 5.2) and the product's own additions to it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from workbench.core.record import iso
from workbench.core.stream.memory import ARCHIVED_REASONS, MEMORY_TYPES, NO_SOURCE, OBSERVATION_TYPES, STATUSES, Memory
from workbench.formats.lifecycle import values
from workbench.formats.lifecycle.values import Decode

Doc = dict[str, Any]


def _same(value: Any) -> Any:
    return value


def _time(value: Any) -> Any:
    return iso(value) if value else None


@dataclass(frozen=True)
class Field:
    """A key of the entry, the `Memory` attribute it holds, how to read and write it, and what its absence means."""

    key: str
    name: str
    decode: Decode
    default: Any = None
    encode: Callable[[Any], Any] = _same

    def write(self, memory: Memory) -> Any:
        """Return the JSON value for `memory`."""
        return self.encode(getattr(memory, self.name))

    @cached_property
    def absent(self) -> Any:
        """The JSON value that says the same as leaving the key out."""
        return None if self.default is None else self.encode(self.default)


SCHEMA = (
    Field("id", "id", values.text),
    Field("version", "version", values.version, 1),
    Field("timestamp", "created_at", values.time, encode=_time),
    Field("session_id", "session_id", values.text, ""),
    Field("type", "observation_type", values.one_of(OBSERVATION_TYPES, "general"), "general"),
    Field("status", "status", values.one_of(STATUSES, "candidate"), "signal"),
    Field("confidence", "confidence", values.confidence, 0),
    Field("source", "source", values.source, NO_SOURCE, values.write_source),
    Field("context", "content", values.text),
    Field("summary", "summary", values.text, ""),
    Field("category", "category", values.text, ""),
    Field("tags", "tags", values.texts, (), list),
    Field("related", "related", values.texts, (), list),
    Field("promoted_to", "promoted_to", values.text),
    Field("meta", "metadata", values.meta, {}, values.write_meta),
)
"""The keys of the source's schema, in its order; all are always written.

An unknown status reads as a candidate: nobody is served it before a person has looked.
"""

OWN = (
    Field("memory_type", "memory_type", values.one_of(MEMORY_TYPES, "episodic"), "episodic"),
    Field("importance_score", "importance_score", values.importance),
    Field("helpful_count", "helpful_count", values.count, 0),
    Field("helpful_imported", "helpful_imported", values.count, 0),
    Field("helpful_created", "helpful_created", values.count, 0),
    Field("helpful_absorbed", "helpful_absorbed", values.count, 0),
    Field("helpful_votes", "helpful_votes", values.count, 0),
    Field("harmful_count", "harmful_count", values.count, 0),
    Field("harmful_imported", "harmful_imported", values.count, 0),
    Field("harmful_votes", "harmful_votes", values.count, 0),
    Field("helpful_by_agents", "helpful_by_agents", values.count, 0),
    Field("harmful_by_agents", "harmful_by_agents", values.count, 0),
    Field("pinned", "pinned", values.flag, False),
    Field("is_synthetic", "is_synthetic", values.flag, False),
    Field("citations", "citations", values.texts, (), list),
    Field("last_accessed_at", "last_accessed_at", values.time, encode=_time),
    Field("access_count", "access_count", values.count, 0),
    Field("last_feedback_at", "last_feedback_at", values.time, encode=_time),
    Field("archived_reason", "archived_reason", values.one_of(ARCHIVED_REASONS, None)),
    Field("review_after", "review_after", values.time, encode=_time),
    Field("aliases", "aliases", values.texts, (), list),
    Field("user_id", "user_id", values.text, "local"),
    Field("section", "section", values.text, ""),
)
"""The product's own keys, written only where they say something.

The counts are totals; their parts follow where a part other than the imported one is not zero.
"""

FIELDS = {field.key: field for field in (*SCHEMA, *OWN)}
HELPFUL_PARTS = ("helpful_created", "helpful_absorbed", "helpful_votes")
HARMFUL_PARTS = ("harmful_votes",)
