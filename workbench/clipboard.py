"""The clipboard: the desktop's own, else the terminal's (OSC 52), else a file; whoever copies hears
which.
"""

import base64
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.core.record import WorkbenchError

Way = Literal["clipboard", "terminal", "file"]

LONGEST_OSC52 = 74_994
"""Bytes that every terminal with OSC 52 takes: more of them, in base64, is over 100,000 characters."""

_WITHOUT_OSC52 = frozenset({"", "dumb", "linux"})
"""Terminals that know no OSC 52."""

FILE_NAME = "workbench-copy.txt"


@dataclass(frozen=True, slots=True)
class Copied:
    """Where a text went; `path` is the file when that was the way."""

    way: Way
    characters: int
    path: Path | None = None

    def __str__(self) -> str:
        size = f"{self.characters:,} characters"
        if self.way == "file":
            return f"No clipboard here: {size} are in {self.path}."
        return f"Copied {size} ({'clipboard' if self.way == 'clipboard' else 'through the terminal, OSC 52'})."


def copy(
    text: str,
    to_terminal: Callable[[str], None],
    environ: Mapping[str, str] = os.environ,
    native: "Callable[[str], bool] | None" = None,
) -> Copied:
    """Copy a text by the first way that works; raises `WorkbenchError` when even a file cannot be
    written.

    `to_terminal` sends a text to the terminal's clipboard, `native` to the desktop's and says
    whether that worked.
    """
    if (native or to_desktop)(text):
        return Copied("clipboard", len(text))
    if (
        environ.get("TERM", "") not in _WITHOUT_OSC52
        and len(text.encode(errors="replace")) <= LONGEST_OSC52
    ):
        to_terminal(text)
        return Copied("terminal", len(text))
    path = Path(tempfile.gettempdir()) / FILE_NAME
    try:
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text.encode(errors="replace"))
    except OSError as error:
        raise WorkbenchError(
            f"The text could not be copied: {error.strerror}.", "Nothing was lost."
        ) from error
    return Copied("file", len(text), path)


def to_desktop(text: str) -> bool:
    """Put a text on the desktop's clipboard and tell whether there is one."""
    import pyperclip

    try:
        pyperclip.copy(text.encode(errors="replace").decode())
    except (pyperclip.PyperclipException, OSError):
        return False
    return True


def osc52(text: str) -> str:
    """Return the control sequence that asks a terminal to take a text."""
    return f"\x1b]52;c;{base64.b64encode(text.encode(errors='replace')).decode()}\a"
