"""The replies of the ACE roles as values (source 003): the Reflector's analysis and the Curator's operations."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from workbench.core.playbook.delta import Add, CreateMeta, Delete, Merge, Operation, Update
from workbench.core.reflection.loosejson import UnreadableReply, find_json

Tag = Literal["helpful", "harmful", "neutral"]
TAGS: tuple[Tag, ...] = get_args(Tag)


@dataclass(frozen=True, slots=True)
class BulletTag:
    """Whether a bullet helped."""

    bullet_id: str
    tag: Tag


@dataclass(frozen=True, slots=True)
class Odd:
    """A part of a reply that could not be read: its JSON, and the reason in a sentence."""

    raw: str
    reason: str


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the Reflector found out about one run; texts it did not give are empty."""

    reasoning: str = ""
    error_identification: str = ""
    root_cause_analysis: str = ""
    correct_approach: str = ""
    key_insight: str = ""
    bullet_tags: tuple[BulletTag, ...] = ()
    odd: tuple[Odd, ...] = ()


@dataclass(frozen=True, slots=True)
class Curated:
    """One operation that the Curator suggests, and why, if it says so."""

    operation: Operation
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Curation:
    """What the Curator suggests, in its order."""

    reasoning: str = ""
    operations: tuple[Curated, ...] = ()
    odd: tuple[Odd, ...] = ()


ANALYSIS_TEXTS = ("reasoning", "error_identification", "root_cause_analysis", "correct_approach", "key_insight")


def read_analysis(reply: str) -> Analysis:
    """Read a Reflector's reply, with or without code fence and prose around the JSON.

    A tag that cannot be read is kept in `odd`. Raises `UnreadableReply` when nothing of an analysis is there.
    """
    data = find_json(reply, "bullet_tags", "key_insight")
    if not isinstance(data, dict) or not any(key in data for key in (*ANALYSIS_TEXTS, "bullet_tags")):
        raise UnreadableReply("The JSON in the reply is no analysis: it has none of its fields.")
    texts = {key: _text(data, key) for key in ANALYSIS_TEXTS}
    odd = [Odd(_json(data[k]), f"“{k}” is not a text.") for k in ANALYSIS_TEXTS if not _is_text(data.get(k))]
    tags: list[BulletTag] = []
    for raw in _items(data.get("bullet_tags"), "bullet_tags", odd):
        found = _tag(raw)
        if isinstance(found, Odd):
            odd.append(found)
        else:
            tags.append(found)
    return Analysis(**texts, bullet_tags=tuple(tags), odd=tuple(odd))


def read_curation(reply: str) -> Curation:
    """Read a Curator's reply: an object with `operations`, or the bare list.

    An operation that cannot be read is kept in `odd`; ids and sections are not looked up here.
    Raises `UnreadableReply` when there are no operations at all to read.
    """
    data = find_json(reply, "operations")
    if isinstance(data, dict) and "operations" not in data:
        raise UnreadableReply("The JSON in the reply has no “operations”.")
    odd: list[Odd] = []
    operations: list[Curated] = []
    for raw in _items(data["operations"] if isinstance(data, dict) else data, "operations", odd):
        found = read_operation(raw)
        if isinstance(found, Odd):
            odd.append(found)
        else:
            operations.append(found)
    reasoning = _text(data, "reasoning") if isinstance(data, dict) else ""
    return Curation(reasoning, tuple(operations), tuple(odd))


def _tag(raw: object) -> BulletTag | Odd:
    if not isinstance(raw, dict):
        return Odd(_json(raw), "A tag is an object with an id and a tag.")
    name = _text(raw, "id") or _text(raw, "bullet") or _text(raw, "bullet_id")
    said = _text(raw, "tag").lower()
    tag = next((known for known in TAGS if known == said), None)
    if not name:
        return Odd(_json(raw), "The tag names no bullet.")
    if tag is None:
        return Odd(_json(raw), f"The tag of {name} is none of {', '.join(TAGS)}.")
    return BulletTag(name, tag)


def read_operation(raw: object) -> Curated | Odd:
    """Read one operation of a Curator, or say why it is none."""
    if not isinstance(raw, dict):
        return Odd(_json(raw), "An operation is an object with a type.")
    kind = _text(raw, "type").upper()
    content = _text(raw, "content")
    bullet = _text(raw, "bullet_id") or _text(raw, "id")
    sources, keep = _names(raw.get("source_ids")), _text(raw, "keep_id") or None
    section = _text(raw, "section")
    made: dict[str, tuple[Operation | None, str]] = {
        "ADD": (Add(section, content) if section and content else None, "a section and a content"),
        "UPDATE": (Update(bullet, content) if bullet and content else None, "a bullet_id and a content"),
        "MERGE": (Merge(sources, content, keep) if len(sources) > 1 and content else None, "two source_ids, a content"),
        "DELETE": (Delete(bullet) if bullet else None, "a bullet_id"),
        "CREATE_META": (
            CreateMeta(name, content) if (name := _text(raw, "section_name") or section) else None,
            "a section_name",
        ),
    }
    if kind not in made:
        return Odd(_json(raw), f"There is no operation “{kind}”." if kind else "The operation has no type.")
    operation, needs = made[kind]
    if operation is None:
        return Odd(_json(raw), f"{kind} needs {needs}.")
    return Curated(operation, _text(raw, "reason"))


def _items(value: object, name: str, odd: list[Odd]) -> Sequence[object]:
    if value is None:
        return ()
    if not isinstance(value, list):
        odd.append(Odd(_json(value), f"“{name}” is not a list."))
        return ()
    return value


def _names(value: object) -> tuple[str, ...]:
    """Return the distinct ids of a list, or none when something else is among them."""
    if not isinstance(value, list) or not all(isinstance(name, str) and name.strip() for name in value):
        return ()
    return tuple(dict.fromkeys(name.strip() for name in value))


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _text(data: Mapping[str, object], key: str) -> str:
    value = data.get(key)
    return value.strip() if isinstance(value, str) else ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
