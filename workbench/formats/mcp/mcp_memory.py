"""MCP memory server: `memory.jsonl`, entity and relation lines; values run together (`{}{}`) are read too.

So is one object that lists them, as the server answers and others store them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from workbench.core.files.format import Detection, Format, Layout, Parsed, ReadContext
from workbench.core.files.reason import Reason, Unread
from workbench.core.record import UnreadableFile
from workbench.core.stream.memory import Memory
from workbench.formats.lifecycle.values import Notes
from workbench.formats.mcp import entry as mcp_entry
from workbench.formats.mcp.entry import ENTITY, NAME, RELATION
from workbench.formats.shared import jsonstream
from workbench.formats.shared.jsonrecords import (
    Doc,
    Entry,
    Lines,
    Node,
    Style,
    dumps,
    edited_object,
    indentation,
    member,
    read_again,
    rewrite,
    scan,
    style_of,
)
from workbench.formats.shared.jsonstream import BOM, Unwrapped, Value, spliced, unwrap, values
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.report import Report, shown

# A knowledge graph in one JSON object: `{entities: […], relations: […]}`, also within the answer of a server.
#
# An answer of `read_graph` holds it under `structuredContent` or `result`, or as JSON in the text of its `content`.


LISTS: Mapping[str, str] = {"entities": ENTITY, "relations": RELATION}
"""The lists of a graph, and what stands in each."""

_INSIDE = frozenset({*LISTS, "content"})
_AROUND = ("result", "structuredContent", "graph", "knowledgeGraph")
_LISTED = re.compile(r'\\?"(?:entities|relations)\\?"\s*:\s*\[')
_EMPTY = re.compile(r'\\?"entities\\?"\s*:\s*\[\s*\]')
_MARKS = re.compile(r'\\?"(?:observations|entity_?[tT]ype|relation_?[tT]ype|from_entity)\\?"\s*:')
_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a record stands: what it is listed as (empty on a line of its own), its number there, and its value."""

    kind: str
    index: int
    value: Value


@dataclass(frozen=True, slots=True)
class Graph:
    """Where a file has its graph: the JSON text it stands in, and the object in that."""

    inside: Unwrapped
    root: Node

    def spots(self) -> Iterator[Spot]:
        """Yield every element of its lists. Within a string all stands on the line of the string."""
        lines, own = Lines(self.inside.text), Lines(self.inside.outer)
        for name, kind in LISTS.items():
            node = self.root.inside(name, "[")
            for index, entry in enumerate(node.entries if node is not None else ()):
                line = own.at(self.inside.start) if self.inside.nested else lines.at(entry.start)
                yield Spot(kind, index, Value(line, entry.at, entry.end, entry.value, entry.changes))

    def rewritten(self, edits: Iterable[tuple[Spot, str | None]], docs: Sequence[Doc], style: Style) -> str:
        """Return the JSON text with other values at some places (None: none) and `docs` at the end of their lists."""
        values: dict[str, dict[int, str | None]] = {kind: {} for kind in LISTS.values()}
        for spot, value in edits:
            values[spot.kind][spot.index] = value
        changed, text = dict[int, str | None](), self.inside.text
        missing: list[str] = []
        for name, kind in LISTS.items():
            own = [doc for doc in docs if (RELATION if doc.get("type") == RELATION else ENTITY) == kind]
            node = self.root.inside(name, "[")
            if node is None:
                missing += [member(name, [_listed(doc, None) for doc in own], style, style.unit)] if own else []
            elif own or values[kind]:
                outer = indentation(text, node.start) + style.unit
                added = [dumps(_listed(doc, node), style, outer, inline=_is_inline(text, node)) for doc in own]
                changed[_index(self.root, name)] = rewrite(text, node, values[kind], added, style)
        return text[: self.root.start] + rewrite(text, self.root, changed, missing, style) + text[self.root.end :]


def _listed(doc: Doc, node: Node | None) -> Doc:
    """Return a document as it stands in a list: with its type only where that has them."""
    typed = node is not None and any(isinstance(one.value, dict) and "type" in one.value for one in node.entries)
    return doc if typed else {key: value for key, value in doc.items() if key != "type" or value not in LISTS.values()}


def _is_inline(text: str, node: Node) -> bool:
    return bool(node.entries) and "\n" not in text[node.entries[-1].at : node.entries[-1].end]


def _index(root: Node, name: str) -> int:
    return next(index for index, entry in enumerate(root.entries) if entry.key == name)


def certainty(head: str) -> float:
    """Tell how sure it is, from 0 to 1, that a text which begins so is a graph."""
    bare = head.removeprefix(BOM).lstrip()
    if not bare.startswith(("{", '"')) or not _LISTED.search(bare):
        return 0.0
    if _MARKS.search(bare):
        return 0.9
    return 0.6 if _EMPTY.search(bare) else 0.0


def find(text: str) -> Graph | None:
    """Return the graph of a file; `None` when it is no JSON object with one."""
    start = text.removeprefix(BOM).lstrip()
    if not start.startswith(("{", '"')) or not _LISTED.search(text):
        return None
    try:
        whole = unwrap(text, "the file")
        return _within(whole, len(whole.text) - len(whole.text.removeprefix(BOM).lstrip()), 0)
    except (UnreadableFile, ValueError):
        return None


def _within(whole: Unwrapped, at: int, depth: int) -> Graph | None:
    root = scan(whole.text, at, JsonReader(), _INSIDE)
    if root.inside("entities", "[") is not None:
        # What goes on behind it is no object of its own: lines, of which the first lists something.
        return Graph(whole, root) if depth or not whole.text[root.end :].strip() else None
    answered = root.inside("content", "[")
    for entry in answered.entries if answered is not None and not whole.nested else ():
        found = _in_text(whole, entry, depth)
        if found is not None:
            return found
    for name in _AROUND:
        around = root.get(name)
        if around is not None and isinstance(around.value, dict) and depth < _DEEPEST:
            found = _within(whole, around.at, depth + 1)
            if found is not None:
                return found
    return None


def _in_text(whole: Unwrapped, entry: Entry, depth: int) -> Graph | None:
    """Return the graph that stands as JSON in the text of a part of an answer."""
    said = entry.value.get("text") if isinstance(entry.value, dict) else None
    if not isinstance(said, str) or not _LISTED.search(said) or depth >= _DEEPEST:
        return None
    literal = scan(whole.text, entry.at, JsonReader()).get("text")
    if literal is None:
        return None
    inner = Unwrapped(whole.text, said, literal.at, literal.end)
    begin = len(said) - len(said.lstrip())
    return _within(inner, begin, depth + 1) if said[begin : begin + 1] == "{" else None


_LOOKED_AT = 50
_SIGNS = {"name", "observations", "entityType", "from", "to", "relationType"}
Found = dict[str, list[tuple[Spot, Memory]]]
"""Memories by id, with every place where they stand."""
_SERVER = Layout(final_newline=False, item_separator=",", key_separator=":")


def detect(head: str, path: str) -> Detection:
    """Sure when a line is an entity or a relation with its keys, or when an object lists them."""
    del path
    if sure := certainty(head):
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
    report, whole = Report(context.file), find(text)
    found = _records(_spots(text, whole), report, lambda doc, kind: mcp_entry.item(doc, context, kind))
    memories = [mcp_entry.merged(first, [more for _, more in rest]) for (_, first), *rest in found.values()]
    layout = _SERVER if whole is not None else jsonstream.layout_of(text)
    return report.parsed(NAME, memories=_linked(memories), layout=layout)


def _spots(text: str, whole: Graph | None) -> Iterable[Spot]:
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
        return jsonstream.assemble((jsonstream.dumps(mcp_entry.document(m), layout) for m in memories), layout)
    whole, new = find(original), {memory.id: memory for memory in memories}
    text = original if whole is None else whole.inside.text
    style = style_of(text) if whole is not None else replace(style_of(text), unit="")
    found = _records(_spots(original, whole), Report(""), partial(_again, new))
    edits = _edits(text, {name: parts for name, parts in found.items() if name not in lost}, new, style)
    docs = [mcp_entry.document(memory) for name, memory in new.items() if name not in found]
    if whole is not None:
        return whole.inside.wrapped(whole.rewritten(edits, docs, style))
    places = {(spot.value.start, spot.value.end): value for spot, value in edits}
    added = [dumps(doc, style, inline=True) for doc in docs]
    return spliced(original, places, added, jsonstream.layout_of(original).newline)


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
