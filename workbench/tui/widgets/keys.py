"""What a key is called in a sentence: as the person's keymap has it, by the id of the action that it runs."""

import re
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from functools import cache

from workbench.core.named import implementation
from workbench.tui.app.actions import Action, display_key, key_names, remapped

AREAS = "workbench.tui.app.areas:AREAS"
"""What has every action of the app; it imports all their tables, so it is looked up when a key is first named."""

_KEYMAP: ContextVar[Mapping[str, str]] = ContextVar("keymap")
_ID = re.compile(r"\{([a-z][a-z-]*\.[a-z][a-z-]*)\}")


def use_keymap(keymap: Mapping[str, str]) -> None:
    """Let sentences of the app that begins here name its keys: those of a checked keymap, by action id."""
    _KEYMAP.set(keymap)


def key_of(action_id: str) -> str:
    """Return the first key of an action as a person has it. Raises `KeyError` for an unknown id."""
    keys = _KEYMAP.get({}).get(action_id) or _default_keys()[action_id]
    return display_key(key_names(keys)[0])


@cache
def _default_keys() -> dict[str, str]:
    every: Iterable[Action] = implementation(AREAS).every_action()
    return {action.id: action.keys for action in every}


def remapped_ids(ids: Iterable[str]) -> tuple[Action, ...]:
    """Return the actions with these ids, in the order of their tables, as a person has their keys."""
    every: Iterable[Action] = implementation(AREAS).every_action()
    wanted = frozenset(ids)
    return remapped((action for action in every if action.id in wanted), _KEYMAP.get({}))


def undo() -> str:
    """Return the key that takes back what was done last."""
    return key_of("app.undo")


def keyed(sentence: str) -> str:
    """Return a constant sentence with the key of each action whose id stands in braces: `{app.undo} takes it back.`"""
    return _ID.sub(lambda found: key_of(found[1]), sentence)
