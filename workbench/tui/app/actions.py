"""Actions: one definition each, from which bindings, footer, help, palette and keymap derive."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import overload

from textual.binding import Binding, BindingType
from textual.keys import format_key

MOVE = "Move"
"""The group of actions that only move the cursor; the palette leaves it out."""

FIND, DECIDE, CHANGE, MARK, APP = "Find", "Decide", "Change", "Mark", "App"
"""The other groups, as the help heads them."""

_ON_SCREEN = frozenset(
    ("copy", "auto", "load", "earlier", "later", "options", "candidates", "revert")
)
"""The last parts of the ids of actions that change what is shown, and nothing that is stored."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something a person can do with a key.

    `id` is unique in the app ("stream.pin"); its last part names the method (`action_pin`) of the
    widget, screen or app that carries the binding, unless `run` is given: a Textual action string,
    in which `do('changes.pin')` calls what the path leads to from the screen or dialog. `keys` are
    comma-separated Textual key names or single characters. `show` puts it in the footer.
    """

    id: str
    keys: str
    label: str
    tooltip: str = ""
    group: str = ""
    show: bool = True
    run: str = ""

    @property
    def method(self) -> str:
        """The Textual action string this action runs."""
        return self.run or self.id.rpartition(".")[2].replace("-", "_")

    @property
    def changes(self) -> bool:
        """Whether it changes something that is stored, or begins to; what changes on the screen
        only is no change.
        """
        return self.group in (CHANGE, DECIDE) and self.id.rpartition(".")[2] not in _ON_SCREEN

    @property
    def first_key(self) -> str:
        """The normalised name of the key that stands first."""
        return key_names(self.keys)[0]

    @property
    def shown_key(self) -> str:
        """The first key as the footer shows it."""
        return display_key(self.first_key)


@dataclass(frozen=True, slots=True)
class Table(Sequence[Action]):
    """The actions of one screen or dialog, whose `BINDINGS` are made of them; as a sequence, its
    own ones.

    `title` names it where a key is spoken of ("In the export, …"). `shared` are those of the
    widgets in it, which hold there too. An area's table leaves out what holds everywhere. `place`
    is the module of the dialog, which is imported when it is first opened.
    """

    title: str
    own: tuple[Action, ...]
    shared: tuple[Action, ...] = ()
    place: str = ""

    @overload
    def __getitem__(self, at: int) -> Action: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Action, ...]: ...
    def __getitem__(self, at: int | slice) -> Action | tuple[Action, ...]:
        return self.own[at]

    def __len__(self) -> int:
        return len(self.own)


@dataclass(frozen=True, slots=True)
class HelpGroup:
    """A heading of the help and its rows: the keys as shown, and what they do; `keys` are each
    row's first by name.

    `labels` are the short names of the rows, by which they may be looked for, too.
    """

    title: str
    rows: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """One line of the command palette; choosing it runs the action named by `id`."""

    id: str
    title: str
    help: str
    key: str


_KEY_WORDS = {
    "escape": "esc",
    "enter": "enter",
    "backspace": "backspace",
    "pageup": "pgup",
    "pagedown": "pgdn",
}


def key_names(keys: str) -> tuple[str, ...]:
    """Return the names under which Textual reports the keys of a comma-separated list ("+" is
    "plus").
    """
    return tuple(binding.key for binding in Binding.make_bindings([Binding(keys, "")]))


def display_key(key: str) -> str:
    """Return a normalised key name as people write it: "ctrl+d", "↑", "esc", "/"."""
    modifiers, plus, base = key.rpartition("+")
    return f"{modifiers}{plus}{_KEY_WORDS.get(base) or format_key(base)}"


def key_in_line(key: str) -> str:
    """Return a key as a line of keys shows it: a digit in brackets, for bare it reads as a count."""
    shown = display_key(key)
    return f"[{shown}]" if shown.isdecimal() else shown


def bindings(actions: Iterable[Action]) -> list[BindingType]:
    """Return Textual bindings, for the `BINDINGS` of a class; the keymap finds them by action id."""
    return [
        Binding(a.keys, a.method, a.label, show=a.show, tooltip=a.tooltip, id=a.id) for a in actions
    ]


def remapped(actions: Iterable[Action], keymap: Mapping[str, str]) -> tuple[Action, ...]:
    """Return the actions with the keys of a checked keymap in place of their own."""
    return tuple(replace(a, keys=keymap[a.id]) if a.id in keymap else a for a in actions)


def footer_entries(actions: Iterable[Action]) -> tuple[Action, ...]:
    """Return the actions the footer shows, in the order of the table."""
    return tuple(a for a in actions if a.show)


def help_groups(actions: Sequence[Action]) -> tuple[HelpGroup, ...]:
    """Return the help rows by group, groups in the order of their first action."""
    order = list(dict.fromkeys(a.group for a in actions))
    ranked = sorted(actions, key=lambda a: order.index(a.group))
    panes = _panes(actions)
    parts = [(group, tuple(part)) for group, part in groupby(ranked, lambda a: a.group)]
    return tuple(
        HelpGroup(
            group,
            tuple(_row(a, panes.get(a.id, "")) for a in part),
            tuple(a.first_key for a in part),
            tuple(a.label for a in part),
        )
        for group, part in parts
    )


def _panes(actions: Sequence[Action]) -> dict[str, str]:
    """Return the pane of each action that shares a key with one of another pane, by the action's
    id.
    """
    held: defaultdict[str, list[Action]] = defaultdict(list)
    for action in actions:
        for key in key_names(action.keys):
            held[key].append(action)
    shared = (action for some in held.values() if len(some) > 1 for action in some)
    return {a.id: pane for a in shared if (pane := _PANES.get(a.id.partition(".")[0]))}


def palette_entries(actions: Iterable[Action]) -> tuple[PaletteEntry, ...]:
    """Return what the command palette lists: every action that is more than moving about."""
    rows = [a for a in actions if a.group != MOVE]
    return tuple(PaletteEntry(a.id, sentence(a.label), a.tooltip, a.shown_key) for a in rows)


def all_keys(action: Action) -> str:
    """Return every key of an action as the help shows it, separated by spaces."""
    return " ".join(display_key(key) for key in key_names(action.keys))


def sentence(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


_PANES = {"list": "list", "slider": "sliders", "link": "text", "text": "text"}
"""What the panes are called whose keys mean something else in another pane, by the first part of
their actions' ids.
"""


def _row(action: Action, pane: str) -> tuple[str, str]:
    text = action.tooltip or sentence(action.label)
    return (all_keys(action), f"{pane}: {text[:1].lower()}{text[1:]}" if pane else text)


GLOBAL = (
    Action(
        "app.import", "F", "import a file", "Import a file into the store", APP, False, "take_in"
    ),
    Action("app.reflect", "R", "reflect", "Propose what memories say together", APP, False),
    Action("app.undo", "u,ctrl+z", "undo", "Undo your latest change", APP),
    Action("app.redo", "U", "redo", "Redo what you undid", APP, False),
    Action("app.all-history", "H", "all history", "Show all changes, by agents too", APP, False),
    Action("app.pause", "ctrl+f", "pause", "Pause changes by others; again follows", APP, False),
    Action("app.stores", "ctrl+o", "stores", "Open another store", APP, False),
    Action(
        "app.palette", "ctrl+p", "palette", "Find any action by name", APP, False, "command_palette"
    ),
    Action("app.back", "escape", "back", "Close what is open, or go back", APP, False),
    Action("app.help", "question_mark", "help", "Show every key of this area", APP),
    Action("app.manual", "f1", "manual", "Open the manual at the page of this area", APP, False),
    Action("app.quit", "q", "quit", "Quit; asks only when something is unsaved", APP, False),
    Action(
        "app.narrower",
        "less_than_sign",
        "narrower",
        "Make the list narrower",
        APP,
        False,
        "split(-5)",
    ),
    Action(
        "app.wider", "greater_than_sign", "wider", "Make the list wider", APP, False, "split(5)"
    ),
    Action(
        "app.one-pane",
        "Z",
        "one pane",
        "One pane over the whole width, or all",
        APP,
        False,
        "one_pane",
    ),
)
"""What holds in every area, besides the keys that go to another one."""
