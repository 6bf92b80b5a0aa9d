"""The installed command in a pseudo-terminal: the demo opens, the areas answer their keys, and it
ends well.
"""

import os
import re
import subprocess
from pathlib import Path

import pexpect
import pytest

from tests.cli.shared import COMMAND, ROOT
from tests.demo import MEMORIES

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|P[^\x1b]*\x1b\\|[=>78])"
)


class Terminal:
    """A program in a terminal of its own; what it paints is read as text, without positions or
    colours.
    """

    def __init__(self, *arguments: str, folder: Path, size: tuple[int, int] = (45, 140)) -> None:
        self.environment = {**os.environ, "TERM": "xterm-256color", "TMPDIR": str(folder)}
        self.child = pexpect.spawn(
            COMMAND[0], [*COMMAND[1:], *arguments], cwd=str(ROOT), env=self.environment,
            encoding="utf-8", codec_errors="replace", timeout=120, dimensions=size,
        )  # fmt: skip
        self._painted = ""

    def press(self, key: str) -> None:
        """Send a key; only what is painted from now on counts."""
        self._painted = ""
        self.child.send(key)

    def shows(self, *texts: str) -> None:
        """Wait until every text was painted since the last key."""
        while not all(text in self._text() for text in texts):
            try:
                self._painted += self.child.read_nonblocking(1 << 16, timeout=120)
            except (pexpect.TIMEOUT, pexpect.EOF):
                missing = [text for text in texts if text not in self._text()]
                pytest.fail(f"{missing} did not appear in:\n{self._text()[-3000:]}")

    def ends(self) -> int | None:
        """Wait for the end and return the exit code."""
        self.child.expect(pexpect.EOF)
        self.child.close()
        code: int | None = self.child.exitstatus
        return code

    def _text(self) -> str:
        return re.sub(r"\s+", " ", _ESCAPES.sub(" ", self._painted))


def workbench(*arguments: str) -> str:
    return subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
def test_the_demo_opens_shows_its_areas_and_leaves_nothing_behind(tmp_path: Path) -> None:
    terminal = Terminal("demo", folder=tmp_path)
    terminal.shows("1 Stream", f"{MEMORIES} memories", "Handover for next week")
    assert list(tmp_path.glob("workbench-demo-*/demo/journal.jsonl"))
    terminal.press("2")
    terminal.shows(" to decide")
    terminal.press("3")
    terminal.shows("STRATEGIES AND HARD RULES", "shr-00001")
    terminal.press("4")
    terminal.shows("Top 10 of", "half-life of recency", "AUTH_SECRET")
    terminal.press("?")
    terminal.shows("Keys · Tune")
    terminal.press("\x1b")
    terminal.shows("half-life of recency")
    terminal.press("q")
    assert terminal.ends() == 0
    # The alternate screen is left, the cursor shown again, and the temporary store gone.
    assert "\x1b[?1049l" in terminal.child.before
    assert "\x1b[?25h" in terminal.child.before
    assert list(tmp_path.iterdir()) == []


def test_what_is_done_in_the_app_is_in_the_store(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    workbench("demo", "--into", store)
    (newest,) = [
        line.split()[0] for line in workbench("list", "-n", "1", "--store", store).splitlines()
    ]
    terminal = Terminal("--store", store, folder=tmp_path, size=(24, 80))
    terminal.shows(f"{MEMORIES} memories", "Handover for next week")
    terminal.press("+")
    terminal.shows(f"Voted helpful on {newest}.")
    terminal.press("q")
    assert terminal.ends() == 0
    assert f"vote helpful on {newest}" in workbench("history", "-n", "1", "--store", store)
    assert workbench("undo", "--store", store) == f"Undone: vote helpful on {newest}.\n"
    assert "last opened" in workbench("stores", "--store", store)
    assert workbench("status", "--store", store).endswith(" · 0 unseen\n")
