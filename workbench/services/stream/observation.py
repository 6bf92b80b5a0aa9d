"""An observation: what somebody noticed, before it becomes a memory. Light, for hooks."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from workbench.core.record import InvalidRecord
from workbench.core.stream.importance import GENERAL, HIGHEST, base_importance, table_named
from workbench.core.stream.memory import MAX_CONTENT, NO_SOURCE, OBSERVATION_TYPES, Memory, MemoryType, Source
from workbench.core.text import clean_for_store
from workbench.safety.secrets import masked_rules

MASKED = "masked"
"""Metadata key of what was masked when a memory was captured: the names of the secrets."""

STATED_TYPE, LONGEST_TYPE = "type", 60
"""Metadata key of an observation type that is none of ours, which reads as `general`; and how much of it is kept."""


class Observation(NamedTuple):
    """Something an agent or a person noticed.

    `masked` names the secrets that were taken out of it, `rated_by` the importance table (the general one when empty).
    Whoever brings it may say that it matters less than the table says (`at_most`), never that it matters more.
    `citations` are the ids of the memories that it rests on.
    """

    content: str
    observation_type: str = "general"
    memory_type: MemoryType = "episodic"
    session_id: str = ""
    tags: tuple[str, ...] = ()
    source: Source = NO_SOURCE
    masked: tuple[str, ...] = ()
    rated_by: str = ""
    section: str = ""
    citations: tuple[str, ...] = ()
    at_most: float = HIGHEST


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
    section, kind = mask(clean_for_store(observation.section)).strip(), observation.observation_type
    if kind not in OBSERVATION_TYPES:
        kind = mask(clean_for_store(kind)).strip()[:LONGEST_TYPE]
    cleaned = observation._replace(content=text, tags=tags, source=source, section=section, observation_type=kind)
    if text == given and (tags, source, section) == (observation.tags, observation.source, observation.section):
        return cleaned
    return cleaned._replace(masked=masked_rules("\n".join((text, *tags, section, speaker or ""))))


def memory_of(observation: Observation, id: str, now: datetime) -> Memory:
    """Return the memory that an observation becomes; raises `UnknownRecord` for an importance table there is not."""
    table = table_named(observation.rated_by or GENERAL.name)
    stated = observation.observation_type
    kind = stated if stated in OBSERVATION_TYPES else "general"
    rated = base_importance(kind, observation.content, table)
    notes: dict[str, object] = {MASKED: list(observation.masked)} if observation.masked else {}
    if stated and kind != stated:
        notes[STATED_TYPE] = stated
    return Memory(
        id=id,
        content=observation.content,
        created_at=now,
        last_accessed_at=now,
        session_id=observation.session_id,
        memory_type=observation.memory_type,
        observation_type=kind,
        tags=observation.tags,
        section=observation.section,
        citations=observation.citations,
        importance_score=max(0.0, min(rated, observation.at_most)),
        helpful_created=1,
        source=observation.source,
        metadata=notes,
    )


def appended(memory: Memory, now: datetime) -> Memory:
    """Return a memory of a file as if an agent had appended it: a signal that says nothing of its own worth."""
    said = Observation(
        memory.content, memory.observation_type, memory.memory_type, memory.session_id, memory.tags,
        Source(speaker="assistant"), section=memory.section,
    )  # fmt: skip
    return memory_of(said, memory.id, now)
