"""Entities and relations of the MCP memory server: one memory each.

An entity's content is its observations, one a line; further lines of an observation are indented
by two spaces. A relation's content is “from relation to”.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from workbench.core.errors import InvalidRecord
from workbench.core.files.format import ReadContext
from workbench.core.stream.memory import Memory
from workbench.formats.lifecycle import values
from workbench.formats.lifecycle.values import Notes
from workbench.formats.shared.reading import checked, digest, rating, unique_id
from workbench.formats.shared.records import (
    Doc,
    Key,
    at_time_of,
    file_part,
    fresh,
    remembered,
    required_text,
    restored,
    take,
)

NAME = "mcp-memory"
Item = Callable[[object], tuple[Memory, Notes]]
"""Reads one JSON value."""

ENTITY, RELATION = "entity", "relation"


def _name(memory: Memory) -> str:
    name = (file_part(memory, NAME) or {}).get("name")
    return name if isinstance(name, str) else memory.summary or memory.id


def _observations(memory: Memory) -> list[str]:
    return [] if memory.content == _name(memory) else list(_parted(memory.content))


@lru_cache(maxsize=2)
def _parted(content: str) -> tuple[str, ...]:
    """Return the observations of a content; those of one memory are asked for again and again while it is written."""
    lines = content.split("\n")
    if "\n  " not in content:
        return tuple(line for line in lines if line.strip())
    found: list[list[str]] = []
    for line in lines:
        if line.startswith("  ") and found:
            found[-1].append(line[2:])
        elif line.strip():
            found.append([line])
    return tuple(map("\n".join, found))


def _ends(memory: Memory) -> tuple[str, str]:
    kept = file_part(memory, NAME) or {}
    return str(kept.get("from", "")), str(kept.get("to", ""))


def _relation(memory: Memory) -> str:
    start, end = _ends(memory)
    inner = memory.content.strip()
    if not (inner.startswith(f"{start} ") and inner.endswith(f" {end}") and len(inner) > len(start) + len(end) + 2):
        hint = f"Write it as “{start} … {end}”, or delete it. Nothing was written."
        raise InvalidRecord(f"The relation {memory.id} does not name both of its entities any more.", hint)
    return inner[len(start) + 1 : len(inner) - len(end) - 1]


_ENTITY: tuple[Key[Memory], ...] = (
    Key("type", lambda _: ENTITY),
    Key("name", _name),
    Key("entityType", lambda memory: memory.category or memory.observation_type),
    Key("observations", _observations),
)
_RELATION: tuple[Key[Memory], ...] = (
    Key("type", lambda _: RELATION),
    Key("from", lambda memory: _ends(memory)[0]),
    Key("to", lambda memory: _ends(memory)[1]),
    Key("relationType", _relation),
)


def keys_of(memory: Memory) -> tuple[Key[Memory], ...]:
    """Return the keys of the line that `memory` is written as."""
    return _RELATION if (file_part(memory, NAME) or {}).get("kind") == RELATION else _ENTITY


def entity_id(name: str) -> str:
    """Name the memory of an entity; different names never share an id."""
    return unique_id("mcp", name)


def ends_of(memory: Memory) -> tuple[str, ...]:
    """Return the ids of the two entities of a relation; of an entity, none."""
    kept = file_part(memory, NAME) or {}
    return tuple(map(entity_id, _ends(memory))) if kept.get("kind") == RELATION else ()


def item(doc: Any, context: ReadContext) -> tuple[Memory, Notes]:
    """Read an entity or a relation. Raises `ValueError` when it is neither."""
    kind = doc.get("type") if isinstance(doc, dict) else None
    if kind not in (ENTITY, RELATION):
        raise ValueError("neither an entity nor a relation")
    notes: Notes = []
    memory, place = _entity(doc, context, notes) if kind == ENTITY else _linked(doc, context, notes)
    notes.append(("created_at", "set to the time of the import, the format has none"))
    keys = _ENTITY if kind == ENTITY else _RELATION
    # The keys read the names from what is kept, so that comes first.
    placed = remembered(checked(memory), {}, (), NAME, place=place)
    return remembered(placed, doc, keys, NAME, place=place), notes


def _entity(doc: Doc, context: ReadContext, notes: Notes) -> tuple[Memory, Doc]:
    name = required_text(doc, "name")
    said = [text for text in take(doc, "observations", values.texts, (), notes) if text.strip()]
    content = _joined(said) or name
    category = take(doc, "entityType", values.text, "", notes)
    summary = f"{name} ({category})" if category else name
    memory = _memory(entity_id(name), content, summary, category, context, notes)
    return memory, {"kind": ENTITY, "name": name}


def _joined(observations: Sequence[str]) -> str:
    """Return observations one a line, with all lines of each but the first indented."""
    joined = "\n".join(observations)
    if joined.count("\n") < len(observations):
        return joined
    return "\n".join(text.replace("\r\n", "\n").replace("\n", "\n  ") for text in observations)


def _linked(doc: Doc, context: ReadContext, notes: Notes) -> tuple[Memory, Doc]:
    start, kind, end = (required_text(doc, name) for name in ("from", "relationType", "to"))
    name = f"mcp-relation-{digest(start, kind, end)}"
    memory = _memory(name, f"{start} {kind} {end}", "", RELATION, context, notes)
    return memory, {"kind": RELATION, "from": start, "to": end}


def _memory(name: str, content: str, summary: str, category: str, context: ReadContext, notes: Notes) -> Memory:
    return Memory(
        id=name,
        content=content,
        created_at=context.now,
        last_accessed_at=context.now,
        summary=summary,
        memory_type="semantic",
        category=category,
        status="confirmed",
        importance_score=rating(context, "general", content, notes),
    )


def adopted(memories: Iterable[Memory]) -> list[Memory]:
    """Return the memories as the file's own: those from elsewhere as the entities that they become.

    An entity is called by the summary of its memory, or by the id where another entity is called so.
    """
    found = list(memories)
    shared = Counter(_name(memory) for memory in found)
    return [memory if file_part(memory, NAME) else _as_entity(memory, shared) for memory in found]


def _as_entity(memory: Memory, shared: Mapping[str, int]) -> Memory:
    named = replace(memory, summary=memory.id) if shared[_name(memory)] > 1 else memory
    try:
        return item(fresh(named, _ENTITY), at_time_of(memory))[0]
    except ValueError:
        return named


def document(memory: Memory) -> Doc:
    """Return the JSON object for `memory`; a memory from elsewhere becomes an entity."""
    context = at_time_of(memory)
    doc = restored(memory, keys_of(memory), NAME, lambda doc: item(doc, context)[0])
    return doc or fresh(memory, _ENTITY)
