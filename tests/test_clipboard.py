"""Copying: the desktop's clipboard, else the terminal's, else a file, and which one it was."""

import base64
import stat
import tempfile
from pathlib import Path

import pytest

from workbench.clipboard import LONGEST_OSC52, copy, osc52


def refuse(text: str) -> bool:
    """There is no desktop."""
    del text
    return False


def test_the_desktop_comes_first() -> None:
    got: list[str] = []
    sent: list[str] = []

    def desktop(text: str) -> bool:
        got.append(text)
        return True

    done = copy("a text", sent.append, {"TERM": "xterm"}, desktop)
    assert (got, sent) == (["a text"], [])
    assert str(done) == "Copied 6 characters (clipboard)."


def test_then_the_terminal() -> None:
    sent: list[str] = []
    done = copy("a text", sent.append, {"TERM": "xterm-256color"}, refuse)
    assert sent == ["a text"]
    assert str(done) == "Copied 6 characters (through the terminal, OSC 52)."


@pytest.mark.parametrize(
    ("text", "term"),
    [("a text", "dumb"), ("a text", ""), ("ä" * LONGEST_OSC52, "xterm"), ("a \udcff", "linux")],
)
def test_then_a_file_of_ones_own(
    text: str, term: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sent: list[str] = []
    for _ in range(2):
        done = copy(text, sent.append, {"TERM": term}, refuse)
    assert sent == []
    assert done.path is not None
    assert done.path.read_bytes() == text.encode(errors="replace")
    assert stat.S_IMODE(done.path.stat().st_mode) == 0o600
    assert str(done.path) in str(done)


def test_a_link_in_the_way_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    theirs = tmp_path / "theirs"
    theirs.write_text("kept")
    (tmp_path / "workbench-copy.txt").symlink_to(theirs)
    copy("mine", lambda _: None, {"TERM": "dumb"}, refuse)
    assert theirs.read_text() == "kept"


def test_the_sequence_carries_the_exact_text() -> None:
    sent = osc52("żółw\x1b]")
    assert sent.startswith("\x1b]52;c;")
    assert sent.endswith("\a")
    assert base64.b64decode(sent[7:-1]).decode() == "żółw\x1b]"
