"""LIFECYCLE JSONL: one learning entry a line (source 001, section 5.2)."""

from collections.abc import Mapping
from types import MappingProxyType

from workbench.core.files.format import Detection, Format, Layout, Parsed, ReadContext
from workbench.core.files.reason import Unread
from workbench.core.stream.memory import Memory
from workbench.formats.lifecycle.entry import from_entry, to_entry
from workbench.formats.shared import jsonlines
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.records import NO_CONTEXT, at_time_of
from workbench.formats.shared.report import Report, shown

NAME = "lifecycle"


def detect(head: str, path: str) -> Detection:
    """Sure when a line has the schema's `context` together with one of its other keys."""
    del path
    keys = jsonlines.first_keys(head)
    others = keys & {"timestamp", "status", "session_id", "type", "confidence", "summary"}
    if "context" in keys and others:
        return Detection(NAME, min(0.6 + 0.1 * len(others), 0.95), "JSON lines with “context” and other entry keys")
    return Detection(NAME, 0.0, "no line has the keys of the entry schema")


def read(text: str, context: ReadContext) -> Parsed:
    """Read every line that can be read; the others become issues."""
    report = Report(context.file)
    found = _records(text, context, report)
    memories = tuple(memory for _, memory in found)
    return report.parsed(NAME, memories=memories, layout=jsonlines.layout_of(text))


def _records(
    text: str, context: ReadContext, report: Report, new: Mapping[str, Memory] = MappingProxyType({})
) -> list[tuple[int, Memory]]:
    """Return the entries with their line numbers; what one leaves open is as in its `new` version."""
    reader, seen, found = JsonReader(), dict[str, int](), list[tuple[int, Memory]]()
    for number, line in jsonlines.watched(text, context.watch):
        try:
            doc = reader.decode(line)
            if not isinstance(doc, dict):
                raise ValueError("not an entry: expected a JSON object")
            memory, notes = from_entry(doc, context)
            if memory.id in new:
                memory, notes = from_entry(doc, at_time_of(new[memory.id]))
            if memory.id in seen:
                raise Unread("the id {} was already used on line {}", shown(memory.id), seen[memory.id])
        except ValueError as reason:
            report.skip(number, reason)
            continue
        for field, how in (*notes, *(("value", change) for change in sorted(reader.changes))):
            report.mapped(field, how)
        seen[memory.id] = number
        found.append((number, memory))
    return found


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the memories, one entry a line; with `original`, only lines whose entry changed are new."""
    layout = parsed.layout if original is None else jsonlines.layout_of(original)
    written = {memory.id: _line(memory, layout) for memory in parsed.memories}
    if original is None:
        return jsonlines.assemble(written.values(), layout)
    new = {memory.id: memory for memory in parsed.memories}
    old = _records(original, NO_CONTEXT, Report(""), new)
    return jsonlines.weave(original, {n: (m.id, _line(m, layout)) for n, m in old}, written, layout)


def _line(memory: Memory, layout: Layout) -> str:
    return jsonlines.dumps(to_entry(memory), layout)


FORMAT = Format(
    NAME, "learning entries (JSON lines)", detect, read, write, suffix=".jsonl", endings=(".jsonl",),
    loses_nothing=True, carries_status=True,
)  # fmt: skip
