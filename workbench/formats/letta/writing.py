"""Writing a Letta agent file: only its memory blocks, and the agents' lists of them."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count

from workbench.core.files.format import Parsed, ReadContext
from workbench.core.stream.memory import Memory
from workbench.formats.letta.reading import INSIDE, KEYS, NAME, agent, agents, block, blocks
from workbench.formats.memory_streams.nodes import slug
from workbench.formats.shared.jsonnested import unwrap
from workbench.formats.shared.jsonrecords import edited_object, rewritten
from workbench.formats.shared.jsonstyle import Style, dumps, style_of
from workbench.formats.shared.jsontree import Entry, Node, rewrite, scan_file
from workbench.formats.shared.records import Doc, at_time_of, file_part, fresh, read_again, restored

_LIMIT = 5000
"""The limit, in characters, that Letta gives a new block."""


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the memories as blocks; with `original`, everything else of the agent stays as it is."""
    if original is None:
        memories = _adopted(parsed.memories, "")
        listed = [_document(memory, f"block-{n}") for n, memory in enumerate(memories)]
        names = {str((file_part(memory, NAME) or {}).get("agent", "")) for memory in parsed.memories} - {""}
        ids = [block.get("id") for block in listed]
        agents = [{"name": name, "block_ids": ids} for name in sorted(names)[:1]]
        return dumps({"agents": agents, "blocks": listed, "tools": [], "metadata": {}}, Style()) + "\n"
    whole = unwrap(original, "the file")
    return whole.wrapped(_woven(parsed.memories, whole.text))


def _woven(memories: Sequence[Memory], text: str) -> str:
    root, style = scan_file(text, "the file", INSIDE), style_of(text)
    node = blocks(root)
    if node is None:
        return text
    new = {memory.id: memory for memory in _adopted(memories, agent(root), _unread(node))}
    old = _old(node, agent(root), new)
    known = {memory.id for memory in old.values()}
    names = _free_names(node, [name for name in new if name not in known])
    gone = {_block_id(node.entries[index]) for index, memory in old.items() if memory.id not in new} - {""}

    def entry(memory: Memory, outer: str) -> str:
        return dumps(_document(memory, names[memory.id]), style, outer)

    values: dict[int, str | None] = {}
    for index, found in enumerate(root.entries):
        if found.inner is node:
            values[index] = rewritten(text, node, old, new, lambda _: KEYS, entry, style)
        elif found.inner is not None and found.inner is root.inside("agents", "[") and (gone or names):
            lists = _agents(text, root, gone, list(names.values()), style)
            values[index] = rewrite(text, found.inner, lists, (), style)
    return text[: root.start] + rewrite(text, root, values, (), style) + text[root.end :]


def _old(node: Node, agent: str, new: Mapping[str, Memory]) -> dict[int, Memory]:
    """Return the blocks of the file by the index of their entry."""
    found, seen = dict[int, Memory](), set[str]()
    for index, entry in enumerate(node.entries):
        try:
            memory = read_again(new, partial(_one, entry, agent))
        except ValueError:
            continue
        if memory.id not in seen:
            seen.add(memory.id)
            found[index] = memory
    return found


def _one(entry: Entry, agent: str, context: ReadContext) -> Memory:
    return block(entry, agent, context)[0]


def _agents(text: str, root: Node, gone: Collection[str], added: list[str], style: Style) -> dict[int, str | None]:
    """Return the agents whose lists of blocks change; new blocks go to the agent when there is only one."""
    out: dict[int, str | None] = {}
    found = list(agents(root))
    for index, entry, doc in found:
        listed = doc.get("block_ids")
        if not isinstance(listed, list):
            continue
        ids = [name for name in listed if name not in gone] + (added if len(found) == 1 else [])
        if ids != listed:
            out[index] = edited_object(text, entry, {"block_ids": ids}, style)
    return out


def _free_names(node: Node, wanted: list[str]) -> dict[str, str]:
    """Give each new block the next free `block-<n>`."""
    taken = {_block_id(entry) for entry in node.entries}
    free = (name for n in count() if (name := f"block-{n}") not in taken)
    return {memory: next(free) for memory in wanted}


def _block_id(entry: Entry) -> str:
    name = entry.value.get("id") if isinstance(entry.value, dict) else None
    return name if isinstance(name, str) else ""


def _unread(node: Node) -> list[str]:
    """Return the labels of blocks that are no memories: empty ones."""
    docs = [entry.value for entry in node.entries if isinstance(entry.value, dict)]
    return [str(doc.get("label")) for doc in docs if not str(doc.get("value") or "").strip()]


def _adopted(memories: Sequence[Memory], agent: str, taken: Collection[str] = ()) -> list[Memory]:
    """Return the memories as blocks of the agent: those from elsewhere under the id that their block gives them.

    A new block is labelled with the section or summary, or with the id where another block is labelled so.
    """
    labels = {memory.id: memory.section or memory.summary or memory.id for memory in memories}
    shared = Counter([*map(slug, labels.values()), *map(slug, taken)])
    return [
        m if file_part(m, NAME) else _as_block(m, m.id if shared[slug(labels[m.id])] > 1 else labels[m.id], agent)
        for m in memories
    ]


def _as_block(memory: Memory, label: str, agent: str) -> Memory:
    named = replace(memory, section=label)
    try:
        block = _one(Entry(0, 0, 0, 0, fresh(named, KEYS)), agent, at_time_of(memory))
    except ValueError:
        return named
    return replace(named, id=block.id)


def _document(memory: Memory, name: str) -> Doc:
    """Return the JSON object for a block; one from elsewhere is called `name`."""
    kept = restored(memory, KEYS, NAME, lambda doc: _one(Entry(0, 0, 0, 0, doc), "", at_time_of(memory)))
    return kept or {**fresh(memory, KEYS), "limit": max(_LIMIT, len(memory.content)), "id": name}
