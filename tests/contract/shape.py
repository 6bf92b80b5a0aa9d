"""What stays of an answer when its values are left out: keys and types; and what a journal line
says of a change.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

_NAMES = {str: "str", int: "int", float: "float", bool: "bool", type(None): "null"}
_KEY = re.compile(r"[A-Za-z_][A-Za-z_.@]*(?:[0-9]{1,2})?")
"""A key of ours; anything else (an id, a path, a date) is data."""

ANY = "*"
"""Stands for the keys of an object that are data."""


def shape(value: Any) -> Any:
    """Return the shape of a JSON value: keys in their order, types by name, `?` behind a key that
    may be missing.

    A list has the shape of all its items; alternatives are written `a | b` where they are plain.
    """
    if isinstance(value, list):
        items = [shape(item) for item in value]
        return [merged(items)] if items else []
    if isinstance(value, Mapping):
        out: dict[str, Any] = {}
        for key, one in value.items():
            name = key if _KEY.fullmatch(key) else ANY
            out[name] = merged([out[name], shape(one)]) if name in out else shape(one)
        return out
    return _NAMES[type(value)]


def merged(shapes: Iterable[Any]) -> Any:
    """Return the one shape that several values have together."""
    found, *rest = shapes
    for other in rest:
        found = _both(found, other)
    return found


def _both(one: Any, two: Any) -> Any:
    if one == two:
        return one
    if isinstance(one, dict) and isinstance(two, dict):
        return dict(_keys(one, two))
    if isinstance(one, list) and isinstance(two, list):
        return [merged([*one, *two])] if one or two else []
    plain = {
        part
        for side in (one, two)
        for part in (side.split(" | ") if isinstance(side, str) else [_text(side)])
    }
    return " | ".join(sorted(plain))


def _keys(one: Mapping[str, Any], two: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    names = {key.rstrip("?"): None for key in (*one, *two)}
    for name in names:
        sides = [side[key] for side in (one, two) for key in (name, f"{name}?") if key in side]
        always = (name in one and name in two) or name == ANY
        yield name if always else f"{name}?", merged(sides)


def _text(found: Any) -> str:
    return json.dumps(found)


_WORDS = (
    (re.compile(r"/\S*/work/"), "FOLDER/"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "TIME"),
    (re.compile(r"mem-\d{8}-(\d{7})"), r"mem-DATE-\1"),
    (re.compile(r"\b(import|reject|query|curator|reflector)-[0-9a-f]{8,}"), r"\1-HASH"),
    (re.compile(r"\b[0-9a-f]{12,}\b"), "HASH"),
)  # fmt: skip


def words(text: str) -> str:
    """Return a label without what is different on every day."""
    for pattern, name in _WORDS:
        text = pattern.sub(name, text)
    return text


def entries(store: Path, after: int, until: int | None = None) -> list[dict[str, Any]]:
    """Return what the journal of a store says of the revisions behind `after`: words, and fields by
    table.
    """
    # A closed segment is named after the revision before its first change; the active one comes
    # last.
    segments = (*sorted(store.glob("journal-*.jsonl")), store / "journal.jsonl")
    lines = (json.loads(line) for path in segments for line in path.read_text("utf-8").splitlines())
    return [
        _entry(line)
        for line in lines
        if "label" in line and line["rev"] > after and (until is None or line["rev"] <= until)
    ]


def _entry(line: Mapping[str, Any]) -> dict[str, Any]:
    moved: dict[str, set[str]] = {}
    for change in line["changes"]:
        said = moved.setdefault(f"{change['table']} {change.get('op', 'update')}", set())
        said |= {
            *change.get("doc", change.get("fields", {})),
            *(f"+{name}" for name in change.get("inc", {})),
        }
    return {
        "label": words(line["label"]),
        "kind": line.get("kind", "edit"),
        "actor": words(line["actor"]),
        "keys": " ".join(sorted(line)),
        **{name: " ".join(sorted(said)) for name, said in moved.items()},
    }
