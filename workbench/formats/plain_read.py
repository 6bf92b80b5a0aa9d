"""The cells of a table: how a value becomes text that a spreadsheet shows and a reader takes back."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from workbench.core.files.format import Format, Parsed, ReadContext, Reason, Sure
from workbench.core.playbook.book import Bullet
from workbench.core.record import UnreadableFile, as_list, without
from workbench.core.stream.memory import FILE_KEY, OBSERVATION_TYPES, Memory
from workbench.core.text import clean_for_store
from workbench.formats.lifecycle import FIELDS, from_entry
from workbench.formats.patch import Lines, scan_file
from workbench.formats.shared import books, jsonstream, values
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.records import required_text, take, take_count, take_text, unique_id
from workbench.formats.shared.report import Report
from workbench.formats.shared.values import Notes

CELL_LISTS = frozenset({"tags", "related", "citations", "aliases"})
OBJECTS = frozenset({"metadata", "source"})
FLAGS = frozenset({"pinned", "is_synthetic"})
NUMBERS = frozenset({"importance", "helpful", "harmful", "neutral", "confidence", "access_count"})

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""What a spreadsheet takes for the beginning of a formula, and what has our mark before it."""

DELIMITERS = (",", ";", "\t")
"""What stands between the cells of a table; spreadsheets of some countries write semicolons."""


class TableRow(NamedTuple):
    """A row of a table: the line it starts on, from 1, and its cells; `open` tells that a quote is
    never closed.
    """

    line: int
    cells: tuple[str, ...]
    open: bool = False


def written(value: object) -> object:
    """Write a value as a cell.

    A list is parted by blanks, or is JSON where an item has one; an object is JSON. A text that a
    spreadsheet would run as a formula begins with an apostrophe.
    """
    if value is None:
        return ""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        joined = " ".join(map(str, value))
        value = (
            joined
            if joined.split() == value and joined[:1] != "["
            else json.dumps(value, ensure_ascii=False)
        )
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def read_cells(name: str, cell: str) -> object:
    """Read a cell of the column `name` as `written` writes it; what is not of the column's kind
    stays text.
    """
    if _FORMULA.match(cell) and cell[0] == "'":
        cell = cell[1:]
    if name in CELL_LISTS:
        found = _json(cell) if cell.startswith("[") else None
        return found if isinstance(found, list) else cell.split()
    if name in OBJECTS:
        return _json(cell)
    if name in FLAGS:
        return cell.strip().lower() == "true"
    if name in NUMBERS:
        try:
            return float(cell) if "." in cell else int(cell)
        except ValueError:
            return cell
    return cell


def table(text: str, delimiter: str = ",") -> Iterator[TableRow]:
    """Yield the rows of a table (RFC 4180, any line ends); the last one is `open` where a quote is
    never closed.
    """
    mark, end = re.escape(delimiter), r"\r\n|\n|\r|\Z"
    part = re.compile(rf'(?:"((?:[^"]++|"")*+)"([^{mark}\r\n]*+)|([^{mark}\r\n]*+))({mark}|{end})')
    at, line, start, cells = 0, 1, 1, list[str]()
    while at < len(text):
        found = part.match(text, at)
        if found is None or (found[3] or "").startswith('"'):
            yield TableRow(start, tuple(cells), True)
            return
        cells.append(found[3] if found[3] is not None else found[1].replace('""', '"') + found[2])
        line += len(re.findall(r"\r\n|\n|\r", found.group()))
        at = found.end()
        if found[4] == delimiter and at < len(text):
            continue
        if any(cells) or found[4] == delimiter:
            yield TableRow(start, (*cells, "") if found[4] == delimiter else tuple(cells))
        start, cells = line, []


def _json(cell: str) -> object:
    try:
        return JsonReader().decode(cell)
    except ValueError:
        return cell


# The plain formats read back: memories and bullets as rows of JSON, JSON lines, YAML or CSV, or as
# Markdown, as `workbench export` and `workbench list --json` write them.
#
# Keys that are not ours are kept as notes of the record. Prompt text has no ids and is not read;
# Markdown has ids, texts, sections, kinds and counts, and no more. Counts come back as imported
# ones.


# Where the rows of a plain file stand: in JSON, in JSON lines, in YAML or in a table.


Row = tuple[int, Any]
"""The line a record starts on, and its value."""

LISTS = ("memories", "bullets")
YAML = re.compile(r"^(?:memories|bullets)[ \t]*:", re.MULTILINE)
_OPEN = "a quoted cell is never closed: nothing from here on is read"
_YAML_LINE = re.compile(r"(?:(?P<item>  - |    )(?P<name>\w+)|(?P<top>\w+)):(?: (?P<value>.*))?")


class Source(NamedTuple):
    """The rows of a file, whether they are a playbook's bullets, and the sections and the name it
    says beside them.
    """

    rows: Iterable[Row]
    is_book: bool = False
    sections: tuple[str, ...] = ()
    name: str = ""


def source_of(text: str, context: ReadContext, report: Report) -> Source:
    """Find the rows of a file. Raises `UnreadableFile` when there are none to be found."""
    start = text.lstrip()
    if start[:1] in ("{", "["):
        lines = [line for _, line in jsonstream.lines(text)]
        if (
            start.startswith("{")
            and _is_object(lines[0])
            and not any(name in lines[0] for name in LISTS)
        ):
            rows = jsonstream.documents(text, report, context.watch)
            return Source((number, doc) for number, doc, _ in rows)
        return _document(text, context, report)
    if (delimiter := _delimiter(start)) is not None:
        return _table(text, delimiter, report)
    if YAML.search(text):
        return _own_yaml(text) or _yaml(text, context, report)
    raise UnreadableFile(f"{context.file} has no list of records.", "Nothing was read from it.")


def _document(text: str, context: ReadContext, report: Report) -> Source:
    root, places = scan_file(text, context.file, frozenset(LISTS)), Lines(text)
    listed = (
        root if root.kind == "[" else root.inside("[", "memories") or root.inside("[", "bullets")
    )
    if (
        listed is None
        and root.get("id") is not None
        and root.get("content") is not None
        and not root.damage
    ):
        return Source(
            [(places.at(root.start), {str(entry.key): entry.value for entry in root.entries})]
        )
    if listed is None:
        raise UnreadableFile(f"{context.file} has no list of records.", "Nothing was read from it.")
    if root.damage:
        report.skip(places.at(root.damage_at), root.damage)
    named, name = root.get("sections"), root.get("playbook")
    return Source(
        [(places.at(entry.start), entry.value) for entry in listed.entries],
        root.kind != "[" and root.inside("[", "bullets") is listed,
        _titles(named.value if named is not None else None),
        _text(name.value if name is not None else None),
    )


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _own_yaml(text: str) -> Source | None:
    """Read YAML as `plain.data` writes it, which is ten times as fast; None when a line is of
    another shape.
    """
    reader, found, rows, top = JsonReader(), dict[str, Any](), list[Row](), ""
    for number, line in jsonstream.lines(text):
        match = _YAML_LINE.fullmatch(line)
        if match is None:
            return None
        try:
            value = reader.decode(match["value"]) if match["value"] is not None else []
        except ValueError:
            return None
        if match["top"]:
            top, found[match["top"]] = match["top"], value
        elif top not in LISTS or (match["item"] == "    " and not rows):
            return None
        elif match["item"] == "    ":
            rows[-1][1][match["name"]] = value
        else:
            rows.append((number, {match["name"]: value}))
    kinds = [name for name in LISTS if name in found]
    if len(kinds) != 1:
        return None
    return Source(
        rows, "bullets" in found, _titles(found.get("sections")), _text(found.get("playbook"))
    )


def _yaml(text: str, context: ReadContext, report: Report) -> Source:
    # The YAML parser is loaded when a file needs it: it would slow down every start of the program.
    from workbench.formats.yaml_patch import records

    name = "memories" if re.search(r"^memories[ \t]*:", text, re.MULTILINE) else "bullets"
    whole = records(text, context.file, name)
    value, rows = whole.value, list[Row]()
    if whole.damage:
        report.skip(whole.line, whole.damage)
    for node, said in zip(whole.listed(name), value[name] or (), strict=True):
        line = node.start_mark.line + 1
        if isinstance(said, ValueError):
            report.skip(line, said)
        else:
            rows.append((line, said))
    return Source(
        rows, name == "bullets", _titles(value.get("sections")), _text(value.get("playbook"))
    )


def _titles(value: object) -> tuple[str, ...]:
    return tuple(title for title in as_list(value) if isinstance(title, str))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _delimiter(text: str) -> str | None:
    """Return what stands between the cells of a table whose first line names a column “content”;
    None for no table.
    """
    first = re.split(r"[\r\n]", text, maxsplit=1)[0]
    found = max(DELIMITERS, key=first.count)
    return found if any("content" in row.cells for row in table(first, found)) else None


def _table(text: str, delimiter: str, report: Report) -> Source:
    lines = table(clean_for_store(text), delimiter)
    head = next(lines)
    if head.open:
        report.skip(head.line, _OPEN)
    return Source(
        _cells(head, lines, report), "state" in head.cells and "memory_type" not in head.cells
    )


def _cells(head: TableRow, lines: Iterable[TableRow], report: Report) -> Iterator[Row]:
    for row in lines:
        if row.open:
            report.skip(row.line, _OPEN)
            continue
        if len(row.cells) > len(head.cells):
            report.remark(
                row.line,
                Reason(
                    "{} cells beyond the last column: left out",
                    (f"{len(row.cells) - len(head.cells):,}",),
                ),
            )
        named = zip(head.cells, row.cells, strict=False)
        yield row.line, {name: read_cells(name, cell) for name, cell in named if name and cell}


# Records as the items of Markdown lists, each with its id in a comment that no reader of the page
# sees.
#
# `- text (+2 −1) <!-- bullet sai-00001 helpful=2 harmful=1 -->`; further lines of a text are
# indented by two blanks. A carriage return of a text is written as `&#13;`: those of the file are
# part of its line ends, and others change them.


_END = re.compile(
    r" <!-- (?P<kind>bullet|memory) (?P<id>\S+)(?: helpful=(?P<helpful>\d{1,12}) harmful=(?P<harmful>\d{1,12}))?"
    r"(?P<pinned> pinned)? -->"
)
_ITEM = re.compile(r"^(?:- |  )[^\n]*" + _END.pattern + r"\r?$", re.MULTILINE)
_RETURN = re.compile(r"\r|&((?:amp;)*)#13;")
_WRITTEN_RETURN = re.compile(r"&(?:amp;((?:amp;)*))?#13;")
_UNSAFE = re.compile(r"[\s%<>]|-(?=-)")


def begins(text: str) -> bool:
    """Tell whether a text holds an item with its id."""
    return text.startswith(("#", "- ")) and _ITEM.search(text) is not None


def written_item(record: Memory | Bullet) -> str:
    counted = record.helpful_count or record.harmful_count
    shown = f" (+{record.helpful_count} −{record.harmful_count})" if counted else ""
    counts = f" helpful={record.helpful_count} harmful={record.harmful_count}" if counted else ""
    kind = "memory" if isinstance(record, Memory) else "bullet"
    name = _UNSAFE.sub(lambda found: f"%{ord(found.group()):x};", record.id)
    said = _RETURN.sub(
        lambda found: "&#13;" if found[0] == "\r" else f"&amp;{found[1]}#13;", record.content
    )
    text = "\n  ".join(said.split("\n"))
    return f"- {text}{shown} <!-- {kind} {name}{counts}{' pinned' if record.pinned else ''} -->"


def source(text: str, report: Report) -> Source:
    """Find the items of a text; what of it is neither an item with an id nor a heading is said in
    `report`.
    """
    clean = clean_for_store(text)
    found = list(_rows(clean, report))
    is_book = any(kind == "bullet" for kind, _ in found)
    rows = [row for kind, row in found if (kind == "bullet") == is_book]
    if len(rows) < len(found):
        other = len(found) - len(rows)
        report.skip(
            1, f"memories among the bullets of a playbook: not read ({other:,} of them)", other
        )
    title = clean.partition("\n")[0].removesuffix("\r")
    return Source(
        rows, is_book, name=title.removeprefix("# ").strip() if title.startswith("# ") else ""
    )


def _rows(text: str, report: Report) -> Iterator[tuple[str, Row]]:
    heading, item, start = "", list[str](), 0
    for number, raw in enumerate([*text.split("\n"), "# "], 1):
        line = raw.removesuffix("\r")
        if item and (line.startswith("  ") or not line.strip()):
            item.append(line)
            continue
        if item:
            yield from _row(item, start, heading, report)
            item = []
        if line.startswith("- "):
            item, start = [line], number
        elif line.startswith("## "):
            heading = line.removeprefix("## ").strip()
        elif line.strip() and not line.startswith("# "):
            report.skip(number, "text that belongs to no item: not read")


def _row(lines: list[str], number: int, heading: str, report: Report) -> Iterator[tuple[str, Row]]:
    while not lines[-1].strip():
        lines.pop()
    body = "\n".join(line[2:] for line in lines)
    end = next((found for found in _END.finditer(body) if found.end() == len(body)), None)
    if end is None:
        report.skip(number, "an item without an id: not read")
        return
    content = body[: end.start()]
    helpful, harmful = int(end["helpful"] or 0), int(end["harmful"] or 0)
    if helpful or harmful:
        content = content.removesuffix(f" (+{helpful} −{harmful})")
    content = _WRITTEN_RETURN.sub(
        lambda found: "\r" if found[1] is None else f"&{found[1]}#13;", content
    )
    row: dict[str, Any] = {
        "id": re.sub(r"%([0-9a-f]+);", lambda found: chr(int(found[1], 16)), end["id"]),
        "content": content, "helpful": helpful, "harmful": harmful, "pinned": end["pinned"] is not None,
    }  # fmt: skip
    kind = "observation_type" if heading in OBSERVATION_TYPES else "section"
    place = kind if end["kind"] == "memory" else "section"
    yield end["kind"], (number, {**row, **({place: heading} if heading else {})})


NAME = "records"
_SHORT = 10_000
_COMPUTED = frozenset({"confidence_scored"})
"""What `list --json` says of a memory that is worked out anew wherever it is."""
_KEYS = {field.name: field.key for field in FIELDS.values()} | {
    "importance": "importance_score", "helpful": "helpful_count", "harmful": "harmful_count",
}  # fmt: skip
_ALSO = {
    "timestamp": ("timestamp", "time", "date", "created", "ts", "at"),
    "type": ("type", "kind"),
}
"""What other people call when a record was made, and what kind it is of; taken where it does not
say so by our name.
"""
_CLOCKS = 1_000_000_000
"""Seconds since 1970 from which on a number may be a time; a smaller one may be anything."""
_BULLET_KEYS = frozenset({
    "id", "section", "content", "helpful", "harmful", "neutral", "pinned", "state", "aliases", "created_at",
    "last_feedback_at", "metadata", FILE_KEY,
})  # fmt: skip
_START = re.compile(r'\s*(?:\[\s*\{|\{\s*"(?:playbook|memories|bullets)"\s*:|\{)')
_MARKS = re.compile(
    r'"(memory_type|observation_type|status|importance|importance_score|created_at|helpful|harmful)"\s*:'
)
_NOT_OURS = re.compile(
    r'"(?:node_id|node_type|role|memory|skills|schema_version|pointer_id|context)"\s*:'
)
_EMPTY = re.compile(
    r'\s*(?:\[\s*\]|\{\s*"memories"\s*:\s*\[\s*\]\s*\}|\{\s*"playbook"[^{}]*"bullets"\s*:\s*\[\s*\]\s*\}|'
    r"memories: \[\]|# Memories)\s*"
)
"""What is written of no records at all."""
_HEADER = re.compile(
    r'"?id"?(?P<mark>[,;\t])(?:"?section"?(?P=mark))?"?content"?(?:(?P=mark)|\r?\n|$)'
)
_YAML_KEYS = re.compile(
    r"^ *(?:- )?(id|content|section|memory_type|observation_type|status|helpful|state)[ \t]*:",
    re.MULTILINE,
)


def detect(head: str, path: str) -> Sure | None:
    """Sure when objects have an `id`, a `content` and other names of ours, or a table's first line
    does.
    """
    del path
    text = head.lstrip()
    if len(text) < _SHORT and _EMPTY.fullmatch(text):
        return (0.5, "a list without records")
    if _HEADER.match(text):
        return (0.9, "a table with the columns “id” and “content”")
    if begins(text):
        return (0.92, "Markdown lists whose items end with their ids")
    if text[:1] not in ("{", "[") and YAML.search(text):
        keys = set(_YAML_KEYS.findall(text))
        if {"id", "content"} <= keys:
            return (min(0.35 + 0.1 * len(keys), 0.9), "YAML records with “id” and “content”")
        return None
    said = (
        '"id"' in text and '"content"' in text and _START.match(text) and not _NOT_OURS.search(text)
    )
    marks = len(set(_MARKS.findall(text))) if said else 0
    if said:
        return (min(0.35 + 0.1 * marks, 0.9), "JSON records with “id” and “content”")
    return None


def read(text: str, context: ReadContext) -> Parsed:
    """Read every row that can be read, as memories or, where the file is a playbook's, as bullets.

    Raises `UnreadableFile` when there is no list of rows.
    """
    report = Report(context.file)
    found = source(text, report) if _is_markdown(text) else source_of(text, context, report)
    rows = ((line, doc, ()) for line, doc in found.rows)
    if not found.is_book:
        memories = report.every(rows, lambda doc: _memory(_object(doc), context))
        return report.parsed(NAME, memories=memories)
    bullets = [
        (bullet.section, bullet) for bullet in report.every(rows, lambda doc: _bullet(_object(doc)))
    ]
    if not (bullets or found.sections):
        return report.parsed(NAME)
    playbook = books.playbook(context.file, found.sections, bullets)
    named = replace(playbook.book, name=found.name or playbook.book.name)
    return report.parsed(NAME, playbooks=(replace(playbook, book=named),))


def _object(doc: Any) -> dict[str, Any]:
    if not isinstance(doc, dict):
        raise ValueError("not a record: expected an object")
    return doc


def _is_markdown(text: str) -> bool:
    return begins(text) or text.strip() == "# Memories"


def _memory(doc: dict[str, Any], context: ReadContext) -> tuple[Memory, Notes]:
    entry = {
        _KEYS[name]: value for name, value in doc.items() if name in _KEYS and value is not None
    }
    if not isinstance(entry.get("context"), str):
        raise ValueError("it has no content")
    also = _also(doc, entry)
    memory, notes = from_entry(entry | {key: doc[name] for key, name in also.items()}, context)
    notes += [(name, f"taken for the entry's {key}") for key, name in also.items() if name != key]
    own = without(memory.metadata, FILE_KEY)
    if "type" in entry and entry["type"] != memory.observation_type:
        own["type"] = entry["type"]
    other = {
        name: value
        for name, value in doc.items()
        if name not in _KEYS and name not in _COMPUTED | {FILE_KEY}
    }
    return replace(memory, metadata={**other, **own}), notes


def _also(doc: dict[str, Any], entry: dict[str, Any]) -> dict[str, str]:
    """Return which other names say what an entry leaves open, as far as they say it in a way that
    can be read.
    """
    found = {}
    for key, names in _ALSO.items():
        if key not in entry:
            name = next((name for name in names if _says(key, doc.get(name))), None)
            if name is not None:
                found[key] = name
    return found


def _says(key: str, value: object) -> bool:
    if key == "type":
        return isinstance(value, str) and value in OBSERVATION_TYPES
    if isinstance(value, int | float) and value < _CLOCKS:
        return False
    try:
        return value is not None and values.time(value)[0] is not None
    except ValueError:
        return False


def _bullet(doc: dict[str, Any]) -> tuple[Bullet, Notes]:
    notes: Notes = []
    content = required_text(doc, "content")
    other = without(doc, *_BULLET_KEYS)
    bullet = Bullet(
        id=take_text(doc, "id", notes).strip() or unique_id("b", content),
        section=take_text(doc, "section", notes).strip() or "Others",
        content=content,
        helpful_imported=take_count(doc, "helpful", notes),
        harmful_imported=take_count(doc, "harmful", notes),
        pinned=take(doc, "pinned", values.flag, False, notes),
        state="deprecated" if doc.get("state") == "deprecated" else "active",
        neutral_count=take_count(doc, "neutral", notes),
        aliases=take(doc, "aliases", values.texts, (), notes),
        created_at=take(doc, "created_at", values.time, None, notes),
        last_feedback_at=take(doc, "last_feedback_at", values.time, None, notes),
        metadata={**other, **take(doc, "metadata", values.meta, {}, notes)},
    )
    return bullet, notes


FORMAT = Format(NAME, "records (JSON, JSON lines, YAML, CSV or Markdown)", detect, read)
