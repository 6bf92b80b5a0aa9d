"""beads: `issues.jsonl` and its export, where `{"_type": "memory", "key", "value"}` lines stand
among the issues.

Issues are work, not knowledge: they stay in the file. Those that are closed can be asked for; each
is an observation then of what was done and how it ended.
"""

from dataclasses import replace
from typing import Any

from workbench.core.files.format import Format, Parsed, ReadContext, Sure
from workbench.core.record import as_list, as_object
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.core.text import counted
from workbench.formats.shared import jsonstream
from workbench.formats.shared.records import (
    created_at,
    made,
    required_text,
    status_in,
    take_tags,
    unique_id,
)
from workbench.formats.shared.report import Report
from workbench.formats.shared.values import Notes, an_object

NAME = "beads"
_KNOWN = frozenset({"_type", "key", "value", "created_at", "updated_at"})
_ISSUE = frozenset({"title", "status", "issue_type", "priority", "created_at"})
_LOOKED_AT = 200
_KINDS = {"bug": "bug_fix", "feature": "feature_implementation", "decision": "decision"}
_WEIGHTS = (9.0, 7.0, 5.0, 3.0, 1.0)
"""The importance of an issue by its priority, 0 the most urgent."""

_PARTS = {"description": "", "design": "Design", "notes": "Notes", "close_reason": "Closed"}
_HELD = frozenset(
    {"_type", "id", "title", "created_at", "closed_at", "labels", "status", "dependencies", *_PARTS}
)


def detect(head: str, path: str) -> Sure | None:
    """Sure when a line says it is a memory; less so when there are only issues."""
    del path
    docs = [doc for doc in jsonstream.objects(head, _LOOKED_AT) if doc is not None]
    if any(doc.get("_type") == "memory" and "key" in doc for doc in docs):
        return (0.95, "JSON lines with “_type”: “memory”")
    if any(len(_ISSUE & doc.keys()) > 2 and "id" in doc for doc in docs):
        return (0.5, "JSON lines that are beads issues")
    return None


def read(text: str, context: ReadContext) -> Parsed:
    """Read the memory lines, with `context.issues` the closed issues too; other lines are counted
    and reported.
    """
    report, others, first, closed = Report(context.file), 0, 0, 0
    rows = list[tuple[int, Any, tuple[str, ...]]]()
    for row in jsonstream.documents(text, report):
        is_closed = _is_closed(row[1])
        closed += is_closed
        if _is_issue(row[1]) and not (context.issues and is_closed):
            others, first = others + 1, first or row[0]
        else:
            rows.append(row)
    found = report.every(
        rows, lambda doc: _closed(doc, context) if _is_issue(doc) else _memory(doc, context)
    )
    if others:
        what = counted(others, "line is no memory", "lines are no memories")
        kind = "issues that are not closed" if context.issues else "issues"
        report.no_records(first, f"from here on {what} ({kind} and the like)", others)
    parsed = _related(report.parsed(NAME, memories=found))
    return replace(parsed, closed=0 if context.issues else closed)


def _is_issue(doc: Any) -> bool:
    return isinstance(doc, dict) and doc.get("_type") != "memory"


def _is_closed(doc: Any) -> bool:
    return _is_issue(doc) and doc.get("status") == "closed" and isinstance(doc.get("title"), str)


def _closed(doc: dict[str, Any], context: ReadContext) -> tuple[Memory, Notes]:
    """Read a closed issue as what was learned of it: title, texts and why it was closed, at the
    time it was.
    """
    name, title, notes = required_text(doc, "id"), required_text(doc, "title"), Notes()
    said = {
        part: str(doc.get(part) or "").strip() for part in _PARTS if isinstance(doc.get(part), str)
    }
    parts = (
        f"{_PARTS[part]}: {text}" if _PARTS[part] else text for part, text in said.items() if text
    )
    content = "\n\n".join((title.strip(), *parts))
    created = created_at(doc, ("closed_at", "updated_at", "created_at"), context, notes)
    kind = _KINDS.get(str(doc.get("issue_type")), "code_change")
    others = [as_object(one).get("depends_on_id") for one in as_list(doc.get("dependencies"))]
    memory = made(
        context,
        notes,
        _issue_id(name),
        content,
        created,
        kind,
        score=_importance(doc, notes),
        summary=title.strip(),
        memory_type="episodic",
        tags=take_tags(doc, "labels", notes),
        related=tuple(
            dict.fromkeys(_issue_id(other) for other in others if isinstance(other, str) and other)
        ),
        status="confirmed",
        metadata={
            **{
                key: value
                for key, value in doc.items()
                if key not in _HELD and value not in (None, "", [], {})
            },
            "opened_at": doc.get("created_at"),
            FILE_KEY: {"format": NAME, "name": name},
        },
    )
    notes.append(("status", "“closed” read as “confirmed”, at the time it was closed"))
    return memory, notes


def _issue_id(name: str) -> str:
    return unique_id("bd-issue", name)


def _importance(doc: dict[str, Any], notes: Notes) -> float | None:
    priority = doc.get("priority")
    if type(priority) is not int or not 0 <= priority < len(_WEIGHTS):
        return None
    notes.append(("priority", "0 to 4 read as importance 9, 7, 5, 3, 1"))
    return _WEIGHTS[priority]


def _related(parsed: Parsed) -> Parsed:
    """Return what was read without references to issues that were not."""
    known = {memory.id for memory in parsed.memories}
    memories = (
        replace(m, related=tuple(id for id in m.related if id in known)) if m.related else m
        for m in parsed.memories
    )
    return replace(parsed, memories=tuple(memories))


def _memory(doc: Any, context: ReadContext) -> tuple[Memory, Notes]:
    doc = an_object(doc, "a record")
    key, content, notes = required_text(doc, "key"), required_text(doc, "value"), Notes()
    created = created_at(doc, ("created_at",), context, notes)
    memory = made(
        context,
        notes,
        unique_id("bd", key),
        content,
        created,
        summary=key,
        memory_type="semantic",
        status=status_in(doc),
        metadata={
            **{
                name: value
                for name, value in doc.items()
                if name not in _KNOWN or name == "updated_at"
            },
            FILE_KEY: {"format": NAME, "name": key},
        },
    )
    return memory, notes


FORMAT = Format(NAME, "beads memories (JSON lines)", detect, read)
