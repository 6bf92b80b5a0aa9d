"""Where things are: the user's folders (XDG rules on every system), the store to open, and the shipped files.

Nothing is created here; whoever writes a file creates its folder.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from workbench.core.errors import StoreProblem, WorkbenchError

if TYPE_CHECKING:
    from platformdirs.unix import Unix

APP_NAME = "memory-workbench"
PROJECT_STORE = ".workbench"
"""Name of the folder that makes a directory, and everything below it, a project with its own store."""

PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class StoreChoice:
    """The store to open (absolute; it may not exist yet) and what led to it."""

    folder: Path
    origin: Literal["option", "project", "global"]


def data_dir() -> Path:
    """Return the folder of the global store: `$XDG_DATA_HOME` or `~/.local/share`, plus the app's name."""
    return _user_folder(lambda dirs: dirs.user_data_dir)


def config_dir() -> Path:
    """Return the folder of `config.toml`: `$XDG_CONFIG_HOME` or `~/.config`, plus the app's name."""
    return _user_folder(lambda dirs: dirs.user_config_dir)


def state_dir() -> Path:
    """Return the folder of the recent stores: `$XDG_STATE_HOME` or `~/.local/state`, plus the app's name."""
    return _user_folder(lambda dirs: dirs.user_state_dir)


def find_store(start: Path, explicit: Path | None = None) -> StoreChoice:
    """Choose the store: the `explicit` one, else the nearest `.workbench/` from `start` upwards, else the global one.

    A relative `explicit` counts from `start`. Raises `StoreProblem` when it names something that is not a folder.
    """
    here = start.resolve()
    if explicit is not None:
        return StoreChoice(_explicit_store(here, explicit), "option")
    for folder in (here, *here.parents):
        if _is_folder(folder / PROJECT_STORE):
            return StoreChoice(folder / PROJECT_STORE, "project")
    return StoreChoice(data_dir() / "store", "global")


def shipped(name: str, package: Path = PACKAGE) -> Path:
    """Return where the shipped `themes` or `fixtures/demo` are: inside an installed package or in its checkout.

    Raises `WorkbenchError` when they are in neither place.
    """
    installed = package / "_shipped" / name
    if installed.exists():
        return installed
    checkout = package.parent
    # Beside an installed package lie other people's files, so the project file has to vouch for a checkout.
    if (checkout / "pyproject.toml").is_file() and (checkout / name).exists():
        return checkout / name
    raise WorkbenchError(f"The shipped “{name}” are missing from this installation.", "Install the package again.")


def _user_folder(ask: "Callable[[Unix], str]") -> Path:
    from platformdirs.unix import Unix  # not before it is needed: hooks of a project are not to wait for it

    try:
        folder = Path(ask(Unix(APP_NAME, appauthor=False)))
    except RuntimeError as error:
        raise WorkbenchError("Your home folder cannot be found.", "Set HOME to an absolute path.") from error
    return folder


def _explicit_store(here: Path, explicit: Path) -> Path:
    try:
        folder = (here / explicit.expanduser()).resolve()
        if folder.exists() and not folder.is_dir():
            raise StoreProblem(f"“{explicit}” is a file, not a store.", "Name the folder that holds memory.json.")
    except (OSError, RuntimeError, ValueError) as error:
        raise StoreProblem(f"“{explicit}” cannot be opened as a store.", "Check the path given to --store.") from error
    return folder


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a directory above that may not be looked into
        return False
