"""The areas of the app, and the action tables of all screens and dialogs: keys, help and palette derive from them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module

from textual.screen import Screen

from workbench.core.named import implementation
from workbench.tui import actions as tables
from workbench.tui.app.actions import APP, GLOBAL, Action, Table, key_names


@dataclass(frozen=True, slots=True)
class Area:
    """One of the app's areas: the key of its tab, how one says where it is, its screen and the screen's actions.

    `screen` names the class (`core.named`), which is imported when the area is first opened, `page` its page of the
    manual.
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
        return Action(f"app.{self.id}", self.key, self.title, f"Go to {self.place}", APP, False, f"area('{self.id}')")

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
        """Return every action that has a key while an area is open: its own, its widgets' and the global ones."""
        table = self.get(area_id).actions
        return (*table.own, *table.shared, *self.everywhere)

    def scopes(self) -> dict[str, tuple[Action, ...]]:
        """Return the sets of actions within which a key must be unique, by title."""
        areas = {area.title: self.scope(area.id) for area in self.every}
        return areas | {table.title: _with_common((*table.own, *table.shared)) for table in self.dialogs}

    def every_action(self) -> tuple[Action, ...]:
        """Return all actions of the app, each once."""
        held = (action for actions in self.scopes().values() for action in actions)
        return tuple(dict.fromkeys((*self.everywhere, *held)))


def _with_common(actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Return the actions of a dialog, and what holds in all of them: to find a row where there is a list, and help."""
    taken = {key for action in actions for key in key_names(action.keys)}
    find, *help = (action for action in tables.ON_DIALOG)
    common = (find, *help) if any(action.id.startswith("list.") for action in actions) else help
    return (*actions, *(action for action in common if taken.isdisjoint(key_names(action.keys))))


AREAS = Areas(
    (
        Area("stream", "1", "the Stream", "workbench.tui.stream.screen:StreamScreen", tables.STREAM, "stream"),
        Area("review", "2", "Review", "workbench.tui.review.screen:ReviewScreen", tables.REVIEW, "review"),
        Area(
            "playbook",
            "3",
            "the Playbook",
            "workbench.tui.playbook.screen:PlaybookScreen",
            tables.PLAYBOOK,
            "playbook",
        ),
        Area("tune", "4", "Tune", "workbench.tui.tuning.screen:TuneScreen", tables.TUNE, "tuning"),
        Area("agents", "5", "Agents", "workbench.tui.agents.screen:AgentsScreen", tables.AGENTS, "agents"),
        Area("health", "6", "Health", "workbench.tui.health.screen:HealthScreen", tables.HEALTH, "store-and-backup"),
    ),
    tables.DIALOGS,
)
"""The workbench's own."""


# What is imported and opened while nobody waits, so that the app starts fast and no first visit waits.


WITHOUT_KEYS = (
    "app.palette", "health.undoing", "stream.arranging",
)  # fmt: skip
"""Modules of what is opened like a dialog and has no table of keys of its own."""

BEHIND_KEYS = (
    "clipboard", "services.agents.index", "services.duplicates.bullets", "services.forms",
    "services.promotion.promotion", "services.promotion.targets", "services.review.kinds",
    "services.stream.ingest", "services.tuning.queries", "config.views", "store.history",
)  # fmt: skip
"""What the first use of a key imports below the screens."""

LIBRARIES = ("textual_plotext", "rapidfuzz.fuzz", "pyperclip")
"""What a key of some area needs first, imported the same way: the largest takes a tenth of a second."""


def import_all() -> None:
    """Import what areas and dialogs need, so that no first visit waits; meant for a thread while nobody waits."""
    for area in AREAS:
        _ = area.screen_class
    for place in dict.fromkeys(table.place for table in AREAS.dialogs if table.place):
        import_module(place)
    for name in WITHOUT_KEYS:
        import_module(f"workbench.tui.{name}")
    for name in BEHIND_KEYS:
        import_module(f"workbench.{name}")
    for library in LIBRARIES:
        import_module(library)
