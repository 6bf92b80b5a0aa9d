"""The fields of a memory as the lines of a form, and lines as an edit of its fields."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import cast

from workbench.core.stream.memory import MEMORY_TYPES, OBSERVATION_TYPES, Memory, MemoryType
from workbench.core.text import one_line
from workbench.services.forms.values import SHOWN, TEXT, Field, UnfitValue, Values, one_of
from workbench.services.safety.texts import kept_summary
from workbench.services.stream.fields import FieldEdit

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
