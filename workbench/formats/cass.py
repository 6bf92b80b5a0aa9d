"""cass playbooks: `playbook.yaml` version 2, `bullets:` with scope, category, content, counts and
feedback.
"""

from itertools import repeat
from typing import Any

from workbench.core.files.format import Format, Parsed, ReadContext, Signature
from workbench.core.playbook.book import Bullet
from workbench.core.record import InvalidRecord, iso
from workbench.formats.patch import flow
from workbench.formats.shared import books, values
from workbench.formats.shared.records import (
    Doc,
    Key,
    fresh,
    remembered,
    required_text,
    restored,
    take,
    take_count,
    take_text,
    unique_id,
    with_records,
)
from workbench.formats.shared.report import Report
from workbench.formats.shared.values import Notes

NAME = "cass"
GENERAL = "general"
_DEPRECATED = (("state", "retired"), ("maturity", "deprecated"))


def _is_out(bullet: Bullet) -> bool:
    return bullet.state == "deprecated"


KEYS: tuple[Key[Bullet], ...] = (
    Key("id", lambda bullet: bullet.id),
    Key("category", lambda bullet: bullet.section),
    Key("content", lambda bullet: bullet.content),
    Key("state", lambda bullet: "retired" if _is_out(bullet) else "active"),
    Key("maturity", lambda bullet: "deprecated" if _is_out(bullet) else "candidate"),
    Key("helpfulCount", lambda bullet: bullet.helpful_count),
    Key("harmfulCount", lambda bullet: bullet.harmful_count),
    Key("pinned", lambda bullet: bullet.pinned),
    Key("deprecated", _is_out),
)


def bullet(doc: Any) -> tuple[Bullet, Notes]:
    """Read one bullet; its section is its category. Raises `ValueError` when it has no content."""
    if not isinstance(doc, dict):
        raise doc if isinstance(doc, ValueError) else ValueError("not a bullet: expected a mapping")
    content, notes = required_text(doc, "content").rstrip("\n"), Notes()
    out = doc.get("deprecated") is True or any(
        doc.get(name) == value for name, value in _DEPRECATED
    )
    found = Bullet(
        id=take_text(doc, "id", notes).strip() or unique_id("b", content),
        section=take_text(doc, "category", notes).strip() or GENERAL,
        content=content,
        helpful_imported=take_count(doc, "helpfulCount", notes),
        harmful_imported=take_count(doc, "harmfulCount", notes),
        pinned=take(doc, "pinned", values.flag, False, notes),
        state="deprecated" if out else "active",
        created_at=take(doc, "createdAt", values.time, None, notes),
        last_feedback_at=take(doc, "lastValidatedAt", values.time, None, notes),
    )
    return remembered(found, doc, KEYS, NAME), notes


def document(item: Bullet) -> Doc:
    """Return the mapping for a bullet; a new one gets the keys that the tool asks for.

    The tool refuses a bullet without a time: give one of unknown age a time first (`books.dated`).
    """
    kept = restored(item, KEYS, NAME, lambda doc: bullet(doc)[0])
    if kept is not None:
        return kept
    times = (
        dict.fromkeys(("createdAt", "updatedAt"), iso(item.created_at)) if item.created_at else {}
    )
    own = fresh(item, KEYS)
    return {
        "id": own.pop("id"), "scope": "global", **own, "type": "rule", "isNegative": False, "kind": "workflow_rule",
        "feedbackEvents": [], **times, "sourceSessions": [], "sourceAgents": [], "tags": [],
    }  # fmt: skip


LIST = "bullets"
"""The key of the list."""


_SIGNATURE = Signature(
    "YAML with a list of “bullets”",
    (r'\A\s*(?![\s{["])', r"^[\"']?bullets[\"']?[ \t]*:"),
    0.2,
    r"[ {,-][\"']?(content|category|maturity|helpfulCount|harmfulCount|scope|feedbackEvents)[\"']?[ \t]*:"
    r"|^(?:schema_version|deprecatedPatterns|totalReflections)[ \t]*:|^  totalReflections:",
    0.2,
)


def read(text: str, context: ReadContext) -> Parsed:
    """Read every bullet that can be read. Raises `UnreadableFile` when the text holds no list of
    bullets.
    """
    # The YAML parser is loaded when a file needs it: it would slow down every start of the program.
    from workbench.formats.yaml_patch import records

    report, whole = Report(context.file), records(text, context.file, LIST)
    value = whole.value
    lines = [node.start_mark.line + 1 for node in whole.listed(LIST)]
    rows = zip(lines, value[LIST] or [], repeat(()), strict=False)
    found = report.every(rows, bullet)
    if whole.damage:
        report.skip(whole.line, whole.damage)
    patterns = value.get("deprecatedPatterns")
    if isinstance(patterns, list) and patterns:
        line = whole.top["deprecatedPatterns"][0].start_mark.line + 1
        report.no_records(
            line, f"deprecated patterns are no bullets ({len(patterns):,} of them)", len(patterns)
        )
    book = books.playbook(context.file, [], [(item.section, item) for item in found])
    return report.parsed(NAME, playbooks=(book,))


_HEAD = (
    "schema_version: 2", "name: {name}", 'description: ""', "metadata:", "  createdAt: {since}",
    "  totalReflections: 0", "  totalSessionsProcessed: 0", "deprecatedPatterns: []",
)  # fmt: skip


def write(parsed: Parsed, original: str | None = None) -> str:
    """Write the first playbook of `parsed`; with `original`, only what changed in it is new.

    Raises `InvalidRecord` when the file is laid out in a way that a change cannot be fitted into.
    """
    from workbench.formats.yaml_patch import Unfitting, patch_yaml, records, tree

    book = parsed.playbooks[0] if parsed.playbooks else None
    new = books.named(book) if book else {}
    if original is not None and book is not None:
        whole = records(original, "the file", LIST)
        value = whole.value
        docs = dict(enumerate(value[LIST] or []))
        kept, added = with_records(docs, new, lambda _, doc, __: bullet(doc)[0], lambda _: KEYS)
        value[LIST] = [*kept.values(), *map(document, added)] or (value[LIST] and [])
        try:
            if whole.damage and not value[LIST]:
                raise Unfitting("the rest of it cannot be read")
            return patch_yaml(original, value, whole)
        except Unfitting as reason:
            message = f"The bullets cannot be fitted into the file as it is laid out: {reason}."
            raise InvalidRecord(
                message, "Nothing was written; export to a new file instead."
            ) from None
    times = [bullet.created_at for bullet in new.values() if bullet.created_at]
    since = flow(iso(min(times))) if times else ""
    name = flow(book.book.name if book else "playbook")
    head = [
        line.replace("{name}", name).replace("{since}", since)
        for line in _HEAD
        if since or "{since}" not in line
    ]
    empty = "\n".join([*head, "bullets: []", ""])
    return patch_yaml(empty, {**tree(empty).value, LIST: list(map(document, new.values()))})


FORMAT = Format(
    NAME, "cass playbook (YAML)", _SIGNATURE, read, write, holds="playbook", suffix=".yaml",
    endings=(".yaml", ".yml"), needs_times=True,
)  # fmt: skip
