"""Letta agent files: `*.af`, the memory blocks `{label, value, limit, …}`; some are JSON inside a
JSON string.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from workbench.core.files.format import Format, Layout, Parsed, ReadContext, Reason, Sure, Unread
from workbench.core.record import as_object
from workbench.core.stream.memory import Memory
from workbench.formats.patch import Node, dumps, opened, patch, scan_file
from workbench.formats.shared.jsonstream import unwrap
from workbench.formats.shared.records import (
    Doc,
    Key,
    at_time_of,
    created_at,
    file_part,
    fresh,
    joined,
    kept,
    made,
    remembered,
    required_text,
    restored,
    with_records,
)
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.values import Notes, an_object, is_whole, slug

NAME = "letta"
OVER_LIMIT = "the block {} has {} characters, more than its limit of {}: Letta refuses it"
_LISTS = ("blocks", "core_memory")
INSIDE = frozenset({*_LISTS, "agents"})
KEYS: tuple[Key[Memory], ...] = (
    Key("label", lambda memory: memory.section),
    Key("value", lambda memory: memory.content),
)

_MARKS = re.compile(
    r'\\?"(agent_type|llm_config|embedding_config|block_ids|core_memory|tool_rules|blocks|memory_blocks)\\?"\s*:'
)
_BLOCKS = tuple(map(re.compile, (
    r'\\?"(?:blocks|core_memory)\\?"\s*:\s*\[\s*\{', r'\\?"label\\?"\s*:\s*\\?"', r'\\?"value\\?"\s*:',
)))  # fmt: skip
"""What a list of blocks has: enough for a file that holds nothing else."""
_LISTED = re.compile(r'\\?"agents\\?"\s*:\s*\[')
"""A file of several agents, or of none: with blocks beside it is one of Letta's."""


def detect(head: str, path: str) -> Sure | None:
    """Sure when an object, or one in a string, has the keys of an agent; the suffix `.af` helps."""
    start = head.lstrip()[:1]
    marks = len(set(_MARKS.findall(head))) if start in ("{", '"') else 0
    if marks == 0:
        return None
    marks += _LISTED.search(head) is not None
    marks += 2 * all(pattern.search(head) for pattern in _BLOCKS)
    sure = min(0.2 * marks + (0.4 if path.lower().endswith(".af") else 0.0), 0.95)
    return (sure, "the JSON of an agent" + (" in a string" if start == '"' else ""))


def read(text: str, context: ReadContext) -> Parsed:
    """Read the memory blocks that are not empty. Raises `UnreadableFile` when there is no list of
    blocks.
    """
    report, whole = Report(context.file), unwrap(text, context.file)
    root, lines = opened(whole.text, report, INSIDE, blocks, "list of “blocks”", whole.lines())
    rows = list[tuple[int, Any, tuple[str, ...]]]()
    for line, doc, changes in lines.rows(blocks(root)):
        if _is_empty(doc):
            report.no_records(line, Reason("the block {} is empty", (shown(doc["label"]),)))
        else:
            rows.append((line, doc, changes))
    found = list[Memory]()
    for line, memory in report.each(rows, lambda doc: block(doc, agent(root), context)):
        found.append(memory)
        if (over := over_limit(memory)) is not None:
            report.remark(line, over)
    return report.parsed(NAME, memories=tuple(found))


def over_limit(memory: Memory) -> Reason | None:
    """Return that a block is longer than its own limit; `None` when it is not, or has none."""
    limit = memory.metadata.get("limit") if file_part(memory, NAME) is not None else None
    if not is_whole(limit) or len(memory.content) <= limit:
        return None
    return Reason(OVER_LIMIT, (shown(memory.section), f"{len(memory.content):,}", f"{limit:,}"))


def _is_empty(doc: object) -> bool:
    """Whether a block is as it should be, only that nothing is in it yet."""
    return isinstance(doc, dict) and bool(doc.get("label")) and doc.get("value") in ("", None)


def blocks(root: Node) -> Node | None:
    return root.inside("[", *_LISTS)


def agents(root: Node) -> list[dict[str, Any]]:
    """Return the agents of the file."""
    found = root.inside("[", "agents")
    return (
        [entry.value for entry in found.entries if isinstance(entry.value, dict)]
        if found is not None
        else []
    )


def agent(root: Node) -> str:
    """Return the name of the file's agent, or of its first one."""
    own = root.get("name")
    names = [own.value if own is not None else None, *(value.get("name") for value in agents(root))]
    return next((name for name in names if isinstance(name, str)), "")


def block(doc: Any, agent: str, context: ReadContext) -> tuple[Memory, Notes]:
    """Read one block. Raises `ValueError` when it has no label or no value."""
    doc = an_object(doc, "a block")
    label, notes = required_text(doc, "label"), Notes()
    if not isinstance(doc.get("value"), str) or not doc["value"].strip():
        raise Unread("the block {} is empty", shown(label))
    created = created_at(doc, ("created_at",), context, notes)
    name = joined("letta", slug(agent), slug(label) or "block")
    memory = made(
        context, notes, name, doc["value"], created, memory_type="semantic", section=label
    )
    return remembered(memory, doc, KEYS, NAME, place={"agent": agent}), notes


_LIMIT = 5000
"""The limit, in characters, that Letta gives a new block."""


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the memories as blocks; with `original`, everything else of the agent stays as it is."""
    if original is None:
        memories = _adopted(parsed.memories, "")
        listed = [_document(memory, f"block-{n}") for n, memory in enumerate(memories)]
        names = {kept(memory, NAME, "agent", "") for memory in parsed.memories} - {""}
        ids = [block.get("id") for block in listed]
        agents = [{"name": name, "block_ids": ids} for name in sorted(names)[:1]]
        return (
            dumps({"agents": agents, "blocks": listed, "tools": [], "metadata": {}}, Layout())
            + "\n"
        )
    whole = unwrap(original, "the file")
    return whole.wrapped(_woven(parsed.memories, whole.text))


def _woven(memories: Sequence[Memory], text: str) -> str:
    root = scan_file(text, "the file", INSIDE)
    node = blocks(root)
    if node is None:
        return text
    value, name = root.value, next(name for name in _LISTS if root.inside("[", name) is node)
    new = {memory.id: memory for memory in _adopted(memories, agent(root), _unread(node))}
    before, owner = dict(enumerate(value[name])), agent(root)
    docs, added = with_records(
        before, new, lambda _, doc, at: block(doc, owner, at)[0], lambda _: KEYS
    )
    taken = {_block_id(doc) for doc in value[name]}
    free = (id for n in count() if (id := f"block-{n}") not in taken)
    names = [next(free) for _ in added]
    gone = {_block_id(node.entries[index].value) for index in before.keys() - docs.keys()} - {""}
    value[name] = [*docs.values(), *map(_document, added, names)]
    found = agents(root)
    for doc in found if gone or names else ():
        if isinstance(ids := doc.get("block_ids"), list):
            # New blocks go to the agent when there is only one.
            now = [one for one in ids if one not in gone] + names * (len(found) == 1)
            value["agents"] = [
                {**one, "block_ids": now} if one is doc else one for one in value["agents"]
            ]
    return patch(text, value, root)


def _block_id(doc: Any) -> str:
    name = as_object(doc).get("id")
    return name if isinstance(name, str) else ""


def _unread(node: Node) -> list[str]:
    """Return the labels of blocks that are no memories: empty ones."""
    docs = [entry.value for entry in node.entries if isinstance(entry.value, dict)]
    return [str(doc.get("label")) for doc in docs if not str(doc.get("value") or "").strip()]


def _adopted(memories: Sequence[Memory], agent: str, taken: Collection[str] = ()) -> list[Memory]:
    """Return the memories as blocks of the agent: those from elsewhere under the id that their
    block gives them.

    A new block is labelled with the section or summary, or with the id where another block is
    labelled so.
    """
    labels = {memory.id: memory.section or memory.summary or memory.id for memory in memories}
    shared = Counter([*map(slug, labels.values()), *map(slug, taken)])
    return [
        m
        if file_part(m, NAME)
        else _as_block(m, m.id if shared[slug(labels[m.id])] > 1 else labels[m.id], agent)
        for m in memories
    ]


def _as_block(memory: Memory, label: str, agent: str) -> Memory:
    named = replace(memory, section=label)
    try:
        found, _ = block(fresh(named, KEYS), agent, at_time_of(memory))
    except ValueError:
        return named
    return replace(named, id=found.id)


def _document(memory: Memory, name: str) -> Doc:
    """Return the JSON object for a block; one from elsewhere is called `name`."""
    doc = restored(memory, KEYS, NAME, lambda doc: block(doc, "", at_time_of(memory))[0])
    return doc or {**fresh(memory, KEYS), "limit": max(_LIMIT, len(memory.content)), "id": name}


FORMAT = Format(NAME, "Letta agent file", detect, read, write, suffix=".af", endings=(".af",))
