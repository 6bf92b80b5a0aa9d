"""External memory (source 002, section 3): `overview.md` and `detail/*.md`; every section is a
memory.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple

from workbench.core.agents.document import HEADINGS
from workbench.core.files.format import Clues, Format, Parsed, ReadContext, Sure, reason_of
from workbench.core.files.lint import newline_of
from workbench.core.files.memory_md import facts, meta
from workbench.core.record import as_object, iso, without
from workbench.core.stream.memory import FILE_KEY, Memory, MemoryType, Source
from workbench.core.text import MAX_KEPT
from workbench.formats.lifecycle import content_id
from workbench.formats.shared import jsonstream, values
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.markdown import Part, body_of, parts, rewritten, topic_of
from workbench.formats.shared.records import (
    NO_CONTEXT,
    Doc,
    Key,
    at_time_of,
    created_at,
    joined,
    kept,
    made,
    place,
    remembered,
    restored,
    status_in,
    take_text,
)
from workbench.formats.shared.report import Report
from workbench.formats.shared.values import Notes, an_object, slug

# External memory (source 002, section 3): `messages.jsonl`, the raw conversation, one message a
# line.


NAME = "external-messages"
_TIMES = ("timestamp", "created_at", "time", "ts")
_IDS = ("id", "uuid")
ROLES = ("user", "assistant", "system", "tool")
"""What a speaker may be who is nobody by name."""
_NAMED = ("user", "assistant")
"""Roles whose `name` is that of a participant; a tool's is that of a function."""


def _inner(memory: Memory) -> dict[str, Any]:
    return {**kept(memory, NAME, "message", Doc()), "content": memory.content}


_PLAIN: tuple[Key[Memory], ...] = (Key("content", lambda memory: memory.content),)
_NESTED: tuple[Key[Memory], ...] = (Key("message", _inner),)


def detect(head: str, path: str) -> Sure | None:
    """Sure when a line has a role and a content and the file is called messages.jsonl."""
    keys = jsonstream.first_keys(head)
    named = PurePath(path).name.lower() == "messages.jsonl"
    if {"role", "content"} <= keys or ("message" in keys and '"role"' in head):
        return (0.9 if named else 0.7, "JSON lines with “role” and “content”")
    return None


def read(text: str, context: ReadContext) -> Parsed:
    """Read every message that says something; the other lines become issues."""
    seen = dict[str, int]()
    return jsonstream.read_lines(NAME, text, context, lambda doc: _message(doc, seen, context))


def _message(doc: Any, seen: dict[str, int], context: ReadContext) -> tuple[Memory, Notes]:
    """Read one message; the same words said again are numbered in `seen`."""
    doc = an_object(doc, "a message")
    nested = isinstance(doc.get("message"), dict)
    inner = doc["message"] if nested else doc
    content, notes = _said(inner.get("content")), Notes()
    if not isinstance(inner.get("role"), str) or not content:
        raise ValueError("it has no role or says nothing")
    created = created_at(doc, _TIMES, context, notes)
    given = next((take_text(doc, key, notes) for key in _IDS if doc.get(key) is not None), "")
    name = given.strip() or content_id(
        content, f"{inner['role']} {next((doc[k] for k in _TIMES if k in doc), '')}"
    )
    seen[name] = seen.get(name, 0) + 1
    memory = made(
        context,
        notes,
        name if seen[name] == 1 else f"{name}-{seen[name]}",
        content,
        created,
        source=Source(speaker=_speaker(inner)),
        category=inner["role"],
        session_id=take_text(doc, "session_id", notes),
    )
    place = {"message": inner} if nested else {"nested": False}
    keys, known = _NESTED if nested else _PLAIN, ("role", "session_id")
    return remembered(memory, doc, keys, NAME, known, place), notes


def _speaker(inner: Mapping[str, Any]) -> str | None:
    """Return who said a message: the name that a user or assistant goes by there, or else the role."""
    role, named = inner["role"].strip(), values.speaker(inner.get("name"))
    return named if named and role in _NAMED else values.speaker(role)


def spoken(line: str) -> tuple[str, str] | None:
    """Return who says a message and its text, of one line of the file; `None` when it is no
    message.
    """
    try:
        doc = json.loads(line)
    except (ValueError, RecursionError):
        return None
    inner = as_object(doc)
    if isinstance(inner.get("message"), dict):
        inner = inner["message"]
    if not isinstance(inner.get("role"), str):
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
    seen = dict[str, int]()
    read = partial(_message, seen=seen, context=NO_CONTEXT)
    return jsonstream.write_lines(parsed, original, read, _document)


def _document(memory: Memory) -> Doc:
    keys = _NESTED if kept(memory, NAME, "message", Doc()) else _PLAIN
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


_TYPES = {"Key Decisions": "decision"}


class _Kind(NamedTuple):
    """One of the two files: its format's name and how long its memories last."""

    name: str
    memory_type: MemoryType


OVERVIEW = _Kind("external-overview", "working")
DETAIL = _Kind("external-detail", "semantic")


def detect_overview(head: str, path: str) -> Sure | None:
    """Sure when there are at least two of the five headings."""
    found = sum(
        bool(re.search(rf"^## {heading}[ \t]*\r?$", head, re.MULTILINE)) for heading in HEADINGS
    )
    named = PurePath(path).name.lower() == "overview.md"
    if found > 1 or (found and named):
        return (
            min(0.5 + 0.1 * found, 0.95),
            f"{found} of the five headings of an overview",
        )
    return None


detect_detail = Clues((
    (0.9, "Markdown with a META comment", r"(?i)<!--\s*META:?[ \t]*\r?\n(?s:.*?)-->", ""),
    (0.6, "Markdown in a folder “detail”", "", r"(?:^|/)detail/[^/]+\.(?i:md)$"),
))  # fmt: skip


def _read(kind: _Kind, text: str, context: ReadContext) -> Parsed:
    """Read every section that says something."""
    report, found = Report(context.file), list[Memory]()
    said, end = meta(text) or ("", 0)
    known = facts(said)
    topic = topic_of(text)
    for part in parts(text, end):
        if not part.body.text:
            continue
        try:
            memory, notes = _memory(kind, part, topic, known, context)
        except ValueError as reason:
            report.skip(
                part.line, reason_of(reason).under("the section “{}”", part.title or part.name)
            )
            continue
        found.append(memory)
        report.mapped_all(notes)
    return report.parsed(kind.name, memories=tuple(found))


def _memory(
    kind: _Kind, part: Part, topic: str, known: Mapping[str, str], context: ReadContext
) -> tuple[Memory, Notes]:
    notes: Notes = []
    created = created_at(known, ("created",), context, notes)
    stem = slug(PurePath(context.path or context.file).stem)
    memory = made(
        context,
        notes,
        joined("ext", place(context), stem, part.name),
        part.body.text,
        created,
        _TYPES.get(part.title, "general"),
        summary=topic if kind is DETAIL else "",
        memory_type=kind.memory_type,
        section=part.title,
        tags=_keywords(known.get("keywords", ""), notes),
        status=status_in(known),
        source=Source(file=PurePath(context.file).name),
        metadata={
            **without(known, "created", "keywords"),
            FILE_KEY: {"format": kind.name, "section": part.name},
        },
    )
    return memory, notes


def _keywords(text: str, notes: Notes) -> tuple[str, ...]:
    """Read a JSON list, or words between commas."""
    try:
        found = JsonReader().decode(text) if text.startswith("[") else text.split(",")
    except ValueError:
        notes.append(("keywords", "a broken list read as words between commas"))
        found = text.strip("[]").split(",")
    words = (
        str(word).strip().strip("\"'") for word in (found if isinstance(found, list) else [found])
    )
    return tuple(dict.fromkeys(word for word in words if word))


def _write(kind: _Kind, parsed: Parsed, original: str | None = None) -> str:
    """Write each memory as a section; with `original`, only sections whose text changed are new.

    A memory that was read from such a file has a section of its own; others that have the same
    title share one.
    """
    text = _template(kind, parsed) if original is None else original
    newline, (_, end) = newline_of(text), meta(text) or ("", 0)
    known = {part.name: part for part in parts(text, end)}
    placed, added = _placed(kind, parsed.memories, known)
    new: dict[str, str | None] = {}
    for name, value in placed.items():
        body, part = body_of(value, newline), known[name]
        if value.strip() != part.body.text and body != text[part.body.start : part.body.end]:
            new[name] = body
    for name, part in known.items():
        if part.body.text and name not in placed and len(part.body.text) <= MAX_KEPT:
            new[name] = None
    ended = [(title, body_of(value, newline)) for title, value in added]
    return rewritten(text, known, new, ended, HEADINGS if kind is OVERVIEW else ())


def _placed(
    kind: _Kind, memories: Sequence[Memory], known: Mapping[str, Part]
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the new bodies of a file's sections by name, and the titles and bodies of new
    sections.

    First every memory finds the section that it was read from; then the others take sections of
    their title that are left, as their earlier export made them.
    """
    placed: dict[str, str] = {}
    rest: list[Memory] = []
    for memory in memories:
        name = _section(kind, memory)
        if name in known and known[name].body.text and name not in placed:
            placed[name] = memory.content
        else:
            rest.append(memory)
    own = sorted((m for m in rest if _section(kind, m)), key=lambda m: _number(_section(kind, m)))
    shared: dict[str, str] = {}
    for memory in rest:
        if not _section(kind, memory):
            title = _title(memory)
            shared[title] = (
                f"{shared[title]}\n\n{memory.content}" if title in shared else memory.content
            )
    added: list[tuple[str, str]] = []
    for title, content in (*((_title(m), m.content) for m in own), *shared.items()):
        free = (name for name, part in known.items() if part.title == title and name not in placed)
        if (place := next(free, None)) is not None:
            placed[place] = content
        else:
            added.append((title, content))
    return placed, added


def _title(memory: Memory) -> str:
    """Return the heading for a memory on one line, never empty."""
    words = map(values.flat, (memory.section, memory.summary, memory.id))
    return next((text for text in words if text.lstrip("# ")), "Notes")


def _number(name: str) -> int:
    """Return which of the sections of one title this was, from its name: `title`, `title-2`, …"""
    tail = name.rpartition("-")[2]
    return int(tail) if tail.isdecimal() and len(tail) < 6 else 1


def _template(kind: _Kind, parsed: Parsed) -> str:
    """Return the file as it is before anything stands in its sections."""
    if kind is OVERVIEW:
        return "# Working Memory\n\n" + "\n".join(f"## {heading}\n" for heading in HEADINGS)
    first = parsed.memories[0] if parsed.memories else None
    if first is None:
        return "# Notes\n"
    words = json.dumps(list(first.tags), ensure_ascii=False)
    topic = values.flat(first.summary or first.section or "Notes")
    above = [memory.content for memory in parsed.memories if _section(kind, memory) == "top"]
    head = (
        f"# {topic}\n\n<!--\nMETA:\n- created: {iso(first.created_at)}\n- keywords: {words}\n-->\n"
    )
    return head + "".join("\n" + body_of(content, "\n") + "\n" for content in above[:1])


def _section(kind: _Kind, memory: Memory) -> str:
    """Return the name of the section that `memory` was read from."""
    return kept(memory, kind.name, "section", "")


OVERVIEW_FORMAT = Format(
    OVERVIEW.name,
    "external memory overview",
    detect_overview,
    partial(_read, OVERVIEW),
    partial(_write, OVERVIEW),
    suffix=".md",
)
DETAIL_FORMAT = Format(
    DETAIL.name,
    "external memory detail",
    detect_detail,
    partial(_read, DETAIL),
    partial(_write, DETAIL),
    suffix=".md",
)
