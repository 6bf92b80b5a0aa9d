"""Logs of a Curator's operations (`curator_operations_diff.jsonl` of ACE, source 003): one operation a line."""

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.core.files.format import Detection, Format, Parsed, ReadContext
from workbench.core.files.reason import Reason, braced
from workbench.core.playbook.operations import Curated, Curation, Odd, read_operation
from workbench.core.reflection.llm import UnreadableReply
from workbench.formats.shared import jsonstream
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.report import Report, shown

NAME = "ace-operations"

KIND = "operation_type"
"""The key that tells such a line from everything else."""

_BESIDE = ("call_id", "bullet_id", "bullet_ids", "section", "content", "source_ids")

_Line = tuple[int, Curated | Odd]


def detect(head: str, path: str) -> Detection:
    """Sure when a line names its kind of operation and what it is about."""
    del path
    keys = jsonstream.first_keys(head)
    if KIND in keys and keys.intersection(_BESIDE):
        return Detection(NAME, 0.95, f"JSON lines with “{KIND}”")
    return Detection(NAME, 0.0, f"no line has “{KIND}”")


def read(text: str, context: ReadContext) -> Parsed:
    """Read every operation as one reply of the Curator; lines that cannot be read become issues."""
    report = Report(context.file)
    found = list(_lines(text))
    for number, one in found:
        if isinstance(one, Odd):
            report.skip(number, quoted(one))
    return report.parsed(NAME, replies=(_curation(found),))


def quoted(odd: Odd) -> Reason:
    """Return what is odd about a part of a reply, with the part."""
    return Reason(f"{braced(odd.reason)} {{}}", (shown(odd.raw),))


def read_log(text: str) -> Curation:
    """Read a log as one reply of the Curator; raises `UnreadableReply` when no line holds an operation."""
    found = _curation(list(_lines(text)))
    if not found.operations:
        raise UnreadableReply("No line of the log holds an operation.")
    return found


def _curation(found: list[_Line]) -> Curation:
    operations = tuple(one for _, one in found if isinstance(one, Curated))
    return Curation("", operations, tuple(one for _, one in found if isinstance(one, Odd)))


def _lines(text: str) -> Iterator[_Line]:
    reader = JsonReader()
    for number, line in jsonstream.lines(text):
        try:
            doc = reader.decode(line)
        except ValueError as reason:
            yield number, Odd(line, str(reason))
            continue
        for operation in _operations(doc):
            yield number, read_operation(operation)


def _operations(doc: Any) -> Iterator[object]:
    """Yield what a line logs in the words of a Curator's reply; one that deletes several bullets is several."""
    if not isinstance(doc, Mapping):
        yield doc
        return
    kind, many = doc.get(KIND), doc.get("bullet_ids")
    operation = {**doc, "type": kind}
    if isinstance(kind, str) and isinstance(many, list):
        if kind.upper() == "DELETE" and "bullet_id" not in doc:
            yield from ({**operation, "bullet_id": one} for one in many)
            return
        operation.setdefault("source_ids", many)
    yield operation


FORMAT = Format(NAME, "log of an ACE Curator's operations", detect, read)
