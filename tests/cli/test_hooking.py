"""`workbench hooks`: an agent's settings with the hooks of the workbench, and everything else in
them as it was.
"""

import json
import os
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import Cli
from workbench.config.paths import captures_dir, replaced_dir
from workbench.core.agents.hook_event import HOOK_FILES
from workbench.formats.hooks import commands, installed, removed

FOREIGN = """\
// mine, and "quoted"
{
\t"model": "opus", // the good one
\t"hooks": {
\t\t"Stop": [
\t\t\t{ "matcher": "", "hooks": [{"type":"command","command":"say done"}] } // workbench capture claude-code
\t\t] /* the end */
\t}, // of hooks
\t"z": [1,2] // last
}
"""
HANDLERS = {
    event: {"type": "command", "command": "/x/workbench capture claude-code"}
    for event in ("SessionStart", "Stop")
}


@pytest.fixture(autouse=True)
def person(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(("CLAUDE", "CODEX", "CURSOR")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def settings(cli: Cli, text: str | None = None) -> Path:
    path = cli.cwd / ".claude" / "settings.local.json"
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return path


def test_hooks_are_installed_where_there_was_nothing_and_removed_again(cli: Cli) -> None:
    told = cli("hooks", "install", "--yes")
    assert (told.code, told.err) == (0, "")
    assert "mcp add memory" in told.out
    doc = json.loads(settings(cli).read_text())
    assert set(doc["hooks"]) == set(HOOK_FILES["claude-code"].events)
    handler = doc["hooks"]["Stop"][0]["hooks"][0]
    assert handler["timeout"] == 60
    assert Path(shlex.split(handler["command"])[0]).is_absolute()
    assert handler["command"].endswith(f"--store {cli.store} capture claude-code")
    assert cli.ok("hooks", "install", "--yes").startswith("Nothing to do")
    assert cli("hooks", "remove", "--yes").code == 0
    assert settings(cli).read_text() == "{}\n"


def test_foreign_hooks_and_comments_stay_byte_for_byte(cli: Cli) -> None:
    path = settings(cli, FOREIGN)
    path.chmod(0o640)
    shown = cli("hooks", "install", "--yes").out
    assert [line[0] for line in shown.splitlines() if "capture claude-code" in line].count(
        "+"
    ) == 7  # with the line that got a comma
    text = path.read_text()
    assert "say done" in text
    lines = iter(text.splitlines())
    assert all(
        any(line.replace(",", "") == other.replace(",", "") for other in lines)
        for line in FOREIGN.splitlines()
    )
    assert (path.stat().st_mode & 0o777) == 0o640
    assert cli("hooks", "remove", "--yes").code == 0
    assert path.read_text() == FOREIGN
    assert FOREIGN.encode() in [copy.read_bytes() for copy in replaced_dir().iterdir()]


def test_another_path_of_the_workbench_is_put_in_its_place(cli: Cli) -> None:
    old = installed(
        "{}", "f", {"Stop": {"type": "command", "command": "/gone/workbench capture claude-code"}}
    )
    path = settings(cli, old)
    status = cli.ok("hooks", "status")
    assert "/gone/workbench is not there any more" in status
    assert cli("hooks", "install", "--yes").code == 0
    assert "/gone/" not in path.read_text()
    assert [event for event, _ in commands(path.read_text(), "f")] == list(
        HOOK_FILES["claude-code"].events
    )


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        '{"hooks": 3}',
        '{"hooks": {"Stop": {}}}',
        '{"a": ',
        "\ud800".encode("utf-8", "replace").decode() + "{",
    ],
)
def test_what_cannot_be_read_is_left_alone(cli: Cli, text: str) -> None:
    path = settings(cli, text)
    result = cli("hooks", "install", "--yes")
    assert result.code == 2
    assert path.read_text() == text


def test_an_agent_and_nobody_decide_nothing(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No terminal to ask in" in cli("hooks", "install").err
    monkeypatch.setenv("CLAUDECODE", "1")
    result = cli("hooks", "install", "--yes")
    assert result.code == 2
    assert "An agent (claude) cannot decide" in result.err
    assert not settings(cli).exists()


def test_links_stay_links(cli: Cli, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    path = settings(cli, "")
    path.unlink()
    path.symlink_to(real)
    assert cli("hooks", "install", "--yes").code == 0
    assert path.is_symlink()
    assert "capture claude-code" in real.read_text()


def test_status_says_what_is_installed_and_what_went_wrong(cli: Cli) -> None:
    from datetime import UTC, datetime

    from workbench.services.agents.capture.progress import note

    assert "No hook failed lately." in cli.ok("hooks", "status")
    assert cli("hooks", "install", "--agent", "codex", "--user", "--yes").code == 0
    folder = captures_dir()
    assert folder is not None
    note(folder, datetime(2026, 3, 1, tzinfo=UTC), "claude-code", "Stop", "The disk is full.")
    doc = cli.json("hooks", "status")
    user, project = doc["agents"]["codex"]
    assert user["events"] == list(HOOK_FILES["codex"].events)
    assert project["events"] == []
    assert [one["problem"] for one in doc["failures"]] == ["The disk is full."]
    assert sys.executable.rpartition("/")[0] in (Path.home() / ".codex" / "hooks.json").read_text()


_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)
_HANDLERS = st.lists(
    st.fixed_dictionaries({"command": st.text(max_size=9)}), min_size=1, max_size=2
)
_GROUPS = st.lists(st.fixed_dictionaries({"hooks": _HANDLERS}), min_size=1, max_size=2)
_DOCS = st.dictionaries(
    st.text(max_size=6).filter(lambda key: key != "hooks"), _VALUE, max_size=3
).flatmap(
    lambda doc: st.dictionaries(st.sampled_from(["Stop", "PreToolUse"]), _GROUPS, max_size=2).map(
        lambda hooks: {**doc, "hooks": hooks} if hooks else doc
    )
)


@pytest.mark.slow
@given(_DOCS, st.sampled_from([None, 1, 2, "\t"]))
def test_what_is_put_in_comes_out_again(doc: dict[str, object], indent: int | str | None) -> None:
    text = json.dumps(doc, indent=indent)
    with_ours = installed(text, "f", HANDLERS)
    after = json.loads(with_ours)
    assert {key: value for key, value in after.items() if key != "hooks"} == {
        k: v for k, v in doc.items() if k != "hooks"
    }
    assert {
        event for event, command in commands(with_ours, "f") if command.startswith("/x/workbench")
    } == set(HANDLERS)
    assert removed(with_ours, "f", lambda command: command.startswith("/x/workbench")) == text


CURSOR = """\
{
  "version": 1, // theirs
  "hooks": {
    "sessionStart": [
      { "command": "./hooks/mine.sh", "timeout": 5 }
    ],
    "stop": [{ "command": "say done", "loop_limit": 2 }]
  }
}
"""


def test_cursor_s_hooks_stand_in_the_lists_of_their_events(cli: Cli) -> None:
    path = cli.cwd / ".cursor" / "hooks.json"
    told = cli("hooks", "install", "--agent", "cursor", "--yes")
    assert (told.code, "mcp.json" in told.out) == (0, True), told.err
    doc = json.loads(path.read_text())
    assert (doc["version"], set(doc["hooks"])) == (1, set(HOOK_FILES["cursor"].events))
    (handler,) = doc["hooks"]["beforeSubmitPrompt"]
    assert (list(handler), handler["timeout"]) == (["command", "timeout"], 10)
    assert handler["command"].endswith(f"--store {cli.store} capture cursor")
    assert cli.ok("hooks", "install", "--agent", "cursor", "--yes").startswith("Nothing to do")
    assert f"cursor  {path}: sessionStart" in cli.ok("hooks", "status")
    assert cli("hooks", "remove", "--agent", "cursor", "--yes").code == 0
    assert json.loads(path.read_text()) == {"version": 1}


def test_cursor_s_own_hooks_stay_byte_for_byte(cli: Cli) -> None:
    path = cli.cwd / ".cursor" / "hooks.json"
    path.parent.mkdir(parents=True)
    path.write_text(CURSOR)
    assert cli("hooks", "install", "--agent", "cursor", "--yes").code == 0
    found = commands(path.read_text(), "f")
    assert ("sessionStart", "./hooks/mine.sh") in found
    assert len(found) == 2 + len(HOOK_FILES["cursor"].events)
    assert cli("hooks", "remove", "--agent", "cursor", "--yes").code == 0
    assert path.read_text() == CURSOR


def test_a_comment_behind_a_hook_stays_where_it_is_when_ours_are_removed() -> None:
    foreign = '{"hooks": [ {"type": "command", "command": "theirs.sh"} ]}'
    before = f'{{\n  "hooks": {{\n    "Stop": [ {foreign} ] // theirs\n  }}\n}}\n'
    ours = {
        event: {"type": "command", "command": "ours"}
        for event in ("Stop", "SessionStart", "SessionEnd")
    }
    after = installed(before, "settings.json", ours)
    assert [command for _, command in commands(after, "settings.json")] == [
        "theirs.sh",
        "ours",
        "ours",
        "ours",
    ]
    assert removed(after, "settings.json", lambda command: command == "ours") == before
