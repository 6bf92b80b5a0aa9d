"""The person's own editor: a text goes through a real program, which is told the line in its own
way.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from workbench.config.editor import at_line, edit
from workbench.core.record import WorkbenchError

FILE = Path("/tmp/memory.md")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("vim",), ["vim", "+7", "/tmp/memory.md"]),
        (("/usr/bin/nvim", "-n"), ["/usr/bin/nvim", "-n", "+7", "/tmp/memory.md"]),
        (("hx",), ["hx", "/tmp/memory.md:7"]),
        (("code", "--wait"), ["code", "--wait", "--goto", "/tmp/memory.md:7"]),
        (("my-editor",), ["my-editor", "/tmp/memory.md"]),
    ],
)
def test_each_kind_is_told_the_line_in_its_own_way(
    command: tuple[str, ...], told: list[str]
) -> None:
    assert at_line(command, FILE, 7) == told
    assert at_line(command, FILE, 0) == [*command, str(FILE)]


def an_editor(folder: Path, name: str, script: str) -> str:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    program.chmod(0o700)
    return str(program)


def test_a_text_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    vim = an_editor(tmp_path, "vim", f'echo "$1" > {tmp_path}/told; echo last >> "$2"')
    assert edit("first\n", vim, line=3) == "first\nlast\n"
    assert (tmp_path / "told").read_text("utf-8") == "+3\n"


def test_an_editor_that_fails_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError, match="ended with an error"):
        edit("first\n", an_editor(tmp_path, "vim", "exit 3"))
    assert edit("first\n", an_editor(tmp_path, "other", "true"), line=2) is None


@pytest.mark.parametrize(
    ("program", "said"),
    [("false", "false ended with an error"), ("no-such-editor", "no-such-editor cannot be run")],
)
def test_an_editor_that_fails_gives_the_terminal_back_before_that_is_said(
    program: str, said: str
) -> None:
    steps = list[str]()

    @contextmanager
    def leaving() -> Iterator[None]:
        """Leave the terminal as Textual does: an error in the block keeps it from being taken back."""
        steps.append("left")
        yield
        steps.append("back")

    with pytest.raises(WorkbenchError, match=said):
        edit("text", program, leaving)
    assert steps == ["left", "back"]
