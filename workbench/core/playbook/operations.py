"""Suggested changes of a playbook as JSON, so that they can wait in the queue: what a Curator or a Reflector said."""

from collections.abc import Mapping

from workbench.core.errors import InvalidRecord
from workbench.core.playbook.curation import TAGS, BulletTag
from workbench.core.playbook.delta import Add, CreateMeta, Delete, Merge, Operation, Update

Suggested = Operation | BulletTag
"""An operation of a Curator, or a tag of a Reflector."""

BOOK, REPLY, THEN = "book", "reply", "said_then"


def to_json(suggested: Suggested, book: str, reply: str) -> dict[str, object]:
    """Return a suggestion for a book as JSON values; `reply` names the reply it came with.

    What its bullets said when it was made can stand beside it, under `THEN` (see `said_then`).

    Raises `InvalidRecord` for an operation that no role suggests.
    """
    said: dict[str, object]
    match suggested:
        case Add():
            said = {"type": "ADD", "section": suggested.section, "content": suggested.content}
        case Update():
            said = {"type": "UPDATE", "bullet_id": suggested.bullet_id, "content": suggested.content}
        case Merge():
            said = {"type": "MERGE", "source_ids": list(suggested.source_ids), "content": suggested.content}
            said |= {"keep_id": suggested.keep_id} if suggested.keep_id else {}
        case Delete():
            said = {"type": "DELETE", "bullet_id": suggested.bullet_id}
        case CreateMeta():
            said = {"type": "CREATE_META", "section_name": suggested.section_name, "content": suggested.content}
        case BulletTag():
            said = {"type": "TAG", "bullet_id": suggested.bullet_id, "tag": suggested.tag}
        case _:
            raise InvalidRecord(f"{type(suggested).__name__} is nothing that a Curator suggests.")
    return {BOOK: book, REPLY: reply, **said}


def from_json(doc: Mapping[str, object]) -> tuple[str, str, Suggested]:
    """Return the book, the reply's name and the suggestion; raises `InvalidRecord`."""

    def text(key: str) -> str:
        value = doc.get(key, "")
        return value if isinstance(value, str) else ""

    ids = doc.get("source_ids")
    sources = tuple(id for id in ids if isinstance(id, str)) if isinstance(ids, list) else ()
    tag = next((known for known in TAGS if known == doc.get("tag")), None)
    made: Mapping[object, Suggested | None] = {
        "ADD": Add(text("section"), text("content")),
        "UPDATE": Update(text("bullet_id"), text("content")),
        "MERGE": Merge(sources, text("content"), text("keep_id") or None),
        "DELETE": Delete(text("bullet_id")),
        "CREATE_META": CreateMeta(text("section_name"), text("content")),
        "TAG": BulletTag(text("bullet_id"), tag) if tag else None,
    }
    found = made.get(doc.get("type"))
    if found is None:
        raise InvalidRecord(f"There is no operation “{doc.get('type')}”.", "The playbook was not changed.")
    return text(BOOK), text(REPLY), found


def said_then(doc: Mapping[str, object]) -> dict[str, str]:
    """Return what the bullets of a suggestion said when it was made, by id; suggestions of before name none."""
    said = doc.get(THEN)
    return {str(id): text for id, text in said.items() if isinstance(text, str)} if isinstance(said, dict) else {}


def named_ids(suggested: Suggested) -> tuple[str, ...]:
    """Return the ids of the bullets that a suggestion names."""
    match suggested:
        case Merge():
            return suggested.source_ids
        case Update() | Delete() | BulletTag():
            return (suggested.bullet_id,)
    return ()


def title(suggested: Suggested) -> str:
    """Return a suggestion in a few words; it may hold stored text."""
    match suggested:
        case Add():
            return f"ADD to {suggested.section}: {suggested.content}"
        case Update():
            return f"UPDATE {suggested.bullet_id}: {suggested.content}"
        case Merge():
            return f"MERGE {' + '.join(suggested.source_ids)}: {suggested.content}"
        case Delete():
            return f"DELETE {suggested.bullet_id}"
        case CreateMeta():
            return f"NEW SECTION {suggested.section_name}" + (f": {suggested.content}" if suggested.content else "")
        case BulletTag():
            return f"{suggested.bullet_id} was {suggested.tag}"
    return type(suggested).__name__
