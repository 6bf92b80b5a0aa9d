"""Settings and keys: the value that holds, where it is said, what it means; changed in place."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from textual import on
from textual.widget import Widget

from workbench.config import loading
from workbench.config.settings_reading import KEYS, parse_value, read, value_text
from workbench.config.writing import set_values, unset, with_values
from workbench.core.record import WorkbenchError
from workbench.services.context import is_person
from workbench.services.open import Workbench
from workbench.tui.actions import SETTINGS
from workbench.tui.app.actions import all_keys, bindings, key_names
from workbench.tui.app.areas import AREAS, check_keymap
from workbench.tui.app.host import Host
from workbench.tui.app.waiting import asking
from workbench.tui.widgets.content import MUTED, assemble, keyed
from workbench.tui.widgets.dialog import Dialog, Prompt
from workbench.tui.widgets.line_list import Cell, LineView

FILE, DEFAULT = "config.toml", "default"
OF_STORE = "Which profile ranks is a setting of the store: {tune.load} in Tune loads one, {tune.use} uses it."
_SWITCH = {"true": False, "false": True}
_KEY = "keys."


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting or the keys of an action: what holds, where that is said, and what may stand there;
    `written` is the value as it is typed.
    """

    name: str
    value: str
    source: str
    about: str
    expected: str
    default: str
    written: str


def settings_of(loaded: loading.Loaded, bench: Workbench) -> list[Setting]:
    """Return every setting as it holds, then the keys of every action."""
    rows = []
    for key in KEYS:
        value, source = (
            value_text(loaded.settings, key),
            FILE if key.name in loaded.given else DEFAULT,
        )
        default = value_text(loading.Settings(), key)
        shown = value
        if key.name == "profile":
            used = bench.context.profile
            shown, source = used.name, used.origin
        elif key.name == "editor" and not value:
            named = next((name for name in ("VISUAL", "EDITOR") if os.environ.get(name)), "")
            shown, source = (os.environ[named], f"${named}") if named else ("vi", DEFAULT)
        rows.append(Setting(key.name, shown, source, key.about, key.expected, default, value))
    held = check_keymap(loaded.settings.keys).keys
    for id, action in {action.id: action for action in AREAS.every_action()}.items():
        keys = held.get(id, action.keys)
        about = action.tooltip or action.label
        rows.append(
            Setting(
                f"{_KEY}{id}",
                all_keys(replace(action, keys=keys)),
                FILE if id in loaded.settings.keys else DEFAULT,
                about,
                "names of keys separated by commas, such as ctrl+e,f5",
                all_keys(action),
                ",".join(key_names(keys)),
            )
        )
    return rows


def problems_of(loaded: loading.Loaded) -> Sequence[str]:
    """Return a sentence for each thing in the file that does not hold."""
    return (*loaded.problems, *check_keymap(loaded.settings.keys).problems)


class SettingsDialog(Dialog[None]):
    """The list, and below it all about the row under the cursor.

    `file` is the settings' file, in the demo a copy of it; the cursor begins on the first row whose
    name begins with `at`.
    """

    BINDINGS = bindings(SETTINGS)
    DEFAULT_CSS = """
    SettingsDialog {
        & > .dialog { width: 94%; max-width: 130; height: 90%; }
        &.-narrow > .dialog { width: 100%; height: 100%; }
        & LineView { background: $surface; }
        & .dialog--state { height: 6; border-top: solid $panel; }
    }
    """

    def __init__(self, bench: Workbench, file: Path, at: str = "", *, is_demo: bool) -> None:
        super().__init__("Settings and keys", SETTINGS)
        self._bench, self._path, self._is_demo = bench, file, is_demo
        self._at = at
        self._done: list[tuple[str, object]] = []
        self.rows: LineView[Setting] = LineView(self._draw, lambda row: row.name, title="Settings")

    def contents(self) -> Iterable[Widget]:
        yield self.rows
        yield self.state

    def on_mount(self) -> None:
        """List everything as it stands now."""
        rows = self._list()
        self.rows.cursor = next(
            (n for n, row in enumerate(rows) if row.name.startswith(self._at)), 0
        )
        self.rows.focus()

    def _list(self) -> list[Setting]:
        rows = settings_of(loading.load(self._path), self._bench)
        self.rows.set_rows(rows)
        self._show()
        return rows

    def _draw(self, row: Setting, width: int) -> list[Cell]:
        wide = width >= 100
        value = self._bench.safety.masked(row.value) or "–"
        return [
            Cell(row.name, 32 if wide else 26, name="setting"),
            Cell(
                value,
                24 if wide else 16,
                "" if row.source == DEFAULT else "bold",
                name="value",
            ),
            Cell(row.source, 11, MUTED, name="from"),
            Cell(row.about, 0, MUTED, name="meaning"),
        ]

    @on(LineView.Highlighted)
    def _show(self) -> None:
        row = self.rows.current
        if row is None:
            return
        said = f"{row.about}\nExpected: {row.expected}. Default: {row.default or 'none'}."
        where = f"\nFile: {self._path}"
        text = assemble([(f"{row.name}\n", "bold"), (said, ""), (where, MUTED)])
        self.tell(text)

    # Changing

    @on(LineView.Opened)
    @asking
    async def action_change(self) -> None:
        """Turn a switch, or ask for another value; a wrong one is refused with its sentence."""
        row = self.rows.current
        if row is None or not self._may_change(row):
            return
        if row.written in _SWITCH:
            self._write(row.name, _SWITCH[row.written])
            return
        told = f"{row.name}: {row.expected}"
        chosen = await self.app.push_screen_wait(
            Prompt(told, row.written, check=lambda text: self._refusal(row.name, text))
        )
        if chosen is not None:
            self._write(row.name, parse_value(row.name, chosen, self._path.parent))

    def action_reset(self) -> None:
        """Let the default hold."""
        row = self.rows.current
        if row is None or not self._may_change(row):
            return
        if row.source != FILE:
            self._say(f"{row.name} is not in {FILE}.")
            return
        self._write(row.name, None)

    def action_undo(self) -> None:
        """Write what stood there before the last change."""
        if not self._done:
            self._say("Nothing was changed here yet.")
            return
        self._write(*self._done.pop(), again=True)

    def _may_change(self, row: Setting) -> bool:
        if self._is_demo and row.name != "theme" and not row.name.startswith(_KEY):
            self._say(
                f"{row.name} holds from the next start on, and the demo ends with this one. "
                f"For your own stores: workbench config set {row.name} VALUE"
            )
        elif not is_person(self._bench.context.actor):
            self._say("Only a person can change a setting.")
        elif row.name == "profile":
            self._say(keyed(OF_STORE))
        else:
            return True
        return False

    def _refusal(self, name: str, text: str) -> str | None:
        """Return why a value cannot stand in the file, such as a key that is taken, or `None`."""
        try:
            value = parse_value(name, text, self._path.parent)
            after = read(with_values(self._path, {name: value}), self._path)
        except WorkbenchError as error:
            return str(error)
        if name == "theme" and text and text not in self.app.available_themes:
            return f"There is no theme “{text}”."
        known = problems_of(loading.load(self._path))
        return next((one for one in problems_of(after) if one not in known), None)

    def _write(self, name: str, value: object, *, again: bool = False) -> None:
        """Put a value into the file, or take it out (`None`); the list shows what holds then."""
        with self._host.reporting():
            before = loading.load(self._path)
            if value is None:
                old = next(row.written for row in self.rows.rows if row.name == name)
                stood: object = parse_value(name, old, self._path.parent)
                unset(self._path, name)
            elif isinstance(value, str | bool | int | float):
                stood = set_values(self._path, {name: value})[name]
            else:
                self._say("What stood there was no value; edit the file to bring it back.")
                return
            if not again:
                self._done.append((name, stood))
            self._hold(name, before.settings, loading.load(self._path).settings)
            self._list()

    def _hold(self, name: str, before: loading.Settings, now: loading.Settings) -> None:
        """Let it hold at once where that is possible, and say when it does."""
        when = "now"
        if name.startswith(_KEY):
            self._host.take_keys(check_keymap(now.keys).keys)
        elif name == "theme" and now.theme and now.theme != before.theme:
            self._host.take_theme(now.theme)
        else:
            when = "from the next start"
        where = (
            "It holds in this demo only" if self._is_demo else f"Written to {FILE}; it holds {when}"
        )
        self._say(f"{where}.")

    @property
    def _host(self) -> Host:
        return cast(Host, self.app)

    def _say(self, text: str) -> None:
        self._host.say(text)
