"""The plain formats read back: memories and bullets as rows of JSON, JSON lines, YAML or CSV, or as Markdown, as
`workbench export` and `workbench list --json` write them.

Keys that are not ours are kept as notes of the record. Prompt text has no ids and is not read; Markdown has ids,
texts, sections, kinds and counts, and no more. Counts come back as imported ones.
"""

import re
from dataclasses import replace
from typing import Any

from workbench.core.files.format import Detection, Format, Parsed, ReadContext
from workbench.core.files.reason import Unread
from workbench.core.playbook.book import Bullet, Playbook
from workbench.core.stream.memory import FILE_KEY, OBSERVATION_TYPES, Memory
from workbench.formats.lifecycle import values
from workbench.formats.lifecycle.entry import from_entry
from workbench.formats.lifecycle.fields import FIELDS
from workbench.formats.lifecycle.values import Notes
from workbench.formats.plain import items
from workbench.formats.plain.source import YAML, Source, source
from workbench.formats.shared import books
from workbench.formats.shared.reading import unique_id
from workbench.formats.shared.records import required_text, take
from workbench.formats.shared.report import Report, shown

NAME = "records"
_SHORT = 10_000
_COMPUTED = frozenset({"confidence_scored"})
"""What `list --json` says of a memory that is worked out anew wherever it is."""
_KEYS = {field.name: field.key for field in FIELDS.values()} | {
    "importance": "importance_score", "helpful": "helpful_count", "harmful": "harmful_count",
}  # fmt: skip
_ALSO = {"timestamp": ("timestamp", "time", "date", "created", "ts", "at"), "type": ("type", "kind")}
"""What other people call when a record was made, and what kind it is of; taken where it does not say so by our name."""
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
_NOT_OURS = re.compile(r'"(?:node_id|node_type|role|memory|skills|schema_version|pointer_id|context)"\s*:')
_EMPTY = re.compile(
    r'\s*(?:\[\s*\]|\{\s*"memories"\s*:\s*\[\s*\]\s*\}|\{\s*"playbook"[^{}]*"bullets"\s*:\s*\[\s*\]\s*\}|'
    r"memories: \[\]|# Memories)\s*"
)
"""What is written of no records at all."""
_HEADER = re.compile(r'"?id"?(?P<mark>[,;\t])(?:"?section"?(?P=mark))?"?content"?(?:(?P=mark)|\r?\n|$)')
_YAML_KEYS = re.compile(
    r"^ *(?:- )?(id|content|section|memory_type|observation_type|status|helpful|state)[ \t]*:", re.MULTILINE
)


def detect(head: str, path: str) -> Detection:
    """Sure when objects have an `id`, a `content` and other names of ours, or a table's first line does."""
    del path
    text = head.removeprefix("\ufeff").lstrip()
    if len(text) < _SHORT and _EMPTY.fullmatch(text):
        return Detection(NAME, 0.5, "a list without records")
    if _HEADER.match(text):
        return Detection(NAME, 0.9, "a table with the columns “id” and “content”")
    if items.begins(text):
        return Detection(NAME, 0.92, "Markdown lists whose items end with their ids")
    if text[:1] not in ("{", "[") and YAML.search(text):
        keys = set(_YAML_KEYS.findall(text))
        if {"id", "content"} <= keys:
            return Detection(NAME, min(0.35 + 0.1 * len(keys), 0.9), "YAML records with “id” and “content”")
        return Detection(NAME, 0.0, "no records with “id” and “content”")
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
    rows = items.source(text, report) if _is_markdown(text) else source(text, context, report)
    for line, doc in rows.rows:
        try:
            if not isinstance(doc, dict):
                raise ValueError("not a record: expected an object")
            if rows.is_book:
                section, bullet, notes = _bullet(doc)
                _add(bullets, bullet.id, (section, bullet))
            else:
                memory, notes = _memory(doc, context)
                _add(found, memory.id, memory)
        except ValueError as reason:
            report.skip(line, reason)
            continue
        report.mapped_all(notes)
    return report.parsed(NAME, memories=tuple(found.values()), playbooks=_playbooks(rows, bullets, context))


def _is_markdown(text: str) -> bool:
    return items.begins(text) or text.removeprefix("\ufeff").strip() == "# Memories"


def _playbooks(rows: Source, bullets: dict[str, tuple[str, Bullet]], context: ReadContext) -> tuple[Playbook, ...]:
    """Return the playbook that a file is, under the name that it says; nothing when it is none."""
    named = rows.sections if rows.is_book else ()
    if not (bullets or named):
        return ()
    playbook = books.playbook(context.file, named, tuple(bullets.values()))
    return (replace(playbook, book=replace(playbook.book, name=rows.name or playbook.book.name)),)


def _add(found: dict[str, Any], id: str, record: object) -> None:
    if id in found:
        raise Unread("the id {} was already used", shown(id))
    found[id] = record


def _memory(doc: dict[str, Any], context: ReadContext) -> tuple[Memory, Notes]:
    entry = {_KEYS[name]: value for name, value in doc.items() if name in _KEYS and value is not None}
    if not isinstance(entry.get("context"), str):
        raise ValueError("it has no content")
    also = _also(doc, entry)
    memory, notes = from_entry(entry | {key: doc[name] for key, name in also.items()}, context)
    notes += [(name, f"taken for the entry's {key}") for key, name in also.items() if name != key]
    own = {name: value for name, value in memory.metadata.items() if name != FILE_KEY}
    if "type" in entry and entry["type"] != memory.observation_type:
        own["type"] = entry["type"]
    other = {name: value for name, value in doc.items() if name not in _KEYS and name not in _COMPUTED | {FILE_KEY}}
    return replace(memory, metadata={**other, **own}), notes


def _also(doc: dict[str, Any], entry: dict[str, Any]) -> dict[str, str]:
    """Return which other names say what an entry leaves open, as far as they say it in a way that can be read."""
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


def _bullet(doc: dict[str, Any]) -> tuple[str, Bullet, Notes]:
    notes: Notes = []
    content = required_text(doc, "content")
    other = {name: value for name, value in doc.items() if name not in _BULLET_KEYS}
    bullet = Bullet(
        id=take(doc, "id", values.text, "", notes).strip() or unique_id("b", content),
        section="",
        content=content,
        helpful_imported=take(doc, "helpful", values.count, 0, notes),
        harmful_imported=take(doc, "harmful", values.count, 0, notes),
        pinned=take(doc, "pinned", values.flag, False, notes),
        state="deprecated" if doc.get("state") == "deprecated" else "active",
        neutral_count=take(doc, "neutral", values.count, 0, notes),
        aliases=take(doc, "aliases", values.texts, (), notes),
        created_at=take(doc, "created_at", values.time, None, notes),
        last_feedback_at=take(doc, "last_feedback_at", values.time, None, notes),
        metadata={**other, **take(doc, "metadata", values.meta, {}, notes)},
    )
    return take(doc, "section", values.text, "", notes).strip() or "Others", bullet, notes


FORMAT = Format(NAME, "records (JSON, JSON lines, YAML, CSV or Markdown)", detect, read)
