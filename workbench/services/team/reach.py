"""The way to a store that a team shares, from this machine's copy of it."""

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.config import paths
from workbench.core import team
from workbench.core.files.atomic import write_file

if TYPE_CHECKING:
    from workbench.store.log import Offline, SharedLog
    from workbench.store.team.log import TeamLog


def log_of(folder: Path) -> "SharedLog | None":
    """Return the log of the team's store that a folder is the copy of, `None` for a store of its
    own. One that was connected to before need not be reached now: what was copied can be read.

    Raises `StoreProblem`.
    """
    address = paths.team_address(folder)
    if not address:
        return None
    known = team.member_in(folder / team.COPY)
    if known is None:
        return connected(address, folder)
    from workbench.store.team.log import connect

    return connect(address, known)


def connected(address: str, folder: Path) -> "TeamLog":
    """Connect to a team's store, and note as whom. Raises `StoreProblem`."""
    from workbench.store.team.log import connect

    log = connect(address)
    said = json.dumps({"store": address, "role": log.role, "is_agent": log.is_agent}).encode()
    with suppress(OSError):
        if (folder / team.COPY).read_bytes() != said:
            write_file(folder / team.COPY, said)
    return log


def offline(folder: Path) -> "Offline | None":
    """Return what stands for the log of a team's store where nobody is to wait for a connection;
    `None` for a store of its own.
    """
    if not paths.team_address(folder):
        return None
    from workbench.store.log import Offline

    return Offline(*(team.member_in(folder / team.COPY) or ("", False)))


def addresses() -> list[str]:
    """Return the addresses of the stores of teams that a person connected to from this machine."""
    found: dict[str, str] = {}
    for folder in paths.team_copies():
        known = team.member_in(folder / team.COPY)
        if known is not None and not known[1]:
            address = paths.team_address(folder)
            found.setdefault(team.shown(address), address)
    return list(found.values())


def sync_later(folder: Path) -> None:
    """Deliver what waits in a process of its own."""
    import subprocess
    import sys

    subprocess.Popen(
        [sys.executable, "-P", "-m", "workbench", "--store", str(folder), "store", "sync"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=folder.anchor,
    )
