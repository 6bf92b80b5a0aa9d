"""Storing what an event of a hook taught, each thing once, without loading the store."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.core.agents.hook_event import HookEvent
from workbench.core.agents.transcript.summaries import Lesson, Passed, same_lesson, told_once
from workbench.core.duplicates.dedup import contained_in_recent
from workbench.core.stream.memory import Memory
from workbench.safety.secrets import mask
from workbench.services.agents.capture.memories import Origin, memory_from, prints, prints_in
from workbench.services.agents.capture.place import Place
from workbench.services.agents.capture.progress import Progress, read, write
from workbench.services.safety.secret_filter import SecretFilter
from workbench.store.append import appending
from workbench.store.archived import may_hold

_REMEMBERED = 100


def store(
    event: HookEvent, place: Place, path: Path, progress: Progress, told: Sequence[Lesson | Passed]
) -> tuple[tuple[str, ...], Progress]:
    """Store what is new of what was told; return it, and how far the session was followed then."""
    passed = Counter(dict(progress.passed))
    passed.update(one.reason for one in told if isinstance(one, Passed))
    found = [one for one in told if isinstance(one, Lesson)]
    known = _known(place, progress) if found else frozenset(progress.kept)
    fresh, late = told_once(one for one in found if known.isdisjoint(prints(one)))
    passed.update(one.reason for one in late)
    new = [one for one in fresh if not any(same_lesson(one, other) for other in progress.lessons)]
    passed["told-already"] += len(fresh) - len(new)
    progress = replace(progress, passed=dict(+passed))
    if not new:
        return (), progress
    ids = tuple(dict.fromkeys(one for lesson in new for one in prints(lesson)))
    before = read(path, event.session)
    write(path, replace(before, intended=ids))
    stored = _added(event, place, new)
    lessons = (*progress.lessons, *(replace(one, text=mask(one.text)) for one in new))[-_REMEMBERED:]
    kept = (*progress.kept, *sorted(known - set(progress.kept)), *ids)
    return stored, replace(progress, kept=kept, intended=(), is_whole=True, lessons=lessons)


def _known(place: Place, progress: Progress) -> frozenset[str]:
    """Return what stands for what the store holds of a session; it is loaded where that is not known."""
    if progress.is_whole and not progress.intended:
        return frozenset(progress.kept)
    from workbench.store.library import Library
    from workbench.store.presence import is_store

    if not is_store(place.store):
        return frozenset(progress.kept)
    library = Library(place.store, place.clock, heads=place.heads)
    return frozenset(progress.kept) | prints_in(library.memories.all(), progress.session)


def _added(event: HookEvent, place: Place, lessons: Sequence[Lesson]) -> tuple[str, ...]:
    """Add lessons to the store as one change, but for what one of its last ten memories says already."""
    origin = Origin(event.called)
    lessons = [one for one in lessons if not _is_purged(place, memory_from(one, "new", place.clock(), origin, mask))]
    if not lessons:
        return ()
    label = f"capture {len(lessons)} from {event.called}"
    stored: list[str] = []
    with appending(place.store, place.actor, label, place.clock, place.heads, SecretFilter()) as block:
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
    return tuple(stored)


def _is_purged(place: Place, memory: Memory) -> bool:
    """Tell whether a person erased the text of a memory; the store is loaded where it was archived or purged."""
    if not may_hold(place.store, place.heads, memory.content):
        return False
    from workbench.services.stream.returned import Purged
    from workbench.store.library import Library

    return Purged(Library(place.store, place.clock, heads=place.heads)).find(memory.content) is not None
