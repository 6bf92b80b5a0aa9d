"""The command palette across areas, and toasts that leave a dialog's keys readable."""

from pathlib import Path

import pytest
from textual.command import CommandList

from tests.tui.support import demo, demo_app, opens, screen_text, shows
from tests.tui.waiting import until_drawn
from workbench.tui.app.areas import AREAS
from workbench.tui.health.screen import HealthScreen
from workbench.tui.stream.history_dialog import HistoryDialog
from workbench.tui.widgets.dialog import Prompt


@pytest.mark.slow
async def test_the_palette_runs_what_another_area_does_there(tmp_path: Path) -> None:
    async with demo(tmp_path, (120, 40)) as (app, pilot):
        await pilot.pause()
        commands = {command.title: command for command in app.commands(app.screen)}
        assert {"Health: duplicates", "Tune: auto-tune", "Playbook: budget"} <= commands.keys()
        assert not any(title.startswith("Stream: ") for title in commands)
        names = {area.title for area in AREAS if area.id != "stream"}
        assert names <= {title.split(":")[0] for title in commands}
        commands["Health: add a file"].run()
        await opens(pilot, Prompt)
        assert isinstance(app.screen_stack[0], HealthScreen)


async def test_the_palette_lists_this_screen_first_with_its_keys_then_the_areas_then_the_rest(
    tmp_path: Path,
) -> None:
    async with demo(tmp_path, (120, 40)) as (app, pilot):
        await pilot.press("ctrl+p")
        await until_drawn(
            pilot,
            lambda: app.screen.query(CommandList) and app.screen.query_one(CommandList).options,
        )
        rows = [str(option.prompt).split() for option in app.screen.query_one(CommandList).options]
        keys = [row[0] for row in rows]
        tabs, rest = keys.index("1"), keys.index("F")
        assert keys[:2] == ["/", "+"]
        assert keys[tabs:rest] == ["1", "2", "3", "4", "5", "6"]
        assert all(row[1][:1].isupper() for row in rows[:tabs])
        assert ["3", "X", "Playbook:", "export"] in [row[:4] for row in rows[rest:]]


async def test_the_list_of_themes_begins_with_the_one_in_use(tmp_path: Path) -> None:
    async with demo(tmp_path, (120, 40)) as (app, pilot):
        await pilot.pause()
        app.action_change_theme()
        await until_drawn(
            pilot,
            lambda: app.screen.query(CommandList) and app.screen.query_one(CommandList).options,
        )
        hits = [option.hit for option in app.screen.query_one(CommandList).options]  # type: ignore[attr-defined]
        assert (str(hits[0].text), hits[0].help) == (app.theme, "in use")
        assert [hit.help for hit in hits[1:]] == [None] * (len(app.available_themes) - 1)
        hits[-1].command()
        assert app.theme == str(hits[-1].text)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_toasts_are_gone_when_a_dialog_opens_and_never_cover_its_keys(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    app = demo_app(tmp_path)
    async with app.run_test(size=size, notifications=True) as pilot:
        app.say("Said before.")
        await pilot.pause()
        await pilot.press("H")
        await opens(pilot, HistoryDialog)
        await pilot.pause()
        assert "Said before." not in screen_text(app)
        keys = str(app.screen.query_one(".dialog--keys").render()).rstrip()
        app.say("A long sentence about what happened just now. " * 4)
        await shows(pilot, "A long sentence")
        assert keys in screen_text(app)
