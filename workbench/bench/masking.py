"""Records as they may be shown: the same values, with a marker for every secret in their texts."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

Value = TypeVar("Value")

NAMES = frozenset(
    ("id", "table", "key", "field", "book", "doc", "session_id", "status", "memory_type", "observation_type", "kind",
     "actor", "at", "state", "evidence", "citations", "related", "aliases", "texts")
)  # fmt: skip
"""Fields that name things and hold no text: a name must stay what it is."""


def masked(value: Value, mask: Callable[[str], str]) -> Value:
    """Return a text, a record, or a JSON value with `mask` over every text within; the same one when none changes."""
    return _masked(value, mask)  # type: ignore[return-value]


def _masked(value: object, mask: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return _kept(value, {mask(str(name)): _under(str(name), item, mask) for name, item in value.items()})
    if isinstance(value, list | tuple):
        return _kept(value, type(value)([_masked(item, mask) for item in value]))
    if is_dataclass(value) and not isinstance(value, type):
        old = {f.name: getattr(value, f.name) for f in fields(value) if f.init and f.name not in NAMES}
        new = {name: _masked(item, mask) for name, item in old.items()}
        changed = {name: item for name, item in new.items() if item is not old[name]}
        return replace(value, **changed) if changed else value
    return value


def _under(name: str, item: object, mask: Callable[[str], str]) -> object:
    return item if name in NAMES else _masked(item, mask)


def _kept(old: object, new: object) -> object:
    """Return the old value when nothing in it changed, so that nobody takes it for a masked one."""
    return old if new == old else new
