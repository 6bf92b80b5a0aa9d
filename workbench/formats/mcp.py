"""Entities and relations of the MCP memory server: one memory each.

An entity's content is its observations, one a line; further lines of an observation are indented by
two spaces. A relation's content is “from relation to”. Other servers spell some keys in another
way, or keep each observation as an object with its `text`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from workbench.core.files.format import Format, Layout, Parsed, ReadContext, Reason, Sure, Unread
from workbench.core.record import UnreadableFile, as_list, as_object
from workbench.core.stream.memory import Memory
from workbench.formats.patch import Entry, Node, dumps, patch, patched, scan
from workbench.formats.shared import jsonstream, values
from workbench.formats.shared.jsonstream import Unwrapped, Value, spliced, unwrap
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.records import (
    Doc,
    Key,
    at_time_of,
    changes,
    digest,
    file_part,
    fresh,
    kept,
    made,
    read_again,
    remembered,
    required_text,
    restored,
    take,
    take_text,
    unique_id,
    updated,
)
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.values import Notes

NAME = "mcp-memory"
Item = Callable[[object, str], tuple[Memory, Notes]]
"""Reads one JSON value, given what it is listed as."""

ENTITY, RELATION = "entity", "relation"
SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "entityType": ("entityType", "entity_type", "type"),
    "from": ("from", "from_entity", "source"),
    "to": ("to", "to_entity", "target"),
    "relationType": ("relationType", "relation_type", "relation"),
}
"""How the keys are called that not everybody calls the same, the server's own name first."""

_FOREIGN = frozenset(
    {"_type", "content", "context", "status", "description", "query", "role", "memory"}
)


def _name(memory: Memory) -> str:
    return kept(memory, NAME, "name", "") or memory.summary or memory.id


def _observations(memory: Memory) -> list[str]:
    return [] if memory.content == _name(memory) else _parted(memory.content)


def _written(memory: Memory) -> list[Any]:
    """Return the observations as the file has them."""
    return _as_objects(_observations(memory), kept(memory, NAME, "observed", Doc()))


def _as_objects(texts: Sequence[str], known: Mapping[str, Any]) -> list[Any]:
    """Return observations as objects, where those that are known are some; what is not known is
    only a text.
    """
    return [known.get(text, {"text": text}) for text in texts] if known else list(texts)


def _objects_in(doc: Mapping[str, Any]) -> dict[str, Any]:
    return {
        text: one
        for one in as_list(doc.get("observations"))
        if isinstance(text := as_object(one).get("text"), str) and text.strip()
    }


def _with_texts(doc: Doc, objects: Mapping[str, Any]) -> Doc:
    """Return a document whose observations are texts, where each of them is an object with one."""
    listed = doc.get("observations")
    if not objects or not isinstance(listed, list):
        return doc
    said = [
        one["text"] if isinstance(one, dict) and one.get("text") in objects else one
        for one in listed
    ]
    return {**doc, "observations": said}


def _parted(content: str) -> list[str]:
    """Return the observations of a content."""
    lines = content.split("\n")
    if "\n  " not in content:
        return [line for line in lines if line.strip()]
    found: list[list[str]] = []
    for line in lines:
        if line.startswith("  ") and found:
            found[-1].append(line[2:])
        elif line.strip():
            found.append([line])
    return list(map("\n".join, found))


def _ends(memory: Memory) -> tuple[str, str]:
    return kept(memory, NAME, "from", ""), kept(memory, NAME, "to", "")


def _relation(memory: Memory) -> str:
    start, end = _ends(memory)
    inner = memory.content.strip()
    return inner[len(start) + 1 : len(inner) - len(end) - 1]


def broken(memory: Memory) -> str:
    """Say that a relation does not name both of its entities any more; empty for one that does."""
    start, end = _ends(memory)
    inner = memory.content.strip()
    if not ends_of(memory) or (
        inner.startswith(f"{start} ")
        and inner.endswith(f" {end}")
        and len(inner) > len(start) + len(end) + 2
    ):
        return ""
    return f"{memory.id} does not name both of its entities any more: write it as “{start} … {end}”, or delete it"


_ENTITY: tuple[Key[Memory], ...] = (
    Key("type", lambda _: ENTITY),
    Key("name", _name),
    Key("entityType", lambda memory: memory.category or memory.observation_type),
    Key("observations", _written),
)
_RELATION: tuple[Key[Memory], ...] = (
    Key("type", lambda _: RELATION),
    Key("from", lambda memory: _ends(memory)[0]),
    Key("to", lambda memory: _ends(memory)[1]),
    Key("relationType", _relation),
)


def keys_of(memory: Memory) -> tuple[Key[Memory], ...]:
    """Return the keys of the line that `memory` is written as."""
    return _keys(kept(memory, NAME, "kind", ""), kept(memory, NAME, "spelled", Doc()))


def _keys(kind: str, spelled: Doc) -> tuple[Key[Memory], ...]:
    keys = _RELATION if kind == RELATION else _ENTITY
    if not spelled:
        return keys
    # What says “type” for something else says nothing of being an entity.
    own = (key for key in keys if key.name != "type" or "type" not in spelled.values())
    return tuple(replace(key, name=str(spelled.get(key.name, key.name))) for key in own)


def kind_of(doc: object) -> str:
    """Tell whether a JSON value is an entity or a relation, by its type or else by its keys; empty
    for neither.
    """
    if not isinstance(doc, Mapping):
        return ""
    said = next((doc[key] for key in ("type", "_type") if doc.get(key) in (ENTITY, RELATION)), "")
    if said:
        return str(said)
    if "name" in doc and ("observations" in doc or "entityType" in doc or "entity_type" in doc):
        return ENTITY
    return (
        RELATION
        if all(_spelling(doc, key) in doc for key in ("from", "to", "relationType"))
        else ""
    )


def is_elsewhere(doc: Mapping[str, Any]) -> bool:
    """Whether an object has keys that a record of a graph has not: an `id`, a `time`, a text."""
    own = {"_type"} if doc.get("_type") in (ENTITY, RELATION) else set[str]()
    return not (_FOREIGN - own).isdisjoint(doc)


def is_mark(doc: object) -> bool:
    """Tell whether a line only says which server writes the file, as the first one of
    mcp-knowledge-graph does.
    """
    return (
        isinstance(doc, dict)
        and doc.get("type") == "_aim"
        and doc.keys() <= {"type", "source", "version"}
    )


def _spelling(doc: Mapping[str, Any], key: str) -> str:
    """Return how a document calls a key; the server's own name when it has none of them."""
    known = (name for name in SPELLINGS[key] if name in doc)
    return next(
        (name for name in known if doc[name] not in (ENTITY, RELATION) or name != "type"), key
    )


def entity_id(name: str) -> str:
    """Name the memory of an entity; different names never share an id."""
    return unique_id("mcp", name)


def ends_of(memory: Memory) -> tuple[str, ...]:
    """Return the ids of the two entities of a relation; of an entity, none."""
    is_relation = kept(memory, NAME, "kind", "") == RELATION
    return tuple(map(entity_id, _ends(memory))) if is_relation else ()


def item(doc: Any, context: ReadContext, listed: str = "") -> tuple[Memory, Notes]:
    """Read an entity or a relation, or what is `listed` as one. Raises `ValueError` when it is
    neither.
    """
    kind = listed or kind_of(doc)
    if not kind or not isinstance(doc, dict):
        raise ValueError("neither an entity nor a relation")
    wanted = ("entityType",) if kind == ENTITY else ("from", "to", "relationType")
    spelled = {key: name for key in wanted if (name := _spelling(doc, key)) != key}
    objects = _objects_in(doc) if kind == ENTITY else {}
    said, notes = (
        _with_texts({**doc, **{key: doc[name] for key, name in spelled.items()}}, objects),
        Notes(),
    )
    memory, place = (
        _entity(said, context, notes) if kind == ENTITY else _linked_names(said, context, notes)
    )
    notes.append(("created_at", "set to the time of the import, the format has none"))
    place |= {"spelled": spelled} if spelled else {}
    place |= {"observed": objects} if objects else {}
    return remembered(memory, doc, _keys(kind, spelled), NAME, place=place), notes


def _entity(doc: Doc, context: ReadContext, notes: Notes) -> tuple[Memory, Doc]:
    name = required_text(doc, "name")
    said = [text for text in take(doc, "observations", values.texts, (), notes) if text.strip()]
    content = _joined(said) or name
    category = take_text(doc, "entityType", notes)
    summary = f"{name} ({category})" if category else name
    memory = _memory(entity_id(name), content, summary, category, context, notes)
    return memory, {"kind": ENTITY, "name": name}


def _joined(observations: Sequence[str]) -> str:
    """Return observations one a line, with all lines of each but the first indented."""
    joined = "\n".join(observations)
    if joined.count("\n") < len(observations):
        return joined
    return "\n".join(text.replace("\r\n", "\n").replace("\n", "\n  ") for text in observations)


def _linked_names(doc: Doc, context: ReadContext, notes: Notes) -> tuple[Memory, Doc]:
    start, kind, end = (required_text(doc, name) for name in ("from", "relationType", "to"))
    name = f"mcp-relation-{digest(start, kind, end)}"
    memory = _memory(name, f"{start} {kind} {end}", "", RELATION, context, notes)
    return memory, {"kind": RELATION, "from": start, "to": end}


def _memory(
    name: str, content: str, summary: str, category: str, context: ReadContext, notes: Notes
) -> Memory:
    return made(
        context,
        notes,
        name,
        content,
        context.now,
        summary=summary,
        memory_type="semantic",
        category=category,
    )


def adopted(memories: Iterable[Memory]) -> list[Memory]:
    """Return the memories as the file's own: those from elsewhere as the entities that they become.

    An entity is called by the summary of its memory, or by the id where another entity is called
    so.
    """
    found = list(memories)
    shared = Counter(_name(memory) for memory in found)
    return [memory if file_part(memory, NAME) else _as_entity(memory, shared) for memory in found]


def _as_entity(memory: Memory, shared: Mapping[str, int]) -> Memory:
    named = replace(memory, summary=memory.id) if shared[_name(memory)] > 1 else memory
    try:
        return item(fresh(named, _ENTITY), at_time_of(memory))[0]
    except ValueError:
        return named


def merged(memory: Memory, others: Sequence[Memory]) -> Memory:
    """Return an entity with the observations that its name has elsewhere in the file, each once."""
    every = [text for one in (memory, *others) for text in _observations(one)]
    return (
        replace(memory, content=_joined(list(dict.fromkeys(every))) or memory.content)
        if others
        else memory
    )


def parted(parts: Sequence[Memory], after: Memory) -> list[list[str]]:
    """Return the observations of an entity for each place where its name stands: each stays where
    it stood.

    What takes the place of another stands where that stood, and what is new behind the one before
    it.
    """
    owner, before = list[int](), list[str]()
    for place, part in enumerate(parts):
        fresh_ones = [text for text in _observations(part) if text not in before]
        before += fresh_ones
        owner += [place] * len(fresh_ones)
    now = _observations(after)
    found: list[list[str]] = [[] for _ in parts]
    for kind, start, stop, begin, end in SequenceMatcher(
        None, before, now, autojunk=False
    ).get_opcodes():
        for step, text in enumerate(now[begin:end]):
            at = min(start + step, stop - 1) if kind in ("equal", "replace") else start - 1
            found[owner[at] if 0 <= at < len(owner) else 0].append(text)
    return found


def changed(parts: Sequence[Memory], after: Memory) -> list[Doc]:
    """Return for each place of one memory the keys that are another value there, as
    `records.changes` has them.
    """
    first, *others = parts
    found = changes(merged(first, others), after, keys_of(first))
    if not others or "observations" not in found:
        return [found, *({} for _ in others)]
    del found["observations"]
    before = parted(parts, merged(first, others))
    known = {t: one for part in parts for t, one in kept(part, NAME, "observed", Doc()).items()}
    lists = [
        {"observations": _as_objects(now, known)} if now != old else {}
        for now, old in zip(parted(parts, after), before, strict=True)
    ]
    return [{**lists[0], **found}, *lists[1:]]


def document(memory: Memory) -> Doc:
    """Return the JSON object for `memory`; a memory from elsewhere becomes an entity."""
    context, kind = at_time_of(memory), kept(memory, NAME, "kind", "")
    doc = restored(memory, keys_of(memory), NAME, lambda doc: item(doc, context, kind)[0])
    return doc or fresh(memory, _ENTITY)


# MCP memory server: `memory.jsonl`, entity and relation lines; values run together (`{}{}`) are
# read too.
#
# So is one object that lists them, as the server answers and others store them.


# A knowledge graph in one JSON object: `{entities: […], relations: […]}`, also within the answer of
# a server.
#
# An answer of `read_graph` holds it under `structuredContent` or `result`, or as JSON in the text
# of its `content`.


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
    """Where a record stands: what it is listed as (empty on a line of its own), its number there,
    and its value.
    """

    kind: str
    index: int
    value: Value


class Graph(NamedTuple):
    """Where a file has its graph: the JSON text it stands in, and the object in that."""

    inside: Unwrapped
    root: Node

    def spots(self) -> Iterator[Spot]:
        """Yield every element of its lists. Within a string all stands on the line of the string."""
        lines = self.inside.lines()
        for name, kind in LISTS.items():
            node = self.root.inside("[", name)
            for index, entry in enumerate(node.entries if node is not None else ()):
                value = Value(
                    lines.at(entry.start), entry.at, entry.end, entry.value, entry.changes
                )
                yield Spot(kind, index, value)

    def rewritten(self, changes: Iterable[tuple[Spot, Doc | None]], docs: Sequence[Doc]) -> str:
        """Return the JSON text with other values at some places (None: none) and `docs` at the end
        of their lists.
        """
        value, changed = self.root.value, {(spot.kind, spot.index): doc for spot, doc in changes}
        for name, kind in LISTS.items():
            node = self.root.inside("[", name)
            own = [
                doc for doc in docs if (RELATION if doc.get("type") == RELATION else ENTITY) == kind
            ]
            there = [
                changed.get((kind, at), one)
                for at, one in enumerate(node.value if node is not None else ())
            ]
            if node is not None or own:
                value[name] = [one for one in there if one is not None] + [
                    _listed(doc, node) for doc in own
                ]
        return patch(self.inside.text, value, self.root)


def _listed(doc: Doc, node: Node | None) -> Doc:
    """Return a document as it stands in a list: with its type only where that has them."""
    typed = node is not None and any(
        isinstance(one.value, dict) and "type" in one.value for one in node.entries
    )
    return (
        doc
        if typed
        else {
            key: value for key, value in doc.items() if key != "type" or value not in LISTS.values()
        }
    )


def _may_hold_graph(text: str) -> bool:
    return text.lstrip().startswith(("{", '"')) and _LISTED.search(text) is not None


def find(text: str) -> Graph | None:
    """Return the graph of a file; `None` when it is no JSON object with one."""
    if not _may_hold_graph(text):
        return None
    try:
        whole = unwrap(text, "the file")
        return _within(whole, len(whole.text) - len(whole.text.lstrip()), 0)
    except (UnreadableFile, ValueError):
        return None


def _within(whole: Unwrapped, at: int, depth: int) -> Graph | None:
    root = scan(whole.text, at, JsonReader(), _INSIDE)
    if root.inside("[", "entities") is not None:
        # What goes on behind it is no object of its own: lines, of which the first lists something.
        return Graph(whole, root) if depth or not whole.text[root.end :].strip() else None
    answered = root.inside("[", "content")
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
    said = as_object(entry.value).get("text")
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
_SERVER = Layout(final_newline=False, comma=",", colon=":")


def detect(head: str, path: str) -> Sure | None:
    """Sure when a line is an entity or a relation with its keys, or when an object lists them."""
    del path
    if _may_hold_graph(head) and (_MARKS.search(head) or _EMPTY.search(head)):
        sure = 0.9 if _MARKS.search(head) else 0.6
        return (sure, "a JSON object of entities and relations")
    for value in islice(jsonstream.values(head), _LOOKED_AT):
        doc, kind = as_object(value.value), kind_of(value.value)
        if not kind:
            continue
        if doc.get("type") == kind and len(_SIGNS & doc.keys()) > 1:
            return (0.95, f"JSON lines of type “{kind}”")
        if doc.get("type") != kind and not is_elsewhere(doc):
            return (0.85, f"JSON lines with the keys of type “{kind}”")
    return None


def read(text: str, context: ReadContext) -> Parsed:
    """Read every entity and relation that can be read, an entity once; the rest become issues."""
    report, whole = Report(context.file), find(text)
    found = _records(_spots(text, whole), report, lambda doc, kind: item(doc, context, kind))
    memories = [merged(first, [more for _, more in rest]) for (_, first), *rest in found.values()]
    layout = _SERVER if whole is not None else jsonstream.layout_of(text)
    return report.parsed(NAME, memories=_linked(memories), layout=layout)


def _spots(text: str, whole: Graph | None) -> Iterable[Spot]:
    if whole is not None:
        return whole.spots()
    return (Spot("", number, value) for number, value in enumerate(jsonstream.values(text)))


def _records(spots: Iterable[Spot], report: Report, item: Item) -> Found:
    """Return every memory by its id, with the places where it stands; only entities stand at
    several.
    """
    found: Found = {}
    for spot in spots:
        line = spot.value.line
        if is_mark(spot.value.value):
            report.kept(line, "the mark of the program that writes the file")
            continue
        try:
            if spot.value.damage:
                raise ValueError(spot.value.damage)
            memory, notes = item(spot.value.value, spot.kind)
            known = found.get(memory.id)
            if known and memory.category == RELATION:
                raise Unread(
                    "{} already stands on line {}", shown(memory.line), known[0][0].value.line
                )
        except ValueError as reason:
            report.skip(line, reason)
            continue
        if known:
            report.remark(
                line,
                Reason(
                    "its observations are taken with those of line {}", (known[0][0].value.line,)
                ),
            )
        found.setdefault(memory.id, []).append((spot, memory))
        report.mapped_all(notes if not known else (), spot.value.changes)
    return found


def _linked(memories: list[Memory]) -> tuple[Memory, ...]:
    """Let relations point to the entities of the file that they name."""
    known = {memory.id for memory in memories}
    return tuple(
        replace(memory, related=ends)
        if (ends := tuple(end for end in ends_of(memory) if end in known))
        else memory
        for memory in memories
    )


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write entities and relations, one a line; with `original`, only those that changed are new.

    A relation that is broken stays as it is there.
    """
    lost = {memory.id for memory in parsed.memories if broken(memory)}
    memories = adopted([memory for memory in parsed.memories if memory.id not in lost])
    if original is None:
        layout = parsed.layout if parsed.format == NAME else _SERVER
        return jsonstream.assemble(
            (jsonstream.dumps(document(m), layout) for m in memories), layout
        )
    whole, new = find(original), {memory.id: memory for memory in memories}
    found = _records(_spots(original, whole), Report(""), partial(_again, new))
    changes = _changes({name: parts for name, parts in found.items() if name not in lost}, new)
    docs = [document(memory) for name, memory in new.items() if name not in found]
    if whole is not None:
        return whole.inside.wrapped(whole.rewritten(changes, docs))
    style = jsonstream.layout_of(original)
    places = {
        (spot.value.start, spot.value.end): None
        if doc is None
        else patched(original, spot.value.start, doc, style)
        for spot, doc in changes
    }
    added = [dumps(doc, style, inline=True) for doc in docs]
    return spliced(original, places, added, style.newline)


def _again(new: Mapping[str, Memory], doc: object, kind: str) -> tuple[Memory, Notes]:
    return read_again(new, lambda context: item(doc, context, kind)[0]), []


def _changes(found: Found, new: Mapping[str, Memory]) -> list[tuple[Spot, Doc | None]]:
    """Return what is to stand at the places that change; `None` where nothing is to stand any more."""
    out: list[tuple[Spot, Doc | None]] = []
    for name, parts in found.items():
        after = new.get(name)
        if after is None:
            out += [(spot, None) for spot, _ in parts]
            continue
        docs = changed([part for _, part in parts], after)
        for (spot, _), doc in zip(parts, docs, strict=True):
            if doc and isinstance(spot.value.value, dict):
                out.append((spot, updated(spot.value.value, doc)))
    return out


FORMAT = Format(NAME, "MCP memory server (JSON lines)", detect, read, write, suffix=".jsonl")
