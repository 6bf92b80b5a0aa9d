"""An observation: what somebody noticed, before it becomes a memory; and adding one for a hook.

Nothing here may import the library of records, the numeric libraries or the settings.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from workbench.config import paths
from workbench.core.duplicates.dedup import contained_in_recent
from workbench.core.record import InvalidRecord
from workbench.core.stream.importance import GENERAL, HIGHEST, base_importance, table_named
from workbench.core.stream.memory import (
    MAX_CONTENT,
    NO_SOURCE,
    OBSERVATION_TYPES,
    Memory,
    MemoryType,
    Source,
)
from workbench.core.text import clean_for_store
from workbench.safety.secrets import mask as mask_secrets
from workbench.safety.secrets import masked_rules
from workbench.services.caches import begin, place
from workbench.services.safety.secret_filter import SecretFilter
from workbench.store.append import appending, may_hold
from workbench.store.index.indexing import Indexing

MASKED = "masked"
"""Metadata key of what was masked when a memory was captured: the names of the secrets."""

STATED_TYPE, LONGEST_TYPE = "type", 60
"""Metadata key of an observation type that is none of ours, which reads as `general`; and how much
of it is kept.
"""


class Observation(NamedTuple):
    """Something an agent or a person noticed.

    `masked` names the secrets that were taken out of it, `rated_by` the importance table (the
    general one when empty). Whoever brings it may say that it matters less than the table says
    (`at_most`), never that it matters more. `citations` are the ids of the memories that it rests
    on.
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
    """Return an observation as it may be stored, its secrets masked; raises `InvalidRecord` for no
    or too much text.
    """
    given = clean_for_store(observation.content).strip()
    if not given:
        raise InvalidRecord("The text is empty.", "Nothing was written.")
    # Nobody waits for a text to be searched that is too long to be kept.
    text = mask(given) if len(given) <= MAX_CONTENT else given
    if len(text) > MAX_CONTENT:
        message = f"The text has {len(text):,} characters; at most {MAX_CONTENT:,} are stored."
        raise InvalidRecord(message, "Nothing was written.")
    tags = tuple(mask(clean_for_store(tag)) for tag in observation.tags)
    said_by = observation.source.speaker
    speaker = mask(clean_for_store(said_by)).strip() or None if said_by else None
    source = replace(observation.source, speaker=speaker)
    section, kind = mask(clean_for_store(observation.section)).strip(), observation.observation_type
    if kind not in OBSERVATION_TYPES:
        kind = mask(clean_for_store(kind)).strip()[:LONGEST_TYPE]
    cleaned = observation._replace(
        content=text, tags=tags, source=source, section=section, observation_type=kind
    )
    if text == given and (tags, source, section) == (
        observation.tags,
        observation.source,
        observation.section,
    ):
        return cleaned
    return cleaned._replace(masked=masked_rules("\n".join((text, *tags, section, speaker or ""))))


def said_in(content: str, recent: Sequence[Memory]) -> Memory | None:
    """Return the latest of some memories that already says a text; mostly none."""
    return next((m for m in reversed(recent) if contained_in_recent(content, [m.content])), None)


def memory_of(observation: Observation, id: str, now: datetime) -> Memory:
    """Return the memory that an observation becomes; raises `UnknownRecord` for an importance table
    there is not.
    """
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
    """Return a memory of a file as if an agent had appended it: a signal that says nothing of its
    own worth.
    """
    said = Observation(
        memory.content, memory.observation_type, memory.memory_type, memory.session_id, memory.tags,
        Source(speaker="assistant"), section=memory.section,
    )  # fmt: skip
    return memory_of(said, memory.id, now)


# Adding one for a hook, which lives for a tenth of a second.


TIDIED_EVERY = 1000
"""Changes after which one who only adds to a store has it put in order: nobody else may open it for
weeks.
"""


def index_of(store: Path) -> Indexing:
    """Return how a store is indexed in the user's cache, for a hook."""
    own = place(paths.cache_dir(), store)
    return Indexing(own, partial(begin, own, store), "memories")


class Appended(NamedTuple):
    """What became of an observation: the memory it is now in, and whether one of the last ten said
    it already.

    `notices` say what a person should be told about the store. `is_long` says that many changes
    have come since somebody last had to look at all of them: it is time for whoever has it to put
    the store in order.
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
    """Add an observation to the store in `folder`, unless one of its last ten memories says it
    already.

    `None` for one that is archived or purged there: what becomes of it only the whole store tells.
    `mask` takes out what must not be written; `heads` is where this machine remembers what it
    stored. Raises `InvalidRecord` or `StoreProblem`.
    """
    seen = cleaned(observation, mask)
    if may_hold(folder, heads, seen.content):
        return None
    label = f"ingest {seen.observation_type}"
    with appending(folder, actor, label, clock, heads, SecretFilter(), index_of(folder)) as block:
        recent = [m for m in block.recent if m.status != "archived"]
        if (said := said_in(seen.content, recent)) is not None:
            return Appended(said, skipped=True, notices=block.notices)
        now = clock()
        memory = memory_of(seen, block.new_memory_id(now), now)
        block.add(memory)
        block.label = f"ingest {seen.observation_type} {memory.id}"
        block.count(memory.importance_score, now)
    return Appended(memory, notices=block.notices, is_long=block.rev % TIDIED_EVERY == 0)
