"""External memory (source 002, section 3): `messages.jsonl`, the raw conversation, one message a line."""

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from workbench.core.files.format import Detection, Format, Layout, Parsed, ReadContext
from workbench.core.record import iso
from workbench.core.stream.memory import Memory, Source
from workbench.formats.lifecycle import values
from workbench.formats.lifecycle.entry import content_id
from workbench.formats.lifecycle.values import Notes
from workbench.formats.shared import jsonlines
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.reading import checked, created_at, rating
from workbench.formats.shared.records import NO_CONTEXT, Doc, Key, at_time_of, file_part, remembered, restored, take
from workbench.formats.shared.report import Report

NAME = "external-messages"
_TIMES = ("timestamp", "created_at", "time", "ts")
_IDS = ("id", "uuid")
ROLES = ("user", "assistant", "system", "tool")
"""What a speaker may be who is nobody by name."""
_NAMED = ("user", "assistant")
"""Roles whose `name` is that of a participant; a tool's is that of a function."""


def _inner(memory: Memory) -> dict[str, Any]:
    kept = (file_part(memory, NAME) or {}).get("message")
    return {**(kept if isinstance(kept, dict) else {}), "content": memory.content}


_PLAIN: tuple[Key[Memory], ...] = (Key("content", lambda memory: memory.content),)
_NESTED: tuple[Key[Memory], ...] = (Key("message", _inner),)


def detect(head: str, path: str) -> Detection:
    """Sure when a line has a role and a content and the file is called messages.jsonl."""
    keys = jsonlines.first_keys(head)
    named = PurePath(path).name.lower() == "messages.jsonl"
    if {"role", "content"} <= keys or ("message" in keys and '"role"' in head):
        return Detection(NAME, 0.9 if named else 0.7, "JSON lines with “role” and “content”")
    return Detection(NAME, 0.0, "no line is a message")


def read(text: str, context: ReadContext) -> Parsed:
    """Read every message that says something; the other lines become issues."""
    report = Report(context.file)
    memories = tuple(memory for _, memory in _records(text, context, report))
    return report.parsed(NAME, memories=memories, layout=jsonlines.layout_of(text))


def _records(text: str, context: ReadContext, report: Report) -> Iterator[tuple[int, Memory]]:
    reader, seen = JsonReader(), dict[str, int]()
    for number, line in jsonlines.watched(text, context.watch):
        try:
            memory, notes = _message(reader.decode(line), seen, context)
        except ValueError as reason:
            report.skip(number, reason)
            continue
        report.mapped_all(notes, sorted(reader.changes))
        yield number, memory


def _message(doc: Any, seen: dict[str, int], context: ReadContext) -> tuple[Memory, Notes]:
    """Read one message; the same words said again are numbered in `seen`."""
    if not isinstance(doc, dict):
        raise ValueError("not a message: expected a JSON object")
    nested = isinstance(doc.get("message"), dict)
    inner = doc["message"] if nested else doc
    content, notes = _said(inner.get("content")), Notes()
    if not isinstance(inner.get("role"), str) or not content:
        raise ValueError("it has no role or says nothing")
    created = created_at(doc, _TIMES, context, notes)
    given = next((take(doc, key, values.text, "", notes) for key in _IDS if doc.get(key) is not None), "")
    name = given.strip() or content_id(content, f"{inner['role']} {next((doc[k] for k in _TIMES if k in doc), '')}")
    seen[name] = seen.get(name, 0) + 1
    memory = Memory(
        source=Source(speaker=_speaker(inner)),
        id=name if seen[name] == 1 else f"{name}-{seen[name]}",
        content=content,
        created_at=created,
        last_accessed_at=created,
        category=inner["role"],
        session_id=take(doc, "session_id", values.text, "", notes),
        importance_score=rating(context, "general", content, notes),
    )
    place = {"message": inner} if nested else {"nested": False}
    placed = remembered(checked(memory), {}, (), NAME, place=place)
    return remembered(placed, doc, _NESTED if nested else _PLAIN, NAME, ("role", "session_id"), place), notes


def _speaker(inner: Mapping[str, Any]) -> str | None:
    """Return who said a message: the name that a user or assistant goes by there, or else the role."""
    role, named = inner["role"].strip(), values.speaker(inner.get("name"))
    return named if named and role in _NAMED else values.speaker(role)


def spoken(line: str) -> tuple[str, str] | None:
    """Return who says a message and its text, of one line of the file; `None` when it is no message."""
    try:
        doc = json.loads(line)
    except (ValueError, RecursionError):
        return None
    inner = doc.get("message") if isinstance(doc, dict) and isinstance(doc.get("message"), dict) else doc
    if not isinstance(inner, dict) or not isinstance(inner.get("role"), str):
        return None
    return _speaker(inner) or inner["role"], _said(inner.get("content"))


def _said(content: object) -> str:
    """Return the text of a message: itself, or that of its parts."""
    if isinstance(content, str):
        return content if content.strip() else ""
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str) and text.strip())


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the messages, one a line; with `original`, only lines whose message changed are new."""
    layout = parsed.layout if original is None else jsonlines.layout_of(original)
    written = {memory.id: _line(memory, layout) for memory in parsed.memories}
    if original is None:
        return jsonlines.assemble(written.values(), layout)
    old = {number: (m.id, _line(m, layout)) for number, m in _records(original, NO_CONTEXT, Report(""))}
    return jsonlines.weave(original, old, written, layout)


def _line(memory: Memory, layout: Layout) -> str:
    return jsonlines.dumps(_document(memory), layout)


def _document(memory: Memory) -> Doc:
    keys = _NESTED if "message" in (file_part(memory, NAME) or {}) else _PLAIN
    doc = restored(memory, keys, NAME, lambda doc: _message(doc, {}, at_time_of(memory))[0])
    return doc or {**_by(memory), "content": memory.content, "timestamp": iso(memory.created_at)}


def _by(memory: Memory) -> Doc:
    """Return who says a message that is from no such file, as `_speaker` reads it."""
    speaker = memory.source.speaker
    if speaker in ROLES:
        return {"role": speaker}
    role = memory.category or "user"
    return {"role": role, "name": speaker} if speaker and role in _NAMED else {"role": role}


FORMAT = Format(NAME, "external memory messages (JSON lines)", detect, read, write, suffix=".jsonl")
