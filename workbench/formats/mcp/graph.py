"""A knowledge graph in one JSON object: `{entities: […], relations: […]}`, also within the answer of a server.

An answer of `read_graph` holds it under `structuredContent` or `result`, or as JSON in the text of its `content`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from workbench.core.errors import UnreadableFile
from workbench.formats.mcp.entry import ENTITY, RELATION
from workbench.formats.shared.jsonlines import BOM
from workbench.formats.shared.jsonnested import Unwrapped, unwrap
from workbench.formats.shared.jsonrecords import member
from workbench.formats.shared.jsonstream import Value
from workbench.formats.shared.jsonstyle import Style, dumps
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.jsontree import Entry, Lines, Node, indentation, rewrite, scan
from workbench.formats.shared.records import Doc

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
