"""A store of a development version: refused in one sentence from every way in, and nothing is
written to it.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from workbench.config.paths import state_dir
from workbench.core.record import StoreProblem
from workbench.tui.app.run import run

OLD = Path(__file__).parents[1] / "store" / "fixtures" / "records-0"
SAID = "was written by a development version before 1.0, which this one does not read."


@pytest.fixture
def old(cli: Cli) -> Cli:
    shutil.copytree(OLD, cli.store)
    return cli


def files(folder: Path) -> dict[str, bytes]:
    """Return what the store's files hold; the lock holds nothing."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}


@pytest.mark.parametrize(
    "command",
    ["list", "status", "search build", "doctor", "history", "undo", "append seen", "vote mem-20260301-0000001 helpful",
     "backup ../b", "trust --yes", "context build"],
)  # fmt: skip
def test_every_command_refuses_it(command: str, old: Cli) -> None:
    err = old.refused(*command.split())
    assert SAID in err
    assert "memory-workbench 0.1.0" in err
    assert err.count("\n") == 1
    assert files(old.store) == files(OLD)


def test_the_app_refuses_it(old: Cli) -> None:
    with pytest.raises(StoreProblem, match=r"development version before 1\.0"):
        run(old.store, origin="option")
    assert files(old.store) == files(OLD)


def test_a_server_refuses_it(old: Cli) -> None:
    command = [sys.executable, "-m", "workbench", "--store", str(old.store), "mcp"]
    done = subprocess.run(
        command, input="", capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 2
    assert SAID in done.stderr
    assert files(old.store) == files(OLD)


def test_a_hook_notes_why_it_kept_nothing_and_lets_the_agent_go_on(old: Cli) -> None:
    event = {
        "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(old.cwd),
        "prompt": "No, use pnpm here, never npm.",
    }  # fmt: skip
    command = [
        sys.executable,
        "-m",
        "workbench",
        "--store",
        str(old.store),
        "capture",
        "claude-code",
    ]
    subprocess.run(command, input=json.dumps(event), text=True, timeout=120, check=True)
    assert files(old.store) == files(OLD)
    notes = [path.read_text("utf-8") for path in state_dir().rglob("*") if path.is_file()]
    assert any(SAID in note for note in notes)
