"""Saving what stands in the form of a memory, of several, or of a new one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.core.agents.actors import require_person
from workbench.core.errors import InvalidRecord
from workbench.core.stream.memory import Memory
from workbench.services.context import Context
from workbench.services.forms.memory_lines import edit_of, fields_of, values_of
from workbench.services.forms.values import TEXT, Field, Values, require_unchanged
from workbench.services.stream.fields import FieldEdit, MemoryFields
from workbench.services.stream.observation import Observation

if TYPE_CHECKING:
    from workbench.services.stream.ingest import Ingest
    from workbench.services.tuning.retriever import Retriever


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
        """Return a memory as it is, and as it would be with these values."""
        memory = self._library.memories.get(id)
        return memory, self._fields.edited(memory, self.edit(values, [id]))

    def save(self, id: str, values: Values, expected: Values) -> None:
        """Give a memory other values."""
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
                hint = "Nothing was written; `workbench ingest --again` stores it all the same."
                raise InvalidRecord(f"{done.memory.id} was purged with this text.", hint)
            self._fields.edit((done.memory.id,), replace(edit, content=None, tags=None))
            tx.relabel(f"write {done.memory.id}")
        return self._library.memories.get(done.memory.id)
