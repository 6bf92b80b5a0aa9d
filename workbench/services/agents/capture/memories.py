"""Lessons as memories: what is stored of one, and what tells that it was. Light, for hooks."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from workbench.core.agents.hook_event import HookEvent
from workbench.core.agents.transcript.summaries import (
    TYPES,
    Kind,
    Lesson,
    Passed,
    print_of,
    same_lesson,
    told_once,
)
from workbench.core.duplicates.dedup import contained_in_recent
from workbench.core.record import as_list, as_object, iso
from workbench.core.stream.confidence import ARRIVED
from workbench.core.stream.importance import CODE, HIGHEST
from workbench.core.stream.memory import Memory, Source
from workbench.safety.secrets import mask
from workbench.services.agents.capture.progress import Place, Progress, lessons_in, read, write
from workbench.services.safety.secret_filter import SecretFilter
from workbench.services.stream.observation import Observation, cleaned, index_of, memory_of
from workbench.store.append import appending, may_hold

CAPTURED = "captured"
"""Metadata key of what tells a captured memory again: the prints of the messages it comes from, its
mark and kind, and the sessions that it was learned in.
"""

_AT_MOST: Mapping[Kind, float] = {"open-work": 3.0, "change": 2.0, "choice": 2.0}


class Origin(NamedTuple):
    """By which hook lessons come (`transcript` where a file was read), and from which file."""

    hook: str
    file: str = ""


def memory_from(
    lesson: Lesson, id: str, now: datetime, origin: Origin, mask: Callable[[str], str]
) -> Memory:
    """Return the memory that a lesson becomes, its secrets masked. Raises `InvalidRecord` for one
    without a text.
    """
    source = Source(
        origin.hook, lesson.turn or None, origin.file or lesson.file or None, lesson.speaker
    )
    observation = Observation(
        lesson.text, lesson.observation_type, "episodic" if lesson.kind == "open-work" else "procedural",
        lesson.session, (), source, rated_by=CODE.name, at_most=_AT_MOST.get(lesson.kind, HIGHEST),
    )  # fmt: skip
    memory = memory_of(cleaned(observation, mask), id, now)
    at = lesson.at if lesson.at is not None and lesson.at <= now else now
    told = {
        "ids": list(prints(lesson)), "kind": lesson.kind, "mark": lesson.mark,
        "sessions": sorted({one.partition("/")[0] for one in lesson.ids}),
    }  # fmt: skip
    return replace(
        memory,
        created_at=at,
        last_accessed_at=now,
        status="candidate" if lesson.waits else "signal",
        helpful_absorbed=lesson.sessions - 1,
        metadata={**memory.metadata, CAPTURED: told, **({ARRIVED: iso(now)} if at < now else {})},
    )


def prints(lesson: Lesson) -> tuple[str, ...]:
    """Return what stands for the messages that a lesson comes from."""
    return tuple(dict.fromkeys(map(print_of, lesson.ids)))


def told_by(memory: Memory) -> tuple[str, ...]:
    """Return what stands for the messages that a captured memory comes from; nothing for any other."""
    return _listed(memory, "ids")


def lesson_of(memory: Memory) -> Lesson | None:
    """Return the lesson that a captured memory was; `None` for any other."""
    told = memory.metadata.get(CAPTURED)
    if not isinstance(told, Mapping):
        return None
    kind: Kind = next((one for one in TYPES if one == told.get("kind")), "insight")
    return Lesson(
        kind,
        memory.content,
        memory.session_id,
        (),
        memory.created_at,
        mark=str(told.get("mark") or ""),
    )


def seen_again(memory: Memory, lesson: Lesson) -> Memory:
    """Return a captured memory that another session taught, too."""
    sessions = {*_listed(memory, "sessions"), *(one.partition("/")[0] for one in lesson.ids)}
    more = len(sessions) - len(set(_listed(memory, "sessions")))
    noted = {
        **as_object(memory.metadata.get(CAPTURED)),
        "ids": list(dict.fromkeys((*_listed(memory, "ids"), *prints(lesson)))), "sessions": sorted(sessions)
    }  # fmt: skip
    metadata = {**memory.metadata, CAPTURED: noted}
    return replace(memory, helpful_absorbed=memory.helpful_absorbed + more, metadata=metadata)


def prints_in(memories: Iterable[Memory], session: str = "") -> set[str]:
    """Return what stands for the messages that memories come from, of one session or of all."""
    return {
        one
        for m in memories
        for one in told_by(m)
        if not session or session in _listed(m, "sessions")
    }


def _listed(memory: Memory, name: str) -> tuple[str, ...]:
    return tuple(map(str, as_list(as_object(memory.metadata.get(CAPTURED)).get(name))))


# Storing what an event of a hook taught, each thing once, without loading the store.


_REMEMBERED = 100


def store(
    event: HookEvent, place: Place, path: Path, progress: Progress, told: Sequence[Lesson | Passed]
) -> Progress:
    """Store what is new of what was told; return how far the session was followed then."""
    found = lessons_in(told)
    known = _known(place, progress) if found else frozenset(progress.kept)
    fresh, late = told_once(one for one in found if known.isdisjoint(prints(one)))
    new = [one for one in fresh if not any(same_lesson(one, other) for other in progress.lessons)]
    again = [Passed("told-already")] * (len(fresh) - len(new))
    progress = progress.passing((*told, *late, *again))
    if not new:
        return progress
    ids = tuple(dict.fromkeys(one for lesson in new for one in prints(lesson)))
    before = read(path, event.session)
    write(path, replace(before, intended=ids))
    _add(event, place, new)
    lessons = (*progress.lessons, *(replace(one, text=mask(one.text)) for one in new))[
        -_REMEMBERED:
    ]
    kept = (*progress.kept, *sorted(known - set(progress.kept)), *ids)
    return replace(progress, kept=kept, intended=(), is_whole=True, lessons=lessons)


def _known(place: Place, progress: Progress) -> frozenset[str]:
    """Return what stands for what the store holds of a session; it is loaded where that is not
    known.
    """
    if progress.is_whole and not progress.intended:
        return frozenset(progress.kept)
    from workbench.store.folder import is_store
    from workbench.store.library import Library

    if not is_store(place.store):
        return frozenset(progress.kept)
    library = Library(place.store, place.clock, heads=place.heads, shared=place.shared)
    return frozenset(progress.kept) | prints_in(library.memories.all(), progress.session)


def _add(event: HookEvent, place: Place, lessons: Sequence[Lesson]) -> None:
    """Add lessons to the store as one change, but for what one of its last ten memories says
    already.
    """
    origin = Origin(event.called)
    lessons = [
        one
        for one in lessons
        if not _is_purged(place, memory_from(one, "new", place.clock(), origin, mask))
    ]
    if not lessons:
        return
    label = f"capture {len(lessons)} from {event.called}"
    stored: list[str] = []
    indexing = index_of(place.store)
    with appending(
        place.store,
        place.actor,
        label,
        place.clock,
        place.heads,
        SecretFilter(),
        indexing,
        place.shared,
    ) as block:
        recent = [memory.content for memory in block.recent]
        for lesson in lessons:
            now = place.clock()
            memory = memory_from(lesson, "new", now, origin, mask)
            if contained_in_recent(memory.content, recent):
                continue
            memory = replace(memory, id=block.new_memory_id(now))
            block.add(memory)
            block.count(memory.importance_score, now)
            stored.append(memory.id)
            recent = [*recent[1:], memory.content]
        if len(stored) == 1:
            block.label = f"capture {lessons[0].observation_type} {stored[0]}"


def _is_purged(place: Place, memory: Memory) -> bool:
    """Tell whether a person erased the text of a memory; the store is loaded where it was archived
    or purged.
    """
    if not may_hold(place.store, place.heads, memory.content):
        return False
    from workbench.services.stream.returned import Purged
    from workbench.store.library import Library

    library = Library(place.store, place.clock, heads=place.heads, shared=place.shared)
    return Purged(library).find(memory.content) is not None
