"""What waits to be delivered to a store that a team shares: hooks and `workbench append` do not wait
for a connection.
"""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from workbench.config import paths
from workbench.core.files.atomic import write_file
from workbench.core.files.locks import FileLock
from workbench.core.record import InvalidRecord, StoreProblem, cannot_write
from workbench.safety.secrets import mask
from workbench.services.agents.capture.progress import Place, files, folder_of
from workbench.services.stream.observation import Observation, cleaned
from workbench.store.entry import new_uid

if TYPE_CHECKING:
    from workbench.services.open import Workbench

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
    waits = Appended(new_uid(), actor, cleaned(observation, mask))
    place = _waiting_in(folder)
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(place / f"{time.time_ns()}-{os.getpid()}.json", msgspec.json.encode(waits))
    except OSError as error:
        raise cannot_write(place, error) from error
    return waits


def waiting(folder: Path) -> list[Path]:
    """Return the files of what waits to be delivered to the store of a team, the oldest first."""
    return [*sorted(_waiting_in(folder).glob("*.json")), *files(_captures_of(folder))]


def sync(bench: "Workbench", clock: Callable[[], datetime]) -> int:
    """Deliver what waits; return how much that was. Raises `WorkbenchError`; what could not be
    delivered waits on.
    """
    from workbench.services.agents.capture.hooks import store_waiting
    from workbench.services.stream.ingest import Ingest

    library, delivered = bench.library, 0
    if library.away is not None:
        raise library.away
    folder = library.folder
    with FileLock(_captures_of(folder) / "deliver.lock").held():
        for path in sorted(_waiting_in(folder).glob("*.json")):
            try:
                waits = msgspec.json.decode(path.read_bytes(), type=Appended)
                acting = replace(bench.context, actor=library.actor_named(waits.actor))
                Ingest(acting, bench.retriever).append(waits.observation, uid=waits.uid)
            except (FileNotFoundError, msgspec.MsgspecError, InvalidRecord):
                pass  # it can never be stored
            path.unlink(missing_ok=True)
            delivered += 1
        place = Place(folder, _captures(), "agent", clock, shared=library.shared)
        return delivered + store_waiting(place)


def _captures() -> Path:
    found = paths.captures_dir()
    if found is None:
        raise StoreProblem("Your home folder cannot be found.", "Set HOME to an absolute path.")
    return found


def _captures_of(folder: Path) -> Path:
    return folder_of(_captures(), folder)


def _waiting_in(folder: Path) -> Path:
    return _captures_of(folder) / _WAITING
