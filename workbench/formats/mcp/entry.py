"""Entities and relations of the MCP memory server: one memory each.

An entity's content is its observations, one a line; further lines of an observation are indented
by two spaces. A relation's content is “from relation to”. Other servers spell some keys in another way, or keep each
observation as an object with its `text`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from workbench.core.files.format import ReadContext
from workbench.core.stream.memory import Memory
from workbench.formats.lifecycle import values
from workbench.formats.lifecycle.values import Notes
from workbench.formats.shared.jsonrecords import (
    Doc,
    Key,
    at_time_of,
    changes,
    checked,
    digest,
    file_part,
    fresh,
    rating,
    remembered,
    required_text,
    restored,
    take,
    unique_id,
)

NAME = "mcp-memory"
Item = Callable[[object, str], tuple[Memory, Notes]]
"""Reads one JSON value, given what it is listed as."""

ENTITY, RELATION = "entity", "relation"
SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "entityType": ("entityType", "entity_type", "type"),
    "from": ("from", "from_entity", "source"),
    "to": ("to", "to_entity", "target"),
    "relationType": ("relationType", "relation_type", "relation"),
}
"""How the keys are called that not everybody calls the same, the server's own name first."""

_FOREIGN = frozenset({"_type", "content", "context", "status", "description", "query", "role", "memory"})


def _name(memory: Memory) -> str:
    name = (file_part(memory, NAME) or {}).get("name")
    return name if isinstance(name, str) else memory.summary or memory.id


def _observations(memory: Memory) -> list[str]:
    return [] if memory.content == _name(memory) else list(_parted(memory.content))


def _written(memory: Memory) -> list[Any]:
    """Return the observations as the file has them."""
    return _as_objects(_observations(memory), _observed(memory))


def _as_objects(texts: Sequence[str], known: Mapping[str, Any]) -> list[Any]:
    """Return observations as objects, where those that are known are some; what is not known is only a text."""
    return [known.get(text, {"text": text}) for text in texts] if known else list(texts)


def _observed(memory: Memory) -> Mapping[str, Any]:
    """Return the objects of observations by their text."""
    found = (file_part(memory, NAME) or {}).get("observed")
    return found if isinstance(found, Mapping) else {}


def _objects_in(doc: Mapping[str, Any]) -> dict[str, Any]:
    listed = doc.get("observations")
    objects = (one for one in listed if isinstance(one, dict)) if isinstance(listed, list) else ()
    return {one["text"]: one for one in objects if isinstance(one.get("text"), str) and one["text"].strip()}


def _with_texts(doc: Doc, objects: Mapping[str, Any]) -> Doc:
    """Return a document whose observations are texts, where each of them is an object with one."""
    listed = doc.get("observations")
    if not objects or not isinstance(listed, list):
        return doc
    said = [one["text"] if isinstance(one, dict) and one.get("text") in objects else one for one in listed]
    return {**doc, "observations": said}


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
    return inner[len(start) + 1 : len(inner) - len(end) - 1]


def broken(memory: Memory) -> str:
    """Say that a relation does not name both of its entities any more; empty for one that does."""
    start, end = _ends(memory)
    inner = memory.content.strip()
    if not ends_of(memory) or (
        inner.startswith(f"{start} ") and inner.endswith(f" {end}") and len(inner) > len(start) + len(end) + 2
    ):
        return ""
    return f"{memory.id} does not name both of its entities any more: write it as “{start} … {end}”, or delete it"


_ENTITY: tuple[Key[Memory], ...] = (
    Key("type", lambda _: ENTITY),
    Key("name", _name),
    Key("entityType", lambda memory: memory.category or memory.observation_type),
    Key("observations", _written),
)
_RELATION: tuple[Key[Memory], ...] = (
    Key("type", lambda _: RELATION),
    Key("from", lambda memory: _ends(memory)[0]),
    Key("to", lambda memory: _ends(memory)[1]),
    Key("relationType", _relation),
)


def keys_of(memory: Memory) -> tuple[Key[Memory], ...]:
    """Return the keys of the line that `memory` is written as."""
    kept = file_part(memory, NAME) or {}
    return _keys(str(kept.get("kind")), kept.get("spelled"))


def _keys(kind: str, spelled: object) -> tuple[Key[Memory], ...]:
    keys = _RELATION if kind == RELATION else _ENTITY
    if not isinstance(spelled, Mapping) or not spelled:
        return keys
    # What says “type” for something else says nothing of being an entity.
    own = (key for key in keys if key.name != "type" or "type" not in spelled.values())
    return tuple(replace(key, name=str(spelled.get(key.name, key.name))) for key in own)


def kind_of(doc: object) -> str:
    """Tell whether a JSON value is an entity or a relation, by its type or else by its keys; empty for neither."""
    if not isinstance(doc, Mapping):
        return ""
    said = next((doc[key] for key in ("type", "_type") if doc.get(key) in (ENTITY, RELATION)), "")
    if said:
        return str(said)
    if "name" in doc and ("observations" in doc or "entityType" in doc or "entity_type" in doc):
        return ENTITY
    return RELATION if all(_spelling(doc, key) in doc for key in ("from", "to", "relationType")) else ""


def is_elsewhere(doc: Mapping[str, Any]) -> bool:
    """Whether an object has keys that a record of a graph has not: an `id`, a `time`, a text."""
    own = {"_type"} if doc.get("_type") in (ENTITY, RELATION) else set[str]()
    return not (_FOREIGN - own).isdisjoint(doc)


def is_mark(doc: object) -> bool:
    """Tell whether a line only says which server writes the file, as the first one of mcp-knowledge-graph does."""
    return isinstance(doc, dict) and doc.get("type") == "_aim" and doc.keys() <= {"type", "source", "version"}


def _spelling(doc: Mapping[str, Any], key: str) -> str:
    """Return how a document calls a key; the server's own name when it has none of them."""
    known = (name for name in SPELLINGS[key] if name in doc)
    return next((name for name in known if doc[name] not in (ENTITY, RELATION) or name != "type"), key)


def entity_id(name: str) -> str:
    """Name the memory of an entity; different names never share an id."""
    return unique_id("mcp", name)


def ends_of(memory: Memory) -> tuple[str, ...]:
    """Return the ids of the two entities of a relation; of an entity, none."""
    kept = file_part(memory, NAME) or {}
    return tuple(map(entity_id, _ends(memory))) if kept.get("kind") == RELATION else ()


def item(doc: Any, context: ReadContext, listed: str = "") -> tuple[Memory, Notes]:
    """Read an entity or a relation, or what is `listed` as one. Raises `ValueError` when it is neither."""
    kind = listed or kind_of(doc)
    if not kind or not isinstance(doc, dict):
        raise ValueError("neither an entity nor a relation")
    wanted = ("entityType",) if kind == ENTITY else ("from", "to", "relationType")
    spelled = {key: name for key in wanted if (name := _spelling(doc, key)) != key}
    objects = _objects_in(doc) if kind == ENTITY else {}
    said, notes = _with_texts({**doc, **{key: doc[name] for key, name in spelled.items()}}, objects), Notes()
    memory, place = _entity(said, context, notes) if kind == ENTITY else _linked(said, context, notes)
    notes.append(("created_at", "set to the time of the import, the format has none"))
    place |= {"spelled": spelled} if spelled else {}
    place |= {"observed": objects} if objects else {}
    keys = _keys(kind, spelled)
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


def merged(memory: Memory, others: Sequence[Memory]) -> Memory:
    """Return an entity with the observations that its name has elsewhere in the file, each once."""
    every = [text for one in (memory, *others) for text in _observations(one)]
    return replace(memory, content=_joined(list(dict.fromkeys(every))) or memory.content) if others else memory


def parted(parts: Sequence[Memory], after: Memory) -> list[list[str]]:
    """Return the observations of an entity for each place where its name stands: each stays where it stood.

    What takes the place of another stands where that stood, and what is new behind the one before it.
    """
    owner, before = list[int](), list[str]()
    for place, part in enumerate(parts):
        fresh_ones = [text for text in _observations(part) if text not in before]
        before += fresh_ones
        owner += [place] * len(fresh_ones)
    now = _observations(after)
    found: list[list[str]] = [[] for _ in parts]
    for kind, start, stop, begin, end in SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        for step, text in enumerate(now[begin:end]):
            at = min(start + step, stop - 1) if kind in ("equal", "replace") else start - 1
            found[owner[at] if 0 <= at < len(owner) else 0].append(text)
    return found


def changed(parts: Sequence[Memory], after: Memory) -> list[Doc]:
    """Return for each place of one memory the keys that are another value there, as `records.changes` has them."""
    first, *others = parts
    found = changes(merged(first, others), after, keys_of(first))
    if not others or "observations" not in found:
        return [found, *({} for _ in others)]
    del found["observations"]
    kept = parted(parts, merged(first, others))
    known = {text: one for part in parts for text, one in _observed(part).items()}
    lists = [
        {"observations": _as_objects(now, known)} if now != old else {}
        for now, old in zip(parted(parts, after), kept, strict=True)
    ]
    return [{**lists[0], **found}, *lists[1:]]


def document(memory: Memory) -> Doc:
    """Return the JSON object for `memory`; a memory from elsewhere becomes an entity."""
    context = at_time_of(memory)
    kind = str((file_part(memory, NAME) or {}).get("kind", ""))
    doc = restored(memory, keys_of(memory), NAME, lambda doc: item(doc, context, kind)[0])
    return doc or fresh(memory, _ENTITY)
