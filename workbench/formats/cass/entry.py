"""One bullet of a cass playbook: from a YAML mapping to a bullet, and its keys."""

from typing import Any

from workbench.core.playbook.book import Bullet
from workbench.core.record import iso
from workbench.formats.shared import values
from workbench.formats.shared.records import Doc, Key, fresh, remembered, required_text, restored, take, unique_id
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
        raise ValueError("not a bullet: expected a mapping")
    content, notes = required_text(doc, "content").rstrip("\n"), Notes()
    out = doc.get("deprecated") is True or any(doc.get(name) == value for name, value in _DEPRECATED)
    found = Bullet(
        id=take(doc, "id", values.text, "", notes).strip() or unique_id("b", content),
        section=take(doc, "category", values.text, "", notes).strip() or GENERAL,
        content=content,
        helpful_imported=take(doc, "helpfulCount", values.count, 0, notes),
        harmful_imported=take(doc, "harmfulCount", values.count, 0, notes),
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
    times = dict.fromkeys(("createdAt", "updatedAt"), iso(item.created_at)) if item.created_at else {}
    own = fresh(item, KEYS)
    return {
        "id": own.pop("id"), "scope": "global", **own, "type": "rule", "isNegative": False, "kind": "workflow_rule",
        "feedbackEvents": [], **times, "sourceSessions": [], "sourceAgents": [], "tags": [],
    }  # fmt: skip
