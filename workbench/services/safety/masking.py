"""Records as they may be shown: the same values, with a marker for every secret in any of their
fields.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.core.text import clean_for_store

if TYPE_CHECKING:
    from workbench.core.safety import Finding
    from workbench.core.stream.memory import Memory
    from workbench.store.library import Library

Value = TypeVar("Value")

NAMES = frozenset(
    ("id", "table", "key", "field", "book", "doc", "target", "memory", "session", "session_id", "status", "memory_type",
     "observation_type", "kind", "actor", "at", "state", "evidence", "citations", "related", "aliases", "texts")
)  # fmt: skip
"""Fields that name things: one that holds a secret becomes another name, the same one wherever it
stands.
"""

SHORTEST = 16
"""Characters of the shortest name that can hold a secret."""

_TEXTLESS = (int, float, datetime)

_MADE = re.compile(r"mem-[0-9]{8}-[0-9]{7}")
"""An id as the store makes it: a day and a number are neither a secret nor an order."""

PREFIX = "masked-"
"""How the name begins that a record goes by while its own is a secret."""


def masked(value: Value, mask: Callable[[str], str]) -> Value:
    """Return a text, a record, or a JSON value with `mask` over every text within; the same one
    when none changes.
    """
    return _masked(value, mask)  # type: ignore[return-value]


def is_made(name: str) -> bool:
    """Tell whether a name is an id as the store makes it, in which no rule of safety finds
    anything.
    """
    return _MADE.fullmatch(name) is not None


def masked_name(name: str, mask: Callable[[str], str]) -> str:
    """Return a name, or for one that holds a secret a word that stands for it and for no other."""
    if len(name) < SHORTEST or is_made(name) or mask(name) == name:
        return name
    return PREFIX + blake2b(name.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()


def masked_text(text: str) -> str:
    """Return a text with its secrets masked, where no store is open that knows better."""
    from workbench.safety import scanning

    return scanning.mask(clean_for_store(text))


def _masked(value: object, mask: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return mask(value)
    if value is None or isinstance(value, _TEXTLESS):
        return value
    if isinstance(value, Mapping):
        return _kept(
            value, {mask(str(name)): _under(str(name), item, mask) for name, item in value.items()}
        )
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        made: Any = type(value)
        return _kept(
            value,
            made(
                *[_under(name, item, mask) for name, item in zip(value._fields, value, strict=True)]
            ),
        )
    if isinstance(value, list | tuple):
        return _kept(value, type(value)([_masked(item, mask) for item in value]))
    if is_dataclass(value) and not isinstance(value, type):
        old = [(name, getattr(value, name)) for name in _given(type(value))]
        changed = {name: new for name, item in old if (new := _under(name, item, mask)) is not item}
        return replace(value, **changed) if changed else value
    return value


@cache
def _given(record: type) -> tuple[str, ...]:
    """Return the fields of a record that it is made of."""
    return tuple(field.name for field in fields(record) if field.init)


def _under(name: str, item: object, mask: Callable[[str], str]) -> object:
    if name not in NAMES:
        return _masked(item, mask)
    if isinstance(item, str):
        return masked_name(item, mask)
    if isinstance(item, list | tuple) and not hasattr(item, "_fields"):
        return _kept(item, type(item)([_under(name, one, mask) for one in item]))
    return _masked(item, mask)


def _kept(old: object, new: object) -> object:
    """Return the old value when nothing in it changed, so that nobody takes it for a masked one."""
    return old if new == old else new


# Names as agents are given them: an id that is no plain name, or that speaks, is served under an
# alias. The alias is made of the id, so it is always the same, and `show` and `vote` take it.


ALIAS, LONGEST = "alias-", 100
"""How an alias begins, and the characters of the longest name that needs none."""

_PLAIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._:/@+#\-]*[A-Za-z0-9])?")


def served_name(name: str, look: "Callable[[str], tuple[Finding, ...]]") -> str:
    """Return an id or a session as an agent may see it; `look` tells what a text holds."""
    if is_made(name):
        return name
    plain = len(name) <= LONGEST and _PLAIN.fullmatch(name) is not None
    return name if not name or (plain and not look(name)) else alias_of(name)


def alias_of(name: str) -> str:
    """Return what stands for a name that is not shown."""
    return ALIAS + blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def called(library: "Library", alias: str) -> "Memory | None":
    """Return the memory whose alias this is; `None` when it is no alias, or of nothing."""
    if not alias.startswith(ALIAS):
        return None
    return next((memory for memory in library.memories.all() if alias_of(memory.id) == alias), None)
