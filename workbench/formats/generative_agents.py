"""Generative Agents memory streams: `associative_memory/nodes.json`, an object `node_1` … `node_N`.

Events, thoughts and chats; poignancy 1–10 is the importance. A thought's `filling` cites nodes, a
chat's holds what was said (a text, or a list of [speaker, line]) and goes to the metadata.
"""

from datetime import datetime
from typing import Any

from workbench.core.files.format import Format, Parsed, ReadContext, Signature
from workbench.core.files.reason import Unread
from workbench.core.stream.memory import Memory, Source
from workbench.formats.patch import opened
from workbench.formats.shared import nodes, values
from workbench.formats.shared.nodes import Node
from workbench.formats.shared.records import checked
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.values import Notes, texts, time

NAME = "generative-agents"
_BLANK = "this is blank"
_KEYS = frozenset(
    {"type", "created", "last_accessed", "description", "poignancy", "keywords", "filling"}
)
_KINDS: dict[str, dict[str, Any]] = {
    "event": {"memory_type": "episodic", "observation_type": "general"},
    "chat": {"memory_type": "episodic", "observation_type": "general"},
    "thought": {"memory_type": "semantic", "observation_type": "insight", "is_synthetic": True},
}


_SIGNATURE = Signature(
    "a JSON object of “node_<number>” entries",
    (r'\A\s*\{\s*"node_[0-9]+"\s*:',),
    0.5,
    r'"(?:poignancy|embedding_key|filling)"\s*:',
    0.45,
)


def read(text: str, context: ReadContext) -> Parsed:
    """Read every node that can be read. Raises `UnreadableFile` when the text holds no object of
    nodes.
    """
    report, start = Report(context.file), nodes.prefix(context, text.rstrip()[-nodes.IDENTIFYING :])
    root, lines = opened(text, report, (), lambda root: root, "object of nodes")
    entries = ((lines.at(e.start), e, e.changes) for e in root.entries)
    found = report.each(entries, lambda e: _memory(e.key, e.value, start, context))
    return report.parsed(NAME, memories=tuple(memory for _, memory in found))


def _memory(key: object, node: object, start: str, context: ReadContext) -> tuple[Memory, Notes]:
    if not isinstance(key, str) or not isinstance(node, dict):
        raise ValueError("not a node: expected “node_<number>” and a JSON object")
    content, notes = node.get("description"), Notes()
    if not isinstance(content, str) or not content.strip():
        raise ValueError("it has no description")
    if content.strip().strip(".").casefold() == _BLANK:
        raise ValueError("a thought that says “this is blank”")
    kind, extra = (
        node.get("type"),
        {name: value for name, value in node.items() if name not in _KEYS},
    )
    if extra.get("embedding_key") == content:
        del extra["embedding_key"]
    if not isinstance(kind, str) or kind not in _KINDS:
        extra["type"] = kind
        notes.append(("type", f"unknown type {shown(kind)} read as general"))
        kind = "event"
    created = _time(node, "created", None)
    known = _KINDS[kind]
    memory = Memory(
        id=start + nodes.node_number(key),
        content=content,
        created_at=created,
        last_accessed_at=_time(node, "last_accessed", created),
        importance_score=nodes.importance(
            node.get("poignancy"), 10, known["observation_type"], content, context, notes
        ),
        tags=_keywords(node.get("keywords"), notes),
        citations=_cited(node.get("filling"), start, extra, notes),
        source=Source(speaker=_speaker(node)),
        metadata=extra,
        **known,
    )
    return checked(memory), notes


def _time(node: Node, name: str, absent: datetime | None) -> datetime:
    raw = node.get(name)
    if raw is None and absent is not None:
        return absent
    if not isinstance(raw, str):
        raise Unread("{}: {} is no time", name, shown(raw))
    found, _ = time(raw)
    assert isinstance(found, datetime)
    return found


def _keywords(raw: object, notes: Notes) -> tuple[str, ...]:
    if raw is None:
        return ()
    try:
        found, note = texts(raw)
    except ValueError as problem:
        notes.append(("keywords", f"left out: {problem}"))
        return ()
    if note:
        notes.append(("keywords", note))
    return tuple(dict.fromkeys(found))


def _cited(raw: object, start: str, extra: dict[str, object], notes: Notes) -> tuple[str, ...]:
    """Return the nodes a thought was drawn from; any other filling is kept in the metadata."""
    if raw is None or raw == [] or raw == "":
        return ()
    found = nodes.references(raw, start)
    if found is None:
        extra["filling"] = raw
        notes.append(("filling", "what was said is kept in the metadata"))
        return ()
    return found


def _speaker(node: Node) -> str | None:
    """Return who speaks in a chat: the one who does, or of several the chat's subject."""
    filling = node.get("filling")
    if node.get("type") != "chat" or not isinstance(filling, list):
        return None
    lines = [line for line in filling if isinstance(line, list) and len(line) == 2]
    names = {name for who, _ in lines if (name := values.speaker(who))}
    return (
        next(iter(names))
        if len(names) == 1
        else next((n for n in names if n == node.get("subject")), None)
    )


FORMAT = Format(NAME, "Generative Agents memory stream", _SIGNATURE, read)
