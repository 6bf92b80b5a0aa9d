"""MCP memory server: `memory.jsonl`, entity and relation lines; values run together (`{}{}`) are read too.

So is one object that lists them, as the server answers and others store them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice

from workbench.core.files.format import Detection, Format, Layout, Parsed, ReadContext
from workbench.core.files.reason import Reason, Unread
from workbench.core.stream.memory import Memory
from workbench.formats.lifecycle.values import Notes
from workbench.formats.mcp import entry as mcp_entry
from workbench.formats.mcp import graph
from workbench.formats.mcp.entry import NAME
from workbench.formats.mcp.graph import Spot
from workbench.formats.shared import jsonlines
from workbench.formats.shared.jsonrecords import edited_object
from workbench.formats.shared.jsonstream import spliced, values
from workbench.formats.shared.jsonstyle import Style, dumps, style_of
from workbench.formats.shared.jsontree import Entry
from workbench.formats.shared.records import read_again
from workbench.formats.shared.report import Report, shown

_LOOKED_AT = 50
_SIGNS = {"name", "observations", "entityType", "from", "to", "relationType"}
Found = dict[str, list[tuple[Spot, Memory]]]
"""Memories by id, with every place where they stand."""
_SERVER = Layout(final_newline=False, item_separator=",", key_separator=":")


def detect(head: str, path: str) -> Detection:
    """Sure when a line is an entity or a relation with its keys, or when an object lists them."""
    del path
    if sure := graph.certainty(head):
        return Detection(NAME, sure, "a JSON object of entities and relations")
    for value in islice(values(head), _LOOKED_AT):
        doc = value.value
        kind = mcp_entry.kind_of(doc) if isinstance(doc, dict) else ""
        if not isinstance(doc, dict) or not kind:
            continue
        if doc.get("type") == kind and len(_SIGNS & doc.keys()) > 1:
            return Detection(NAME, 0.95, f"JSON lines of type “{kind}”")
        if doc.get("type") != kind and not mcp_entry.is_elsewhere(doc):
            return Detection(NAME, 0.85, f"JSON lines with the keys of type “{kind}”")
    return Detection(NAME, 0.0, "no line is an entity or a relation")


def read(text: str, context: ReadContext) -> Parsed:
    """Read every entity and relation that can be read, an entity once; the rest become issues."""
    report, whole = Report(context.file), graph.find(text)
    found = _records(_spots(text, whole), report, lambda doc, kind: mcp_entry.item(doc, context, kind))
    memories = [mcp_entry.merged(first, [more for _, more in rest]) for (_, first), *rest in found.values()]
    layout = _SERVER if whole is not None else jsonlines.layout_of(text)
    return report.parsed(NAME, memories=_linked(memories), layout=layout)


def _spots(text: str, whole: graph.Graph | None) -> Iterable[Spot]:
    if whole is not None:
        return whole.spots()
    return (Spot("", number, value) for number, value in enumerate(values(text)))


def _records(spots: Iterable[Spot], report: Report, item: mcp_entry.Item) -> Found:
    """Return every memory by its id, with the places where it stands; only entities stand at several."""
    found: Found = {}
    for spot in spots:
        line = spot.value.line
        if mcp_entry.is_mark(spot.value.value):
            report.kept(line, "the mark of the program that writes the file")
            continue
        try:
            if spot.value.damage:
                raise ValueError(spot.value.damage)
            memory, notes = item(spot.value.value, spot.kind)
            known = found.get(memory.id)
            if known and memory.category == mcp_entry.RELATION:
                raise Unread("{} already stands on line {}", shown(memory.line), known[0][0].value.line)
        except ValueError as reason:
            report.skip(line, reason)
            continue
        if known:
            report.remark(line, Reason("its observations are taken with those of line {}", (known[0][0].value.line,)))
        found.setdefault(memory.id, []).append((spot, memory))
        report.mapped_all(notes if not known else (), spot.value.changes)
    return found


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
    """Write entities and relations, one a line; with `original`, only those that changed are new.

    A relation that is broken stays as it is there.
    """
    lost = {memory.id for memory in parsed.memories if mcp_entry.broken(memory)}
    memories = mcp_entry.adopted([memory for memory in parsed.memories if memory.id not in lost])
    if original is None:
        layout = parsed.layout if parsed.format == NAME else _SERVER
        return jsonlines.assemble((jsonlines.dumps(mcp_entry.document(m), layout) for m in memories), layout)
    whole, new = graph.find(original), {memory.id: memory for memory in memories}
    text = original if whole is None else whole.inside.text
    style = style_of(text) if whole is not None else replace(style_of(text), unit="")
    found = _records(_spots(original, whole), Report(""), partial(_again, new))
    edits = _edits(text, {name: parts for name, parts in found.items() if name not in lost}, new, style)
    docs = [mcp_entry.document(memory) for name, memory in new.items() if name not in found]
    if whole is not None:
        return whole.inside.wrapped(whole.rewritten(edits, docs, style))
    places = {(spot.value.start, spot.value.end): value for spot, value in edits}
    added = [dumps(doc, style, inline=True) for doc in docs]
    return spliced(original, places, added, jsonlines.layout_of(original).newline)


def _again(new: Mapping[str, Memory], doc: object, kind: str) -> tuple[Memory, Notes]:
    return read_again(new, lambda context: mcp_entry.item(doc, context, kind)[0]), []


def _edits(text: str, found: Found, new: Mapping[str, Memory], style: Style) -> list[tuple[Spot, str | None]]:
    """Return what is written at the places that change; `None` where nothing is to stand any more."""
    edits: list[tuple[Spot, str | None]] = []
    for name, parts in found.items():
        after = new.get(name)
        if after is None:
            edits += [(spot, None) for spot, _ in parts]
            continue
        for (spot, _), changed in zip(parts, mcp_entry.changed([part for _, part in parts], after), strict=True):
            if changed:
                entry = Entry(0, spot.value.start, spot.value.start, spot.value.end)
                edits.append((spot, edited_object(text, entry, changed, style)))
    return edits


FORMAT = Format(NAME, "MCP memory server (JSON lines)", detect, read, write, suffix=".jsonl")
