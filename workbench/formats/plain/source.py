"""Where the rows of a plain file stand: in JSON, in JSON lines, in YAML or in a table."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from workbench.core.errors import UnreadableFile
from workbench.core.files.format import ReadContext
from workbench.core.files.reason import Reason
from workbench.core.text import clean_for_store
from workbench.formats.plain import cells
from workbench.formats.shared import jsonlines
from workbench.formats.shared.jsontext import JsonReader
from workbench.formats.shared.jsontree import BOM, Lines, scan_file
from workbench.formats.shared.report import Report

Row = tuple[int, Any]
"""The line a record starts on, and its value."""

LISTS = ("memories", "bullets")
YAML = re.compile(r"^(?:memories|bullets)[ \t]*:", re.MULTILINE)
_OPEN = "a quoted cell is never closed: nothing from here on is read"
_YAML_LINE = re.compile(r"(?:(?P<item>  - |    )(?P<name>\w+)|(?P<top>\w+)):(?: (?P<value>.*))?")


@dataclass(frozen=True, slots=True)
class Source:
    """The rows of a file, whether they are a playbook's bullets, and the sections and the name it says beside them."""

    rows: Iterable[Row]
    is_book: bool = False
    sections: tuple[str, ...] = ()
    name: str = ""


def source(text: str, context: ReadContext, report: Report) -> Source:
    """Find the rows of a file. Raises `UnreadableFile` when there are none to be found."""
    plain = text.removeprefix(BOM)
    start = plain.lstrip()
    if start[:1] in ("{", "["):
        lines = [line for _, line in jsonlines.lines(text)]
        if start.startswith("{") and _is_object(lines[0]) and not any(name in lines[0] for name in LISTS):
            return Source(_json_lines(text, context, report))
        return _document(text, context, report)
    if (delimiter := _delimiter(start)) is not None:
        return _table(plain, delimiter, report)
    if YAML.search(plain):
        return _own_yaml(plain) or _yaml(plain, context, report)
    raise UnreadableFile(f"{context.file} has no list of records.", "Nothing was read from it.")


def _document(text: str, context: ReadContext, report: Report) -> Source:
    root, places = scan_file(text, context.file, frozenset(LISTS)), Lines(text)
    listed = root if root.kind == "[" else root.inside("memories", "[") or root.inside("bullets", "[")
    if listed is None and root.get("id") is not None and root.get("content") is not None and not root.damage:
        return Source([(places.at(root.start), {str(entry.key): entry.value for entry in root.entries})])
    if listed is None:
        raise UnreadableFile(f"{context.file} has no list of records.", "Nothing was read from it.")
    if root.damage:
        report.skip(places.at(root.damage_at), root.damage)
    named, name = root.get("sections"), root.get("playbook")
    return Source(
        [(places.at(entry.start), entry.value) for entry in listed.entries],
        root.kind != "[" and root.inside("bullets", "[") is listed,
        _titles(named.value if named is not None else None),
        _text(name.value if name is not None else None),
    )


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
            report.skip(number, reason)


def _own_yaml(text: str) -> Source | None:
    """Read YAML as `plain.data` writes it, which is ten times as fast; None when a line is of another shape."""
    reader, found, rows, top = JsonReader(), dict[str, Any](), list[Row](), ""
    for number, line in jsonlines.lines(text):
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
    return Source(rows, "bullets" in found, _titles(found.get("sections")), _text(found.get("playbook")))


def _yaml(text: str, context: ReadContext, report: Report) -> Source:
    # The YAML parser is loaded when a file needs it: it would slow down every start of the program.
    from workbench.formats.shared import yamllist, yamltree

    name = "memories" if re.search(r"^memories[ \t]*:", text, re.MULTILINE) else "bullets"
    whole = yamllist.tree(text, context.file, name)
    if whole.damage:
        report.skip(whole.line, whole.damage)
    rows = list[Row]()
    for node in whole.listed.value if whole.listed is not None else ():
        line = node.start_mark.line + 1
        try:
            rows.append((line, yamltree.plain(node)))
        except ValueError as reason:
            report.skip(line, reason)
    beside = {key: yamltree.plain(whole.top[key][1]) for key in ("sections", "playbook") if key in whole.top}
    return Source(rows, name == "bullets", _titles(beside.get("sections")), _text(beside.get("playbook")))


def _titles(value: object) -> tuple[str, ...]:
    return tuple(title for title in value if isinstance(title, str)) if isinstance(value, list) else ()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _delimiter(text: str) -> str | None:
    """Return what stands between the cells of a table whose first line names a column “content”; None for no table."""
    first = re.split(r"[\r\n]", text, maxsplit=1)[0]
    found = max(cells.DELIMITERS, key=first.count)
    return found if any("content" in row.cells for row in cells.table(first, found)) else None


def _table(text: str, delimiter: str, report: Report) -> Source:
    lines = cells.table(clean_for_store(text), delimiter)
    head = next(lines)
    if head.open:
        report.skip(head.line, _OPEN)
    return Source(_cells(head, lines, report), "state" in head.cells and "memory_type" not in head.cells)


def _cells(head: cells.TableRow, lines: Iterable[cells.TableRow], report: Report) -> Iterator[Row]:
    for row in lines:
        if row.open:
            report.skip(row.line, _OPEN)
            continue
        if len(row.cells) > len(head.cells):
            report.remark(
                row.line,
                Reason("{} cells beyond the last column: left out", (f"{len(row.cells) - len(head.cells):,}",)),
            )
        named = zip(head.cells, row.cells, strict=False)
        yield row.line, {name: cells.read(name, cell) for name, cell in named if name and cell}
