"""Events of hooks that wait for a store that somebody else holds: files in the user's state folder, without secrets."""

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from workbench.core.agents.hook_event import HookEvent
from workbench.core.errors import StoreProblem
from workbench.core.files.atomic import write_file

FOLDER = "waiting"


def keep(folder: Path, event: HookEvent, actor: str) -> None:
    """Keep an event for the next one to store. Raises `StoreProblem`."""
    from workbench.services.safety.masking import masked, masked_text  # hardly ever does a hook give up

    place = folder / FOLDER
    data = json.dumps({"actor": actor, **masked(event, masked_text)._asdict()})
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(place / f"{time.time_ns()}-{os.getpid()}.json", data.encode("ascii"), ".event-", durable=False)
    except OSError as error:
        raise StoreProblem(f"{place} cannot be written: {error.strerror or error}.", "The event is lost.") from error


def waiting(folder: Path) -> Iterator[tuple[Path, str, HookEvent]]:
    """Yield the file, the actor and the event of each that waits, the oldest first; what is no event is removed."""
    for path in files(folder):
        try:
            doc = json.loads(path.read_bytes())
            actor = str(doc.pop("actor"))
            event = HookEvent(**doc)
        except FileNotFoundError:
            continue  # another hook stored it
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            path.unlink(missing_ok=True)
            continue
        yield path, actor, event


def files(folder: Path) -> list[Path]:
    """Return the files of the events that wait, the oldest first."""
    with contextlib.suppress(OSError):
        return sorted(path for path in (folder / FOLDER).iterdir() if path.suffix == ".json")
    return []
