"""MCP memory server: `memory.jsonl`, entity and relation lines; values run together (`{}{}`) are read too."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

from workbench.core.files.format import Detection, Format, Layout, Parsed, ReadContext
from workbench.core.stream.memory import Memory
from workbench.formats.lifecycle.values import Notes
from workbench.formats.mcp import entry as mcp_entry
from workbench.formats.mcp.entry import NAME
from workbench.formats.shared import jsonlines
from workbench.formats.shared.jsonrecords import edited_object
from workbench.formats.shared.jsonstream import Value, spliced, values
from workbench.formats.shared.jsonstyle import dumps, style_of
from workbench.formats.shared.jsontree import Entry
from workbench.formats.shared.records import changes, read_again
from workbench.formats.shared.report import Report, shown

_LOOKED_AT = 50
_MARKS = {"entity": {"name", "observations", "entityType"}, "relation": {"from", "to", "relationType"}}
_SERVER = Layout(final_newline=False, item_separator=",", key_separator=":")


def detect(head: str, path: str) -> Detection:
    """Sure when a line is an entity or a relation with its keys."""
    del path
    for value in islice(values(head), _LOOKED_AT):
        doc = value.value
        if isinstance(doc, dict) and len(_MARKS.get(str(doc.get("type")), set()) & doc.keys()) > 1:
            return Detection(NAME, 0.95, f"JSON lines of type “{doc['type']}”")
    return Detection(NAME, 0.0, "no line is an entity or a relation")


def read(text: str, context: ReadContext) -> Parsed:
    """Read every entity and relation that can be read; the rest become issues."""
    report = Report(context.file)
    memories = [memory for _, memory in _records(text, report, partial(mcp_entry.item, context=context))]
    return report.parsed(NAME, memories=_linked(memories), layout=jsonlines.layout_of(text))


def _records(text: str, report: Report, item: mcp_entry.Item) -> Iterator[tuple[Value, Memory]]:
    seen: dict[str, int] = {}
    for value in values(text):
        try:
            if value.damage:
                raise ValueError(value.damage)
            memory, notes = item(value.value)
            if memory.id in seen:
                raise ValueError(f"{shown(memory.line)} already stands on line {seen[memory.id]}")
        except ValueError as reason:
            report.skip(value.line, str(reason))
            continue
        seen[memory.id] = value.line
        report.mapped_all(notes, value.changes)
        yield value, memory


def _linked(memories: list[Memory]) -> tuple[Memory, ...]:
    """Let relations point to the entities of the file that they name."""
    known = {memory.id for memory in memories}
    return tuple(
        replace(memory, related=ends)
        if (ends := tuple(end for end in mcp_entry.ends_of(memory) if end in known))
        else memory
        for memory in memories
    )


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write entities and relations, one a line; with `original`, only those that changed are new."""
    memories = mcp_entry.adopted(parsed.memories)
    if original is None:
        layout = parsed.layout if parsed.format == NAME else _SERVER
        return jsonlines.assemble((jsonlines.dumps(mcp_entry.document(m), layout) for m in memories), layout)
    style, new = replace(style_of(original), unit=""), {memory.id: memory for memory in memories}
    edits: dict[tuple[int, int], str | None] = {}
    known: set[str] = set()

    def item(doc: object) -> tuple[Memory, Notes]:
        return read_again(new, lambda context: mcp_entry.item(doc, context)[0]), []

    for value, old in _records(original, Report(""), item):
        known.add(old.id)
        after = new.get(old.id)
        changed = changes(old, after, mcp_entry.keys_of(old)) if after else {}
        if after is None:
            edits[value.start, value.end] = None
        elif changed:
            entry = Entry(0, value.start, value.start, value.end)
            edits[value.start, value.end] = edited_object(original, entry, changed, style)
    added = [dumps(mcp_entry.document(m), style, inline=True) for name, m in new.items() if name not in known]
    return spliced(original, edits, added, jsonlines.layout_of(original).newline)


FORMAT = Format(NAME, "MCP memory server (JSON lines)", detect, read, write, suffix=".jsonl")
