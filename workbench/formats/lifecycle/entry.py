"""One LIFECYCLE entry: from a JSON object to a memory, and back without losing a key.

What a plain entry of the memory would not reproduce is kept in its metadata, under `FILE_KEY`:
`values` (keys the schema does not know, and values written in another form), `keys` (their order,
when it differs) and `derived` (values the file did not have and the reader worked out). What the reader of another
format kept there goes along in `meta`, so that an entry can become a record of that format again. On the
way back a value in another form is used only while it still says what the memory says.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.core.files.format import ReadContext
from workbench.core.files.reason import Unread, reason_of
from workbench.core.record import iso
from workbench.core.stream.memory import FILE_KEY, Memory, Source, broken_rule
from workbench.formats.lifecycle.fields import FIELDS, HARMFUL_PARTS, HELPFUL_PARTS, OWN, SCHEMA, Doc, Field
from workbench.formats.lifecycle.values import Notes
from workbench.formats.shared.records import alike

_REQUIRED = ("id", "timestamp", "context")


def content_id(content: str, timestamp: str = "") -> str:
    """Name a record that brings no id: the same content and time always give the same `imp-…`."""
    digest = hashlib.sha256(f"{timestamp}\0{content}".encode(errors="replace"))
    return f"imp-{digest.hexdigest()[:12]}"


def from_entry(doc: Doc, context: ReadContext) -> tuple[Memory, Notes]:
    """Read one entry; return the memory and which values were changed, as (field, how).

    Raises `ValueError` with the reason when the entry cannot become a memory.
    """
    notes: Notes = []
    given: Doc = {
        field.name: _decoded(field, doc, notes) if field.key in doc else field.default for field in FIELDS.values()
    }
    given["metadata"] = dict(given["metadata"])
    derived = _derive(given, doc, context, notes)
    for kind, parts in (("helpful", HELPFUL_PARTS), ("harmful", HARMFUL_PARTS)):
        _share(given, kind, parts, notes)
    if given["archived_reason"] and given["status"] != "archived":
        given["archived_reason"] = None
        notes.append(("archived_reason", "left out, the entry is not archived"))
    memory = Memory(**given)
    problem = broken_rule(memory)
    if problem:
        raise ValueError(problem)
    return _remembering(memory, doc, derived), notes


def _decoded(field: Field, doc: Doc, notes: Notes) -> Any:
    raw = doc.get(field.key)
    if raw is None:
        return field.default
    try:
        value, note = field.decode(raw)
    except ValueError as problem:
        if field.key in _REQUIRED:
            reason = reason_of(problem).under(field.key)
            raise Unread(reason.pattern, *reason.values) from None
        notes.append((field.key, f"left out: {problem}"))
        return field.default
    if note:
        notes.append((field.key, note))
    return value


def _derive(given: Doc, doc: Doc, context: ReadContext, notes: Notes) -> Doc:
    """Fill in what the entry leaves open; return those values as they would be written."""
    if not (given["content"] or "").strip():
        raise ValueError("its context is empty" if "context" in doc else "it has no context")
    derived: Doc = {}
    if not (given["id"] or "").strip():
        given["id"] = derived["id"] = content_id(given["content"], str(doc.get("timestamp") or ""))
        notes.append(("id", "made from the content, the entry has none"))
    if given["created_at"] is None:
        given["created_at"] = context.now
        derived["timestamp"] = iso(context.now)
        notes.append(("timestamp", "set to the time of the import, the entry has none"))
    if given["last_accessed_at"] is None:
        given["last_accessed_at"] = given["created_at"]
    if given["importance_score"] is None:
        score = min(max(float(context.importance(given["observation_type"], given["content"])), 0.0), 10.0)
        given["importance_score"] = derived["importance_score"] = score
        notes.append(("importance_score", "rated from type and content, the entry has none"))
    return derived


def _share(given: Doc, kind: str, parts: tuple[str, ...], notes: Notes) -> None:
    """Split a total into its parts: what the other parts do not explain was imported."""
    total, explained = given.pop(f"{kind}_count"), sum(given[part] for part in parts)
    if total and total < explained:
        notes.append((f"{kind}_count", "less than its parts; the parts are kept"))
    elif total:
        given[f"{kind}_imported"] = total - explained


def _plain(memory: Memory) -> Doc:
    """The entry as it is written when no file says otherwise."""
    doc = {field.key: field.write(memory) for field in SCHEMA}
    for field in OWN:
        value = field.write(memory)
        if value != field.absent:
            doc[field.key] = value
    if memory.last_accessed_at == memory.created_at:
        doc.pop("last_accessed_at", None)
    for kind, parts in (("helpful", HELPFUL_PARTS), ("harmful", HARMFUL_PARTS)):
        if not any(part in doc for part in parts):
            doc.pop(f"{kind}_imported", None)
    return doc


def _remembering(memory: Memory, doc: Doc, derived: Doc) -> Memory:
    plain = _plain(memory)
    kept: Doc = {}
    if list(doc) != [key for key in plain if key not in derived]:
        kept["keys"] = list(doc)
    other = {
        key: raw
        for key, raw in doc.items()
        if key not in FIELDS or not alike(raw, plain[key] if key in plain else FIELDS[key].write(memory))
    }
    if other:
        kept["values"] = other
    if derived:
        kept["derived"] = derived
    if not kept:
        return memory
    foreign = _object(memory.metadata.get(FILE_KEY))
    return replace(memory, metadata={**memory.metadata, FILE_KEY: {**foreign, **kept}})


def to_entry(memory: Memory) -> Doc:
    """Return the entry for `memory`: the keys of its file in their order, then what has been added since."""
    plain = _plain(memory)
    kept = _object(memory.metadata.get(FILE_KEY))
    values, keys = _object(kept.get("values")), kept.get("keys")
    derived = {key for key, value in plain.items() if _still_derived(key, value, kept, memory)}
    wanted = {key: value for key, value in plain.items() if key not in derived}
    out: Doc = {}
    for key in keys if isinstance(keys, list) else wanted:
        if key in values and (key not in FIELDS or key in derived or _says(FIELDS[key], values[key], memory)):
            out[key] = values[key]
        elif key in FIELDS:
            out[key] = FIELDS[key].write(memory)
    for key, value in wanted.items():
        if key not in out and value != FIELDS[key].absent:
            out[key] = value
    return out


def _still_derived(key: str, value: object, kept: Mapping[str, Any], memory: Memory) -> bool:
    derived, values = _object(kept.get("derived")), _object(kept.get("values"))
    if key not in derived or derived[key] != value:
        return False
    # An id that was made from the content can only be left out while the content still gives it.
    written = values.get("timestamp", "" if "timestamp" in derived else iso(memory.created_at))
    return key != "id" or content_id(memory.content, str(written or "")) == value


def _says(field: Field, raw: object, memory: Memory) -> bool:
    """Whether `raw`, read again, is what the memory has in this field."""
    value = field.default
    if raw is not None:
        try:
            value, _ = field.decode(raw)
        except ValueError:
            value = field.default
    if isinstance(value, Source) and memory.source.speaker is None:
        value = replace(value, speaker=None)  # read by a version that knew no speakers, the entry still has its own
    if value is None and field.key == "last_accessed_at":
        return memory.last_accessed_at == memory.created_at
    return bool((None if value is None else field.encode(value)) == field.write(memory))


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
