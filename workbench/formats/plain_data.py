"""JSON, YAML and CSV for other programs: written, never read back, nothing of the store's bookkeeping in them."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from workbench.formats.model import Parsed
from workbench.formats.plain_rows import Row, book_rows, memory_row
from workbench.formats.yamledit import scalar

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the beginning of a formula."""


def write_json(parsed: Parsed, original: str | None = None) -> str:
    """Write one JSON object with a list of memories, or with a playbook's bullets."""
    del original
    return json.dumps(_document(parsed), ensure_ascii=False, indent=2) + "\n"


def write_yaml(parsed: Parsed, original: str | None = None) -> str:
    """Write what `write_json` writes as YAML 1.2, texts in double quotes."""
    del original
    lines = []
    for name, value in _document(parsed).items():
        if not isinstance(value, list):
            lines.append(f"{name}: {scalar(value)}")
            continue
        lines.append(f"{name}:" if value else f"{name}: []")
        for row in value:
            signs = ("- ", *("  " for _ in range(len(row) - 1)))
            lines += [f"  {sign}{key}: {scalar(item)}" for sign, (key, item) in zip(signs, row.items(), strict=True)]
    return "\n".join(lines) + "\n"


def write_csv(parsed: Parsed, original: str | None = None) -> str:
    """Write a line of names and a line for each record (RFC 4180).

    A text that a spreadsheet would run as a formula begins with an apostrophe.
    """
    del original
    rows = _rows(parsed)
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\r\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def _rows(parsed: Parsed) -> Sequence[Row]:
    if parsed.playbooks:
        return book_rows(parsed.playbooks[0])
    return [memory_row(memory) for memory in parsed.memories]


def _document(parsed: Parsed) -> dict[str, Any]:
    if parsed.playbooks:
        return {"playbook": parsed.playbooks[0].book.name, "bullets": _rows(parsed)}
    return {"memories": _rows(parsed)}


def _cell(value: object) -> object:
    if isinstance(value, list):
        value = " ".join(str(item) for item in value)
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
