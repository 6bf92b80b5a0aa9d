"""The cells of a table: how a value becomes text that a spreadsheet shows and a reader takes back."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.formats.shared.jsontext import JsonReader

LISTS = frozenset({"tags", "related", "citations", "aliases"})
OBJECTS = frozenset({"metadata", "source"})
FLAGS = frozenset({"pinned", "is_synthetic"})
NUMBERS = frozenset({"importance", "helpful", "harmful", "neutral", "confidence", "access_count"})

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""What a spreadsheet takes for the beginning of a formula, and what has our mark before it."""

DELIMITERS = (",", ";", "\t")
"""What stands between the cells of a table; spreadsheets of some countries write semicolons."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table: the line it starts on, from 1, and its cells; `open` tells that a quote is never closed."""

    line: int
    cells: tuple[str, ...]
    open: bool = False


def written(value: object) -> object:
    """Write a value as a cell.

    A list is parted by blanks, or is JSON where an item has one; an object is JSON. A text that a spreadsheet would
    run as a formula begins with an apostrophe.
    """
    if value is None:
        return ""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        joined = " ".join(map(str, value))
        value = joined if joined.split() == value and joined[:1] != "[" else json.dumps(value, ensure_ascii=False)
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def read(name: str, cell: str) -> object:
    """Read a cell of the column `name` as `written` writes it; what is not of the column's kind stays text."""
    if _FORMULA.match(cell) and cell[0] == "'":
        cell = cell[1:]
    if name in LISTS:
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
    """Yield the rows of a table (RFC 4180, any line ends); the last one is `open` where a quote is never closed."""
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
