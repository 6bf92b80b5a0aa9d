"""The person's own editor: which one it is, and a text that goes through it."""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from workbench.core.record import WorkbenchError

_PLUS = frozenset((
    "emacs", "emacsclient", "gedit", "gvim", "jmacs", "joe", "kak", "mg", "micro", "mvim", "nano", "ne", "nvim", "pico",
    "rvim", "vi", "view", "vim",
))  # fmt: skip
_COLON = frozenset(("helix", "hx", "subl", "sublime_text", "zed", "zeditor"))
_GO_TO = frozenset(
    ("code", "code-insiders", "codium", "cursor", "positron", "vscodium", "windsurf")
)
"""Editors by how one tells them where to begin: `+N FILE`, `FILE:N`, `--goto FILE:N`."""


def at_line(command: Sequence[str], path: Path, line: int) -> list[str]:
    """Return the command with a file, at a line (from 1; 0 for none) where its way of saying so is
    known.
    """
    name = Path(command[0]).name.lower().removesuffix(".exe")
    if line > 0 and name in _PLUS:
        return [*command, f"+{line}", str(path)]
    if line > 0 and name in _COLON:
        return [*command, f"{path}:{line}"]
    if line > 0 and name in _GO_TO:
        return [*command, "--goto", f"{path}:{line}"]
    return [*command, str(path)]


def editor_command(setting: str) -> list[str]:
    """Return the editor to run: the setting, `$VISUAL`, `$EDITOR`, else vi."""
    chosen = setting or os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        return shlex.split(chosen)
    except ValueError as error:
        hint = "Set `editor` in the config; nothing was changed."
        raise WorkbenchError(f"The editor “{chosen}” cannot be run ({error}).", hint) from error


def edit(
    text: str,
    setting: str = "",
    leaving: Callable[[], AbstractContextManager[object]] = nullcontext,
    line: int = 0,
) -> str | None:
    """Open the editor on `text` and return what was saved, or `None` when it is unchanged.

    It begins at `line` (from 1; 0 leaves that to the editor). `leaving` gives the terminal to the
    editor while it runs. Raises `WorkbenchError` when the editor cannot be run or fails; the text
    is as it was then.
    """
    command = editor_command(setting)
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        path = Path(folder) / "memory.md"
        path.write_text(text, "utf-8", errors="replace", newline="")
        with leaving():
            problem = _run(at_line(command, path, line))
        if problem is not None:
            raise problem
        return _changed(path, text)


def _run(command: list[str]) -> WorkbenchError | None:
    """Run an editor; return what went wrong: whoever left the terminal to it has to have it back
    before that is said.

    Textual takes it back at the end of a block, and after none that was left by an error.
    """
    try:
        result = subprocess.run(command, check=False)
    except OSError as error:
        hint = "Set `editor` in the config, or $EDITOR; nothing was changed."
        return WorkbenchError(f"The editor {command[0]} cannot be run: {error.strerror}.", hint)
    if result.returncode:
        return WorkbenchError(
            f"{command[0]} ended with an error ({result.returncode}).", "Nothing was changed."
        )
    return None


def _changed(path: Path, text: str) -> str | None:
    try:
        saved = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WorkbenchError(
            "The saved file is not readable text.", "Nothing was changed."
        ) from error
    # Most editors end a file with a line end; that alone is no change.
    if saved.removesuffix("\n") == text.removesuffix("\n"):
        return None
    return saved if text.endswith("\n") else saved.removesuffix("\n")
