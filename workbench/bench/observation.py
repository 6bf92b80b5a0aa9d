"""An observation: what somebody noticed, before it becomes a memory. Light, for hooks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from workbench.core.errors import InvalidRecord
from workbench.core.importance import base_importance
from workbench.core.memory import MAX_CONTENT, NO_SOURCE, Memory, MemoryType, Source


@dataclass(frozen=True, slots=True)
class Observation:
    """Something an agent or a person noticed."""

    content: str
    observation_type: str = "general"
    memory_type: MemoryType = "episodic"
    session_id: str = ""
    tags: tuple[str, ...] = ()
    source: Source = NO_SOURCE


def cleaned(observation: Observation, mask: Callable[[str], str]) -> Observation:
    """Return an observation as it may be stored; raises `InvalidRecord` for empty or too long text."""
    text = mask(observation.content).strip()
    if not text:
        raise InvalidRecord("There is no text to remember.", "Nothing was written.")
    if len(text) > MAX_CONTENT:
        message = f"The text is {len(text):,} characters long, at most {MAX_CONTENT:,} fit."
        raise InvalidRecord(message, "Nothing was written.")
    return replace(observation, content=text)


def memory_of(observation: Observation, id: str, now: datetime) -> Memory:
    """Return the memory that an observation becomes."""
    return Memory(
        id=id,
        content=observation.content,
        created_at=now,
        last_accessed_at=now,
        session_id=observation.session_id,
        memory_type=observation.memory_type,
        observation_type=observation.observation_type,
        tags=observation.tags,
        importance_score=base_importance(observation.observation_type, observation.content),
        helpful_created=1,
        source=observation.source,
    )
