"""What a person is told once, and never again on this machine.

What was told is kept in `<state>/told.json`: a broken file counts as empty, and a folder that cannot be written only
means that something is told again.
"""

from pathlib import Path

from workbench.config.loading import Loaded, Settings
from workbench.config.state_files import keep, kept_list

FILE_NAME = "told.json"

_NEW_DEFAULT = "profile workbench 2"


def new_default(loaded: Loaded, state_dir: Path) -> str:
    """Say that the profile in the settings is another one than it was; empty when that was said or they name none.

    Only settings that name the default are told: whoever named it may have meant what it was.
    """
    name = Settings().profile
    if "profile" not in loaded.given or loaded.settings.profile != name or not _first(state_dir, _NEW_DEFAULT):
        return ""
    return (
        f"The profile “{name}”, which your settings name, reads a memory with the talk around it now; "
        f"what it was is “{name}-1”."
    )


def _first(state_dir: Path, fact: str) -> bool:
    """Tell whether something is told for the first time, and note that it was."""
    told = [each for each in kept_list(state_dir, FILE_NAME, "told") if isinstance(each, str)]
    if fact in told:
        return False
    keep(state_dir, FILE_NAME, {"version": 1, "told": [*told, fact]})
    return True
