"""Lessons as memories: what is stored of one, and what tells that it was. Light, for hooks."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from workbench.core.agents.transcript.summaries import Kind, Lesson, print_of
from workbench.core.record import iso
from workbench.core.stream.confidence import ARRIVED
from workbench.core.stream.importance import CODE, HIGHEST
from workbench.core.stream.memory import Memory, Source
from workbench.services.stream.observation import Observation, cleaned, memory_of

CAPTURED = "captured"
"""Metadata key of what tells a captured memory again: the prints of the messages it comes from, its mark and kind, and
the sessions that it was learned in."""

_AT_MOST: Mapping[Kind, float] = {"open-work": 3.0, "change": 2.0, "choice": 2.0}


@dataclass(frozen=True, slots=True)
class Origin:
    """By which hook lessons come (`transcript` where a file was read), and from which file."""

    hook: str
    file: str = ""


def memory_from(lesson: Lesson, id: str, now: datetime, origin: Origin, mask: Callable[[str], str]) -> Memory:
    """Return the memory that a lesson becomes, its secrets masked. Raises `InvalidRecord` for one without a text."""
    source = Source(origin.hook, lesson.turn or None, origin.file or lesson.file or None, lesson.speaker)
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
    kinds: dict[str, Kind] = {
        "correction": "correction", "rule": "rule", "failure": "failure", "fix": "fix", "insight": "insight",
        "decision": "decision", "open-work": "open-work", "change": "change", "choice": "choice",
    }  # fmt: skip
    kind = kinds.get(str(told.get("kind")), "insight")
    return Lesson(kind, memory.content, memory.session_id, (), memory.created_at, mark=str(told.get("mark") or ""))


def seen_again(memory: Memory, lesson: Lesson) -> Memory:
    """Return a captured memory that another session taught, too."""
    told = memory.metadata.get(CAPTURED)
    before = dict(told) if isinstance(told, Mapping) else {}
    sessions = {*_listed(memory, "sessions"), *(one.partition("/")[0] for one in lesson.ids)}
    more = len(sessions) - len(set(_listed(memory, "sessions")))
    noted = {
        **before, "ids": list(dict.fromkeys((*_listed(memory, "ids"), *prints(lesson)))), "sessions": sorted(sessions)
    }  # fmt: skip
    metadata = {**memory.metadata, CAPTURED: noted}
    return replace(memory, helpful_absorbed=memory.helpful_absorbed + more, metadata=metadata)


def prints_in(memories: Iterable[Memory], session: str = "") -> set[str]:
    """Return what stands for the messages that memories come from, of one session or of all."""
    return {one for m in memories for one in told_by(m) if not session or session in _listed(m, "sessions")}


def _listed(memory: Memory, name: str) -> tuple[str, ...]:
    told = memory.metadata.get(CAPTURED)
    found = told.get(name) if isinstance(told, Mapping) else None
    return tuple(str(one) for one in found) if isinstance(found, list) else ()
