"""What waits to be delivered to a store that a team shares: hooks and `workbench append` do not wait
for a connection.
"""

import os
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from workbench.config import paths
from workbench.core import team
from workbench.core.files.atomic import write_file
from workbench.core.record import StoreProblem, cannot_write
from workbench.safety.secrets import mask
from workbench.services.agents.capture.progress import files, folder_of
from workbench.services.stream.observation import Observation, cleaned
from workbench.store.entry import new_uid

_WAITING = "appended"


class Appended(NamedTuple):
    """An observation that waits, who brought it, and the name by which it is stored once."""

    uid: str
    actor: str
    observation: Observation


def put_off(folder: Path, observation: Observation, actor: str) -> Appended:
    """Keep an observation, its secrets masked, until it can be delivered to a team's store. Raises
    `InvalidRecord` and `StoreProblem`.
    """
    if not team.may_write(folder / team.COPY):
        raise StoreProblem(
            "You may only read this team's store.",
            "Nothing was kept; an owner makes you a writer, then run `workbench store sync`.",
        )
    waits = Appended(new_uid(), actor, cleaned(observation, mask))
    place = waiting_in(folder)
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(place / f"{time.time_ns()}-{os.getpid()}.json", msgspec.json.encode(waits))
    except OSError as error:
        raise cannot_write(place, error) from error
    return waits


def waiting(folder: Path) -> list[Path]:
    """Return the files of what waits to be delivered to the store of a team, the oldest first."""
    return [*sorted(waiting_in(folder).glob("*.json")), *files(captures_of(folder))]


def started_mark(folder: Path) -> Path:
    """Return the file that is there while a process was started to deliver, and has not begun."""
    return captures_of(folder) / "started"


def captures() -> Path:
    found = paths.captures_dir()
    if found is None:
        raise StoreProblem("Your home folder cannot be found.", "Set HOME to an absolute path.")
    return found


def captures_of(folder: Path) -> Path:
    return folder_of(captures(), folder)


def waiting_in(folder: Path) -> Path:
    return captures_of(folder) / _WAITING
