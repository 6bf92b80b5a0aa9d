"""Connecting an agent inside the app: said before it is written, and taken back to the byte."""

import os
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.support import app_over, demo_bench, messages, opens, screen_text, shows
from workbench.core.agents.hook_event import EVENTS_DO, HOOK_FILES, name_of
from workbench.core.first_run import FirstRun
from workbench.tui.agents.connect import ConnectDialog
from workbench.tui.agents.screen import AgentsScreen
from workbench.tui.opening import WelcomeApp

MINE = '// mine\n{\n\t"model": "opus", // the good one\n\t"hooks": {"Stop": []}\n}'


@pytest.fixture(autouse=True)
def person(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(("CLAUDE", "CODEX", "CURSOR")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def settings(folder: Path, text: str | None = None) -> Path:
    path = folder / ".claude" / "settings.local.json"
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return path


async def asked(pilot: Pilot[Any], *keys: str) -> ConnectDialog:
    """Choose the agent and the scope with keys, and wait for what connecting does."""
    for key in keys:
        await pilot.press(key)
    return await opens(pilot, ConnectDialog)


async def test_the_first_card_connects_says_what_it_does_and_takes_it_back(tmp_path: Path) -> None:
    app = WelcomeApp(FirstRun(tmp_path, tmp_path / "global"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await asked(pilot, "4", "enter", "enter")
        text = "".join(screen_text(app).replace("│", "").split())
        for said in (
            "settings.local.json", "SessionStart", "a brief of the project", "Store",
            "workbench hooks remove --agent claude-code --project", "mcp --agent claude",
        ):  # fmt: skip
            assert said.replace(" ", "") in text
        await pilot.press("v")
        await shows(pilot, '"SessionStart": [')
        assert not settings(tmp_path).exists(), "nothing is written before it is asked for"
        await pilot.press("enter")
        await shows(pilot, "Connected")
        assert "capture claude-code" in settings(tmp_path).read_text()
        await pilot.press("u")
        await shows(pilot, "is made")
        assert not settings(tmp_path).exists()
        await pilot.press("escape", "escape")


@pytest.mark.parametrize("text", [MINE, "{}\n", '{"hooks": {}}', ""])
async def test_what_was_in_the_file_comes_back_to_the_byte(tmp_path: Path, text: str) -> None:
    path = settings(tmp_path, text)
    app = app_over(demo_bench(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("5")
        await opens(pilot, AgentsScreen)
        await asked(pilot, "C", "enter", "enter")
        await pilot.press("enter")
        await shows(pilot, "Connected")
        assert f"--store {app.bench.library.folder} capture claude-code" in path.read_text()
        await pilot.press("escape")
        dialog = await asked(pilot, "C", "enter", "enter")
        await shows(pilot, "Connected")
        await pilot.press("v", "escape")
        assert app.screen is dialog, "back from the changes"
        await pilot.press("u")
        assert path.read_bytes() == text.encode()


async def test_what_somebody_else_wrote_since_stays(tmp_path: Path) -> None:
    path = settings(tmp_path, MINE)
    app = WelcomeApp(FirstRun(tmp_path, tmp_path / "global"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await asked(pilot, "4", "enter", "enter")
        await pilot.press("enter")
        await shows(pilot, "Connected")
        path.write_text(path.read_text().replace('"opus"', '"sonnet"'))
        await pilot.press("u")
        assert '"sonnet"' in path.read_text()
        assert "capture" not in path.read_text()
        await pilot.press("escape", "escape")


async def test_an_agent_connects_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    app = WelcomeApp(FirstRun(tmp_path, tmp_path / "global"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("4")
        assert any("cannot change its own hooks" in said for said in messages(app))
        await pilot.press("escape")
    assert not settings(tmp_path).exists()


def test_each_event_says_what_it_does() -> None:
    events = {name_of(event) for file in HOOK_FILES.values() for event in file.events}
    assert events <= set(EVENTS_DO)
