"""Actions that nobody else knows: in the help, the palette, the footer and the keymap's file, and done when pressed.

The toys are an area of its own and the dialog that it opens, each with its table.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from textual.binding import BindingType
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Static

from tests.tui.support import app_over, open_bench, screen_text
from tests.tui.waiting import until
from workbench.config import loading
from workbench.tui.app.actions import APP, CHANGE, DECIDE, Action, Table, bindings
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.app.area import AreaScreen
from workbench.tui.app.areas import AREAS, Area, Areas
from workbench.tui.app.keymap import check_keymap
from workbench.tui.widgets.dialog import Dialog
from workbench.tui.widgets.help import HelpScreen

CALLS = Table(
    "Calls",
    (
        Action("calls.shout", "x", "shout", "Say it so that all hear it", DECIDE),
        Action("calls.low-voice", "w", "whisper", "Ask first, then say it low", CHANGE, False),
    ),
)
WHISPER = Table(
    "a whisper",
    (Action("whisper.say", "s", "say it", "Say it low", DECIDE), Action("whisper.no", "escape", "no", "Be still", APP)),
)


class Calls(AreaScreen):
    """Calls out."""

    AREA = "calls"
    BINDINGS: ClassVar[list[BindingType]] = bindings(CALLS)

    def contents(self) -> Iterable[Widget]:
        yield Static("Nobody has called.", id="called")

    def show_store(self) -> None:
        pass

    def call(self, text: str | None) -> None:
        self.query_one("#called", Static).update(text or "Still.")

    def action_shout(self) -> None:
        self.call("HEAR ME")

    def action_low_voice(self) -> None:
        self.app.push_screen(Whisper("Whisper?", WHISPER), self.call)


class Whisper(Dialog[str]):
    """Asks first."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(WHISPER)

    def action_say(self) -> None:
        self.dismiss("hear me")

    def action_no(self) -> None:
        self.dismiss(None)


# Not at the end, so that nothing can rely on the order.
KNOWN = Areas(
    (*AREAS.every[:2], Area("calls", "7", "the Calls", "tests.plug.test_action:Calls", CALLS), *AREAS.every[2:]),
    (WHISPER, *AREAS.dialogs),
)


def written(tmp_path: Path, keys: str) -> dict[str, str]:
    """Return the keymap of a settings' file, checked as at the start; it has to hold."""
    path = tmp_path / "config.toml"
    path.write_text(f"[keys]\n{keys}\n", "utf-8")
    keymap = check_keymap(loading.load(path).settings.keys, KNOWN)
    assert keymap.problems == ()
    return keymap.keys


def opened(tmp_path: Path, keys: str = "") -> WorkbenchApp:
    keymap = tuple(written(tmp_path, keys).items())
    return app_over(open_bench(tmp_path), keymap=keymap, areas=KNOWN)


async def shown(app: WorkbenchApp, pilot: Pilot[Any], text: str) -> None:
    await until(pilot, lambda: text in screen_text(app))


async def test_its_keys_are_pressed_and_shown(tmp_path: Path) -> None:
    app = opened(tmp_path)
    async with app.run_test(size=(160, 40)) as pilot:
        await shown(app, pilot, "7 Calls")
        await pilot.press("7")
        await shown(app, pilot, "▸7 Calls")
        last = screen_text(app).splitlines()[-1]
        assert ("x shout" in last, "whisper" in last) == (True, False)
        await pilot.press("x")
        await shown(app, pilot, "HEAR ME")
        await pilot.press("w")
        await shown(app, pilot, "s say it   esc no")
        await pilot.press("s")
        await shown(app, pilot, "hear me")
        await pilot.press("1")
        await shown(app, pilot, "▸1 Stream")


async def test_the_help_and_the_palette_list_it_and_do_it(tmp_path: Path) -> None:
    app = opened(tmp_path)
    async with app.run_test(size=(160, 40)) as pilot:
        await shown(app, pilot, "7 Calls")
        commands = {command.title: command for command in app.get_system_commands(app.screen)}
        assert commands["Calls"].help == "Go to the Calls (7 · app.calls)"
        commands["Calls: shout"].callback()
        await shown(app, pilot, "HEAR ME")
        commands = {command.title: command for command in app.get_system_commands(app.screen)}
        assert commands["Whisper"].help == "Ask first, then say it low (w · calls.low-voice)"
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await shown(app, pilot, "Keys · Calls")
        for tooltip in ("Say it so that all hear it", "Ask first, then say it low", "Go to the Calls"):
            assert tooltip in screen_text(app)


@pytest.mark.slow
async def test_a_person_gives_it_other_keys(tmp_path: Path) -> None:
    app = opened(tmp_path, '"calls.shout" = "z"\n"whisper.say" = "y"\n"app.calls" = "f7"')
    async with app.run_test(size=(160, 40)) as pilot:
        await pilot.press("f7")
        await shown(app, pilot, "z shout")
        await pilot.press("x")
        assert "HEAR ME" not in screen_text(app)
        await pilot.press("z")
        await shown(app, pilot, "HEAR ME")
        await pilot.press("w")
        await shown(app, pilot, "y say it   esc no")
        await pilot.press("y")
        await shown(app, pilot, "hear me")


@pytest.mark.parametrize(
    ("name", "key", "sentence"),
    [
        (
            "calls.shout",
            "w",
            "In Calls, w would be both “calls.low-voice” and “calls.shout”, so “calls.shout” keeps x.",
        ),
        ("whisper.say", "escape", "In a whisper, esc would be both “whisper.no” and “whisper.say”, so"),
        ("calls.shuot", "z", "There is no action “calls.shuot”, so its key was ignored. Did you mean “calls.shout”?"),
    ],
)
def test_a_key_that_cannot_be_is_refused_with_a_sentence(name: str, key: str, sentence: str) -> None:
    (problem,) = check_keymap({name: key}, KNOWN).problems
    assert problem.startswith(sentence)


def test_who_was_not_handed_it_does_not_know_it() -> None:
    assert check_keymap({"calls.shout": "z"}).problems != ()
    assert "Calls" not in AREAS.scopes()
