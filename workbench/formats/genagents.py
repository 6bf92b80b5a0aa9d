"""genagents memory streams: `memory_stream/nodes.json`, a list of nodes with importance 0–100 and
step counters.
"""

from typing import Any

from workbench.core.files.format import Format, Parsed, ReadContext, Signature
from workbench.core.stream.memory import Memory
from workbench.formats.patch import opened
from workbench.formats.shared import nodes
from workbench.formats.shared.nodes import Clock, Node
from workbench.formats.shared.records import checked
from workbench.formats.shared.report import Report, shown
from workbench.formats.shared.values import Notes

NAME = "genagents"
_TOP = 100
_KEYS = frozenset(
    {"node_id", "node_type", "content", "importance", "created", "last_retrieved", "pointer_id"}
)
_KINDS: dict[str, dict[str, Any]] = {
    "observation": {"memory_type": "episodic", "observation_type": "general"},
    "reflection": {"memory_type": "semantic", "observation_type": "insight", "is_synthetic": True},
}


_SIGNATURE = Signature("a JSON list of nodes with “node_type”", (r"\A\s*\[", r'"node_type"\s*:'))


def read(text: str, context: ReadContext) -> Parsed:
    """Read every node that can be read. Raises `UnreadableFile` when the text holds no list of
    nodes.
    """
    report = Report(context.file)
    root, lines = opened(text, report, (), lambda root: root, "list of nodes")
    found = list(lines.rows(root))
    steps = [
        node[key] for _, node, _ in found if isinstance(node, dict)
        for key in ("created", "last_retrieved") if nodes.is_step(node.get(key))
    ]  # fmt: skip
    clock, start = (
        nodes.clock_for(steps, context),
        nodes.prefix(context, text.lstrip("\ufeff")[: nodes.IDENTIFYING]),
    )
    in_steps = any(
        isinstance(node, dict) and nodes.is_step(node.get("created")) for _, node, _ in found
    )
    read = report.each(found, lambda node: _memory(node, clock, start, context))
    return report.parsed(NAME, memories=tuple(memory for _, memory in read), in_steps=in_steps)


def _memory(node: Node, clock: Clock, start: str, context: ReadContext) -> tuple[Memory, Notes]:
    if not isinstance(node, dict):
        raise ValueError("not a node: expected a JSON object")
    content, notes = node.get("content"), Notes()
    if not isinstance(content, str) or not content.strip():
        raise ValueError("it has no content")
    kind, extra = (
        node.get("node_type"),
        {key: value for key, value in node.items() if key not in _KEYS},
    )
    if not isinstance(kind, str) or kind not in _KINDS:
        extra["node_type"] = kind
        notes.append(("node_type", f"unknown type {shown(kind)} read as general"))
        kind = "observation"
    citations = nodes.references(node.get("pointer_id"), start)
    if citations is None:
        extra["pointer_id"] = node.get("pointer_id")
    created = clock.at(node.get("created"))
    retrieved = (
        clock.at(node["last_retrieved"]) if node.get("last_retrieved") is not None else created
    )
    if nodes.is_step(node.get("created")):
        notes.append(
            ("created", f"steps read as {context.step_hours:g} h each, {_anchor(context)}")
        )
    known = _KINDS[kind]
    memory = Memory(
        id=start + nodes.node_number(node.get("node_id")),
        content=content,
        created_at=created,
        last_accessed_at=retrieved,
        importance_score=nodes.importance(
            node.get("importance"), _TOP, known["observation_type"], content, context, notes
        ),
        citations=citations or (),
        metadata=extra,
        **known,
    )
    return checked(memory), notes


def _anchor(context: ReadContext) -> str:
    return (
        "from the given first time on"
        if context.epoch
        else "the last one at the time of the import"
    )


FORMAT = Format(NAME, "genagents memory stream", _SIGNATURE, read)
