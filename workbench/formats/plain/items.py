"""Records as the items of Markdown lists, each with its id in a comment that no reader of the page sees.

`- text (+2 −1) <!-- bullet sai-00001 helpful=2 harmful=1 -->`; further lines of a text are indented by two blanks.
A carriage return of a text is written as `&#13;`: those of the file are part of its line ends, and others change them.
"""

import re
from collections.abc import Iterator
from typing import Any

from workbench.core.playbook.book import Bullet
from workbench.core.stream.memory import OBSERVATION_TYPES, Memory
from workbench.core.text import clean_for_store
from workbench.formats.plain.source import Row, Source
from workbench.formats.shared.report import Report

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
    return text.removeprefix("\ufeff").startswith(("#", "- ")) and _ITEM.search(text) is not None


def written(record: Memory | Bullet) -> str:
    """Return the item for a record."""
    counted = record.helpful_count or record.harmful_count
    shown = f" (+{record.helpful_count} −{record.harmful_count})" if counted else ""
    counts = f" helpful={record.helpful_count} harmful={record.harmful_count}" if counted else ""
    kind = "memory" if isinstance(record, Memory) else "bullet"
    name = _UNSAFE.sub(lambda found: f"%{ord(found.group()):x};", record.id)
    said = _RETURN.sub(lambda found: "&#13;" if found[0] == "\r" else f"&amp;{found[1]}#13;", record.content)
    text = "\n  ".join(said.split("\n"))
    return f"- {text}{shown} <!-- {kind} {name}{counts}{' pinned' if record.pinned else ''} -->"


def source(text: str, report: Report) -> Source:
    """Find the items of a text; what of it is neither an item with an id nor a heading is said in `report`."""
    clean = clean_for_store(text.removeprefix("\ufeff"))
    found = list(_rows(clean, report))
    is_book = any(kind == "bullet" for kind, _ in found)
    rows = [row for kind, row in found if (kind == "bullet") == is_book]
    if len(rows) < len(found):
        other = len(found) - len(rows)
        report.skip(1, f"memories among the bullets of a playbook: not read ({other:,} of them)", other)
    title = clean.partition("\n")[0].removesuffix("\r")
    return Source(rows, is_book, name=title.removeprefix("# ").strip() if title.startswith("# ") else "")


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
    content = _WRITTEN_RETURN.sub(lambda found: "\r" if found[1] is None else f"&{found[1]}#13;", content)
    row: dict[str, Any] = {
        "id": re.sub(r"%([0-9a-f]+);", lambda found: chr(int(found[1], 16)), end["id"]),
        "content": content, "helpful": helpful, "harmful": harmful, "pinned": end["pinned"] is not None,
    }  # fmt: skip
    kind = "observation_type" if heading in OBSERVATION_TYPES else "section"
    place = kind if end["kind"] == "memory" else "section"
    yield end["kind"], (number, {**row, **({place: heading} if heading else {})})
