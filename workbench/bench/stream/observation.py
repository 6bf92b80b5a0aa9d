"""An observation: what somebody noticed, before it becomes a memory. Light, for hooks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from workbench.core.errors import InvalidRecord
from workbench.core.stream.importance import GENERAL, base_importance, table_named
from workbench.core.stream.memory import MAX_CONTENT, NO_SOURCE, Memory, MemoryType, Source
from workbench.core.text import clean_for_store
from workbench.safety.secrets.secrets import masked_rules

MASKED = "masked"
"""Metadata key of what was masked when a memory was captured: the names of the secrets."""


@dataclass(frozen=True, slots=True)
class Observation:
    """Something an agent or a person noticed.

    `masked` names the secrets that were taken out of it, `rated_by` the importance table (the general one when empty).
    """

    content: str
    observation_type: str = "general"
    memory_type: MemoryType = "episodic"
    session_id: str = ""
    tags: tuple[str, ...] = ()
    source: Source = NO_SOURCE
    masked: tuple[str, ...] = ()
    rated_by: str = ""


def cleaned(observation: Observation, mask: Callable[[str], str]) -> Observation:
    """Return an observation as it may be stored, its secrets masked; raises `InvalidRecord` for no or too much text."""
    given = clean_for_store(observation.content).strip()
    if not given:
        raise InvalidRecord("There is no text to remember.", "Nothing was written.")
    # Nobody waits for a text to be searched that is too long to be kept.
    text = mask(given) if len(given) <= MAX_CONTENT else given
    if len(text) > MAX_CONTENT:
        message = f"The text is {len(text):,} characters long, at most {MAX_CONTENT:,} fit."
        raise InvalidRecord(message, "Nothing was written.")
    tags = tuple(mask(clean_for_store(tag)) for tag in observation.tags)
    said_by = observation.source.speaker
    speaker = mask(clean_for_store(said_by)).strip() or None if said_by else None
    source = replace(observation.source, speaker=speaker)
    if text == given and tags == observation.tags and source == observation.source:
        return replace(observation, content=text)
    masked = masked_rules("\n".join((text, *tags, speaker or "")))
    return replace(observation, content=text, tags=tags, source=source, masked=masked)


def memory_of(observation: Observation, id: str, now: datetime) -> Memory:
    """Return the memory that an observation becomes; raises `UnknownRecord` for an importance table there is not."""
    table = table_named(observation.rated_by or GENERAL.name)
    return Memory(
        id=id,
        content=observation.content,
        created_at=now,
        last_accessed_at=now,
        session_id=observation.session_id,
        memory_type=observation.memory_type,
        observation_type=observation.observation_type,
        tags=observation.tags,
        importance_score=base_importance(observation.observation_type, observation.content, table),
        helpful_created=1,
        source=observation.source,
        metadata={MASKED: list(observation.masked)} if observation.masked else {},
    )
