"""beads: `issues.jsonl` and its export, where `{"_type": "memory", "key", "value"}` lines stand among the issues."""

from typing import Any

from workbench.core.files.format import Detection, Format, Parsed, ReadContext
from workbench.core.stream.memory import FILE_KEY, Memory
from workbench.formats.lifecycle.values import Notes
from workbench.formats.shared import jsonlines
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.reading import checked, created_at, rating, unique_id
from workbench.formats.shared.records import required_text
from workbench.formats.shared.report import Report, shown

NAME = "beads"
_KNOWN = frozenset({"_type", "key", "value", "created_at", "updated_at"})
_ISSUE = frozenset({"title", "status", "issue_type", "priority", "created_at"})
_LOOKED_AT = 200


def detect(head: str, path: str) -> Detection:
    """Sure when a line says it is a memory; less so when there are only issues."""
    del path
    reader, issues = JsonReader(), False
    for number, line in jsonlines.lines(head):
        try:
            doc = reader.decode(line) if number <= _LOOKED_AT else None
        except ValueError:
            continue
        if isinstance(doc, dict) and doc.get("_type") == "memory" and "key" in doc:
            return Detection(NAME, 0.95, "JSON lines with “_type”: “memory”")
        issues = issues or (isinstance(doc, dict) and len(_ISSUE & doc.keys()) > 2 and "id" in doc)
    if issues:
        return Detection(NAME, 0.5, "JSON lines that are beads issues")
    return Detection(NAME, 0.0, "no line is a beads memory")


def read(text: str, context: ReadContext) -> Parsed:
    """Read the memory lines; issues and other lines are counted and reported."""
    report, reader = Report(context.file), JsonReader()
    found, others, first = dict[str, Memory](), 0, 0
    for number, line in jsonlines.lines(text):
        try:
            doc = reader.decode(line)
            if isinstance(doc, dict) and doc.get("_type") != "memory":
                others, first = others + 1, first or number
                continue
            memory, notes = _memory(doc, context)
            if memory.id in found:
                raise ValueError(f"the key {shown(memory.summary)} was already used")
        except ValueError as reason:
            report.skip(number, str(reason))
            continue
        found[memory.id] = memory
        report.mapped_all(notes, sorted(reader.changes))
    if others:
        what = "1 line is no memory" if others == 1 else f"{others:,} lines are no memories"
        report.no_records(first, f"from here on {what} (issues and the like)", others)
    return report.parsed(NAME, memories=tuple(found.values()))


def _memory(doc: Any, context: ReadContext) -> tuple[Memory, Notes]:
    if not isinstance(doc, dict):
        raise ValueError("not a record: expected a JSON object")
    key, content, notes = required_text(doc, "key"), required_text(doc, "value"), Notes()
    created = created_at(doc, ("created_at",), context, notes)
    memory = Memory(
        id=unique_id("bd", key),
        content=content,
        summary=key,
        created_at=created,
        last_accessed_at=created,
        memory_type="semantic",
        status="confirmed",
        importance_score=rating(context, "general", content, notes),
        metadata={
            **{name: value for name, value in doc.items() if name not in _KNOWN or name == "updated_at"},
            FILE_KEY: {"format": NAME, "name": key},
        },
    )
    return checked(memory), notes


FORMAT = Format(NAME, "beads memories (JSON lines)", detect, read)
