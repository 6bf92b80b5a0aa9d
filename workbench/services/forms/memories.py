"""Saving what stands in the form of a memory, of several, or of a new one."""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from workbench.core.agents.actors import require_person
from workbench.core.record import InvalidRecord
from workbench.core.stream.memory import MEMORY_TYPES, OBSERVATION_TYPES, Memory, MemoryType
from workbench.core.text import one_line
from workbench.services.context import Context
from workbench.services.forms.document import SHOWN, TEXT, Field, UnfitValue, Values, one_of, require_unchanged
from workbench.services.safety.texts import kept_summary
from workbench.services.stream.fields import FieldEdit, MemoryFields
from workbench.services.stream.observation import Observation

if TYPE_CHECKING:
    from workbench.services.stream.ingest import Ingest
    from workbench.services.tuning.retriever import Retriever


# The fields of a memory as the lines of a form, and lines as an edit of its fields.


TITLE, TYPE, MEMORY_TYPE, IMPORTANCE, TAGS = "title", "type", "memory type", "importance", "tags"
CATEGORY, SECTION, RELATED, NOTE = "category", "section", "related", "note"

HIGHEST = 10
"""The most that importance can be."""


def fields_of(memories: Iterable[Memory] = ()) -> tuple[Field, ...]:
    """Return the fields of a memory but its text; a type that one of `memories` has of its own is among the choices."""
    types = tuple(dict.fromkeys((*OBSERVATION_TYPES, *(memory.observation_type for memory in memories))))
    return (
        Field(TITLE),
        Field(TYPE, types, words=False),
        Field(MEMORY_TYPE, MEMORY_TYPES, words=False),
        Field(IMPORTANCE, words=False),
        Field(TAGS),
        Field(CATEGORY),
        Field(SECTION),
        Field(RELATED, words=False),
        Field(NOTE),
    )


def values_of(memory: Memory) -> dict[str, str]:
    """Return what the form of a memory holds; a title that was cut from the text is none of its own."""
    return {
        TEXT: memory.content,
        TITLE: kept_summary(memory.summary, memory.content),
        TYPE: memory.observation_type,
        MEMORY_TYPE: memory.memory_type,
        IMPORTANCE: f"{memory.importance_score:g}",
        TAGS: ", ".join(memory.tags),
        CATEGORY: memory.category,
        SECTION: memory.section,
        RELATED: ", ".join(memory.related),
        NOTE: memory.note,
    }


def edit_of(values: Values, before: Sequence[Memory], known: Container[str]) -> FieldEdit:
    """Return the edit of the memories `before` that values of their form ask for.

    `known` are the ids of memories there are. Of several memories, tags that all begin with + or - are added or taken
    away. Raises `UnfitValue` for the first value that cannot be.
    """
    edit = FieldEdit()
    for name, value in values.items():
        if name in _WORDS:
            edit = replace(edit, **{_WORDS[name]: value})  # type: ignore[arg-type]
        elif name == TYPE:
            choices = next(field.choices for field in fields_of(before) if field.name == TYPE)
            edit = replace(edit, observation_type=one_of(TYPE, value, choices))
        elif name == MEMORY_TYPE:
            edit = replace(edit, memory_type=cast(MemoryType, one_of(MEMORY_TYPE, value, MEMORY_TYPES)))
        elif name == IMPORTANCE:
            edit = replace(edit, importance=_importance(value))
        elif name == TAGS:
            edit = _tagged(edit, value, before)
        elif name == RELATED:
            edit = replace(edit, related=_related(value, before, known))
    return edit


_WORDS = {TEXT: "content", TITLE: "summary", CATEGORY: "category", SECTION: "section", NOTE: "note"}
"""The fields that take any words, by what an edit calls them."""


def _importance(value: str) -> float:
    try:
        found = float(value.strip().replace(",", "."))
    except ValueError:
        said = f"“{one_line(value.strip(), SHOWN)}” is no number" if value.strip() else "It has an importance"
        raise UnfitValue(IMPORTANCE, f"{said}: 0 to {HIGHEST}") from None
    if not 0 <= found <= HIGHEST:
        raise UnfitValue(IMPORTANCE, f"Importance goes from 0 to {HIGHEST}, not to {found:g}")
    return found


def _tagged(edit: FieldEdit, value: str, before: Sequence[Memory]) -> FieldEdit:
    tags = _listed(value)
    had = {tag for memory in before for tag in memory.tags}
    for tag in tags:
        if any(map(str.isspace, tag)) and had.isdisjoint((tag, tag[1:])):
            raise UnfitValue(TAGS, f"“{one_line(tag, SHOWN)}” has a space: commas part tags")
    if len(before) < 2 or not tags or not all(len(tag) > 1 and tag[0] in "+-" for tag in tags):
        return replace(edit, tags=tags)
    added, removed = (tuple(tag[1:] for tag in tags if tag[0] == sign) for sign in "+-")
    return replace(edit, added=added, removed=removed)


def _related(value: str, before: Sequence[Memory], known: Container[str]) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys(value.replace(",", " ").split()))
    for id in ids:
        if any(memory.id == id for memory in before):
            raise UnfitValue(RELATED, "A memory is not related to itself")
        if id not in known:
            raise UnfitValue(RELATED, f"There is no memory {one_line(id, 2 * SHOWN)}")
    return ids


def _listed(value: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part for raw in value.split(",") if (part := raw.strip())))


class MemoryForms:
    """Memories as the fields of a form.

    What is saved are `values`: the fields that were changed, and no others; `expected` holds what stood there before.
    When a memory says something else by now, saving raises `Conflict`, and `UnfitValue` for a value that cannot be;
    then, as with everything that is raised here, nothing is written.
    """

    def __init__(
        self,
        context: Context,
        fields: MemoryFields,
        retriever: "Callable[[], Retriever]",
        ingest: "Callable[[], Ingest]",
    ) -> None:
        self._context = context
        self._library = context.library
        self._fields = fields
        self._retriever = retriever
        self._ingest = ingest

    def fields(self, ids: Sequence[str] = ()) -> tuple[Field, ...]:
        """Return the fields of memories but their text."""
        return fields_of(map(self._library.memories.get, ids))

    def values(self, id: str) -> dict[str, str]:
        """Return what the form of a memory holds now; raises `UnknownRecord`."""
        return values_of(self._library.memories.get(id))

    def shared(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Return what stands in the fields of several memories but their texts; `None` where they differ."""
        every = [self.values(id) for id in ids]
        return {
            name: line if all(one[name] == line for one in every) else None
            for name, line in every[0].items()
            if name != TEXT
        }

    def edit(self, values: Values, ids: Sequence[str] = ()) -> FieldEdit:
        """Return values as an edit of memories, or of a new one."""
        return edit_of(values, [self._library.memories.get(id) for id in ids], self._library.memories)

    def corrected(self, id: str, values: Values) -> tuple[Memory, Memory]:
        memory = self._library.memories.get(id)
        return memory, self._fields.edited(memory, self.edit(values, [id]))

    def save(self, id: str, values: Values, expected: Values) -> None:
        what = "" if list(values) == [TEXT] else f"{', '.join(values)} of "
        with self._library.transaction(self._context.actor, f"edit {what}{id}"):
            require_unchanged(id, self.values(id), expected)
            self._fields.edit((id,), self.edit(values, [id]))

    def save_all(self, ids: Sequence[str], values: Values) -> int:
        """Give several memories the same values, all of them or none; return how many differ now."""
        with self._library.transaction(self._context.actor, f"edit {', '.join(values)} of {len(ids)} memories"):
            return len(self._fields.edit(ids, self.edit(values, ids)))

    def add(self, values: Values) -> Memory:
        """Store a new memory that a person wrote; raises `InvalidRecord` when another one says it already."""
        require_person(self._context.actor, "write a memory in a form")
        edit = self.edit({name: line for name, line in values.items() if line.strip()})
        first = Observation(edit.content or "", tags=edit.tags or (), rated_by=self._context.settings.importance)
        seen = first._replace(
            observation_type=edit.observation_type or first.observation_type,
            memory_type=edit.memory_type or first.memory_type,
        )
        with self._library.transaction(self._context.actor, "write a memory") as tx:
            # What says the same in other words is looked for by the model, and nobody waits here until that is loaded.
            ready = self._retriever().ready
            done = self._ingest().add(seen) if ready else self._ingest().append(seen, lambda _: None)
            if done.outcome in ("skipped", "absorbed"):
                raise InvalidRecord(f"{done.memory.id} says this already.", "Nothing was written; change that one.")
            if done.outcome == "forgotten":
                message = f"This was {done.memory.archived_reason} ({done.memory.id})."
                raise InvalidRecord(message, f"Nothing was written; `workbench unforget {done.memory.id}` restores it.")
            if done.outcome == "purged":
                hint = "Nothing was written; `workbench ingest --again` stores it anyway."
                raise InvalidRecord(f"{done.memory.id} was purged with this text.", hint)
            self._fields.edit((done.memory.id,), replace(edit, content=None, tags=None))
            tx.relabel(f"write {done.memory.id}")
        return self._library.memories.get(done.memory.id)
