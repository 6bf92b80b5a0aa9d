"""The person's settings: `config.toml`, read softly; a mistake in the file never keeps the app from
starting.
"""

from pathlib import Path

from workbench.config.settings import Loaded, Settings

__all__ = ["FILE_NAME", "Loaded", "Settings", "load"]

FILE_NAME = "config.toml"


def load(path: Path) -> Loaded:
    """Read the settings at `path`; a missing file means the defaults. Never raises for what the
    file holds.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return Loaded(Settings())
    except OSError as error:
        problem = f"{path.name} cannot be read ({error.strerror or error})"
        return Loaded(Settings(), (f"{problem}; the defaults are used.",))
    from workbench.config.settings_reading import (
        read,
    )  # most people have no such file, and are not to wait for it

    return read(raw, path)
