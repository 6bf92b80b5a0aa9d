"""Settings and keys in the app: what holds, where that is said, changed in place."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from textual.widgets import Input

from tests.tui.review_host import memory, put, review, store
from tests.tui.support import NOW, app_over, open_bench, opens, screen_text, tells
from tests.tui.waiting import until_drawn
from workbench.config import loading, paths
from workbench.tui.app.app import WorkbenchApp
from workbench.tui.settings import SettingsDialog
from workbench.tui.widgets.dialog import Prompt


def app_with_settings(folder: Path, text: str) -> tuple[WorkbenchApp, Path]:
    file = paths.config_dir() / loading.FILE_NAME
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    app = app_over(open_bench(folder))
    return WorkbenchApp(app.bench, replace(app.options, config=file)), file


def row(dialog: SettingsDialog, name: str) -> tuple[str, str]:
    """Put the cursor on a row; return its value and its source."""
    at = next(n for n, one in enumerate(dialog.rows.rows) if one.name == name)
    dialog.rows.cursor = at
    return dialog.rows.rows[at].value, dialog.rows.rows[at].source


async def test_a_setting_is_changed_in_place_refused_when_wrong_and_taken_back(
    tmp_path: Path,
) -> None:
    mine = "# mine\n[reflection]\nhours = 48  # two days\n"
    app, file = app_with_settings(tmp_path, mine)
    async with app.run_test(size=(120, 40)) as pilot:
        app.show_settings()
        dialog = await opens(pilot, SettingsDialog)
        assert row(dialog, "capture") == ("lessons", "default")
        assert row(dialog, "reflection.hours") == ("48", "config.toml")
        await pilot.press("enter")
        prompt = await opens(pilot, Prompt)
        prompt.query_one(Input).value = "soon"
        await pilot.press("enter")
        await until_drawn(pilot, lambda: "a number from 0.1" in screen_text(app))
        assert file.read_text("utf-8") == mine
        prompt.query_one(Input).value = "72"
        await pilot.press("enter")
        await until_drawn(pilot, lambda: row(dialog, "reflection.hours")[0] == "72")
        assert "hours = 72  # two days" in file.read_text("utf-8")
        await pilot.press("u")
        assert file.read_text("utf-8") == mine
        await pilot.press("backspace")
        assert row(dialog, "reflection.hours") == ("24", "default")
        assert "# mine" in file.read_text("utf-8")
        row(dialog, "agents.recall")
        await pilot.press("enter")
        assert loading.load(file).settings.agents.recall


async def test_a_key_that_is_taken_is_refused_and_a_free_one_holds_at_once(tmp_path: Path) -> None:
    app, file = app_with_settings(tmp_path, '[keys]\n"stream.views" = "ctrl+g"\n')
    async with app.run_test(size=(120, 40)) as pilot:
        app.show_settings("keys.")
        dialog = await opens(pilot, SettingsDialog)
        assert dialog.rows.current is not None
        assert dialog.rows.current.name.startswith("keys.")
        for name, refused, taken in (
            ("keys.stream.views", "e", "ctrl+t"),
            ("keys.app.help", "u", "ctrl+y"),
        ):
            row(dialog, name)
            await pilot.press("enter")
            prompt = await opens(pilot, Prompt)
            prompt.query_one(Input).value = refused
            await pilot.press("enter")
            await until_drawn(pilot, lambda: "would be both" in screen_text(app))
            prompt.query_one(Input).value = taken
            await pilot.press("enter")
            await until_drawn(pilot, lambda: app.screen is dialog)
            assert row(dialog, name) == (taken, "config.toml")
        assert '"stream.views" = "ctrl+t"' in file.read_text("utf-8")
        assert loading.load(file).problems == ()
        await pilot.press("escape", "ctrl+y")
        await until_drawn(pilot, lambda: "Show every" in screen_text(app))


async def test_in_the_demo_keys_hold_for_the_sitting_and_the_rest_says_where_to_change_it(
    tmp_path: Path,
) -> None:
    app, copy = app_over(open_bench(tmp_path)), tmp_path / "config.toml"
    app.options = replace(app.options, demo_config=copy)
    async with app.run_test(size=(80, 24)) as pilot:
        app.show_settings()
        dialog = await opens(pilot, SettingsDialog)
        row(dialog, "agents.recall")
        await pilot.press("enter")
        assert tells(app, "workbench config set agents.recall VALUE")
        row(dialog, "keys.app.help")
        await pilot.press("enter")
        prompt = await opens(pilot, Prompt)
        prompt.query_one(Input).value = "ctrl+y"
        await pilot.press("enter")
        await until_drawn(pilot, lambda: row(dialog, "keys.app.help")[0] == "ctrl+y")
        await pilot.press("escape", "ctrl+y")
        await until_drawn(pilot, lambda: "Show every" in screen_text(app))
        assert not (paths.config_dir() / loading.FILE_NAME).exists()


async def test_a_key_that_was_changed_is_named_by_what_is_on_the_screen(tmp_path: Path) -> None:
    bench, old = store(tmp_path), NOW - timedelta(days=40)
    put(bench, memory("n1", "A line that nobody touched.", created_at=old))
    async with review(bench, (120, 40)) as drive:
        app, pilot = drive.app, drive.pilot
        app.options = replace(app.options, demo_config=tmp_path / "config.toml")
        await drive.until(lambda: any(row.id == "group new" for row in drive.screen.rows.rows))
        drive.go("group new")
        await drive.until(lambda: "approves" in drive.text("candidate"))
        app.show_settings("keys.review.approve")
        dialog = await opens(pilot, SettingsDialog)
        await pilot.press("enter")
        prompt = await opens(pilot, Prompt)
        prompt.query_one(Input).value = "f9"
        await pilot.press("enter")
        await until_drawn(pilot, lambda: app.screen is dialog)
        await pilot.press("escape")
        await drive.until(lambda: "f9    approves" in drive.text("candidate"))
