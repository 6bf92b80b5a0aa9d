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
    note(folder, store=address, role=log.role, is_agent=log.is_agent, level=log.level)
    return log


def note(folder: Path, **facts: str | bool) -> None:
    """Note in the file of a copy what is known of who connects."""
    file = folder / team.COPY
    with suppress(OSError, ValueError, RecursionError):
        said = team.said_in(file)
        if said != (now := {**said, **facts}):
            write_file(file, json.dumps(now).encode())


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


_START_S = 30.0
"""Seconds in which a process that delivers begins; later it is taken for one that could not."""


def deliver_waiting(folder: Path) -> None:
    """Deliver what waits for a team's store, if something does, in a process of its own."""
    from workbench.services.team.spool import waiting

    if waiting(folder):
        sync_later(folder)


def sync_later(folder: Path) -> None:
    """Deliver what waits in a process of its own, unless one was started that has not begun to."""
    import subprocess
    import sys
    import time

    from workbench.services.team.spool import started_mark

    mark = started_mark(folder)
    with suppress(OSError):
        if abs(time.time() - mark.stat().st_mtime) < _START_S:
            return
    with suppress(OSError):
        mark.touch()
    subprocess.Popen(
        [sys.executable, "-P", "-m", "workbench", "--store", str(folder), "store", "sync"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=folder.anchor,
    )
