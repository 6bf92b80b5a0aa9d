"""A person's own keys: checked before Textual sees them, because it drops a doubly held key in silence."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from textual.keys import Keys, format_key

from workbench.tui.app.actions import Action, display_key, key_names
from workbench.tui.app.areas import AREAS

_MODIFIERS = frozenset({"ctrl", "shift", "alt", "super", "hyper", "meta"})
_NAMED = frozenset(key.value.rpartition("+")[2] for key in Keys) | {"space"}


@dataclass(frozen=True, slots=True)
class Keymap:
    """The overrides that hold (for `App.set_keymap` and `remapped`), and a sentence for each that does not."""

    keys: dict[str, str]
    problems: tuple[str, ...] = ()


def check_keymap(overrides: Mapping[str, object]) -> Keymap:
    """Check overrides (action id to comma-separated keys); those with a problem are left at their default."""
    if not overrides:
        return Keymap({})
    known = {action.id: action for action in AREAS.every_action()}
    keys: dict[str, str] = {}
    problems: list[str] = []
    for name, wanted in overrides.items():
        text = wanted if isinstance(wanted, str) else ""
        problem = _problem(name, text, known)
        if problem:
            problems.append(problem)
        else:
            keys[name] = ",".join(key_names(text))
    while clash := _first_clash(keys):
        loser, problem = clash
        del keys[loser]
        problems.append(problem)
    return Keymap(keys, tuple(problems))


def _problem(name: str, wanted: str, known: Mapping[str, Action]) -> str | None:
    if name not in known:
        near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
        hint = f" Did you mean “{near[0]}”?" if near else ""
        return f"There is no action “{name}”, so its key was ignored.{hint}"
    if not all(part.strip() for part in wanted.split(",")):
        return f"The keys for “{name}” are not comma-separated key names, so it keeps {_default(known[name])}."
    strange = next((key for key in key_names(wanted) if not _is_key(key)), None)
    if strange:
        return f"“{strange}”, wanted for “{name}”, is not a key, so it keeps {_default(known[name])}."
    return None


def _is_key(key: str) -> bool:
    *modifiers, base = key.split("+")
    return _MODIFIERS.issuperset(modifiers) and (base in _NAMED or len(format_key(base)) == 1)


def _first_clash(keys: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the override to drop and why, for the first key that two actions of one area would hold."""
    for title, actions in AREAS.scopes().items():
        held: dict[str, Action] = {}
        for action in actions:
            for key in key_names(keys.get(action.id, action.keys)):
                other = held.setdefault(key, action)
                if other.id != action.id and not _may_share(other, action):
                    loser, keeper = (action, other) if action.id in keys else (other, action)
                    return loser.id, (
                        f"In {title}, {display_key(key)} would be both “{keeper.id}” and “{loser.id}”, "
                        f"so “{loser.id}” keeps {_default(loser)}."
                    )
    return None


def _may_share(one: Action, two: Action) -> bool:
    """Whether two actions may hold one key, because only one of their widgets can have the focus."""
    kinds = {one.id.partition(".")[0], two.id.partition(".")[0]}
    return kinds == {"slider", "list"} or (len(kinds) > 1 and not kinds.isdisjoint(("link", "evidence")))


def _default(action: Action) -> str:
    return " ".join(display_key(key) for key in key_names(action.keys))
