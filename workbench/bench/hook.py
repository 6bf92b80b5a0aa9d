"""Adding one observation for a hook, which lives for a tenth of a second: the store is not loaded.

Nothing here may import the store as a whole, the numeric libraries or the settings.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from workbench.bench.observation import Observation, cleaned, memory_of
from workbench.core.dedup import contained_in_recent
from workbench.core.memory import Memory
from workbench.safety.secrets import mask as mask_secrets
from workbench.store.append import appending


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of an observation: the memory it is now in, and whether one of the last ten said it already."""

    memory: Memory
    skipped: bool = False


def append(
    folder: Path,
    observation: Observation,
    actor: str,
    clock: Callable[[], datetime],
    mask: Callable[[str], str] = mask_secrets,
) -> Appended:
    """Add an observation to the store in `folder`, unless one of its last ten memories says it already.

    `mask` takes out what must not be written. Raises `InvalidRecord` or `StoreProblem`.
    """
    seen = cleaned(observation, mask)
    with appending(folder, actor, f"ingest {seen.observation_type}", clock) as block:
        said = next((m for m in reversed(block.recent) if contained_in_recent(seen.content, [m.content])), None)
        if said is not None:
            return Appended(said, skipped=True)
        now = clock()
        memory = memory_of(seen, block.new_memory_id(now), now)
        block.add(memory)
        block.label = f"ingest {seen.observation_type} {memory.id}"
        block.count(memory.importance_score, now)
    return Appended(memory)
