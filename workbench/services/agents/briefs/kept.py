"""The briefs that are kept of a store in the user's cache folder, one for each agent.

Each holds for one state of the store, one agent and one way of serving. What is kept of another state is never given:
a purge, a mask or a store that is not trusted any more takes it along. A reading of an agent changes nothing that a
brief says, so that it is carried over to the state after one.
"""

import json
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.agents.actors import AgentSettings
from workbench.services import caches

if TYPE_CHECKING:
    from workbench.store.library import Library

_FOLDER = "briefs"

State = tuple[str, int, str]
"""What names a store as it is at one moment (see `Library.named_state`)."""


class Basis(NamedTuple):
    """What a brief was made of: the store's state, who is told, under which profile, and how agents are served."""

    store: str
    revision: int
    mark: str
    agent: str
    profile: str
    serving: str


class Brief(NamedTuple):
    """What an agent is told, and the ids of the memories in it."""

    text: str
    memories: tuple[str, ...] = ()


def basis_of(library: "Library", actor: str, profile: str, agents: AgentSettings) -> Basis:
    """Return what a brief of a store as it is now would be made of."""
    return Basis(*library.named_state, actor, profile, "approved" if agents.only_approved(actor) else "all")


def kept(cache: Path, basis: Basis) -> Brief | None:
    """Return the brief that is kept, `None` where there is none that was made of just this."""
    try:
        doc = json.loads(_file(cache, basis.agent).read_bytes())
        if doc["basis"] != list(basis):
            return None
        return Brief(str(doc["text"]), tuple(map(str, doc["memories"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def put(cache: Path, basis: Basis, brief: Brief) -> None:
    """Keep a brief that was made; where that cannot be done there is none."""
    doc = {"basis": list(basis), "text": brief.text, "memories": brief.memories}
    caches.keep(_file(cache, basis.agent), json.dumps(doc).encode("ascii"))


def carry_over(cache: Path, before: State, after: State) -> None:
    """Let what is kept of one state of a store hold for the next one, which notes a reading and no more."""
    for path in (cache / _FOLDER).glob("*.json"):
        try:
            doc = json.loads(path.read_bytes())
            if doc["basis"][: len(before)] == list(before):
                doc["basis"][: len(before)] = after
                caches.keep(path, json.dumps(doc).encode("ascii"))
        except (OSError, ValueError, KeyError, TypeError):
            continue


def discard(cache: Path) -> None:
    """Let what is kept for a store go, for whichever agent. Raises `OSError`."""
    for path in (cache / _FOLDER).glob("*.json"):
        path.unlink(missing_ok=True)


def _file(cache: Path, actor: str) -> Path:
    return cache / _FOLDER / f"{blake2b(actor.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}.json"
