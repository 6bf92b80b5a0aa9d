"""mem0: the JSON of `get_all()`, `{results: [{id, memory, metadata, …}]}`; older versions give the
bare list.
"""

from typing import Any

from workbench.core.files.format import Format, Parsed, ReadContext, Signature
from workbench.core.stream.memory import FILE_KEY, Memory, Source
from workbench.formats.patch import Node, count_unread, opened
from workbench.formats.shared import values
from workbench.formats.shared.records import (
    created_at,
    made,
    required_text,
    take,
    take_tags,
    take_text,
    unique_id,
)
from workbench.formats.shared.report import Report
from workbench.formats.shared.values import Notes, an_object

NAME = "mem0"
_LISTS = ("results", "memories")
_INSIDE = frozenset({*_LISTS, "relations"})
_KNOWN = frozenset({"id", "memory", "user_id", "run_id", "categories", "created_at"})
_SIGNATURE = Signature(
    "a JSON list of results with a “memory” text",
    (r'\A\s*(?:\[|\{(?s:.*?)"(?:results|memories)"\s*:\s*\[)', r'"memory"\s*:\s*"'),
    0.4,
    r'"(hash|user_id|agent_id|run_id|created_at|updated_at|score|categories|metadata)"\s*:',
    0.2,
)


def read(text: str, context: ReadContext) -> Parsed:
    """Read every result that can be read. Raises `UnreadableFile` when the text holds no list of
    results.
    """
    report = Report(context.file)
    root, lines = opened(text, report, _INSIDE, _results, "list of “results”")
    found = report.every(lines.rows(_results(root)), lambda doc: _memory(doc, context))
    count_unread(root, lines, report, {"relations": "graph relations"})
    return report.parsed(NAME, memories=found)


def _results(root: Node) -> Node | None:
    return root if root.kind == "[" else root.inside("[", *_LISTS)


def _memory(doc: Any, context: ReadContext) -> tuple[Memory, Notes]:
    doc = an_object(doc, "a result")
    content, notes = required_text(doc, "memory"), Notes()
    created = created_at(doc, ("created_at",), context, notes)
    agent = take_text(doc, "agent_id", Notes())
    memory = made(
        context,
        notes,
        take_text(doc, "id", notes).strip() or unique_id("mem0", content),
        content,
        created,
        user_id=take(doc, "user_id", values.text, "local", notes) or "local",
        session_id=take_text(doc, "run_id", notes),
        source=Source(
            speaker=values.speaker(doc.get("actor_id")) or values.speaker(doc.get("role"))
        ),
        memory_type="semantic",
        tags=take_tags(doc, "categories", notes),
        metadata={
            **{
                name: value
                for name, value in doc.items()
                if name not in _KNOWN and value is not None
            },
            **({FILE_KEY: {"format": NAME, "agent": agent}} if agent else {}),
        },
    )
    return memory, notes


FORMAT = Format(NAME, "mem0 memories (JSON)", _SIGNATURE, read)
