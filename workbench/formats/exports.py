"""Everything that can be written: the formats that are read as well, and the plain ones for other
programs.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from workbench.core.files.format import Format, Holds, Parsed, WriteText
from workbench.core.files.formats import ALIASES, known_formats
from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.record import UnreadableFile, iso, without
from workbench.core.stream.memory import FILE_KEY, NO_SOURCE, Memory, Source
from workbench.formats import ace, managed_block
from workbench.formats.patch import scalar
from workbench.formats.plain_read import NAME as RECORDS
from workbench.formats.plain_read import written, written_item
from workbench.formats.shared import books
from workbench.formats.shared.values import flat, write_source

# Records inside the managed block of a Markdown file that belongs to somebody else, such as
# CLAUDE.md or AGENTS.md.


_OURS = re.compile(r"- \[[^\]\s]{2,200}\] ")
"""How an exported item begins: with its id. Items of other kinds (promoted ones, a colleague's)
stay.
"""


def write_block(parsed: Parsed, original: str | None = None) -> str:
    """Return the file with one item for each record in its block, `[id] text`; the rest of it stays
    as it is.

    Items that an earlier export wrote are replaced, other items of the block stay above them.
    Raises `BrokenBlock` when the markers in the file make no single block.
    """
    text = original or ""
    block = managed_block.find(text)
    kept = [item for item in block.items if not _OURS.match(item)] if block else []
    return managed_block.written(text, [*kept, *_items(parsed)], managed_block.lead_of(text))


def _items(parsed: Parsed) -> Iterator[str]:
    for memory in parsed.memories:
        yield managed_block.item(f"[{_name(memory.id)}] {memory.content}")
    for playbook in parsed.playbooks:
        for bullet in playbook.bullets:
            if bullet.state != "deprecated":
                yield managed_block.item(f"[{_name(bullet.id)}] {bullet.content}")


def _name(id: str) -> str:
    return re.sub(r"[\]\s]", "_", id)


# Memories and bullets as rows of named values: what the plain formats (JSON, YAML, CSV) write.
#
# Every row has the columns a person would look for; the others stand only where they say something,
# so that nothing is lost on the way back. Counts are totals, times ISO 8601.


Row = Mapping[str, Any]


_MEMORY = (
    "id", "content", "summary", "memory_type", "observation_type", "status", "importance", "helpful", "harmful",
    "pinned", "confidence", "section", "tags", "session_id", "created_at", "last_accessed_at", "citations",
    "promoted_to", "archived_reason",
)  # fmt: skip
_MEMORY_TOO = (
    "category", "related", "source", "user_id", "aliases", "is_synthetic", "access_count", "last_feedback_at",
    "review_after", "metadata",
)  # fmt: skip
_BULLET = ("id", "section", "content", "helpful", "harmful", "pinned", "state", "aliases")
_BULLET_TOO = ("neutral", "created_at", "last_feedback_at", "metadata")
_CALLED = {
    "importance": "importance_score", "helpful": "helpful_count", "harmful": "harmful_count",
    "neutral": "neutral_count",
}  # fmt: skip
"""What a record calls a column, where that is another name."""


def memory_row(memory: Memory) -> Row:
    """Return all that a memory says but which parts its counts have, and how its file wrote it."""
    return _row(memory, _MEMORY, _MEMORY_TOO)


def _row(record: Memory | Bullet, columns: Sequence[str], others: Sequence[str]) -> Row:
    """Return the columns of a row, of the `others` those that say something."""
    row = {name: _cell(name, getattr(record, _CALLED.get(name, name))) for name in columns}
    said = {name: _cell(name, getattr(record, _CALLED.get(name, name))) for name in others}
    return row | {name: value for name, value in said.items() if value}


def _cell(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, Source):
        return write_source(value) if value != NO_SOURCE else None
    if name == "user_id":
        return value if value != "local" else ""
    if name == "metadata":
        return without(value, FILE_KEY)
    return list(value) if isinstance(value, tuple) else value


def book_rows(playbook: Playbook) -> list[Row]:
    """Return the bullets in the order of the file, deprecated ones too."""
    titles = playbook.titles
    return [
        _row(replace(bullet, section=titles.get(bullet.section, "")), _BULLET, _BULLET_TOO)
        for bullet in books.ranked(playbook)
    ]


# Markdown for people, which `plain_read` reads back, and text for an agent's prompt, which nothing
# does.


def write_markdown(parsed: Parsed, original: str | None = None) -> str:
    """Write a document with a heading for each section, or for each type of memory."""
    del original
    title = parsed.playbooks[0].book.name if parsed.playbooks else "Memories"
    lines = [f"# {ace.flat(title)}"]
    for heading, items in _grouped(parsed):
        lines += ["", f"## {ace.flat(heading)}", "", *map(written_item, items)]
    return "\n".join(lines) + "\n"


def write_prompt(parsed: Parsed, original: str | None = None) -> str:
    """Write what an agent is to read: a playbook's sections and bullets with their ids, or one
    memory a line.
    """
    del original
    if not parsed.playbooks:
        return "".join(f"- {flat(memory.content)}\n" for memory in parsed.memories)
    lines: list[str] = []
    for heading, bullets in _sections(parsed.playbooks[0]):
        lines += [
            *([""] if lines else []),
            f"## {ace.flat(heading)}",
            *(f"- [{b.id}] {ace.flat(b.content)}" for b in bullets),
        ]
    return "\n".join(lines) + "\n" if lines else ""


def write_prompt_with_counts(parsed: Parsed, original: str | None = None) -> str:
    """Write a playbook with its helpful and harmful counts, in the strict form that ACE agents
    read.
    """
    if not parsed.playbooks:
        return write_prompt(parsed, original)
    return ace.write_playbook(parsed.playbooks[0], dialect="counts")


def _grouped(parsed: Parsed) -> Iterator[tuple[str, list[Memory] | list[Bullet]]]:
    if parsed.playbooks:
        yield from _sections(parsed.playbooks[0])
        return
    groups: dict[str, list[Memory]] = {}
    for memory in parsed.memories:
        groups.setdefault(memory.observation_type, []).append(memory)
    yield from sorted(groups.items())


def _sections(playbook: Playbook) -> Iterator[tuple[str, list[Bullet]]]:
    """Yield the sections that hold something, with their bullets; deprecated ones are left out."""
    titles = playbook.titles
    groups: dict[str, list[Bullet]] = {}
    for bullet in books.ranked(playbook):
        if bullet.state != "deprecated":
            groups.setdefault(bullet.section if bullet.section in titles else "", []).append(bullet)
    yield from ((titles.get(id) or "Others", mine) for id, mine in groups.items())


def write_json(parsed: Parsed, original: str | None = None) -> str:
    """Write one JSON object with a list of memories, or with a playbook's bullets."""
    del original
    return json.dumps(_document(parsed), ensure_ascii=False, indent=2) + "\n"


def write_yaml(parsed: Parsed, original: str | None = None) -> str:
    """Write what `write_json` writes as YAML 1.2, each value on a line of its own as JSON spells
    it.
    """
    del original
    lines = []
    for name, value in _document(parsed).items():
        if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):
            lines.append(f"{name}: {scalar(value)}")
            continue
        lines.append(f"{name}:" if value else f"{name}: []")
        for row in value:
            signs = ("- ", *("  " for _ in range(len(row) - 1)))
            lines += [
                f"  {sign}{key}: {scalar(item)}"
                for sign, (key, item) in zip(signs, row.items(), strict=True)
            ]
    return "\n".join(lines) + "\n"


def write_csv(parsed: Parsed, original: str | None = None) -> str:
    """Write a line of names and a line for each record (RFC 4180); how a value becomes a cell:
    `plain_read.written`.

    A table has no place for a section without bullets, nor for a playbook's name. The columns of
    the file that is replaced stay, also when no record fills one any more: without it every line
    would be another.
    """
    rows = (
        book_rows(parsed.playbooks[0])
        if parsed.playbooks
        else [memory_row(memory) for memory in parsed.memories]
    )
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(
            out, _columns(rows, original or ""), restval="", lineterminator="\r\n"
        )
        writer.writeheader()
        writer.writerows({name: written(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def _columns(rows: Sequence[Row], original: str) -> list[str]:
    """Return the names of a table that was written before, then those that any row has besides, as
    they come up.
    """
    before = next(csv.reader(original.splitlines()[:1]), [])
    kept = before if set(rows[0]) & set(before) else []
    return list(dict.fromkeys([*kept, *(name for row in rows for name in row)]))


def _document(parsed: Parsed) -> dict[str, Any]:
    if not parsed.playbooks:
        return {"memories": [memory_row(memory) for memory in parsed.memories]}
    book = parsed.playbooks[0]
    sections = books.titles(book)
    return {"playbook": book.book.name, "sections": sections, "bullets": book_rows(book)}


def _data(name: str, title: str, write: WriteText, *endings: str) -> Format:
    return Format(
        name, title, write=write, holds="either", suffix=endings[0], endings=endings,
        read_as=RECORDS, carries_status=True,
    )  # fmt: skip


def _prompt(
    name: str, title: str, write: WriteText, suffix: str = ".txt", *, inside: bool = False
) -> Format:
    return Format(
        name, title, write=write, holds="either", suffix=suffix, inside=inside, is_prompt=True
    )


OUTLETS = (
    *(format for format in known_formats() if format.writes),
    _data("json", "JSON", write_json, ".json"),
    _data("yaml", "YAML", write_yaml, ".yaml", ".yml"),
    _data("csv", "CSV table", write_csv, ".csv"),
    replace(_data("markdown", "Markdown", write_markdown, ".md"), carries_status=False),
    _prompt("prompt", "prompt text", write_prompt),
    _prompt("block", "managed block in a Markdown file", write_block, ".md", inside=True),
    _prompt("prompt-counts", "prompt text with counts", write_prompt_with_counts),
)
"""Everything that can be written, what is read too first."""

_BY_NAME = {kind.name: kind for kind in OUTLETS}


def export_format(name: str) -> Format:
    """Return the outlet called `name`. Raises `UnreadableFile` when there is none."""
    found = _BY_NAME.get(name) or _BY_NAME.get(ALIASES.get(name, name))
    if found is None:
        raise UnreadableFile(
            f"Unknown export format “{name}”.", f"Known ones: {', '.join(names())}."
        )
    return found


def asked_by_name(ending: str, holds: Holds) -> Format | None:
    """Return what the ending of a file's name asks for, `None` for nothing: rather what is made for
    such records.
    """
    asked = [kind for kind in OUTLETS if ending in kind.endings]
    return min(
        asked, key=lambda kind: (holds, "either", kind.holds).index(kind.holds), default=None
    )


def names() -> tuple[str, ...]:
    others = (kind.name for kind in OUTLETS if kind.name not in ("ace", "lifecycle"))
    return ("ace", "jsonl", *others, "lifecycle")
