"""Reading the memory blocks of a Letta agent file."""

from collections.abc import Iterator
from typing import Any

from workbench.core.errors import UnreadableFile
from workbench.core.files.format import Parsed, ReadContext
from workbench.core.stream.memory import Memory
from workbench.formats.lifecycle.values import Notes
from workbench.formats.memory_streams.nodes import slug
from workbench.formats.shared.jsonnested import unwrap
from workbench.formats.shared.jsontree import Entry, Lines, Node, scan_file
from workbench.formats.shared.reading import checked, created_at, rating
from workbench.formats.shared.records import Key, remembered, required_text
from workbench.formats.shared.report import Report, shown

NAME = "letta"
_LISTS = ("blocks", "core_memory")
INSIDE = frozenset({*_LISTS, "agents"})
KEYS: tuple[Key[Memory], ...] = (
    Key("label", lambda memory: memory.section),
    Key("value", lambda memory: memory.content),
)


def read(text: str, context: ReadContext) -> Parsed:
    """Read the memory blocks that are not empty. Raises `UnreadableFile` when there is no list of blocks."""
    report, whole = Report(context.file), unwrap(text, context.file)
    root, lines = scan_file(whole.text, context.file, INSIDE), Lines(whole.text)

    def line(at: int) -> int:
        # A string literal stands on one line, whatever its text holds.
        return Lines(text).at(whole.start) if whole.nested else lines.at(at)

    node = blocks(root)
    if node is None:
        reason = f"{context.file} has no list of “blocks”" + (f": {root.damage}." if root.damage else ".")
        raise UnreadableFile(reason, "Nothing was read from it.")
    found: dict[str, Memory] = {}
    for entry in node.entries:
        try:
            memory, notes = block(entry, agent(root), context)
            if memory.id in found:
                raise ValueError(f"the block {shown(memory.section)} was already read")
        except ValueError as reason:
            report.skip(line(entry.start), str(reason))
            continue
        found[memory.id] = memory
        report.mapped_all(notes, entry.changes)
    if root.damage:
        report.skip(line(root.damage_at), root.damage)
    return report.parsed(NAME, memories=tuple(found.values()))


def blocks(root: Node) -> Node | None:
    """Return the list of blocks."""
    return next((found for name in _LISTS if (found := root.inside(name, "[")) is not None), None)


def agents(root: Node) -> Iterator[tuple[int, Entry, dict[str, Any]]]:
    """Yield the agents of the file: index, entry and value."""
    found = root.inside("agents", "[")
    for index, entry in enumerate(found.entries if found is not None else ()):
        if isinstance(entry.value, dict):
            yield index, entry, entry.value


def agent(root: Node) -> str:
    """Return the name of the file's agent, or of its first one."""
    own = root.get("name")
    names = [own.value if own is not None else None, *(value.get("name") for _, _, value in agents(root))]
    return next((name for name in names if isinstance(name, str)), "")


def block(entry: Entry, agent: str, context: ReadContext) -> tuple[Memory, Notes]:
    """Read one block. Raises `ValueError` when it has no label or no value."""
    doc = entry.value
    if not isinstance(doc, dict):
        raise ValueError("not a block: expected a JSON object")
    label, notes = required_text(doc, "label"), Notes()
    if not isinstance(doc.get("value"), str) or not doc["value"].strip():
        raise ValueError(f"the block {shown(label)} is empty")
    content = required_text(doc, "value")
    created = created_at(doc, ("created_at",), context, notes)
    memory = Memory(
        id="-".join(part for part in ("letta", slug(agent), slug(label) or "block") if part),
        content=content,
        created_at=created,
        last_accessed_at=created,
        memory_type="semantic",
        section=label,
        status="confirmed",
        importance_score=rating(context, "general", content, notes),
    )
    return remembered(checked(memory), doc, KEYS, NAME, place={"agent": agent}), notes
