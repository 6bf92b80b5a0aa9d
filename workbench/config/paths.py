"""Where things are: the user's folders (XDG rules on every system), the store to open, and the
shipped files.

Nothing is created here but the folder of a team's store that is named; whoever writes a file
creates its folder.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from workbench.core import team
from workbench.core.agents.actors import agent_in
from workbench.core.files.atomic import write_file
from workbench.core.record import StoreProblem, WorkbenchError, cannot_write
from workbench.core.text import printable

APP_NAME = "memory-workbench"
PROJECT_STORE = ".workbench"
"""Name of the folder that makes a directory, and everything below it, a project with its own store."""

PACKAGE = Path(__file__).resolve().parent.parent


class StoreChoice(NamedTuple):
    """The store to open (absolute; it may not exist yet) and what led to it.

    `hidden` is a store that lies beside the pointer to the team's, and is not opened for it.
    """

    folder: Path
    origin: Literal["option", "project", "global"]
    hidden: Path | None = None


def data_dir() -> Path:
    """Return the folder of the global store: `$XDG_DATA_HOME` or `~/.local/share`, plus the app's
    name.
    """
    return _user_folder("data", ".local/share")


def config_dir() -> Path:
    """Return the folder of `config.toml`: `$XDG_CONFIG_HOME` or `~/.config`, plus the app's name."""
    return _user_folder("config", ".config")


def state_dir() -> Path:
    """Return the folder of the recent stores: `$XDG_STATE_HOME` or `~/.local/state`, plus the app's
    name.
    """
    return _user_folder("state", ".local/state")


MCP_TOKEN = "mcp-token"
"""The name of the file, in the state folder, that holds the token of the server for agents."""


def heads_dir() -> Path | None:
    """Return where this machine remembers what it stored, outside every store; `None` without a
    home folder.
    """
    return _in_state("heads")


def captures_dir() -> Path | None:
    """Return where it is kept how far agents' sessions were followed; `None` without a home folder."""
    return _in_state("captures")


def _in_state(name: str) -> Path | None:
    state = _at_once("XDG_STATE_HOME", ".local/state")
    return None if state is None else state / name


def replaced_dir() -> Path:
    """Return the folder of the copies of files that were replaced on a person's word."""
    return state_dir() / "replaced"


def documents_dir() -> Path:
    """Return the folder that remembers which documents on disk a person has looked at."""
    return state_dir() / "documents"


def sessions_dir() -> Path | None:
    """Return the folder below which agents keep their external memory; `None` without a home
    folder.
    """
    try:
        return Path.home() / ".ai" / "sessions"
    except RuntimeError:
        return None


def cache_dir() -> Path:
    """Return the folder of what can be made again: `$XDG_CACHE_HOME` or `~/.cache`, plus the app's
    name.
    """
    return _user_folder("cache", ".cache")


def team_dir() -> Path:
    """Return the folder of this machine's copies of stores that teams share."""
    return cache_dir() / "team"


def team_address(store: Path) -> str:
    """Return the address of the team's store that a folder is this machine's copy of; empty for a
    store of its own. Raises `StoreProblem`, also for a copy that was removed.
    """
    if os.path.realpath(store.parent) != os.path.realpath(team_dir()):
        return ""
    address = team.address_in(store / team.COPY)
    if not address:
        raise StoreProblem(
            f"{store} is no copy of a team's store any more.",
            "Name the store by its address: --store postgresql://ROLE@HOST/DATABASE?store=NAME.",
        )
    return address


def team_copy(address: str) -> Path:
    """Return the folder of this machine's copy of a team's store, made where there is none. Raises
    `StoreProblem`.
    """
    folder = team_dir() / team.copy_name(team.checked(address))
    file, said = folder / team.COPY, ""
    with suppress(StoreProblem):
        said = team.address_in(file)
    try:
        if said != address:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_file(file, json.dumps({"store": address}).encode())
    except OSError as error:
        raise cannot_write(folder, error) from error
    return folder


def is_believed(store: Path) -> bool:
    """Tell whether a store is trusted without a look: the global one, those of a team that this
    person connected to, and those that `WORKBENCH_TRUST` names.

    The variable holds paths, of stores or of their projects, parted as in `PATH`.
    """
    if team_address(store):
        return True
    real = Path(os.path.realpath(store))
    named = {
        Path(os.path.realpath(path))
        for path in os.environ.get("WORKBENCH_TRUST", "").split(os.pathsep)
        if path
    }
    if real in named or (real.name == PROJECT_STORE and real.parent in named):
        return True
    return real == Path(os.path.realpath(data_dir() / "store"))


def name_of(store: Path) -> str:
    """Return how a store is named to be opened: by the address of a team's, else by its path."""
    with suppress(StoreProblem):
        return team_address(store) or str(store)
    return str(store)


def from_home(path: Path) -> str:
    """Return a path as people write it, from `~` where it is below their home."""
    try:
        return printable(f"~/{path.relative_to(Path.home())}" if path != Path.home() else "~")
    except (ValueError, RuntimeError):
        return printable(str(path))


def find_store(
    start: Path, explicit: Path | None = None, *, by_agent: bool | None = None
) -> StoreChoice:
    """Choose the store: the `explicit` one, else the nearest `.workbench/` from `start` upwards,
    else the global one.

    A linked worktree of git shares the one beside its repository, unless it has its own. A relative
    `explicit` counts from `start`. `by_agent` tells whether an agent asks, where the surroundings do
    not. Raises `StoreProblem` when it names something that is not a
    folder, and when a project's store is a link to anything but a store of this user's: git carries
    links, and nothing is to be made at the place that somebody else's leads to.
    """
    here = start.resolve()
    if explicit is not None:
        return StoreChoice(_explicit_store(here, explicit), "option")
    for folder in (here, *here.parents):
        if _is_folder(folder / PROJECT_STORE):
            return _project_store(folder, by_agent)
        main = _main_worktree(folder / ".git")
        if main is not None and _is_folder(main / PROJECT_STORE):
            return _project_store(main, by_agent)
    return StoreChoice(data_dir() / "store", "global")


def shipped(name: str, package: Path = PACKAGE) -> Path:
    """Return where the shipped `themes` or `fixtures/demo` are: inside an installed package or in
    its checkout.

    Raises `WorkbenchError` when they are in neither place.
    """
    installed = package / "_shipped" / name
    if installed.exists():
        return installed
    checkout = package.parent
    # Beside an installed package lie other people's files, so the project file has to vouch for a
    # checkout.
    if (checkout / "pyproject.toml").is_file() and (checkout / name).exists():
        return checkout / name
    raise WorkbenchError(
        f"The shipped “{name}” are missing from this installation.", "Install the package again."
    )


def _at_once(name: str, usual: str) -> Path | None:
    """Return a folder of the user, `None` where that takes the library that knows odd surroundings
    to tell.

    Hooks and prompts are not to wait for that.
    """
    given = Path(os.environ.get(name, ""))
    try:
        return (given if given.is_absolute() else Path.home() / usual) / APP_NAME
    except RuntimeError:
        return None


def _user_folder(kind: str, usual: str) -> Path:
    at_once = _at_once(f"XDG_{kind.upper()}_HOME", usual)
    if at_once is not None and at_once.is_absolute():
        return at_once
    from platformdirs.unix import Unix

    try:
        folder = Path(getattr(Unix(APP_NAME, appauthor=False), f"user_{kind}_dir"))
    except RuntimeError as error:
        raise WorkbenchError(
            "Your home folder cannot be found.", "Set HOME to an absolute path."
        ) from error
    return folder


def _explicit_store(here: Path, explicit: Path) -> Path:
    try:
        folder = (here / explicit.expanduser()).resolve()
        if folder.exists() and not folder.is_dir():
            raise StoreProblem(
                f"“{explicit}” is a file, not a store.",
                "Give the folder that contains memory.json.",
            )
    except (OSError, RuntimeError, ValueError) as error:
        raise StoreProblem(
            f"“{explicit}” cannot be opened as a store.", "Check the path given to --store."
        ) from error
    return folder


def _project_store(project: Path, by_agent: bool | None) -> StoreChoice:
    """Return the store of a project: its `.workbench`, or the copy of the team's store that this
    points to. A pointer may come with a clone, so it is followed only to where this person
    connected before.
    """
    store = project / PROJECT_STORE
    _check_link(store)
    address = team.address_in(store / team.POINTER)
    if not address:
        return StoreChoice(store, "project")
    everybodys = team.without_role(address)
    copies = [one for one in team_copies() if team.without_role(team_address(one)) == everybodys]
    if copies:
        # Who connected here as a person and as their agents is now whoever runs this.
        by_agent = agent_in(os.environ) != "" if by_agent is None else by_agent
        copy = min(copies, key=lambda one: _is_agents(one) != by_agent)
        hidden = store if (store / "journal.jsonl").exists() else None
        return StoreChoice(copy, "project", hidden)
    raise StoreProblem(
        f"This project keeps its memories in a store of its team: {team.shown(address)}.",
        f"If you know it, connect once with your role: workbench --store '{team.with_role(address)}'",
    )


def team_copies() -> list[Path]:
    """Return this machine's copies of stores that teams share and somebody connected to."""
    return [place for place in team_places() if team.member_in(place / team.COPY) is not None]


def team_places() -> list[Path]:
    """Return the places of copies of teams' stores, those that nobody connected to yet, too."""
    return sorted(path.parent for path in team_dir().glob(f"*/{team.COPY}") if _is_sound(path))


def _is_agents(copy: Path) -> bool:
    member = team.member_in(copy / team.COPY)
    return member is not None and member[1]


def _is_sound(file: Path) -> bool:
    with suppress(StoreProblem):
        return team.address_in(file) != ""
    return False


def _check_link(store: Path) -> None:
    if not store.is_symlink():
        return
    try:
        own = not hasattr(os, "getuid") or store.stat().st_uid == os.getuid()
        is_store = (store / "journal.jsonl").is_file() or (store / "memory.json").is_file()
    except OSError:
        own = is_store = False
    if not (own and is_store):
        what = "which is not a store" if own else "which is not yours"
        message = f"{store} is a link to {os.path.realpath(store)}, {what}."
        raise StoreProblem(message, "Nothing was read or created there; give a store with --store.")


def _main_worktree(mark: Path) -> Path | None:
    """Return the folder of the repository that a linked worktree belongs to, by its `.git`; `None`
    where it is none.

    Git writes into the worktree where its own files are, there where those of the repository are,
    and there again where the worktree is: a `.git` that somebody sends along names no store of this
    user's.
    """
    try:
        if not mark.is_file():
            return None
        told = mark.read_text("utf-8", "surrogateescape").partition("gitdir:")[2].strip()
        own = (mark.parent / told).resolve()
        common = (own / (own / "commondir").read_text("utf-8", "surrogateescape").strip()).resolve()
        back = Path((own / "gitdir").read_text("utf-8", "surrogateescape").strip())
        is_linked = (
            bool(told) and common.name == ".git" and (own / back).resolve() == mark.resolve()
        )
    except (OSError, ValueError, RuntimeError):
        return None
    return common.parent if is_linked else None


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a directory above that may not be looked into
        return False
