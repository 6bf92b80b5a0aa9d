"""Editing a text in the person's own editor, with the app suspended meanwhile."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from textual.app import App, SuspendNotSupported

from workbench.core.errors import WorkbenchError


def editor_command(setting: str) -> list[str]:
    """Return the editor to run: the setting, `$VISUAL`, `$EDITOR`, else vi."""
    chosen = setting or os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        return shlex.split(chosen)
    except ValueError as error:
        hint = "Set `editor` in the config; nothing was changed."
        raise WorkbenchError(f"The editor “{chosen}” cannot be run ({error}).", hint) from error


def edit(app: App[object], text: str, setting: str = "") -> str | None:
    """Open the editor on `text` and return what was saved, or `None` when it is unchanged.

    Raises `WorkbenchError` when the editor cannot be run or fails; the text is as it was then.
    """
    command = editor_command(setting)
    with tempfile.TemporaryDirectory(prefix="workbench-") as folder:
        path = Path(folder) / "memory.md"
        path.write_text(text, "utf-8", errors="replace", newline="")
        try:
            with app.suspend():
                result = subprocess.run([*command, str(path)], check=False)
        except SuspendNotSupported as error:
            raise WorkbenchError("This terminal cannot be left for an editor.", "Press e to edit here.") from error
        except OSError as error:
            hint = "Set `editor` in the config, or $EDITOR; nothing was changed."
            raise WorkbenchError(f"The editor {command[0]} cannot be run: {error.strerror}.", hint) from error
        if result.returncode:
            raise WorkbenchError(f"{command[0]} ended with an error ({result.returncode}).", "Nothing was changed.")
        return _changed(path, text)


def _changed(path: Path, text: str) -> str | None:
    try:
        saved = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WorkbenchError("What the editor saved is not readable text.", "Nothing was changed.") from error
    # Most editors end a file with a line end; that alone is no change.
    if saved.removesuffix("\n") == text.removesuffix("\n"):
        return None
    return saved if text.endswith("\n") else saved.removesuffix("\n")
