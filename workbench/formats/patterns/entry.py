"""One pattern of agent-playbook's semantic memory: from a JSON object to a memory, and its keys."""

from functools import partial
from typing import Any

from workbench.core.files.format import ReadContext
from workbench.core.record import iso
from workbench.core.stream.memory import Memory
from workbench.formats.lifecycle import values
from workbench.formats.lifecycle.values import Notes
from workbench.formats.memory_streams.nodes import slug
from workbench.formats.shared.reading import checked, created_at, rating, status_in
from workbench.formats.shared.records import Doc, Key, at_time_of, file_part, fresh, remembered, restored, take

NAME = "semantic-patterns"
SAYS = ("pattern", "description", "name")
"""The keys that may say what the pattern is, the best first."""


def _date(memory: Memory) -> str:
    return iso(memory.created_at)[:10]


def keys_for(said: str) -> tuple[Key[Memory], ...]:
    """Return the keys of a pattern whose content stands in the key `said`."""
    name: tuple[Key[Memory], ...] = (Key("name", lambda memory: memory.summary or None),)
    return (
        Key("id", lambda memory: memory.id),
        *(name if said != "name" else ()),
        Key("confidence", lambda memory: memory.confidence / 5),
        Key("created", _date),
        Key("category", lambda memory: memory.category or None),
        Key(said, lambda memory: memory.content),
    )


def keys_of(memory: Memory) -> tuple[Key[Memory], ...]:
    """Return the keys of the pattern that `memory` was read from; of a new one, those it would have."""
    said = (file_part(memory, NAME) or {}).get("said")
    return keys_for(said if said in SAYS else "pattern")


def pattern(key: str, doc: Any, context: ReadContext) -> tuple[Memory, Notes]:
    """Read one pattern. Raises `ValueError` when it does not say anything."""
    if not isinstance(doc, dict):
        raise ValueError("not a pattern: expected a JSON object")
    said = next((name for name in SAYS if isinstance(doc.get(name), str) and doc[name].strip()), None)
    if said is None:
        raise ValueError("it has neither a pattern nor a name")
    notes: Notes = []
    created = created_at(doc, ("created",), context, notes)
    memory = Memory(
        id=take(doc, "id", values.text, "", notes) or f"pattern-{slug(key) or 'unnamed'}",
        content=doc[said],
        summary="" if said == "name" else take(doc, "name", values.text, "", notes),
        created_at=created,
        last_accessed_at=created,
        memory_type="semantic",
        observation_type="pattern",
        category=take(doc, "category", values.text, "", notes),
        confidence=take(doc, "confidence", _confidence, 0, notes),
        status=status_in(doc),
        importance_score=rating(context, "pattern", doc[said], notes),
    )
    return remembered(checked(memory), doc, keys_for(said), NAME, place={"key": key, "said": said}), notes


def _confidence(raw: object) -> values.Reading:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise ValueError("it is no number")
    held = round(min(max(float(raw), 0.0), 1.0) * 5)
    return held, "" if raw in (0, 1) else "mapped from 0–1 to 0–5"


def document(memory: Memory) -> Doc:
    """Return the JSON object for `memory`, with the keys of the file it came from."""
    key = key_of(memory)
    again = partial(pattern, key, context=at_time_of(memory))
    return restored(memory, keys_of(memory), NAME, lambda doc: again(doc)[0]) or fresh(memory, keys_for("pattern"))


def key_of(memory: Memory) -> str:
    """Return the key of the pattern in its file."""
    key = (file_part(memory, NAME) or {}).get("key")
    return key if isinstance(key, str) else slug(memory.summary or memory.id).replace("-", "_") or memory.id
