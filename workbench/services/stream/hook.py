"""Adding one observation for a hook, which lives for a tenth of a second: the store is not loaded.

Nothing here may import the store as a whole, the numeric libraries or the settings.
"""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from workbench.core.duplicates.dedup import contained_in_recent
from workbench.core.stream.memory import Memory
from workbench.safety.secrets import mask as mask_secrets
from workbench.services.safety.secret_filter import SecretFilter
from workbench.services.stream.observation import Observation, cleaned, memory_of
from workbench.store.append import appending
from workbench.store.archived import may_hold

TIDIED_EVERY = 1000
"""Changes after which one who only adds to a store has it put in order: nobody else may open it for weeks."""


class Appended(NamedTuple):
    """What became of an observation: the memory it is now in, and whether one of the last ten said it already.

    `notices` say what a person should be told about the store. `is_long` says that many changes have come since
    somebody last had to look at all of them: it is time for whoever has it to put the store in order.
    """

    memory: Memory
    skipped: bool = False
    notices: tuple[str, ...] = ()
    is_long: bool = False


def append(
    folder: Path,
    observation: Observation,
    actor: str,
    clock: Callable[[], datetime],
    mask: Callable[[str], str] = mask_secrets,
    heads: Path | None = None,
) -> Appended | None:
    """Add an observation to the store in `folder`, unless one of its last ten memories says it already.

    `None` for one that is archived or purged there: what becomes of it only the whole store tells.
    `mask` takes out what must not be written; `heads` is where this machine remembers what it stored.
    Raises `InvalidRecord` or `StoreProblem`.
    """
    seen = cleaned(observation, mask)
    if may_hold(folder, heads, seen.content):
        return None
    with appending(folder, actor, f"ingest {seen.observation_type}", clock, heads, SecretFilter()) as block:
        recent = [m for m in reversed(block.recent) if m.status != "archived"]
        said = next((m for m in recent if contained_in_recent(seen.content, [m.content])), None)
        if said is not None:
            return Appended(said, skipped=True, notices=block.notices)
        now = clock()
        memory = memory_of(seen, block.new_memory_id(now), now)
        block.add(memory)
        block.label = f"ingest {seen.observation_type} {memory.id}"
        block.count(memory.importance_score, now)
    return Appended(memory, notices=block.notices, is_long=block.rev % TIDIED_EVERY == 0)
