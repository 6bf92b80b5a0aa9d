"""JSON, YAML and CSV for other programs, read back by `plain.reading`: rows, without how a file wrote them."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.core.files.format import Parsed
from workbench.formats.plain.cells import written
from workbench.formats.plain.rows import Row, book_rows, memory_row
from workbench.formats.shared.yamledit import scalar


def write_json(parsed: Parsed, original: str | None = None) -> str:
    """Write one JSON object with a list of memories, or with a playbook's bullets."""
    del original
    return json.dumps(_document(parsed), ensure_ascii=False, indent=2) + "\n"


def write_yaml(parsed: Parsed, original: str | None = None) -> str:
    """Write what `write_json` writes as YAML 1.2, each value on a line of its own as JSON spells it."""
    del original
    lines = []
    for name, value in _document(parsed).items():
        if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):
            lines.append(f"{name}: {scalar(value)}")
            continue
        lines.append(f"{name}:" if value else f"{name}: []")
        for row in value:
            signs = ("- ", *("  " for _ in range(len(row) - 1)))
            lines += [f"  {sign}{key}: {scalar(item)}" for sign, (key, item) in zip(signs, row.items(), strict=True)]
    return "\n".join(lines) + "\n"


def write_csv(parsed: Parsed, original: str | None = None) -> str:
    """Write a line of names and a line for each record (RFC 4180); how a value becomes a cell: `plain.cells`.

    A table has no place for a section without bullets, nor for a playbook's name. The columns of the file that is
    replaced stay, also when no record fills one any more: without it every line would be another.
    """
    rows = book_rows(parsed.playbooks[0]) if parsed.playbooks else [memory_row(memory) for memory in parsed.memories]
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, _columns(rows, original or ""), restval="", lineterminator="\r\n")
        writer.writeheader()
        writer.writerows({name: written(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def _columns(rows: Sequence[Row], original: str) -> list[str]:
    """Return the names of a table that was written before, then those that any row has besides, as they come up."""
    before = next(csv.reader(original.splitlines()[:1]), [])
    kept = before if set(rows[0]) & set(before) else []
    return list(dict.fromkeys([*kept, *(name for row in rows for name in row)]))


def _document(parsed: Parsed) -> dict[str, Any]:
    if not parsed.playbooks:
        return {"memories": [memory_row(memory) for memory in parsed.memories]}
    book = parsed.playbooks[0]
    titles = [section.title or section.key for section in sorted(book.sections, key=lambda section: section.order)]
    return {"playbook": book.book.name, "sections": titles, "bullets": book_rows(book)}
