"""One skill of a skillbook: from a JSON object to a bullet, and its keys."""

from typing import Any

from workbench.core.playbook.book import Bullet
from workbench.core.record import iso
from workbench.formats.lifecycle import values
from workbench.formats.lifecycle.values import Notes
from workbench.formats.shared.records import Doc, Key, remembered, take
from workbench.formats.shared.report import shown

NAME = "skillbook"
OTHERS = "others"


def _times(bullet: Bullet) -> str | None:
    return iso(bullet.created_at) if bullet.created_at else None


KEYS: tuple[Key[Bullet], ...] = (
    Key("id", lambda bullet: bullet.id),
    Key("section", lambda bullet: bullet.section),
    Key("content", lambda bullet: bullet.content),
    Key("helpful", lambda bullet: bullet.helpful_count),
    Key("harmful", lambda bullet: bullet.harmful_count),
    Key("neutral", lambda bullet: bullet.neutral_count),
    Key("created_at", _times),
    Key("status", lambda bullet: "active" if bullet.state == "active" else "invalid"),
)


def bullet(name: str, doc: Any, listed: str | None) -> tuple[Bullet, Notes]:
    """Read one skill; its section is a name. `listed` is the section whose list it stands in.

    Raises `ValueError` when it has no content.
    """
    if not isinstance(doc, dict):
        raise ValueError("not a skill: expected a JSON object")
    content, notes = doc.get("content"), Notes()
    if not isinstance(content, str):
        raise ValueError("it has no content")
    section = take(doc, "section", values.text, listed, notes) or listed or OTHERS
    found = Bullet(
        id=name,
        section=section,
        content=content,
        helpful_imported=take(doc, "helpful", values.count, 0, notes),
        harmful_imported=take(doc, "harmful", values.count, 0, notes),
        neutral_count=take(doc, "neutral", values.count, 0, notes),
        created_at=take(doc, "created_at", values.time, None, notes),
        state="active" if doc.get("status") in (None, "active") else "deprecated",
    )
    if doc.get("status") not in (None, "active", "invalid"):
        notes.append(("status", f"{shown(doc['status'])} read as deprecated"))
    return remembered(found, doc, KEYS, NAME), notes


def again(doc: Doc) -> Bullet:
    """Read a skill from its own document alone."""
    return bullet(str(doc.get("id", "")), doc, None)[0]
