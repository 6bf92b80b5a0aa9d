"""Delivering to a team's store what waits for it, in a process that has the time to connect."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import msgspec

from workbench.core.files.locks import FileLock
from workbench.core.record import InvalidRecord, cannot_write
from workbench.services.agents.capture.hooks import store_waiting
from workbench.services.agents.capture.progress import Place
from workbench.services.open import Workbench
from workbench.services.stream.ingest import Ingest
from workbench.services.team.reach import note
from workbench.services.team.spool import (
    Appended,
    captures,
    captures_of,
    started_mark,
    waiting_in,
)


def sync(bench: Workbench, clock: Callable[[], datetime]) -> int:
    """Deliver what waits; return how much that was. Raises `WorkbenchError`; what could not be
    delivered waits on.
    """
    library, delivered = bench.library, 0
    folder = library.folder
    if library.shared is not None:
        note(folder, level=library.shared.level)
    place = captures_of(folder)
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(place, error) from error
    with FileLock(place / "deliver.lock").held():
        started_mark(folder).unlink(missing_ok=True)  # what comes from now on needs another process
        for path in sorted(waiting_in(folder).glob("*.json")):
            try:
                waits = msgspec.json.decode(path.read_bytes(), type=Appended)
                acting = replace(bench.context, actor=library.actor_named(waits.actor))
                Ingest(acting, bench.retriever).append(waits.observation, uid=waits.uid)
            except (FileNotFoundError, msgspec.MsgspecError, InvalidRecord):
                pass  # it can never be stored
            path.unlink(missing_ok=True)
            delivered += 1
        return delivered + store_waiting(
            Place(folder, captures(), "agent", clock, shared=library.shared)
        )
