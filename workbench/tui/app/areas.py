"""The areas of the app, and the action tables of all screens and dialogs: keys, help and palette
derive from them.
"""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module

from textual.keys import Keys, format_key
from textual.screen import Screen

from workbench.core.runtime import implementation
from workbench.tui import actions as tables
from workbench.tui.app.actions import APP, GLOBAL, Action, Table, display_key, key_names


@dataclass(frozen=True, slots=True)
class Area:
    """One of the app's areas: the key of its tab, how one says where it is, its screen and the
    screen's actions.

    `screen` names the class (`core.runtime`), which is imported when the area is first opened,
    `page` its page of the manual.
    """

    id: str
    key: str
    place: str
    screen: str
    actions: Table
    page: str

    @property
    def title(self) -> str:
        """Return what its tab and its help are headed with."""
        return self.actions.title

    @property
    def tab(self) -> Action:
        """Return the action that goes there, from anywhere."""
        return Action(
            f"app.{self.id}",
            self.key,
            self.title,
            f"Go to {self.place}",
            APP,
            False,
            f"area('{self.id}')",
        )

    @property
    def screen_class(self) -> type[Screen[object]]:
        """Return the class of its screen; its module is imported then."""
        found: type[Screen[object]] = implementation(self.screen)
        return found

    def open(self) -> Screen[object]:
        """Return its screen, made anew."""
        return self.screen_class()


@dataclass(frozen=True)
class Areas:
    """The areas in the order of their tabs, and the tables of the dialogs that they open."""

    every: tuple[Area, ...]
    dialogs: tuple[Table, ...] = ()

    def __iter__(self) -> Iterator[Area]:
        return iter(self.every)

    def get(self, area_id: str) -> Area:
        """Return an area. Raises `StopIteration` for none."""
        return next(area for area in self.every if area.id == area_id)

    @cached_property
    def tabs(self) -> tuple[Action, ...]:
        return tuple(area.tab for area in self.every)

    @property
    def everywhere(self) -> tuple[Action, ...]:
        """Return the actions that hold in every area."""
        return (*self.tabs, *GLOBAL)

    def scope(self, area_id: str) -> tuple[Action, ...]:
        """Return every action that has a key while an area is open: its own, its widgets' and the
        global ones.
        """
        table = self.get(area_id).actions
        return (*table.own, *table.shared, *self.everywhere)

    def scopes(self) -> dict[str, tuple[Action, ...]]:
        """Return the sets of actions within which a key must be unique, by title."""
        areas = {area.title: self.scope(area.id) for area in self.every}
        return areas | {
            table.title: _with_common((*table.own, *table.shared)) for table in self.dialogs
        }

    def every_action(self) -> tuple[Action, ...]:
        """Return all actions of the app, each once."""
        held = (action for actions in self.scopes().values() for action in actions)
        return tuple(dict.fromkeys((*self.everywhere, *held)))


def _with_common(actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Return the actions of a dialog, and what holds in all of them: to find a row where there is a
    list, and help.
    """
    taken = {key for action in actions for key in key_names(action.keys)}
    find, *help = (action for action in tables.ON_DIALOG)
    common = (find, *help) if any(action.id.startswith("list.") for action in actions) else help
    return (*actions, *(action for action in common if taken.isdisjoint(key_names(action.keys))))


AREAS = Areas(
    (
        Area(
            "stream",
            "1",
            "the Stream",
            "workbench.tui.stream.screen:StreamScreen",
            tables.STREAM,
            "stream",
        ),
        Area(
            "review",
            "2",
            "Review",
            "workbench.tui.review.screen:ReviewScreen",
            tables.REVIEW,
            "review",
        ),
        Area(
            "playbook",
            "3",
            "the Playbook",
            "workbench.tui.playbook.screen:PlaybookScreen",
            tables.PLAYBOOK,
            "playbook",
        ),
        Area("tune", "4", "Tune", "workbench.tui.tuning.screen:TuneScreen", tables.TUNE, "tuning"),
        Area(
            "agents",
            "5",
            "Agents",
            "workbench.tui.agents.screen:AgentsScreen",
            tables.AGENTS,
            "agents",
        ),
        Area(
            "health",
            "6",
            "Health",
            "workbench.tui.health.screen:HealthScreen",
            tables.HEALTH,
            "store-and-backup",
        ),
    ),
    tables.DIALOGS,
)
"""The workbench's own."""


# What is imported and opened while nobody waits, so that the app starts fast and no first visit
# waits.


BEHIND_KEYS = (
    "clipboard", "tui.app.palette", "services.agents.index", "services.duplicates.bullets", "services.forms",
    "services.promotion.promotion", "services.review.kinds",
    "services.stream.ingest", "services.tuning.queries", "store.history",
)  # fmt: skip
"""What the first use of a key imports besides dialogs."""

LIBRARIES = ("textual_plotext", "rapidfuzz.fuzz", "pyperclip")
"""What a key of some area needs first, imported the same way: the largest takes a tenth of a
second.
"""


def import_all() -> None:
    """Import what areas and dialogs need, so that no first visit waits; meant for a thread while
    nobody waits.
    """
    for area in AREAS:
        _ = area.screen_class
    for place in dict.fromkeys(table.place for table in AREAS.dialogs if table.place):
        import_module(place)
    for name in BEHIND_KEYS:
        import_module(f"workbench.{name}")
    for library in LIBRARIES:
        import_module(library)


# A person's own keys: checked before Textual sees them, because it drops a doubly held key in
# silence.


_MODIFIERS = frozenset({"ctrl", "shift", "alt", "super", "hyper", "meta"})
_NAMED = frozenset(key.value.rpartition("+")[2] for key in Keys) | {"space"}


@dataclass(frozen=True, slots=True)
class Keymap:
    """The overrides that hold (for `App.set_keymap` and `remapped`), and a sentence for each that
    does not.
    """

    keys: dict[str, str]
    problems: tuple[str, ...] = ()


def check_keymap(overrides: Mapping[str, object]) -> Keymap:
    """Check overrides (action id to comma-separated keys); those with a problem are left at their
    default.
    """
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
        return (
            f"“{strange}”, wanted for “{name}”, is not a key, so it keeps {_default(known[name])}."
        )
    return None


def _is_key(key: str) -> bool:
    *modifiers, base = key.split("+")
    return _MODIFIERS.issuperset(modifiers) and (base in _NAMED or len(format_key(base)) == 1)


def _first_clash(keys: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the override to drop and why, for the first key that two actions of one area would
    hold.
    """
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
    return kinds == {"slider", "list"} or (
        len(kinds) > 1 and not kinds.isdisjoint(("link", "evidence", "text"))
    )


def _default(action: Action) -> str:
    return " ".join(display_key(key) for key in key_names(action.keys))
