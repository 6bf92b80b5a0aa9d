"""LIFECYCLE JSONL: one learning entry a line (source 001, section 5.2)."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msgspec.structs import replace

from workbench.core.files.format import Format, Parsed, ReadContext, Sure, Unread, reason_of
from workbench.core.record import as_object, iso
from workbench.core.stream.memory import (
    ARCHIVED_REASONS,
    FILE_KEY,
    MEMORY_TYPES,
    NO_SOURCE,
    OBSERVATION_TYPES,
    STATUSES,
    Memory,
    Source,
    broken_rule,
)
from workbench.formats.patch import alike
from workbench.formats.shared import jsonstream, values
from workbench.formats.shared.records import read_again
from workbench.formats.shared.values import Decode, Notes, an_object

# The fields of a LIFECYCLE entry (source 001, section 5.2) and the product's own additions to it.


Doc = dict[str, Any]


def _same(value: Any) -> Any:
    return value


def _time(value: Any) -> Any:
    return iso(value) if value else None


@dataclass(frozen=True)
class Field:
    """A key of the entry, the `Memory` attribute it holds, how to read and write it, and what its
    absence means.
    """

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
_DEFAULTS = {field.name: field.default for field in FIELDS.values()}
HELPFUL_PARTS = ("helpful_created", "helpful_absorbed", "helpful_votes")
HARMFUL_PARTS = ("harmful_votes",)


# One LIFECYCLE entry: from a JSON object to a memory, and back without losing a key.
#
# What a plain entry of the memory would not reproduce is kept in its metadata, under `FILE_KEY`:
# `values` (keys the schema does not know, and values written in another form), `keys` (their order,
# when it differs) and `derived` (values the file did not have and the reader worked out). What the
# reader of another format kept there goes along in `meta`, so that an entry can become a record of
# that format again. On the way back a value in another form is used only while it still says what
# the memory says.


_REQUIRED = ("id", "timestamp", "context")
_WORKED_OUT = (
    "helpful_count", "helpful_imported", "harmful_count", "harmful_imported", "archived_reason",
)  # fmt: skip
"""Fields that are computed from several keys of an entry."""


def content_id(content: str, timestamp: str = "") -> str:
    """Name a record that brings no id: the same content and time always give the same `imp-…`."""
    digest = hashlib.sha256(f"{timestamp}\0{content}".encode(errors="replace"))
    return f"imp-{digest.hexdigest()[:12]}"


def from_entry(doc: Doc, context: ReadContext) -> tuple[Memory, Notes]:
    """Read one entry; return the memory and which values were changed, as (field, how).

    Raises `ValueError` with the reason when the entry cannot become a memory.
    """
    notes: Notes = []
    given: Doc = dict(_DEFAULTS)
    unsure = [key for key in _WORKED_OUT if key in doc]
    for key, raw in doc.items():
        field = FIELDS.get(key)
        if field is None or raw is None:
            unsure.append(key)
            continue
        known, value = len(notes), _decoded(field, raw, notes)
        given[field.name] = value
        # What is read as it is, is written as it is.
        if value is not raw and (len(notes) > known or field.encode is not list):
            unsure.append(key)
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
    return _remembering(memory, doc, derived, unsure), notes


def _decoded(field: Field, raw: Any, notes: Notes) -> Any:
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
        score = min(
            max(float(context.importance(given["observation_type"], given["content"])), 0.0), 10.0
        )
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


def _keys(memory: Memory) -> list[str]:
    """The keys of the entry when no file says otherwise."""
    left_out = {"last_accessed_at"} if memory.last_accessed_at == memory.created_at else set[str]()
    for kind, parts in (("helpful", HELPFUL_PARTS), ("harmful", HARMFUL_PARTS)):
        if not any(getattr(memory, part) for part in parts):
            left_out.add(f"{kind}_imported")
    own = (f.key for f in OWN if f.key not in left_out and getattr(memory, f.name) != f.default)
    return [*(field.key for field in SCHEMA), *own]


def _remembering(memory: Memory, doc: Doc, derived: Doc, unsure: Iterable[str]) -> Memory:
    """Return the memory with what an entry of it would say otherwise; `unsure` are the keys of
    which that is not known yet.
    """
    kept: Doc = {}
    is_short = len(doc) < len(SCHEMA) - len(derived)
    if is_short or list(doc) != [key for key in _keys(memory) if key not in derived]:
        kept["keys"] = list(doc)
    other = {
        key: doc[key]
        for key in unsure
        if key not in FIELDS or not alike(doc[key], FIELDS[key].write(memory))
    }
    if other:
        kept["values"] = other
    if derived:
        kept["derived"] = derived
    if not kept:
        return memory
    foreign = as_object(memory.metadata.get(FILE_KEY))
    return replace(memory, metadata={**memory.metadata, FILE_KEY: {**foreign, **kept}})


def to_entry(memory: Memory) -> Doc:
    """Return the entry for `memory`: the keys of its file in their order, then what has been added
    since.
    """
    plain = {key: FIELDS[key].write(memory) for key in _keys(memory)}
    kept = as_object(memory.metadata.get(FILE_KEY))
    values, keys = as_object(kept.get("values")), kept.get("keys")
    derived = {key for key, value in plain.items() if _still_derived(key, value, kept, memory)}
    wanted = {key: value for key, value in plain.items() if key not in derived}
    out: Doc = {}
    for key in keys if isinstance(keys, list) else wanted:
        if key in values and (
            key not in FIELDS or key in derived or _says(FIELDS[key], values[key], memory)
        ):
            out[key] = values[key]
        elif key in FIELDS:
            out[key] = FIELDS[key].write(memory)
    for key, value in wanted.items():
        if key not in out and value != FIELDS[key].absent:
            out[key] = value
    return out


def _still_derived(key: str, value: object, kept: Mapping[str, Any], memory: Memory) -> bool:
    derived, values = as_object(kept.get("derived")), as_object(kept.get("values"))
    if key not in derived or derived[key] != value:
        return False
    # An id that was made from the content can only be left out while the content still gives it.
    written = values.get("timestamp", "" if "timestamp" in derived else iso(memory.created_at))
    return key != "id" or content_id(memory.content, str(written or "")) == value


def _says(field: Field, raw: object, memory: Memory) -> bool:
    """Whether `raw`, read again, is what the memory has in this field."""
    value = field.default if raw is None else _decoded(field, raw, [])
    if isinstance(value, Source) and memory.source.speaker is None:
        value = replace(
            value, speaker=None
        )  # read by a version that knew no speakers, the entry still has its own
    if value is None and field.key == "last_accessed_at":
        return memory.last_accessed_at == memory.created_at
    return bool((None if value is None else field.encode(value)) == field.write(memory))


NAME = "lifecycle"


def detect(head: str, path: str) -> Sure | None:
    """Sure when a line has the schema's `context` together with one of its other keys."""
    del path
    keys = jsonstream.first_keys(head)
    others = keys & {"timestamp", "status", "session_id", "type", "confidence", "summary"}
    if "context" in keys and others:
        return (
            min(0.6 + 0.1 * len(others), 0.95),
            "JSON lines with “context” and other entry keys",
        )
    return None


def read(text: str, context: ReadContext) -> Parsed:
    """Read every line that can be read; the others become issues."""
    return jsonstream.read_lines(NAME, text, context, lambda doc: _entry(doc, context))


def _entry(doc: Any, context: ReadContext) -> tuple[Memory, Notes]:
    return from_entry(an_object(doc, "an entry"), context)


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the memories, one entry a line; with `original`, only lines whose entry changed are
    new.
    """
    new = {memory.id: memory for memory in parsed.memories}

    def again(doc: Any) -> tuple[Memory, Notes]:
        return read_again(new, lambda context: _entry(doc, context)[0]), []

    return jsonstream.write_lines(parsed, original, again, to_entry)


FORMAT = Format(
    NAME, "learning entries (JSON lines)", detect, read, write, suffix=".jsonl", endings=(".jsonl",),
    loses_nothing=True, carries_status=True,
)  # fmt: skip
