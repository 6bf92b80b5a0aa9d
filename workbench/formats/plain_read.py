"""The plain formats read back: memories and bullets as rows of JSON, JSON lines or CSV, as `workbench export` and
`workbench list --json` write them.

Keys that are not ours are kept as notes of the record. CSV parts lists at spaces, so that a tag of several words
becomes several tags; what a spreadsheet did to a cell is not undone, but for our own mark before a formula.
"""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from workbench.core.errors import UnreadableFile
from workbench.core.memory import Memory
from workbench.core.playbook import Bullet
from workbench.formats import books, jsonlines
from workbench.formats import lifecycle_values as values
from workbench.formats.jsontext import JsonReader
from workbench.formats.jsontree import Lines, scan_file
from workbench.formats.lifecycle_entry import from_entry
from workbench.formats.lifecycle_fields import FIELDS
from workbench.formats.lifecycle_values import Notes
from workbench.formats.model import FILE_KEY, Detection, Format, Parsed, ReadContext
from workbench.formats.reading import unique_id
from workbench.formats.records import required_text, take
from workbench.formats.report import Report, shown

NAME = "records"
Row = tuple[int, Any]
"""The line a record starts on, and its value."""

_KEYS = {field.name: field.key for field in FIELDS.values()} | {
    "importance": "importance_score", "helpful": "helpful_count", "harmful": "harmful_count",
}  # fmt: skip
_LISTS = frozenset({"tags", "related", "citations", "aliases"})
_NUMBERS = frozenset({"importance", "helpful", "harmful", "confidence"})
_START = re.compile(r'\s*(?:\[\s*\{|\{\s*"(?:playbook|memories|bullets)"\s*:|\{)')
_MARKS = re.compile(
    r'"(memory_type|observation_type|status|importance|importance_score|created_at|helpful|harmful)"\s*:'
)
_NOT_OURS = re.compile(r'"(?:node_id|node_type|role|memory|skills|schema_version|pointer_id|context)"\s*:')
_HEADER = re.compile(r"(?:id,content,|id,section,content,)")


def detect(head: str, path: str) -> Detection:
    """Sure when objects have an `id`, a `content` and other names of ours, or a table's first line does."""
    del path
    text = head.removeprefix("\ufeff").lstrip()
    if _HEADER.match(text):
        return Detection(NAME, 0.9, "a table with the columns “id” and “content”")
    said = '"id"' in text and '"content"' in text and _START.match(text) and not _NOT_OURS.search(text)
    marks = len(set(_MARKS.findall(text))) if said else 0
    if said:
        return Detection(NAME, min(0.35 + 0.1 * marks, 0.9), "JSON records with “id” and “content”")
    return Detection(NAME, 0.0, "no records with “id” and “content”")


def read(text: str, context: ReadContext) -> Parsed:
    """Read every row that can be read, as memories or, where the file is a playbook's, as bullets.

    Raises `UnreadableFile` when there is no list of rows.
    """
    report, found, bullets = Report(context.file), dict[str, Memory](), dict[str, tuple[str, Bullet]]()
    rows, is_book = _rows(text, context, report)
    for line, doc in rows:
        try:
            if not isinstance(doc, dict):
                raise ValueError("not a record: expected an object")
            if is_book:
                section, bullet, notes = _bullet(doc)
                _add(bullets, bullet.id, (section, bullet))
            else:
                memory, notes = _memory(doc, context)
                _add(found, memory.id, memory)
        except ValueError as reason:
            report.skip(line, str(reason))
            continue
        report.mapped_all(notes)
    playbooks = (books.playbook(context.file, (), tuple(bullets.values())),) if bullets else ()
    return report.parsed(NAME, memories=tuple(found.values()), playbooks=playbooks)


def _add(found: dict[str, Any], id: str, record: object) -> None:
    if id in found:
        raise ValueError(f"the id {shown(id)} was already used")
    found[id] = record


def _rows(text: str, context: ReadContext, report: Report) -> tuple[list[Row], bool]:
    """Return the rows of a file, and whether they are bullets."""
    start = text.removeprefix("\ufeff").lstrip()
    if start[:1] not in ("{", "["):
        rows = list(_table(text.removeprefix("\ufeff"), context.file))
        return rows, bool(rows) and "memory_type" not in rows[0][1] and "state" in rows[0][1]
    lines = [line for _, line in jsonlines.lines(text)]
    if start.startswith("{") and _is_object(lines[0]) and "memories" not in lines[0] and "bullets" not in lines[0]:
        return list(_json_lines(text, context, report)), False
    root, places = scan_file(text, context.file, frozenset({"memories", "bullets"})), Lines(text)
    listed = root if root.kind == "[" else root.inside("memories", "[") or root.inside("bullets", "[")
    if listed is None:
        raise UnreadableFile(f"{context.file} has no list of records.", "Nothing was read from it.")
    if root.damage:
        report.skip(places.at(root.damage_at), root.damage)
    is_book = root.kind != "[" and root.inside("bullets", "[") is listed
    return [(places.at(entry.start), entry.value) for entry in listed.entries], is_book


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _json_lines(text: str, context: ReadContext, report: Report) -> Iterator[Row]:
    reader = JsonReader()
    for number, line in jsonlines.watched(text, context.watch):
        try:
            yield number, reader.decode(line)
        except ValueError as reason:
            report.skip(number, str(reason))


def _table(text: str, file: str) -> Iterator[Row]:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        for row in reader:
            yield reader.line_num, {name: _cell(name, cell) for name, cell in row.items() if name and cell}
    except csv.Error as error:
        raise UnreadableFile(
            f"{file}:{reader.line_num}: the table cannot be read: {error}.", "Nothing was read."
        ) from error


def _cell(name: str, cell: str) -> object:
    """Read a cell as `plain_data.write_csv` writes it."""
    if name in _LISTS:
        return cell.split()
    if name == "pinned":
        return cell.lower() == "true"
    if name in _NUMBERS:
        try:
            return float(cell) if "." in cell else int(cell)
        except ValueError:
            return cell
    return cell[1:] if cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@", "\t", "\r") else cell


def _memory(doc: dict[str, Any], context: ReadContext) -> tuple[Memory, Notes]:
    entry = {_KEYS[name]: value for name, value in doc.items() if name in _KEYS and value is not None}
    if not isinstance(entry.get("context"), str):
        raise ValueError("it has no content")
    memory, notes = from_entry(entry, context)
    own = {name: value for name, value in memory.metadata.items() if name != FILE_KEY}
    other = {name: value for name, value in doc.items() if name not in _KEYS and name != FILE_KEY}
    return replace(memory, metadata={**other, **own}), notes


def _bullet(doc: dict[str, Any]) -> tuple[str, Bullet, Notes]:
    notes: Notes = []
    content = required_text(doc, "content")
    bullet = Bullet(
        id=take(doc, "id", values.text, "", notes).strip() or unique_id("b", content),
        section="",
        content=content,
        helpful_imported=take(doc, "helpful", values.count, 0, notes),
        harmful_imported=take(doc, "harmful", values.count, 0, notes),
        pinned=take(doc, "pinned", values.flag, False, notes),
        state="deprecated" if doc.get("state") == "deprecated" else "active",
        aliases=take(doc, "aliases", values.texts, (), notes),
    )
    return take(doc, "section", values.text, "", notes).strip() or "Others", bullet, notes


FORMAT = Format(NAME, "records (JSON, JSON lines or CSV)", detect, read)
