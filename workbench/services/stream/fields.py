"""Changing what a memory says of itself: any of its fields that are a person's to say, as one
action.

Who stored it when, how often it was read and what its votes add up to is history, and has no entry
here.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from workbench.core.agents.actors import require_person
from workbench.core.agents.read import Provenance
from workbench.core.record import InvalidRecord, UnknownRecord, without
from workbench.core.review import lifecycle
from workbench.core.stream.confidence import confidence_of, said_to_be
from workbench.core.stream.filter import Clause, Filter, Predicate, fits
from workbench.core.stream.memory import NOTE, Memory, MemoryType, Status, broken_rule, room_for
from workbench.core.text import clean_for_store, named
from workbench.services.context import Context, Service
from workbench.services.safety.texts import kept_edges, kept_summary

# Who stored the texts of memories, as the clause `actor:` asks: what the journal says, kept as long
# as it holds.


_ALSO = {"person": ("human", "me"), "reflection": ("reflector",)}
"""What else a kind of source may be called."""


class Authors:
    """Tells memories by who stored them. The first question reads the journal back; any thread may
    ask.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._names: tuple[int, dict[str, tuple[str, ...]]] | None = None

    def tests(self, chosen: Filter) -> list[Predicate]:
        """Return the tests of a filter's clauses about actors.

        As long as the store was not read, nothing passes them: who stored a memory is not known
        then.
        """
        return [self._test(clause) for clause in chosen.actors]

    def _test(self, clause: Clause) -> Predicate:
        return lambda memory: (
            self._context.library.is_read and fits(clause, self._known().get(memory.id, ()))
        )

    def _known(self) -> dict[str, tuple[str, ...]]:
        library = self._context.library
        with self._lock:
            if self._names is None or self._names[0] != library.revision:
                from workbench.services.safety.provenance import (
                    provenances,
                )  # few filters ask for it

                rev, memories = library.revision, library.memories.all()
                self._names = (
                    rev,
                    {id: _names(one) for id, one in provenances(self._context, memories).items()},
                )
            return self._names[1]


def _names(source: Provenance) -> tuple[str, ...]:
    """Return what a source can be asked for by: its kind, its name, and both, in folded case."""
    name = source.name.casefold()
    return (
        source.kind,
        *_ALSO.get(source.kind, ()),
        *((name, f"{source.kind}:{name}") if name else ()),
    )


_TOLD = {
    "added": "tags",
    "removed": "tags",
    "observation_type": "type",
    "memory_type": "memory type",
}
"""What the history calls a field, where that is not its name."""


class FieldEdit(NamedTuple):
    """New values for fields of memories; `None` leaves one as it is.

    `tags` and `related` (ids of memories) are what there is afterwards; `added` and `removed`
    change single tags. `importance` runs 0–10, `confidence` 0–5 (one that it has by the rules
    already stays theirs). An empty `note` takes the note away. `status` may be `candidate` (it goes
    to Review) or `confirmed`.
    """

    content: str | None = None
    summary: str | None = None
    observation_type: str | None = None
    memory_type: MemoryType | None = None
    importance: float | None = None
    confidence: int | None = None
    tags: tuple[str, ...] | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    category: str | None = None
    section: str | None = None
    related: tuple[str, ...] | None = None
    note: str | None = None
    session: str | None = None
    speaker: str | None = None
    status: Status | None = None

    @property
    def named(self) -> tuple[str, ...]:
        """The names of the fields that have a new value."""
        steps = {"added": bool(self.added), "removed": bool(self.removed)}
        return tuple(
            name for name in self._fields if steps.get(name, getattr(self, name) is not None)
        )

    @property
    def typed(self) -> tuple[str, ...]:
        """The texts that somebody typed."""
        texts = (
            self.content,
            self.summary,
            self.category,
            self.section,
            self.note,
            self.session,
            self.speaker,
        )
        return (*(text for text in texts if text), *(self.tags or ()), *self.added)


def with_text(memory: Memory, content: str) -> Memory:
    """Return a memory that says `content`; a summary that was cut from the text goes.

    Raises `InvalidRecord` for a text that is too long.
    """
    text = kept_edges(clean_for_store(content), memory.content)
    if text == memory.content:
        return memory
    room = room_for(memory.content)
    if (over := len(text) - room) > 0:
        message = f"The text is {over:,} characters too long (at most {room:,})."
        raise InvalidRecord(message, "Nothing was changed.")
    return replace(memory, content=text, summary=kept_summary(memory.summary, memory.content))


class MemoryFields(Service):
    def edit(self, ids: Sequence[str], wanted: FieldEdit) -> tuple[str, ...]:
        """Give memories new values, all of them or none; return the ids of those that differ now.

        Raises `UnknownRecord`, `InvalidRecord` for a value that does not fit, and `WorkbenchError`
        for a status that is not reached this way, or for an agent, which asks to replace a memory.
        """
        require_person(self._context.actor, "change a memory at once")
        self._require_fitting(ids, wanted)
        what = ", ".join(dict.fromkeys(_TOLD.get(name, name) for name in wanted.named))
        before = {id: self._library.memories.get(id) for id in ids}
        if all(self.edited(memory, wanted) == memory for memory in before.values()):
            return ()
        changed = []
        with self._context.transaction(f"edit {what} of {named(ids, 'memories')}") as tx:
            for id in before:
                memory = self._library.memories.get(id)
                after = self.edited(memory, wanted)
                if after != memory:
                    tx.put(after)
                    changed.append(id)
        return tuple(changed)

    def _require_fitting(self, ids: Sequence[str], wanted: FieldEdit) -> None:
        if wanted.content is not None and len(ids) > 1:
            raise InvalidRecord(
                "A text can be given for one memory only.", "Nothing was changed; give one id."
            )
        for id in wanted.related or ():
            if id not in self._library.memories:
                raise UnknownRecord(
                    f"There is no memory {id} to relate to.", "Nothing was changed."
                )

    def edited(self, memory: Memory, wanted: FieldEdit) -> Memory:
        """Return a memory with the new values; raises as `edit` does. Writes nothing."""
        after = memory if wanted.content is None else with_text(memory, wanted.content)
        if wanted.summary is not None:
            after = replace(after, summary=_line(wanted.summary) or "")
        plain: dict[str, object] = {
            "observation_type": wanted.observation_type, "memory_type": wanted.memory_type,
            "importance_score": wanted.importance,
            "category": _line(wanted.category), "section": _line(wanted.section), "session_id": _line(wanted.session),
        }  # fmt: skip
        after = replace(
            after,
            **{name: value for name, value in plain.items() if value is not None},  # type: ignore[arg-type]
        )
        tags = memory.tags if wanted.tags is None else _lines(wanted.tags)
        gone = _lines(wanted.removed)
        tags = tuple(
            tag for tag in dict.fromkeys((*tags, *_lines(wanted.added))) if tag not in gone
        )
        related = memory.related if wanted.related is None else tuple(dict.fromkeys(wanted.related))
        if memory.id in related:
            raise InvalidRecord(f"{memory.id} cannot be related to itself.", "Nothing was changed.")
        after = replace(after, tags=tags, related=related)
        if wanted.speaker is not None:
            after = replace(
                after, source=replace(after.source, speaker=_line(wanted.speaker) or None)
            )
        if wanted.note is not None:
            after = _with_note(after, _line(wanted.note) or "")
        if wanted.status is not None and wanted.status != memory.status:
            after = lifecycle.moved_to(after, wanted.status, self._context.now())
        if wanted.confidence is not None and wanted.confidence != confidence_of(memory):
            after = said_to_be(after, wanted.confidence)
        problem = broken_rule(after)
        if problem is not None:
            raise InvalidRecord(f"{memory.id} cannot be so: {problem}.", "Nothing was changed.")
        return after


def _with_note(memory: Memory, note: str) -> Memory:
    """Return a memory with another note, or without one."""
    others = without(memory.metadata, NOTE)
    return (
        memory
        if note == memory.note
        else replace(memory, metadata={**others, NOTE: note} if note else others)
    )


def _line(text: str | None) -> str | None:
    return None if text is None else " ".join(clean_for_store(text).split())


def _lines(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(line for text in texts if (line := _line(text)))
